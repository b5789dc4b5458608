--- skyfall: continual-RL experiments as small scripts on a fast native core.
---
--- Every part is also a module of its own: `require "skyfall.reward"`.

local native = ...

---@class skyfall
---@field algorithm skyfall.algorithmlib
---@field array skyfall.arraylib
---@field bundle skyfall.bundlelib
---@field env skyfall.envlib
---@field eval skyfall.evallib
---@field fs skyfall.fslib
---@field json skyfall.jsonlib
---@field log skyfall.loglib
---@field policy skyfall.policylib
---@field pretty skyfall.prettylib
---@field random skyfall.randomlib
---@field regime skyfall.regimelib
---@field regimes skyfall.regimeslib
---@field reward skyfall.rewardlib
---@field rollouts skyfall.rolloutslib
---@field shaping skyfall.shapinglib
---@field space skyfall.spacelib
---@field stats skyfall.statslib
---@field sweep skyfall.sweeplib
---@field tables skyfall.tableslib
---@field test skyfall.testlib
---@field trace skyfall.tracelib
---@field yaml skyfall.yamllib
---@field version string
local M = { version = native.version }

local PARTS = {
  "algorithm", "array", "bundle", "env", "eval", "fs", "json", "log", "policy", "pretty", "random", "regime",
  "regimes", "reward", "rollouts", "shaping", "space", "stats", "sweep", "tables", "test", "trace", "yaml",
}
local is_part = {}
for _, name in ipairs(PARTS) do is_part[name] = true end

local function part(name)
  local module = require("skyfall." .. name)
  M[name] = module
  return module
end

-- A part is loaded when it is first looked at: most scripts look at a few.
setmetatable(M, {
  __index = function(_, name)
    if is_part[name] then return part(name) end
  end,
  __pairs = function()
    for _, name in ipairs(PARTS) do part(name) end
    return function(_, key) return next(M, key) end
  end,
})

---@alias skyfall.RecordKey "observation"|"next_observation"|"env_reward"|"terminated"|"truncated"

---@class skyfall.Config the fields and their defaults are in `docs/configuration.md`
---@field env { id: string, kwargs: table?, wrappers: skyfall.Wrapper[]? } the world, the first wrapper innermost
---@field algorithm { name: string, params: table?, policy: { id: string, kwargs: table? }? }?
---@field rollout { window_steps: integer?, total_steps: integer, auto_reset: boolean? }
---@field reward skyfall.Composition|table? how steps are scored; without it the environment scores itself
---@field regime skyfall.Provider|table? when the world shifts; without it, never
---@field run { name: string?, seed: integer?, task: string?, policy_id: string?, meta: table? }?
---@field trace { record: skyfall.RecordKey[]?, effective_rank: integer? }? `record`: further row keys; `effective_rank`: over how many steps each is measured

---@class skyfall.RunOptions
---@field traces string? where to write the trace
---@field export_dir string? where to export the bundle
---@field export_external boolean? leave the bundle's checkpoint outside and record its absolute path
---@field seed integer? replaces `run.seed`
---@field resume boolean? go on from the checkpoint beside the trace, if a killed run left one
---@field checkpoint_every integer? write a checkpoint after every so many windows; without it, at a window's end every few seconds
---@field on_step fun(step: skyfall.StepSummary)? called after every step
---@field on_window fun(window: skyfall.WindowSummary)? called after every window
---@field on_episode fun(episode: skyfall.EpisodeSummary)? called after every episode

---@class skyfall.StepSummary
---@field step integer
---@field reward number
---@field terminated boolean
---@field truncated boolean
---@field regime_id string?

---@class skyfall.WindowSummary
---@field window integer the window's index, from 0
---@field steps integer its steps
---@field done integer the run's steps so far
---@field total_reward number the sum of its rewards
---@field regime_id string?

---@class skyfall.EpisodeSummary
---@field episode integer the episode's index, from 0
---@field steps integer its length
---@field total_reward number the sum of its rewards
---@field terminated boolean
---@field truncated boolean

---@class skyfall.RunResult
---@field run_id string
---@field steps integer
---@field episodes integer finished episodes
---@field windows integer
---@field total_reward number
---@field mean_reward number reward per step
---@field mean_return number? over finished episodes
---@field traces string? where the trace is
---@field bundle string? where the bundle is

--- Runs an experiment to its end and says how it went.
---
--- ```lua
--- local result = skyfall.run_experiment({
---   env = { id = "CartPole-v1" },
---   algorithm = { name = "discrete_hill_climbing", policy = { id = "linear_menu" } },
---   rollout = { window_steps = 100, total_steps = 500 },
---   run = { name = "first", seed = 1 },
--- }, { traces = "out/traces.jsonl", export_dir = "out/bundle" })
--- assert(result.steps == 500 and result.bundle == "out/bundle")
--- ```
---@param config skyfall.Config|skyfall.Experiment
---@param options skyfall.RunOptions?
---@return skyfall.RunResult
M.run_experiment = native.run_experiment

---@class skyfall.Experiment
---@field config table the resolved configuration, defaults filled in, as plain data

--- Checks a configuration, every mistake at once, and returns the experiment. A script that
--- returns it has it run.
---
--- ```lua
--- local experiment = skyfall.experiment {
---   env = { id = "CartPole-v1" },
---   algorithm = { policy = { id = "random" } },
---   rollout = { total_steps = 100 },
--- }
--- assert(experiment.config.rollout.total_steps == 100)
--- ```
---@param config skyfall.Config
---@return skyfall.Experiment
M.experiment = native.experiment

return M
