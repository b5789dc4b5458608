-- scripts/lakes.lua: what does learning one lake do to another? Q-learning walks two frozen lakes in turn: the north
-- one is safe along its top, the south one along its side. Two controls walk with it: one that starts anew at each
-- shift, and one that is told which lake it is on and keeps a table for each.
-- Run: skyfall script scripts/lakes.lua
local skyfall = require "skyfall"

local lakes = skyfall.regimes.revisits({
  { id = "north", steps = 2000, env = { desc = { "SFFF", "HHHF", "FFFF", "FFFG" } } },
  { id = "south", steps = 2000, env = { desc = { "SHFF", "FHFF", "FHFF", "FFFG" } } },
}, 2)

local traces = {}
for _, control in ipairs { "", "+reset_at_shift", "+oracle_per_regime" } do
  for seed = 1, 5 do
    local run = ("q_learning%s-%d"):format(control, seed)
    local result = skyfall.run_experiment({
      env = { id = "FrozenLake-v1", kwargs = { is_slippery = false } },
      algorithm = { name = "q_learning" .. control, policy = { id = "tabular" } },
      regime = skyfall.regime.schedule(lakes),
      rollout = { total_steps = 8000 },
      run = { name = run, seed = seed },
    }, { traces = ("out/lakes/%s.jsonl"):format(run) })
    traces[#traces + 1] = result.traces
  end
end

-- A level is what the first or the last 200 steps of a visit earn a step.
local report = skyfall.eval.traces(traces, { window = 200 })
print("                              reward/step  forgetting  jumpstart")
for _, group in ipairs(report.groups) do
  local m = group.metrics
  print(("%-28s %12.4f %11.4f %10.4f"):format(
    group.key.algorithm_id, m.mean_reward.mean, m.forgetting.mean, m.jumpstart.mean))
end
