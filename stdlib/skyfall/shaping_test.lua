local skyfall = require "skyfall"
local shaping, reward, test = skyfall.shaping, skyfall.reward, skyfall.test
local describe, it, expect = test.describe, test.it, test.expect

-- A walk from 0 to 3, whose steps are rewarded with 2.
skyfall.env.define {
  id = "Steps-v0",
  observation_space = skyfall.space.box { low = { 0 }, high = { 3 } },
  action_space = skyfall.space.discrete(2),
  reset = function(env) env.x = 0 return { env.x } end,
  step = function(env) env.x = env.x + 1 return { env.x }, 2.0, env.x == 3 end,
}

--- The values of one term over an episode of three steps.
local function values(term)
  local seen = {}
  local path = test.tmpdir() .. "/t.jsonl"
  skyfall.run_experiment({
    env = { id = "Steps-v0" },
    algorithm = { name = "none", policy = { id = "constant", kwargs = { action = 0 } } },
    reward = reward.compose { { term } },
    rollout = { total_steps = 3 },
  }, { traces = path, export_dir = test.tmpdir() .. "/bundle" })
  for row in skyfall.trace.rows(path) do seen[#seen + 1] = row.reward end
  return seen
end

describe("potential", function()
  it("is what was gained, and a terminal state counts as 0", function()
    expect(values(shaping.potential("p", function(o) return o[1] end))):near { 1, 1, -2 }
    expect(values(shaping.potential("p", function(o) return o[1] end, 0.5))):near { 0.5, 0, -2 }
  end)
end)

it("distance is to a target", function()
  expect(values(shaping.distance("d", { index = 1, target = 2, scale = 10 }))):near { -10, 0, -10 }
  expect(values(shaping.distance("d", { index = 1 }))):near { -1, -2, -3 }
end)

it("indicator and clipped", function()
  expect(values(shaping.indicator("i", function(s) return s.next_observation[1] > 1 end))):near { 0, 1, 1 }
  expect(values(shaping.clipped("c", function(s) return s.env_reward * s.next_observation[1] end, 3, 5))):near { 3, 4, 5 }
end)
