--- Environments, native ones bit for bit Gymnasium's.

local native = ...

---@class skyfall.envlib
local M = {}

---@class skyfall.Env
---@field id string
---@field observation_space skyfall.Space
---@field action_space skyfall.Space
---@field reset fun(self: skyfall.Env, options: { seed: integer?, options: table? }?): any, table `options` as Gymnasium's, such as `low` and `high`
---@field parameters fun(self: skyfall.Env): table what can be set between steps, with its present values
---@field set_parameter fun(self: skyfall.Env, name: string, value: any)
---@field step fun(self: skyfall.Env, action: any): any, number, boolean, boolean, table

---@class skyfall.Wrapper
---@field name string one of `wrappers()`
---@field params table? what it is set to at first; what is not named is neutral

--- Makes an environment, inside `wrappers` if there are any, the first of them innermost. What a
--- wrapper is set by is among the environment's parameters, as `observation_noise.std`.
---
--- ```lua
--- local env = skyfall.env.make("CartPole-v1")
--- local observation, info = env:reset { seed = 1 }
--- local next_observation, reward, terminated, truncated = env:step(1)
--- assert(#next_observation == 4 and reward == 1)
--- ```
---@param id string such as `CartPole-v1`; with `--allow-run` also an environment in another
---  program, such as `python:gymnasium/LunarLander-v3` (see `docs/environment-protocol.md`)
---@param kwargs table?
---@param options { wrappers: skyfall.Wrapper[]? }?
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
---
--- ```lua
--- local envs = skyfall.env.vector("CartPole-v1", 8)
--- envs:reset { seed = 1 }
--- local observations, rewards = envs:step({ 0, 1, 0, 1, 0, 1, 0, 1 })
--- assert(observations.shape[1] == 8 and rewards:sum() == 8)
--- ```
---@param id string
---@param n integer
---@param kwargs table?
---@return skyfall.Vector
M.vector = native.vector

---@class skyfall.EnvDefinition
---@field id string
---@field kwargs table? the arguments with their defaults; they are the physical parameters too, which a regime may set
---@field observation_space skyfall.Space|fun(kwargs: table): skyfall.Space
---@field action_space skyfall.Space|fun(kwargs: table): skyfall.Space
---@field max_episode_steps integer? truncates an episode after so many steps
---@field reset fun(env: table, options: table): any, table? observation, info; `options` are the reset's own, empty without
---@field step fun(env: table, action: any): any, number, boolean, boolean?, table? observation, reward, terminated, truncated, info
---@field describe (fun(env: table): table)? what the bundle's provenance says of it

--- Defines an environment, to be made by its id here and in experiments. `reset` and `step` get
--- one table a made environment, theirs to keep state in; it holds `kwargs` and the seeded stream
--- `rng`. What they return is checked: an observation of the wrong shape, outside its space or
--- NaN stops the run and names the field. A bundle carries the code by value.
---
--- ```lua
--- skyfall.env.define {
---   id = "Walk-v0",
---   observation_space = skyfall.space.box { low = { 0 }, high = { 9 } },
---   action_space = skyfall.space.discrete(2),
---   reset = function(env) env.x = 0 return { env.x } end,
---   step = function(env, action)
---     env.x = env.x + action
---     return { env.x }, 1.0, env.x >= 9
---   end,
--- }
--- local env = skyfall.env.make("Walk-v0")
--- env:reset { seed = 1 }
--- assert(env:step(1)[1] == 1)
--- ```
---@param definition skyfall.EnvDefinition
M.define = native.define

--- The ids of all environments, sorted.
---
--- ```lua
--- assert(#skyfall.env.list() > 0)
--- ```
---@return string[]
M.list = native.list

--- The wrappers' names, sorted.
---
--- ```lua
--- assert(#skyfall.env.wrappers() > 0)
--- ```
---@return string[]
M.wrappers = native.wrappers

return M
