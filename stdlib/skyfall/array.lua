--- Native arrays: typed, of any rank, in C order.

local native = ...

---@class skyfall.arraylib
local M = {}

---@alias skyfall.dtype "f16"|"f32"|"f64"|"i8"|"i16"|"i32"|"i64"|"u8"|"u16"|"u32"|"bool"

---@class skyfall.Array
---@field shape integer[]
---@field dtype skyfall.dtype
---@operator add(skyfall.Array|number): skyfall.Array
---@operator sub(skyfall.Array|number): skyfall.Array
---@operator mul(skyfall.Array|number): skyfall.Array
---@operator div(skyfall.Array|number): skyfall.Array
---@operator len: integer

--- An array of zeros.
---@param dtype skyfall.dtype
---@param shape integer[]
---@return skyfall.Array
M.new = native.new

--- An array with a table's numbers; nested lists give it its rank.
---@param values table
---@param dtype skyfall.dtype
---@return skyfall.Array
M.from = native.from

return M
