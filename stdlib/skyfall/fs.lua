--- Whole files, within the script's permissions.

local native = ...

---@class skyfall.fslib
local M = {}

--- A file's content.
---@param path string
---@return string
M.read = native.read

--- Writes a file, complete or not at all; its directory is made.
---@param path string
---@param content string
M.write = native.write

--- Whether something exists at `path`.
---@param path string
---@return boolean
M.exists = native.exists

return M
