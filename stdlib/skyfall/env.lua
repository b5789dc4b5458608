--- Environments, native ones bit for bit Gymnasium's.

local native = ...

---@class skyfall.envlib
local M = {}

---@class skyfall.Env
---@field id string
---@field observation_space skyfall.Space
---@field action_space skyfall.Space
---@field reset fun(self: skyfall.Env, options: { seed: integer? }?): any, table
---@field step fun(self: skyfall.Env, action: any): any, number, boolean, boolean, table

--- Makes an environment.
---@param id string such as `CartPole-v1`; with `--allow-run` also an environment in another
---program, such as `python:gymnasium/LunarLander-v3` (see `docs/environment-protocol.md`)
---@param kwargs table?
---@return skyfall.Env
M.make = native.make

--- The registered ids, sorted.
---@return string[]
M.list = native.list

return M
