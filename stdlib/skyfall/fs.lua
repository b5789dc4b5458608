--- Whole files, within the script's permissions.

local native = ...

---@class skyfall.fslib
local M = {}

--- A file's content.
---
--- ```lua
--- skyfall.fs.write("notes.txt", "one")
--- assert(skyfall.fs.read("notes.txt") == "one")
--- ```
---@param path string
---@return string
M.read = native.read

--- Writes a file, complete or not at all; its directory is made.
---
--- ```lua
--- skyfall.fs.write("out/notes.txt", "kept whole")
--- ```
---@param path string
---@param content string
M.write = native.write

--- Whether something exists at `path`.
---
--- ```lua
--- assert(not skyfall.fs.exists("nothing.txt"))
--- ```
---@param path string
---@return boolean
M.exists = native.exists

return M
