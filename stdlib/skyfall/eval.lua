--- Evaluation: the numbers of a continual-RL paper, from trace files alone.

local native = ...

---@class skyfall.evallib
local M = {}

--- Evaluates traces and returns the same tree as `skyfall eval --format json`: an undefined
--- metric has no `value` and says why in `reason`.
---@param paths string|string[]
---@param options { window: integer|string?, threshold: number? }? the long flags of `skyfall eval`, `_` for `-`
---@return table
M.traces = native.traces

return M
