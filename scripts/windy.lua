-- scripts/windy.lua: a policy learns CartPole; the world turns against it, and turns back.
local skyfall = require "skyfall"
local reward, regime = skyfall.reward, skyfall.regime

local upright = reward.term("upright", function(s)
  return 1 - (s.next_observation[3] / 0.21) ^ 2 -- 1 where the pole stands, 0 where it falls
end)

return skyfall.experiment {
  env = { id = "CartPole-v1" },
  algorithm = { name = "discrete_hill_climbing", policy = { id = "linear_menu" } },
  reward = reward.compose { { upright, weight = 1.0 } },
  regime = regime.schedule {
    { id = "calm", steps = 2000 },
    { id = "windy", steps = 2000, env = { force_mag = 6.0 } },
    { id = "calm-again", origin = "calm", steps = 2000 },
  },
  rollout = { window_steps = 200, total_steps = 6000 },
  run = { name = "calm-windy-calm", seed = 7 },
}
