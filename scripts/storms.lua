-- scripts/storms.lua: a world whose weather is a function of the script's own. Calm spells and storms take turns, the
-- storms ever stronger; the reward asks for more care while one blows.
-- Run: skyfall script scripts/storms.lua
local skyfall = require "skyfall"
local reward = skyfall.reward

-- Called before each step. What it returns is in force: a label, parameters of the world, weights of the reward.
local storms = skyfall.regime.provider("storms", { spell = 2500, gain = 0.02 }, function(step, params)
  local spell = step // params.spell
  if spell % 2 == 0 then
    local first = spell == 0
    return { id = first and "calm" or "calm-" .. spell // 2 + 1, origin = not first and "calm" or nil }
  end
  local strength = params.gain * (spell + 1)
  return {
    id = ("storm-%d"):format(spell // 2 + 1),
    env = { ["observation_noise.std"] = strength, force_mag = 10 - 50 * strength },
    reward = { centred = 0.5 },
  }
end)

local upright = reward.term("upright", function(s) return 1 - (s.next_observation[3] / 0.21) ^ 2 end)

local result = skyfall.run_experiment({
  env = { id = "CartPole-v1", wrappers = { { name = "observation_noise" } } },
  algorithm = { name = "discrete_hill_climbing", policy = { id = "linear_menu" } },
  reward = reward.compose { { upright }, { skyfall.shaping.distance("centred", { index = 1 }), weight = 0.1 } },
  regime = storms,
  rollout = { window_steps = 500, total_steps = 15000 },
  run = { name = "storms", seed = 2 },
}, { traces = "out/storms/traces.jsonl" })

local run = skyfall.eval.traces(result.traces).runs[1]
for _, visit in ipairs(run.encounters) do
  print(("%-8s entered at %6.3f, left at %6.3f a step"):format(visit.labels[1], visit.entry, visit.exit))
end
print(("forgetting %.3f over %d revisits"):format(run.metrics.forgetting.value, run.metrics.forgetting.n))
