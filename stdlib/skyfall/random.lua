--- Seeded random streams, bit for bit NumPy's `default_rng`.

local native = ...

---@class skyfall.randomlib
local M = {}

--- Where a shape is given (`5`, `{ 2, 3 }`), a draw is an array of them, as NumPy's `size`.
---@class skyfall.Rng
---@field uniform fun(self: skyfall.Rng, low: number?, high: number?, shape: integer|integer[]?): number|skyfall.Array from `low` (0) up to `high` (1)
---@field normal fun(self: skyfall.Rng, mean: number?, deviation: number?, shape: integer|integer[]?): number|skyfall.Array
---@field exponential fun(self: skyfall.Rng, scale: number?, shape: integer|integer[]?): number|skyfall.Array of mean `scale` (1)
---@field geometric fun(self: skyfall.Rng, p: number, shape: integer|integer[]?): integer|skyfall.Array tries up to the first success
---@field integers fun(self: skyfall.Rng, low: integer, high: integer, shape: integer|integer[]?, dtype: string?): integer|skyfall.Array from `low` to `high - 1`
---@field choice fun(self: skyfall.Rng, list: any[], options: skyfall.ChoiceOptions?): any one element; a list of them where `count` is given
---@field permutation fun(self: skyfall.Rng, what: integer|any[]): any[] the integers from 1 to n, or a copy of a list, in random order
---@field shuffle fun(self: skyfall.Rng, list: any[]): any[] the same list, in random order
---@field raw fun(self: skyfall.Rng): integer 64 random bits
---@field spawn fun(self: skyfall.Rng, count: integer?): skyfall.Rng|skyfall.Rng[] an independent stream; a list of them where `count` is given
---@field state fun(self: skyfall.Rng): skyfall.RngState where the stream stands
---@field restore fun(self: skyfall.Rng, state: skyfall.RngState) continues where `state` was taken; spawns as a stream of its own seed

---@class skyfall.ChoiceOptions
---@field count integer? how many
---@field replace boolean? whether an element may come twice; true unless given
---@field p number[]? each element's probability; all equal unless given

--- The numbers NumPy shows as `bit_generator.state`; the 128-bit ones as decimal text.
---@class skyfall.RngState
---@field state string
---@field inc string
---@field has_uint32 integer
---@field uinteger integer
---@field spawned integer how many streams were spawned

--- The stream `numpy.random.default_rng(seed)` gives.
---
--- ```lua
--- local rng = skyfall.random.rng(7)
--- local x, five = rng:uniform(), rng:normal(0, 1, 5)
--- assert(x >= 0 and x < 1 and #five == 5)
--- ```
---@param seed integer
---@return skyfall.Rng
M.rng = native.rng

--- The stream called `name` under an experiment's seed, such as `environment` or `policy`.
---
--- ```lua
--- local one = skyfall.random.named(7, "policy"):raw()
--- assert(one == skyfall.random.named(7, "policy"):raw() and one ~= skyfall.random.named(7, "script"):raw())
--- ```
---@param seed integer
---@param name string
---@return skyfall.Rng
M.named = native.named

return M
