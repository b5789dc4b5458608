--- Regimes: which configuration of the world is in force, and when it shifts.

local native = ...

---@class skyfall.regimelib
local M = {}

---@class skyfall.Provider

---@class skyfall.RegimeEntry
---@field id string? the label that segments the trace
---@field steps integer how long; a schedule's last entry goes on
---@field origin string? the label this one repeats
---@field env table? environment parameters to set while it is in force
---@field reward table? reward weights to replace while it is in force, by term

--- One regime for the whole run.
---@param params { id: string?, env: table?, reward: table? }?
---@return skyfall.Provider
M.constant = function(params) return native.make("constant", params or {}) end

--- One entry after another; the last one goes on.
---@param entries skyfall.RegimeEntry[]
---@return skyfall.Provider
M.schedule = function(entries) return native.make("schedule", { entries = entries }) end

--- One entry after another, over and over.
---@param entries skyfall.RegimeEntry[]
---@return skyfall.Provider
M.cycle = function(entries) return native.make("cycle", { entries = entries }) end

--- A provider of one's own: `fn` is called before each step and returns the regime in force.
---@param name string
---@param params table plain data, handed to `fn`
---@param fn fun(step: integer, params: table, rng: skyfall.Rng): { id: string?, origin: string?, env: table?, reward: table? }
---@return skyfall.Provider
M.provider = native.provider

return M
