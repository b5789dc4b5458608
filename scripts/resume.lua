-- scripts/resume.lua: a run that is stopped and goes on as if nothing had been, and its bundle at work. The policy is
-- then tried by hand, frozen, in a heavier world than it was trained in.
-- Run: skyfall script scripts/resume.lua
local skyfall = require "skyfall"

local function train(name, options)
  options.traces, options.export_dir = ("out/resume/%s.jsonl"):format(name), ("out/resume/%s-bundle"):format(name)
  return skyfall.run_experiment({
    env = { id = "CartPole-v1" },
    algorithm = { name = "ars", policy = { id = "linear_menu", kwargs = { initial = 0 } } },
    regime = skyfall.regime.cycle {
      { id = "light", steps = 1000 },
      { id = "heavy", steps = 1000, env = { masspole = 0.5 } },
    },
    rollout = { window_steps = 500, total_steps = 6000 },
    run = { name = "resume", seed = 4 },
  }, options)
end

local whole = train("whole", {})

-- The same run again, stopped by an error after its seventh window; what was done until then is in its checkpoint.
local finished, why = pcall(train, "stopped", {
  checkpoint_every = 1,
  on_window = function(window) if window.window == 6 then error("the power is gone", 0) end end,
})
print(("finished: %s (%s)"):format(finished, tostring(why):match "the power is gone"))
local resumed = train("stopped", { resume = true })
local same = skyfall.fs.read(whole.traces) == skyfall.fs.read(resumed.traces)
print(("resumed: %d steps, the same bytes: %s"):format(resumed.steps, same))

local policy = skyfall.bundle.load(resumed.bundle):policy()
local env = skyfall.env.make "CartPole-v1"
for _, mass in ipairs { 0.1, 0.5, 2.0 } do
  env:set_parameter("masspole", mass)
  local returns = {}
  for episode = 1, 10 do
    local observation, total, over = env:reset { seed = episode }, 0, false
    while not over do
      local next_observation, reward, terminated, truncated = env:step(policy:act(observation))
      observation, total, over = next_observation, total + reward, terminated or truncated
    end
    returns[episode] = total
  end
  print(("a pole of %.1f kg: %5.1f steps in the mean"):format(mass, skyfall.stats.mean(returns)))
end
