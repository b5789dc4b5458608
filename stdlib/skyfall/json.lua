--- JSON in Python's dialect: `1` and `1.0` stay apart, keys are sorted.

local native = ...

---@class skyfall.jsonlib
local M = {}

--- `value` as JSON, on one line.
---
--- ```lua
--- assert(skyfall.json.encode { b = 1, a = { 1.0, true } } == '{"a": [1.0, true], "b": 1}')
--- ```
---@param value any plain data
---@return string
M.encode = native.encode

--- The value a JSON text holds; `null` becomes `nil`.
---
--- ```lua
--- assert(skyfall.json.decode('{"a": [1, 2.5]}').a[2] == 2.5)
--- ```
---@param text string
---@return any
M.decode = native.decode

return M
