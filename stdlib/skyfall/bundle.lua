--- Bundles: an exported policy as one movable directory.

local native = ...

---@class skyfall.bundlelib
local M = {}

---@class skyfall.Bundle
---@field manifest table
---@field policy fun(self: skyfall.Bundle): skyfall.Policy

---@class skyfall.Policy
---@field act fun(self: skyfall.Policy, observation: any): any

--- Opens a bundle.
---
--- ```lua
--- skyfall.run_experiment({
---   env = { id = "CartPole-v1" },
---   algorithm = { name = "none", policy = { id = "linear_menu" } },
---   rollout = { total_steps = 20 },
--- }, { export_dir = "out/bundle" })
--- local policy = skyfall.bundle.load("out/bundle"):policy()
--- assert(policy:act { 0, 0, 0.1, 0 } ~= nil)
--- ```
---@param dir string
---@return skyfall.Bundle
M.load = native.load

--- A bundle's manifest as plain data.
---
--- ```lua
--- skyfall.run_experiment({
---   env = { id = "CartPole-v1" },
---   algorithm = { name = "none", policy = { id = "linear_menu" } },
---   rollout = { total_steps = 20 },
--- }, { export_dir = "out/bundle" })
--- assert(skyfall.bundle.manifest("out/bundle").env.id == "CartPole-v1")
--- ```
---@param dir string
---@return table
M.manifest = native.manifest

--- Checks a bundle: the manifest parses, the spaces decode, the policy is restored.
---
--- ```lua
--- skyfall.run_experiment({
---   env = { id = "CartPole-v1" },
---   algorithm = { name = "none", policy = { id = "linear_menu" } },
---   rollout = { total_steps = 20 },
--- }, { export_dir = "out/bundle" })
--- assert(skyfall.bundle.check("out/bundle").ok)
--- ```
---@param dir string
---@return { ok: boolean, errors: string[] }
M.check = native.check

return M
