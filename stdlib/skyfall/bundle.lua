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
---@param dir string
---@return skyfall.Bundle
M.load = native.load

--- A bundle's manifest as plain data.
---@param dir string
---@return table
M.manifest = native.manifest

--- Checks a bundle: the manifest parses, the spaces decode, the policy is restored.
---@param dir string
---@return { ok: boolean, errors: string[] }
M.check = native.check

return M
