local skyfall = require "skyfall"
local regimes, test = skyfall.regimes, skyfall.test
local it, expect = test.it, test.expect

it("ramp goes in even levels", function()
  expect(regimes.ramp { parameter = "gravity", from = 10, to = 12, levels = 3, steps = 5, id = "g" }):equals {
    { id = "g-1", steps = 5, env = { gravity = 10.0 } },
    { id = "g-2", steps = 5, env = { gravity = 11.0 } },
    { id = "g-3", steps = 5, env = { gravity = 12 } },
  }
end)

it("revisits say what they repeat", function()
  local entries = { { id = "a", steps = 1, env = { x = 1 } }, { id = "b", steps = 2 } }
  local all = regimes.revisits(entries, 3)
  expect(#all):equals(6)
  expect(all[5]):equals { id = "a-3", origin = "a", steps = 1, env = { x = 1 } }
  all[1].env.x = 9
  expect(entries[1].env.x):equals(1)
end)

it("shuffled is the same under the same seed, and leaves what it got", function()
  local entries = {}
  for i = 1, 20 do entries[i] = { id = "r" .. i, steps = 1 } end
  local one, other = regimes.shuffled(entries, 4), regimes.shuffled(entries, 4)
  expect(one):equals(other)
  expect(one):differs(regimes.shuffled(entries, 5))
  expect(entries[1].id .. entries[20].id):equals "r1r20"
end)
