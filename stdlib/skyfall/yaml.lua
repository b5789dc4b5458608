--- YAML in PyYAML's dialect.

local native = ...

---@class skyfall.yamllib
local M = {}

--- `value` as a YAML document.
---
--- ```lua
--- assert(skyfall.yaml.encode { a = "yes", n = 1 } == "a: 'yes'\nn: 1\n")
--- ```
---@param value any plain data
---@return string
M.encode = native.encode

--- The value a YAML document holds.
---
--- ```lua
--- assert(skyfall.yaml.decode("a: [1, 2]").a[2] == 2)
--- ```
---@param text string
---@return any
M.decode = native.decode

return M
