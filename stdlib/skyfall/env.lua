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
---@param id string such as `CartPole-v1`; with `--allow-run` also an environment in another
---  program, such as `python:gymnasium/LunarLander-v3` (see `docs/environment-protocol.md`)
---@param kwargs table?
---@param options { wrappers: skyfall.Wrapper[]? }?
---@return skyfall.Env
M.make = native.make

---@class skyfall.EnvDefinition
---@field id string
---@field kwargs table? the arguments with their defaults; they are the physical parameters too, which a regime may set
---@field observation_space skyfall.Space|fun(kwargs: table): skyfall.Space
---@field action_space skyfall.Space|fun(kwargs: table): skyfall.Space
---@field max_episode_steps integer? truncates an episode after so many steps
---@field reset fun(env: table): any, table? begins an episode: its first observation, and info
---@field step fun(env: table, action: any): any, number, boolean, boolean?, table? observation, reward, terminated, truncated, info
---@field describe (fun(env: table): table)? what the bundle's provenance says of it

--- Defines an environment, to be made by its id here and in experiments. `reset` and `step` get
--- one table a made environment, theirs to keep state in; it holds `kwargs` and the seeded stream
--- `rng`. What they return is checked: an observation of the wrong shape, outside its space or
--- NaN stops the run and names the field. A bundle carries the code by value.
---@param definition skyfall.EnvDefinition
M.define = native.define

--- The ids of all environments, sorted.
---@return string[]
M.list = native.list

--- The wrappers' names, sorted.
---@return string[]
M.wrappers = native.wrappers

return M
