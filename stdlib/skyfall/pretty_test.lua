local skyfall = require "skyfall"
local format, test = skyfall.pretty.format, skyfall.test
local it, expect = test.it, test.expect

it("writes values as Lua would", function()
  expect(format(1)):equals "1"
  expect(format(1.0)):equals "1.0"
  expect(format "a\n\"b\""):equals '"a\\n\\"b\\""'
  expect(format { 1, nil, 3, x = { true }, ["a b"] = 2 }):contains '["a b"] = 2'
  expect(format {}):equals "{}"
end)

it("sorts keys, and shows neither addresses nor the inside of what is in itself", function()
  local t = { b = 1, a = print }
  t.self = t
  expect(format(t)):equals "{ a = <function>, b = 1, self = <cycle> }"
end)

it("breaks what does not fit a line", function()
  local long = {}
  for i = 1, 40 do long[i] = i * 1000 end
  local text = format({ list = long }, { indent = 4 })
  expect(text:find "\n" ~= nil):holds()
  expect(text):contains "\n        1000,\n"
end)

it("shows what has words of its own by them", function()
  expect(format { skyfall.array.new("f32", { 2, 3 }) }):contains "array(f32, [2, 3])"
end)
