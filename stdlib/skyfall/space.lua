--- Observation and action spaces.

local native = ...

---@class skyfall.spacelib
local M = {}

---@class skyfall.Space
---@field encode fun(self: skyfall.Space): table
---@field contains fun(self: skyfall.Space, element: any): boolean

--- A box: `low` and `high` are numbers or (nested) lists, `shape` is theirs unless given.
---@param spec { low: any, high: any, shape: integer[]?, dtype: string? }
---@return skyfall.Space
M.box = native.box

--- The integers `start` to `start + n - 1`.
---@param n integer
---@param start integer?
---@return skyfall.Space
M.discrete = native.discrete

--- A space as plain data, as a bundle's manifest holds it.
---@param space skyfall.Space
---@return table
M.encode = native.encode

--- The space that plain data describes.
---@param data table
---@return skyfall.Space
M.decode = native.decode

return M
