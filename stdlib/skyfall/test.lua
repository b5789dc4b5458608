--- Tests of scripts, run by `skyfall test`: files called `test_*.lua` or `*_test.lua`.

local native = ...
local tables = require "skyfall.tables"
local pretty = require "skyfall.pretty"

---@class skyfall.testlib
local M = {}

local open = {}

--- Groups cases; groups may stand in groups.
---
--- ```lua
--- local describe, it, expect = skyfall.test.describe, skyfall.test.it, skyfall.test.expect
--- describe("addition", function()
---   it("adds", function() expect(1 + 1):equals(2) end)
---   it("rounds", function() expect(0.1 + 0.2):near(0.3) end)
---   it("needs numbers", function() expect(function() return 1 + {} end):raises "arithmetic" end)
--- end)
--- ```
---@param name string
---@param body fun()
function M.describe(name, body)
  open[#open + 1] = name
  body()
  open[#open] = nil
end

--- A case: it fails when `body` raises. `math.random` and `skyfall.test.rng` give each the same
--- numbers in every run.
---
--- ```lua
--- skyfall.test.it("is there", function() skyfall.test.expect(skyfall.version):is_a "string" end)
--- ```
---@param name string
---@param body fun()
function M.it(name, body)
  local path = table.concat(open, " > ")
  native.case(path == "" and name or path .. " > " .. name, body)
end

--- A fresh directory, gone after the file's tests; they may read and write there.
---
--- ```lua
--- skyfall.test.it("writes", function()
---   local path = skyfall.test.tmpdir() .. "/a.txt"
---   skyfall.fs.write(path, "x")
---   skyfall.test.expect(skyfall.fs.read(path)):equals "x"
--- end)
--- ```
---@return string
M.tmpdir = native.tmpdir

--- A stream of the present case's own, of the run's `--seed` and the case's name.
---
--- ```lua
--- skyfall.test.it("draws", function() skyfall.test.expect(skyfall.test.rng():uniform()):is_a "number" end)
--- ```
---@return skyfall.Rng
M.rng = native.rng

---@class skyfall.Expectation
---@field equals fun(self: skyfall.Expectation, expected: any) tables by what is in them
---@field differs fun(self: skyfall.Expectation, other: any)
---@field near fun(self: skyfall.Expectation, expected: any, tolerance: number?) numbers, and lists and arrays of them, within `tolerance` (1e-9) times the larger of 1 and the number expected
---@field is_a fun(self: skyfall.Expectation, kind: string) a `type` or a `math.type`
---@field holds fun(self: skyfall.Expectation) neither nil nor false
---@field fails fun(self: skyfall.Expectation) nil or false
---@field contains fun(self: skyfall.Expectation, part: any) a piece of text, or an item of a list
---@field raises fun(self: skyfall.Expectation, words: string?) a function that raises, with these words
local Expectation = {}
Expectation.__index = Expectation

local function fail(text, ...) error(text:format(...), 3) end

function Expectation:equals(expected)
  if not tables.equal(self.value, expected) then
    fail("expected %s, got %s", pretty.format(expected), pretty.format(self.value))
  end
end

function Expectation:differs(other)
  if tables.equal(self.value, other) then fail("expected something else than %s", pretty.format(other)) end
end

local function off(value, expected, tolerance, place)
  if type(expected) == "number" then
    local scale = math.max(1, math.abs(expected))
    local same = value == expected or (value ~= value and expected ~= expected)
    if type(value) == "number" and (same or math.abs(value - expected) <= tolerance * scale) then return nil end
    return place, value, expected
  end
  if #value ~= #expected then return place .. " (length)", #value, #expected end
  for i = 1, #expected do
    local where, found, wanted = off(value[i], expected[i], tolerance, ("%s[%d]"):format(place, i))
    if where then return where, found, wanted end
  end
end

function Expectation:near(expected, tolerance)
  local where, found, wanted = off(self.value, expected, tolerance or 1e-9, "value")
  if where then fail("%s: expected %s within %s, got %s", where, wanted, tolerance or 1e-9, pretty.format(found)) end
end

function Expectation:is_a(kind)
  if type(self.value) ~= kind and math.type(self.value) ~= kind then
    fail("expected a value of type %s, got %s, %s", kind, type(self.value), pretty.format(self.value))
  end
end

function Expectation:holds()
  if not self.value then fail("expected something that holds, got %s", tostring(self.value)) end
end

function Expectation:fails()
  if self.value then fail("expected nil or false, got %s", pretty.format(self.value)) end
end

function Expectation:contains(part)
  local found = false
  if type(self.value) == "string" then
    found = self.value:find(part, 1, true) ~= nil
  else
    for i = 1, #self.value do found = found or tables.equal(self.value[i], part) end
  end
  if not found then fail("%s is not in %s", pretty.format(part), pretty.format(self.value)) end
end

function Expectation:raises(words)
  local ok, problem = pcall(self.value)
  if ok then fail "expected an error, none was raised" end
  local text = type(problem) == "table" and problem.message or tostring(problem)
  if words and not text:find(words, 1, true) then fail("expected an error with %q, got %q", words, text) end
end

--- What is expected of a value: `expect(x):equals(y)`, `expect(x):near(y)`, ...
---
--- ```lua
--- skyfall.test.it("compares", function()
---   skyfall.test.expect({ 1, { a = 2 } }):equals { 1, { a = 2 } }
---   skyfall.test.expect({ 0.1 + 0.2 }):near { 0.3 }
---   skyfall.test.expect("a line"):contains "line"
--- end)
--- ```
---@param value any
---@return skyfall.Expectation
function M.expect(value) return setmetatable({ value = value }, Expectation) end

return M
