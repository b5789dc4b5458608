-- scripts/search.lua: a search with a sampler of one's own: keep the best setting, try another one near it (a (1+1)
-- evolution strategy with the one-fifth rule). Every setting has three seeds, and the sampler is told their mean.
-- Run: skyfall sweep scripts/search.lua, then skyfall sweep best search
local skyfall = require "skyfall"

local Climber = { reach = 1.0, best = { noise = 0.05, episodes = 8 } }

-- What is asked for may depend on what was told, and on `rng`: so the points are the same for any number of jobs.
function Climber:ask(rng)
  return {
    noise = self.best.noise * math.exp(self.reach * rng:normal()),
    episodes = math.max(1, self.best.episodes + rng:integers(-2, 3)),
  }
end

function Climber:tell(point, value)
  local better = value and value > (self.value or -math.huge)
  if better then self.best, self.value = point, value end
  self.reach = self.reach * (better and 1.5 or 1.5 ^ -0.25)
end

return skyfall.sweep {
  name = "search",
  search = skyfall.sweep.search(10, Climber, { seed = 1 }),
  repeats = 3,
  metric = "mean_return",
  experiment = function(p)
    return {
      env = { id = "CartPole-v1" },
      algorithm = { name = "discrete_hill_climbing", params = { noise = p.noise, episodes = p.episodes } },
      rollout = { total_steps = 3000 },
      run = { seed = p.seed },
    }
  end,
}
