-- A policy learns to balance while the world shifts under it.
-- `skyfall script experiment.lua` runs this and writes steady/traces.jsonl and steady/bundle.
local skyfall = require "skyfall"
local rewards = require "rewards"

return skyfall.experiment {
  env = { id = "CartPole-v1" },
  algorithm = {
    name = "discrete_hill_climbing",
    policy = { id = "linear_menu", kwargs = { n_actions = 2 } },
  },
  reward = skyfall.reward.compose {
    { rewards.upright, weight = 1.0 },
    { rewards.centred, weight = 0.5 },
  },
  regime = skyfall.regime.schedule {
    { id = "calm", steps = 2000 },
    { id = "heavy", steps = 2000, env = { gravity = 14.0 } },
    { id = "calm-again", origin = "calm", steps = 2000 },
  },
  rollout = { window_steps = 200, total_steps = 6000 },
  run = { name = "steady", seed = 1 },
}
