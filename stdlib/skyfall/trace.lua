--- The trace: JSON Lines, one object a step.

local native = ...

---@class skyfall.tracelib
local M = {}

---@class skyfall.TraceWriter
---@field write fun(self: skyfall.TraceWriter, row: skyfall.Row)
---@field flush fun(self: skyfall.TraceWriter) hands everything written so far to the system
---@field close fun(self: skyfall.TraceWriter)

---@class skyfall.Row
---@field step integer
---@field reward number
---@field regime_id string?
---@field regime_origin string?
---@field observed_at string?
---@field action table?
---@field reward_components table<string, number>?
---@field reward_detail table<string, table>?
---@field invalid_action boolean?
---@field effective_rank number?
---@field ticket_snapshot table?
---@field verifier_snapshot table?

--- Opens a trace for writing. `meta` is merged into every row: the identity keys (run_id, seed,
--- policy_id, task, algorithm_id) first, then the others sorted. Closes itself with `<close>`.
---@param path string
---@param meta table?
---@param options { append: boolean?, strict_json: boolean? }?
---@return skyfall.TraceWriter
M.writer = native.writer

---@class skyfall.Run
---@field run_id any
---@field seed any
---@field policy_id any
---@field task any
---@field algorithm_id any
---@field meta table
---@field steps skyfall.Row[]

--- Reads a trace file, or a directory of them, whole: the runs, in order of first appearance.
---@param path string
---@return skyfall.Run[]
M.load = native.load

--- Reads a trace row by row: `for row, meta in trace.rows(path) do`.
---@param path string
---@return fun(): skyfall.Row?, table?
M.rows = native.rows

---@class skyfall.Fault
---@field code string
---@field message string
---@field file string?
---@field line integer?
---@field step integer?
---@field count integer

--- What is odd about a trace: an empty list if nothing is.
---@param path string
---@return skyfall.Fault[]
M.check = native.check

return M
