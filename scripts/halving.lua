-- scripts/halving.lua: twelve settings, and no time wasted on the worst. After 2 windows, 4, 8, ... a trial goes on if
-- it is among the better half of those that came so far (asynchronous successive halving, Li et al. 2020).
-- Run: skyfall sweep scripts/halving.lua, then skyfall sweep table halving --each --sort -steps
local skyfall = require "skyfall"
local reward, sweep = skyfall.reward, skyfall.sweep

-- Rewards of 1 a step say nothing about a window; a fall must cost something.
local fall = reward.term("fall", function(s) return s.terminated and -1 or 0 end)

return sweep {
  name = "halving",
  axes = sweep.latin_hypercube(12, {
    learning_rate = sweep.log_uniform(0.02, 0.8),
    epsilon = sweep.uniform(0, 0.3),
    tilings = { 1, 4, 8 },
  }),
  stop = sweep.asha { first = 2, factor = 2 },
  experiment = function(p)
    return {
      env = { id = "CartPole-v1" },
      algorithm = {
        name = "sarsa",
        params = { learning_rate = p.learning_rate, epsilon = p.epsilon, lambda = 0.9 },
        policy = {
          id = "tabular",
          kwargs = { tilings = p.tilings, bins = 4, low = { -2.4, -2, -0.21, -2 }, high = { 2.4, 2, 0.21, 2 } },
        },
      },
      reward = reward.compose { { fall } },
      rollout = { window_steps = 500, total_steps = 8000 },
      run = { seed = 1 },
    }
  end,
}
