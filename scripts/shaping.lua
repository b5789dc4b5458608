-- scripts/shaping.lua: does a potential help Q-learning up the hill? The mountain car is paid -1 a step, whatever it
-- does; a shaping term pays for energy gained, and leaves the best policy what it is (Ng, Harada and Russell 1999).
-- Run: skyfall script scripts/shaping.lua
local skyfall = require "skyfall"
local reward, shaping = skyfall.reward, skyfall.shaping

local DISCOUNT = 0.99
local energy = shaping.potential("energy", function(observation)
  local position, velocity = observation[1], observation[2]
  return math.sin(3 * position) + 400 * velocity ^ 2
end, DISCOUNT)

local function learn(name, composition)
  return skyfall.run_experiment({
    env = { id = "MountainCar-v0" },
    algorithm = {
      name = "q_learning",
      params = { discount = DISCOUNT, learning_rate = 0.3, epsilon = 0.02 },
      policy = { id = "tabular", kwargs = { tilings = 8, bins = 8, initial = -50 } },
    },
    reward = composition,
    rollout = { total_steps = 24000 },
    run = { name = name, seed = 3 },
  }, { traces = ("out/shaping/%s.jsonl"):format(name) })
end

local plain = learn("plain", reward.compose { { reward.builtin "env" } })
local shaped = learn("shaped", reward.compose { { reward.builtin "env" }, { energy, weight = 20 } })

-- What the environment itself pays, by which the two can be compared, is a component of each row.
for _, result in ipairs { plain, shaped } do
  local paid = 0
  for row in skyfall.trace.rows(result.traces) do paid = paid + row.reward_components.env end
  print(("%-6s %d episodes, each paid %.1f in the mean"):format(result.run_id, result.episodes, paid / result.episodes))
end
