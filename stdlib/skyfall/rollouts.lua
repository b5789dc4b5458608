--- The rollout store: finite-candidate rollouts as a Zarr store that Python readers open.

local native = ...

---@class skyfall.rolloutslib
local M = {}

---@class skyfall.RolloutsWriter
---@field add fun(self: skyfall.RolloutsWriter, record: table)
---@field finish fun(self: skyfall.RolloutsWriter): skyfall.RolloutZarrWriteResult

---@class skyfall.RolloutZarrWriteResult
---@field store_dir string
---@field num_rollouts integer
---@field num_steps integer
---@field num_candidates integer
---@field manifest_path string
---@field manifest_sha256 string

--- A writer of one store; `options.store_dir` is replaced when it finishes, and not before.
---@param options table
---@return skyfall.RolloutsWriter
M.writer = native.writer

--- Writes a store from a list of records in one go.
---@param store_dir string
---@param records table[]
---@param options table?
---@return skyfall.RolloutZarrWriteResult
M.write_rollout_zarr_store = function(store_dir, records, options)
  local settings = {}
  for key, value in next, options or {} do settings[key] = value end
  settings.store_dir = store_dir
  local writer = native.writer(settings)
  for _, record in ipairs(records) do writer:add(record) end
  return writer:finish()
end

---@class skyfall.RolloutsStore
---@field manifest table
---@field attributes table
---@field array fun(self: skyfall.RolloutsStore, path: string): skyfall.Array
---@field q_h_view fun(self: skyfall.RolloutsStore, options: { discount_gamma: number? }?): table<string, skyfall.Array>

--- Opens a store for reading.
---@param store_dir string
---@return skyfall.RolloutsStore
M.open = native.open

---@class skyfall.RolloutsValidation
---@field ok boolean
---@field num_rollouts integer
---@field num_steps integer
---@field num_candidates integer
---@field errors string[]

--- Checks a store against its contract; every violation is reported.
---@param store_dir string
---@return skyfall.RolloutsValidation
M.validate = native.validate

return M
