--- JSON in Python's dialect: `1` and `1.0` stay apart, keys are sorted.

local native = ...

---@class skyfall.jsonlib
local M = {}

--- `value` as JSON, on one line.
---@param value any plain data
---@return string
M.encode = native.encode

--- The value a JSON text holds; `null` becomes `nil`.
---@param text string
---@return any
M.decode = native.decode

return M
