-- `skyfall test .` runs this.
local skyfall = require "skyfall"
local rewards = require "rewards"
local describe, it, expect = skyfall.test.describe, skyfall.test.it, skyfall.test.expect

describe("upright", function()
  it("is 1 when the pole stands", function() expect(rewards.upright_of(0)):equals(1) end)

  it("is less the more it leans, to either side", function()
    local rng = skyfall.test.rng()
    for _ = 1, 100 do
      local angle = rng:uniform(0.01, 1)
      expect(rewards.upright_of(angle)):near(rewards.upright_of(-angle))
      expect(rewards.upright_of(angle) < 1):holds()
    end
  end)
end)
