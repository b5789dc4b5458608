--- YAML in PyYAML's dialect.

local native = ...

---@class skyfall.yamllib
local M = {}

--- `value` as a YAML document.
---@param value any plain data
---@return string
M.encode = native.encode

--- The value a YAML document holds.
---@param text string
---@return any
M.decode = native.decode

return M
