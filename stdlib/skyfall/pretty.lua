--- Values as text for people: sorted keys, no addresses, the same in every run.

local tables = require "skyfall.tables"

---@class skyfall.prettylib
local M = {}

local function key_text(key)
  if type(key) == "string" and key:find "^[%a_][%w_]*$" then return key end
  return "[" .. (type(key) == "string" and ("%q"):format(key) or tostring(key)) .. "]"
end

local show

-- What is locked has its fields behind it, where `pairs` finds them.
local function unlocked(t)
  if getmetatable(t) ~= "locked" then return t end
  local found = {}
  for key, value in pairs(t) do found[key] = value end
  return found
end

local function fields(t, indent, open, depth)
  t = unlocked(t)
  local parts, length = {}, #t
  for i = 1, length do parts[i] = show(t[i], indent, open, depth + 1) end
  for _, key in ipairs(tables.keys(t)) do
    if not (math.type(key) == "integer" and key >= 1 and key <= length) then
      parts[#parts + 1] = key_text(key) .. " = " .. show(t[key], indent, open, depth + 1)
    end
  end
  return parts
end

function show(value, indent, open, depth)
  local kind = type(value)
  if kind == "string" then return (("%q"):format(value):gsub("\\\n", "\\n")) end
  if kind == "function" or kind == "thread" then return "<" .. kind .. ">" end
  if kind == "userdata" then return (tostring(value):gsub("[: ]* %(?0x%x+%)?$", "")) end -- an address says nothing
  if kind ~= "table" then return tostring(value) end
  local made = getmetatable(value)
  if type(made) == "table" and made.__tostring then return tostring(value) end
  if open[value] then return "<cycle>" end
  open[value] = true
  local parts = fields(value, indent, open, depth)
  open[value] = nil
  if #parts == 0 then return "{}" end
  local line = "{ " .. table.concat(parts, ", ") .. " }"
  if #line + depth * indent <= 100 and not line:find("\n", 1, true) then return line end
  local space = (" "):rep((depth + 1) * indent)
  return "{\n" .. space .. table.concat(parts, ",\n" .. space) .. ",\n" .. (" "):rep(depth * indent) .. "}"
end

--- A value as Lua would be written; a table that is in itself is shown as `<cycle>` there.
---
--- ```lua
--- assert(skyfall.pretty.format { 1, "two", b = { 0.5 }, a = true } == '{ 1, "two", a = true, b = { 0.5 } }')
--- ```
---@param value any
---@param options { indent: integer? }? spaces a level (2), where a table does not fit one line
---@return string
function M.format(value, options)
  return show(value, options and options.indent or 2, {}, 0)
end

--- Prints values as `format` shows them, a line each.
---
--- ```lua
--- skyfall.pretty.print({ a = 1 }, { 2, 3 })
--- ```
---@param ... any
function M.print(...)
  for i = 1, select("#", ...) do print(M.format((select(i, ...)))) end
end

return M
