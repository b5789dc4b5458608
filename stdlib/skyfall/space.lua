--- Observation and action spaces, as Gymnasium has them.

local native = ...

---@class skyfall.spacelib
local M = {}

--- `==` compares everything about two spaces, what decides sampling included.
---@class skyfall.Space
---@field type string `Box`, `Discrete`, `MultiDiscrete`, `MultiBinary`, `Text`, `Dict`, `Tuple`, `Sequence`, `Graph` or `OneOf`
---@field n integer? how many integers a Discrete has
---@field start integer|skyfall.Array|nil the first of them; for a MultiDiscrete, of each element
---@field nvec skyfall.Array? how many integers each element of a MultiDiscrete has
---@field low skyfall.Array? a Box's lower bounds
---@field high skyfall.Array? a Box's upper bounds
---@field shape integer[]? the shape of elements that are numbers
---@field spaces table<any, skyfall.Space>? the parts of a Dict (by name), Tuple or OneOf
---@field encode fun(self: skyfall.Space): table
---@field contains fun(self: skyfall.Space, element: any): boolean
---@field sample fun(self: skyfall.Space, source: skyfall.Rng|integer): any drawn from a stream, or the first sample after Gymnasium's `space.seed(source)`
---@field sampler fun(self: skyfall.Space, seed: integer): skyfall.Sampler Gymnasium's samples after `space.seed(seed)`

---@class skyfall.Sampler
---@field sample fun(self: skyfall.Sampler): any

--- A box: `low` and `high` are numbers or (nested) lists, infinite where there is no bound;
--- `shape` is theirs unless given, that of a list of one for numbers. `dtype` is float32 unless
--- given.
---
--- ```lua
--- local box = skyfall.space.box { low = -1, high = { 1, 2 } }
--- assert(box:contains { 0, 1.5 } and not box:contains { 0, 3 })
--- ```
---@param spec { low: any, high: any, shape: integer[]?, dtype: string? }
---@return skyfall.Space
M.box = native.box

--- The integers `start` to `start + n - 1`.
---
--- ```lua
--- assert(skyfall.space.discrete(3):contains(2) and not skyfall.space.discrete(3):contains(3))
--- ```
---@param n integer
---@param start integer? 0 unless given
---@param dtype string? int64 unless given
---@return skyfall.Space
M.discrete = native.discrete

--- An array of integers: element `i` from `start[i]` to `start[i] + nvec[i] - 1`.
---
--- ```lua
--- assert(#skyfall.space.multi_discrete({ 2, 3 }):sample(1) == 2)
--- ```
---@param nvec any a list of counts, possibly nested
---@param start any zeros unless given
---@param dtype string? int64 unless given
---@return skyfall.Space
M.multi_discrete = native.multi_discrete

--- Zeros and ones: a list of `n`, or an array of the shape `n`.
---
--- ```lua
--- assert(#skyfall.space.multi_binary(4):sample(1) == 4)
--- ```
---@param n integer|integer[]
---@return skyfall.Space
M.multi_binary = native.multi_binary

--- Strings of `min_length` (1) to `max_length` characters of `charset` (digits and ASCII letters);
--- a bare number is the maximum.
---
--- ```lua
--- assert(skyfall.space.text(8):contains "abc")
--- ```
---@param spec integer|{ max_length: integer, min_length: integer?, charset: string? }
---@return skyfall.Space
M.text = native.text

--- An element of each of several named spaces. Their order, which decides sampling, is that of
--- their names, or that of a list of pairs: `space.dict { { "b", b }, { "a", a } }`.
---
--- ```lua
--- local space = skyfall.space.dict { where = skyfall.space.discrete(4), on = skyfall.space.multi_binary(2) }
--- assert(space:sample(1).where ~= nil)
--- ```
---@param spaces table
---@return skyfall.Space
M.dict = native.dict

--- An element of each of several spaces.
---
--- ```lua
--- assert(#skyfall.space.tuple({ skyfall.space.discrete(2), skyfall.space.discrete(3) }):sample(1) == 2)
--- ```
---@param spaces skyfall.Space[]
---@return skyfall.Space
M.tuple = native.tuple

--- Any number of elements of `space`; with `stack`, their numbers as one array.
---
--- ```lua
--- skyfall.space.sequence(skyfall.space.discrete(3)):sample(1)
--- ```
---@param space skyfall.Space
---@param stack boolean?
---@return skyfall.Space
M.sequence = native.sequence

--- Graphs: `nodes`, and where there is an `edge_space`, `edges` with their `edge_links` (pairs of
--- nodes, counted from 0).
---
--- ```lua
--- local node, edge = skyfall.space.box { low = 0, high = { 1 } }, skyfall.space.discrete(2)
--- assert(skyfall.space.graph(node, edge):sample(1).nodes)
--- ```
---@param node_space skyfall.Space
---@param edge_space skyfall.Space?
---@return skyfall.Space
M.graph = native.graph

--- An element of one of several spaces: a pair of its index, counted from 0, and the element.
---
--- ```lua
--- local pair = skyfall.space.one_of({ skyfall.space.discrete(2), skyfall.space.text(3) }):sample(1)
--- assert(pair[1] == 0 or pair[1] == 1)
--- ```
---@param spaces skyfall.Space[]
---@return skyfall.Space
M.one_of = native.one_of

--- A space as plain data, as a bundle's manifest holds it. The parts of a dict are a list of
--- pairs where their order is not that of their names, since tables have none.
---
--- ```lua
--- assert(skyfall.space.encode(skyfall.space.discrete(3)).n == 3)
--- ```
---@param space skyfall.Space
---@return table
M.encode = native.encode

--- The space that plain data describes.
---
--- ```lua
--- local space = skyfall.space.discrete(3)
--- assert(skyfall.space.decode(space:encode()) == space)
--- ```
---@param data table
---@return skyfall.Space
M.decode = native.decode

return M
