--- Policies: what acts. Native ones by id, and a script's own.

local native = ...

---@class skyfall.policylib
local M = {}

---@class skyfall.PolicyContext
---@field observation_space skyfall.Space
---@field action_space skyfall.Space
---@field seed integer the experiment's seed
---@field rng skyfall.Rng the stream called `policy` under that seed

---@class skyfall.PolicyDefinition
---@field id string
---@field kwargs table? the arguments with their defaults; without it, any are taken
---@field new (fun(kwargs: table, context: skyfall.PolicyContext): table)? makes the policy's own table, `self`
---@field act (fun(self: table, observation: any): any)? the action for an observation; may be a method of `self`
---@field save (fun(self: table, dir: string))? writes what `load` needs into the directory `dir`
---@field load (fun(self: table, dir: string))? restores what `save` wrote

--- Defines a policy, to be named in an experiment's `algorithm.policy.id`. A bundle carries its
--- code by value. While `save` and `load` run, `skyfall.fs` reaches the directory they are given
--- and nothing else; `load` may only read there. A policy without them keeps no state: a served
--- one begins as `new` makes it. What the definition lacks of `act`, `save` and `load` is taken from
--- the table that `new` returns.
---
--- A policy need not be defined to be named: `my.policies:make` is the function `make` of the module
--- `my.policies`, called as `new` is.
---
--- ```lua
--- skyfall.policy.define {
---   id = "lean",
---   act = function(self, observation) return observation[3] > 0 and 1 or 0 end,
--- }
--- skyfall.run_experiment {
---   env = { id = "CartPole-v1" },
---   algorithm = { name = "none", policy = { id = "lean" } },
---   rollout = { total_steps = 50 },
--- }
--- ```
---@param definition skyfall.PolicyDefinition
M.define = native.define

--- The ids of all policies, sorted.
---
--- ```lua
--- assert(#skyfall.policy.list() > 0)
--- ```
---@return string[]
M.list = native.list

return M
