--- Environments, native ones bit for bit Gymnasium's.

local native = ...

---@class skyfall.envlib
local M = {}

---@class skyfall.Env
---@field id string
---@field observation_space skyfall.Space
---@field action_space skyfall.Space
---@field reset fun(self: skyfall.Env, options: { seed: integer? }?): any, table
---@field parameters fun(self: skyfall.Env): table what can be set between steps, with its present values
---@field set_parameter fun(self: skyfall.Env, name: string, value: any)
---@field step fun(self: skyfall.Env, action: any): any, number, boolean, boolean, table

---@class skyfall.Wrapper
---@field name string one of `wrappers()`
---@field params table? what it is set to at first; what is not named is neutral

--- Makes an environment, inside `wrappers` if there are any, the first of them innermost. What a
--- wrapper is set by is among the environment's parameters, as `observation_noise.std`.
---@param id string such as `CartPole-v1`
---@param kwargs table?
---@param options { wrappers: skyfall.Wrapper[]? }?
---@return skyfall.Env
M.make = native.make

--- The registered ids, sorted.
---@return string[]
M.list = native.list

--- The wrappers' names, sorted.
---@return string[]
M.wrappers = native.wrappers

return M
