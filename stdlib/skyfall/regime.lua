--- Regimes: which configuration of the world is in force, and when it shifts.

local native = ...

---@class skyfall.regimelib
local M = {}

---@class skyfall.Provider

---@class skyfall.Regime
---@field id string? the label that segments the trace
---@field origin string? the label this one repeats
---@field env table? environment parameters to set while it is in force
---@field reward table? reward weights to replace while it is in force, by term

---@class skyfall.RegimeEntry: skyfall.Regime
---@field steps integer how long; a schedule's last entry goes on

--- One regime for the whole run.
---
--- ```lua
--- skyfall.regime.constant { id = "heavy", env = { gravity = 12.0 } }
--- ```
---@param params { id: string?, env: table?, reward: table? }?
---@return skyfall.Provider
M.constant = function(params) return native.make("constant", params or {}) end

--- One entry after another; the last one goes on.
---
--- ```lua
--- skyfall.regime.schedule {
---   { id = "calm", steps = 1000 },
---   { id = "windy", steps = 1000, env = { force_mag = 6.0 } },
---   { id = "calm-again", origin = "calm" },
--- }
--- ```
---@param entries skyfall.RegimeEntry[]
---@return skyfall.Provider
M.schedule = function(entries) return native.make("schedule", { entries = entries }) end

--- One entry after another, over and over.
---
--- ```lua
--- skyfall.regime.cycle { { id = "day", steps = 500 }, { id = "night", steps = 500, env = { gravity = 12.0 } } }
--- ```
---@param entries skyfall.RegimeEntry[]
---@return skyfall.Provider
M.cycle = function(entries) return native.make("cycle", { entries = entries }) end

---@class skyfall.RandomState: skyfall.Regime
---@field id string the label
---@field min_steps integer? in place of that for all states
---@field mean_steps number? in place of that for all states

--- A Markov chain: each state is in force for `min_steps`, then leaves at random so that it stays
--- `mean_steps` in the mean. What follows is any other state, or is drawn with the weights of
--- `transition`, a row for each state. Drawn from the experiment's stream `regime`.
---
--- ```lua
--- skyfall.regime.random {
---   states = { { id = "calm" }, { id = "heavy", env = { gravity = 12.0 } } },
---   mean_steps = 300,
--- }
--- ```
---@param params { states: skyfall.RandomState[], mean_steps: number?, min_steps: integer?, transition: number[][]?, start: string?, seed: integer? }
---@return skyfall.Provider
M.random = function(params) return native.make("random", params) end

---@alias skyfall.Ends table<string, { from: number, to: number }>

--- Values that move instead of jumping, along a path from 0 to 1: `linear` in `steps`, a `sine` of
--- the period `steps`, or a `random_walk` whose changes have the standard deviation `std`. The
--- label is `id` and the bucket the position is in: `drift-0`, `drift-1`, ...
---
--- ```lua
--- skyfall.regime.drift { path = "sine", steps = 2000, env = { gravity = { from = 9.8, to = 12.0 } } }
--- ```
---@param params { path: "linear"|"sine"|"random_walk"?, steps: integer?, std: number?, start: number?, every: integer?, buckets: integer?, id: string?, env: skyfall.Ends?, reward: skyfall.Ends?, seed: integer? }
---@return skyfall.Provider
M.drift = function(params) return native.make("drift", params) end

--- A provider of one's own: `fn` is called before each step and returns the regime in force.
---
--- ```lua
--- skyfall.regime.provider("halves", { half = 500 }, function(step, params)
---   return { id = step < params.half and "first" or "second" }
--- end)
--- ```
---@param name string
---@param params table plain data, handed to `fn`
---@param fn fun(step: integer, params: table, rng: skyfall.Rng): { id: string?, origin: string?, env: table?, reward: table? }
---@return skyfall.Provider
M.provider = native.provider

return M
