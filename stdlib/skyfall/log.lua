--- Messages to the person at the terminal, on stderr.

local native = ...

---@class skyfall.loglib
local M = {}

--- Something to know; silent with `--quiet`.
---@param message string
M.info = native.info

--- Something that may be wrong.
---@param message string
M.warn = native.warn

return M
