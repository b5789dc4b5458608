--- Messages to the person at the terminal, on stderr.

local native = ...

---@class skyfall.loglib
local M = {}

--- Something to know; silent with `--quiet`.
---
--- ```lua
--- skyfall.log.info("half way")
--- ```
---@param message string
M.info = native.info

--- Something that may be wrong.
---
--- ```lua
--- skyfall.log.warn("the trace has a gap")
--- ```
---@param message string
M.warn = native.warn

return M
