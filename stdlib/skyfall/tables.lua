--- Tables: copies, merges, and walks whose order does not differ from run to run.

---@class skyfall.tableslib
local M = {}

local function before(one, other)
  local kind, others = type(one), type(other)
  if kind ~= others then return kind < others end
  if kind == "boolean" then return not one and other end
  return one < other
end

--- The keys of a table in order: numbers, then text, each sorted.
---
--- ```lua
--- local keys = skyfall.tables.keys { b = 1, a = 2, [3] = 3 }
--- assert(keys[1] == 3 and keys[2] == "a" and keys[3] == "b")
--- ```
---@param t table keys are text, numbers and booleans
---@return any[]
function M.keys(t)
  local keys = {}
  for key in next, t do keys[#keys + 1] = key end
  table.sort(keys, before)
  return keys
end

--- As `pairs`, in the order of `keys`.
---
--- ```lua
--- local text = ""
--- for name, value in skyfall.tables.sorted { b = 2, a = 1 } do text = text .. name .. value end
--- assert(text == "a1b2")
--- ```
---@param t table
---@return fun(): any, any
function M.sorted(t)
  local keys, at = M.keys(t), 0
  return function()
    at = at + 1
    local key = keys[at]
    if key ~= nil then return key, t[key] end
  end
end

local function copied(value, seen)
  if type(value) ~= "table" then return value end
  if seen[value] then return seen[value] end
  local copy = {}
  seen[value] = copy
  for key, item in next, value do copy[key] = copied(item, seen) end
  local made = getmetatable(value)
  return type(made) == "table" and setmetatable(copy, made) or copy
end

--- A copy of a table and of the tables in it; what is there twice stays one.
---
--- ```lua
--- local one = { list = { 1, 2 } }
--- local other = skyfall.tables.copy(one)
--- other.list[1] = 9
--- assert(one.list[1] == 1)
--- ```
---@generic T
---@param value T
---@return T
function M.copy(value) return copied(value, {}) end

--- A new table with what is in `base`, and over it what is in `over`, table by table; a list
--- replaces a list.
---
--- ```lua
--- local config = skyfall.tables.merge({ run = { seed = 1, name = "a" } }, { run = { seed = 2 } })
--- assert(config.run.seed == 2 and config.run.name == "a")
--- ```
---@param base table
---@param over table
---@return table
function M.merge(base, over)
  local merged = M.copy(base)
  for key, value in next, over do
    local old = merged[key]
    local maps = type(old) == "table" and type(value) == "table" and #old == 0 and #value == 0
    merged[key] = maps and M.merge(old, value) or M.copy(value)
  end
  return merged
end

local function same(one, other, seen)
  if one == other or (one ~= one and other ~= other) then return true end
  if type(one) ~= "table" or type(other) ~= "table" then return false end
  if seen[one] == other then return true end
  seen[one] = other
  for key, value in next, one do
    if not same(value, other[key], seen) then return false end
  end
  for key in next, other do
    if one[key] == nil then return false end
  end
  return true
end

--- Whether two values are equal, tables by what is in them; NaN equals itself here.
---
--- ```lua
--- assert(skyfall.tables.equal({ 1, { a = 2 } }, { 1, { a = 2 } }))
--- assert(not skyfall.tables.equal({ 1 }, { 1, 2 }))
--- ```
---@param one any
---@param other any
---@return boolean
function M.equal(one, other) return same(one, other, {}) end

--- A list of what `fn` makes of each item.
---
--- ```lua
--- local squares = skyfall.tables.map({ 1, 2, 3 }, function(x) return x * x end)
--- assert(squares[3] == 9)
--- ```
---@param list any[]
---@param fn fun(item: any, index: integer): any
---@return any[]
function M.map(list, fn)
  local made = {}
  for index = 1, #list do made[index] = fn(list[index], index) end
  return made
end

--- A list of the items that `keep` answers true for.
---
--- ```lua
--- local even = skyfall.tables.filter({ 1, 2, 3, 4 }, function(x) return x % 2 == 0 end)
--- assert(#even == 2 and even[2] == 4)
--- ```
---@param list any[]
---@param keep fun(item: any, index: integer): boolean
---@return any[]
function M.filter(list, keep)
  local kept = {}
  for index = 1, #list do
    if keep(list[index], index) then kept[#kept + 1] = list[index] end
  end
  return kept
end

--- The numbers from `first` to `last`, evenly spaced, `count` of them.
---
--- ```lua
--- local rates = skyfall.tables.linspace(0, 1, 5)
--- assert(#rates == 5 and rates[2] == 0.25 and rates[5] == 1)
--- ```
---@param first number
---@param last number
---@param count integer
---@return number[]
function M.linspace(first, last, count)
  local numbers = {}
  for index = 1, count do
    numbers[index] = index == count and last or first + (last - first) * (index - 1) / (count - 1)
  end
  return numbers
end

return M
