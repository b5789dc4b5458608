-- scripts/quickstart.lua: the main job in one page. A policy learns CartPole while the world shifts under it, scored
-- by rewards of our own; then a small rollout store is written.
-- Run: skyfall script scripts/quickstart.lua
local skyfall = require "skyfall"
local line = require "line"
local reward, regime = skyfall.reward, skyfall.regime

local upright = reward.term("upright", function(s)
  return math.cos(s.next_observation[3])
end)

local centred = reward.term("centred", function(s)
  local distance = math.abs(s.next_observation[1])
  return 1 - distance / s.params.half_width, { distance = distance }
end, { half_width = 2.4 })

local out = "out/quickstart"
local result = skyfall.run_experiment({
  env = { id = "CartPole-v1" },
  algorithm = { name = "discrete_hill_climbing", policy = { id = "linear_menu" } },
  reward = reward.compose { { upright, weight = 0.8 }, { centred, weight = 0.2 } },
  regime = regime.schedule {
    { id = "calm", steps = 20000 },
    { id = "heavy", steps = 20000, env = { masspole = 0.5, length = 1.0 } },
    { id = "calm-again", origin = "calm", steps = 20000 },
  },
  rollout = { window_steps = 1000, total_steps = 60000 },
  run = { name = "quickstart", seed = 0 },
}, { traces = out .. "/traces.jsonl", export_dir = out .. "/bundle" })
print(("trained %d steps, %d episodes, mean return %.1f"):format(result.steps, result.episodes, result.mean_return))

local run = skyfall.eval.traces(result.traces).runs[1]
for _, visit in ipairs(run.encounters) do
  print(("  %-10s  entered at %.3f, left at %.3f a step"):format(visit.labels[1], visit.entry, visit.exit))
end
print(("forgetting %.3f"):format(run.metrics.forgetting.value))
skyfall.eval.report(result.traces, out .. "/report.html")

local writer <close> = skyfall.rollouts.writer {
  store_dir = out .. "/rollouts.zarr", discount_gamma = 0.95, selected_depth_enabled = false,
}
local rng = skyfall.random.rng(0)
for root = 0, 9 do writer:add(line.record(root, 4, rng)) end
local store = writer:finish()
print(("rollout store: %d rollouts, %d steps, %d candidates\n"):format(
  store.num_rollouts, store.num_steps, store.num_candidates))

print(("wrote %s/report.html    figures and numbers, to open in a browser"):format(out))
print(("      %s/traces.jsonl   the trace     (skyfall eval --traces %s/traces.jsonl)"):format(out, out))
print(("      %s/bundle         the bundle    (skyfall serve %s/bundle)"):format(out, out))
print(("      %s/rollouts.zarr  the store     (skyfall rollouts info %s/rollouts.zarr)"):format(out, out))
