--- Seeded random streams, bit for bit NumPy's `default_rng`.

local native = ...

---@class skyfall.randomlib
local M = {}

---@class skyfall.Rng
---@field uniform fun(self: skyfall.Rng, low: number?, high: number?): number
---@field normal fun(self: skyfall.Rng, mean: number?, deviation: number?): number
---@field integers fun(self: skyfall.Rng, low: integer, high: integer): integer from `low` to `high - 1`
---@field choice fun(self: skyfall.Rng, list: table): any
---@field spawn fun(self: skyfall.Rng): skyfall.Rng

--- The stream `numpy.random.default_rng(seed)` gives.
---@param seed integer
---@return skyfall.Rng
M.rng = native.rng

return M
