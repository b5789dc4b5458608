--- Learning algorithms.

local native = ...

---@class skyfall.algorithmlib
local M = {}

--- The names of all algorithms, sorted.
---@return string[]
M.list = native.list

return M
