local skyfall = require "skyfall"
local stats, test = skyfall.stats, skyfall.test
local describe, it, expect = test.describe, test.it, test.expect

describe("moments", function()
  it("are those of NumPy with ddof=1", function()
    local xs = { 2.5, -1.0, 4.0, 0.5, 9.0 }
    expect(stats.mean(xs)):near(3.0)
    expect(stats.variance(xs)):near(14.875)
    expect(stats.std(xs)):near(3.856812155135378)
  end)
  it("take arrays", function()
    expect(stats.mean(skyfall.array.from({ 1, 2, 6 }, "f32"))):equals(3.0)
  end)
  it("need enough numbers", function()
    expect(function() stats.mean {} end):raises "mean needs at least 1 number(s), got 0"
    expect(function() stats.std { 1 } end):raises "std needs at least 2"
  end)
end)

describe("quantiles", function()
  it("are NumPy's linear ones", function()
    local xs = { 7, 1, 3, 5 }
    expect(stats.quantile(xs, 0)):equals(1.0)
    expect(stats.quantile(xs, 1)):equals(7.0)
    expect(stats.quantile(xs, 0.4)):near(3.4)
    expect(stats.median(xs)):equals(4.0)
    expect(xs):equals { 7, 1, 3, 5 }
    expect(function() stats.quantile(xs, 1.5) end):raises "`q` must be from 0 to 1"
  end)
end)

it("correlation is 1 of a line and nothing of different lengths", function()
  expect(stats.correlation({ 1, 2, 4 }, { -1, -3, -7 })):near(-1)
  expect(function() stats.correlation({ 1, 2 }, { 1, 2, 3 }) end):raises "2 and 3 numbers"
end)

it("moving means begin with what there is", function()
  expect(stats.moving_mean({ 1, 2, 3, 4 }, 3)):equals { 1.0, 1.5, 2.0, 3.0 }
  expect(stats.ema({ 4, 0 }, 0.25)):equals { 4, 3.0 }
  expect(function() stats.moving_mean({ 1 }, 0) end):raises "positive integer"
  expect(function() stats.ema({ 1 }, 0) end):raises "`rate` must be above 0"
end)
