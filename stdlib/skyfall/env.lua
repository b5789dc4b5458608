--- Environments, native ones bit for bit Gymnasium's.

local native = ...

---@class skyfall.envlib
local M = {}

---@class skyfall.Env
---@field id string
---@field observation_space skyfall.Space
---@field action_space skyfall.Space
---@field reset fun(self: skyfall.Env, options: { seed: integer?, options: table? }?): any, table `options` as Gymnasium's, such as `low` and `high`
---@field step fun(self: skyfall.Env, action: any): any, number, boolean, boolean, table

--- Makes an environment.
---@param id string such as `CartPole-v1`
---@param kwargs table?
---@return skyfall.Env
M.make = native.make

--- Copies of a native environment, stepped together on every core. Copy `i` (from 0) does what a
--- single environment seeded `seed + i` does. An episode that ended begins anew at the next step,
--- which ignores its action and brings reward 0 (Gymnasium's `NEXT_STEP`).
---@class skyfall.Vector
---@field id string
---@field n integer how many copies
---@field observation_space skyfall.Space of one copy
---@field action_space skyfall.Space of one copy
---@field reset fun(self: skyfall.Vector, options: { seed: integer?, options: table? }?): skyfall.Array the first observations, `[n, ...]`
---@field step fun(self: skyfall.Vector, actions: skyfall.Array|table): skyfall.Array, skyfall.Array, skyfall.Array, skyfall.Array actions `[n]`; observations `[n, ...]`, rewards, terminated, truncated `[n]`
---@field rollout fun(self: skyfall.Vector, actions: skyfall.Array|table): skyfall.Array, skyfall.Array, skyfall.Array, skyfall.Array actions `[n, steps]`; observations `[n, steps, ...]`, rewards, terminated, truncated `[n, steps]`
---@field parameters fun(self: skyfall.Vector): table
---@field set_parameter fun(self: skyfall.Vector, name: string, value: any) in every copy

--- Makes `n` copies of a native environment.
---@param id string
---@param n integer
---@param kwargs table?
---@return skyfall.Vector
M.vector = native.vector

--- The registered ids, sorted.
---@return string[]
M.list = native.list

return M
