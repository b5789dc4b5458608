local skyfall = require "skyfall"
local tables, test = skyfall.tables, skyfall.test
local describe, it, expect = test.describe, test.it, test.expect

describe("keys", function()
  it("are sorted whatever their sorts", function()
    expect(tables.keys { b = 1, a = 1, [2] = 1, [1.5] = 1, [true] = 1, [false] = 1 }):equals { false, true, 1.5, 2, "a", "b" }
    expect(tables.keys {}):equals {}
  end)
  it("are walked in that order", function()
    local seen = {}
    for key, value in tables.sorted { z = 1, y = 2, [3] = 3 } do seen[#seen + 1] = key .. "=" .. value end
    expect(seen):equals { "3=3", "y=2", "z=1" }
  end)
end)

describe("copy", function()
  it("shares nothing and keeps what is shared and what is in itself", function()
    local one = { list = { 1 } }
    one.again, one.self = one.list, one
    local other = tables.copy(one)
    other.list[2] = 2
    expect(one.list):equals { 1 }
    expect(other.again == other.list and other.self == other):holds()
  end)
end)

describe("merge", function()
  it("goes into tables and replaces lists", function()
    local base = { a = { x = 1, y = 2 }, list = { 1, 2, 3 }, n = 1 }
    expect(tables.merge(base, { a = { y = 3 }, list = { 9 }, m = 2 })):equals {
      a = { x = 1, y = 3 }, list = { 9 }, n = 1, m = 2,
    }
    expect(base.a.y):equals(2)
  end)
end)

describe("equal", function()
  it("looks into tables", function()
    expect(tables.equal({ 1, { a = { 2 } } }, { 1, { a = { 2 } } })):holds()
    expect(tables.equal({ a = 1 }, { a = 1, b = 2 })):fails()
    expect(tables.equal({ 0 / 0 }, { 0 / 0 })):holds()
    local one, other = {}, {}
    one.self, other.self = one, other
    expect(tables.equal(one, other)):holds()
  end)
end)

it("map, filter and linspace make lists", function()
  expect(tables.map({ 1, 2 }, function(x, i) return x * 10 + i end)):equals { 11, 22 }
  expect(tables.filter({ 5, 6, 7 }, function(x, i) return x > 5 and i < 3 end)):equals { 6 }
  expect(tables.linspace(0, 1, 3)):equals { 0.0, 0.5, 1 }
  expect(tables.linspace(2, 9, 1)):equals { 9 }
end)
