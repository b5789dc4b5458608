-- scripts/noise.lua: how far should hill climbing reach? Three noises, five seeds each.
local skyfall = require "skyfall"

local upright = skyfall.reward.term("upright", function(s)
  return 1 - (s.next_observation[3] / 0.21) ^ 2
end)

return skyfall.sweep {
  name = "noise",
  axes = { noise = { 0.05, 0.2, 0.8 } },
  repeats = 5, -- the axis `seed`, from 1 to 5
  metric = "mean_reward",
  experiment = function(p)
    return {
      env = { id = "CartPole-v1" },
      algorithm = { name = "discrete_hill_climbing", params = { noise = p.noise } },
      reward = skyfall.reward.compose { { upright } },
      rollout = { window_steps = 200, total_steps = 5000 },
      run = { seed = p.seed },
    }
  end,
}
