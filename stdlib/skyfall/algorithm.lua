--- Learning algorithms.

local native = ...

---@class skyfall.algorithmlib
local M = {}

---@class skyfall.TrainedPolicy
---@field act fun(self: skyfall.TrainedPolicy, observation: any): any
---@field parameters fun(self: skyfall.TrainedPolicy): skyfall.Array? a copy of its flat vector of weights, if it has one
---@field set_parameters fun(self: skyfall.TrainedPolicy, parameters: skyfall.Array|number[])

---@class skyfall.AlgorithmDefinition
---@field name string
---@field params table? the parameters with their defaults; without it, any are taken
---@field policy string? the policy it trains where the configuration names none; `linear_menu` without it
---@field new (fun(params: table, policy: skyfall.TrainedPolicy, context: skyfall.PolicyContext): table)? makes the algorithm's own table, `self`; `context.rng` is the stream called `algorithm`
---@field on_step (fun(self: table, s: skyfall.StepView, reward: number))? after every step, with what a reward term sees: copy what you keep of it
---@field on_episode (fun(self: table, episode: skyfall.EpisodeSummary))? after every finished episode
---@field on_window (fun(self: table, window: skyfall.WindowSummary))? after every window
---@field on_shift (fun(self: table, regime: { id: string?, origin: string?, env: table }))? when another regime comes into force
---@field finish (fun(self: table))? at the run's end: leaves the policy worth exporting

--- Defines a learning algorithm, to be named in an experiment's `algorithm.name`.
---
--- ```lua
--- skyfall.algorithm.define {
---   name = "still",
---   new = function(params, policy, context) return { policy = policy } end,
---   on_episode = function(self, episode) skyfall.log.info("return " .. episode.total_reward) end,
--- }
--- skyfall.run_experiment {
---   env = { id = "CartPole-v1" },
---   algorithm = { name = "still", policy = { id = "random" } },
---   rollout = { total_steps = 50 },
--- }
--- ```
---@param definition skyfall.AlgorithmDefinition
M.define = native.define

--- The names of all algorithms, sorted.
---
--- ```lua
--- assert(#skyfall.algorithm.list() > 0)
--- ```
---@return string[]
M.list = native.list

return M
