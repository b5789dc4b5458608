-- scripts/corridor.lua: a world of the script's own. A walker looks for the exit of a corridor while the wind blows
-- it back; the wind is a parameter, so that regimes can turn it up, and a bundle carries the world's code along.
-- Run: skyfall script scripts/corridor.lua
local skyfall = require "skyfall"
local space = skyfall.space

skyfall.env.define {
  id = "Corridor-v0",
  kwargs = { length = 8, wind = 0.0 },
  observation_space = function(kwargs) return space.discrete(kwargs.length + 1) end,
  action_space = space.discrete(2),
  max_episode_steps = 100,
  reset = function(env)
    env.cell = env.kwargs.length // 2
    return env.cell
  end,
  step = function(env, action)
    local blown = env.rng:uniform() < env.kwargs.wind
    local stride = (action == 1 and not blown) and 1 or -1
    env.cell = math.max(0, env.cell + stride)
    local out = env.cell == env.kwargs.length
    return env.cell, out and 1.0 or -0.01, out, false, { invalid_action = blown }
  end,
}

return skyfall.experiment {
  env = { id = "Corridor-v0", kwargs = { length = 10 } },
  algorithm = { name = "q_learning", params = { epsilon = 0.05 }, policy = { id = "tabular" } },
  regime = skyfall.regime.schedule(skyfall.regimes.ramp {
    parameter = "wind", from = 0.0, to = 0.4, levels = 3, steps = 2000,
  }),
  rollout = { window_steps = 500, total_steps = 6000 },
  run = { name = "corridor", seed = 5 },
}
