--- The trace: JSON Lines, one object a step.

local native = ...

---@class skyfall.tracelib
local M = {}

---@class skyfall.TraceWriter
---@field write fun(self: skyfall.TraceWriter, row: skyfall.Row) a row from a table, or one that was read
---@field push fun(self: skyfall.TraceWriter, ...: any) a row from scalars, in the order of the `columns` option
---@field extend fun(self: skyfall.TraceWriter, columns: table<string, any>): integer rows from lists or flat arrays of one length, by column name; a scalar is the same in each row; answers how many
---@field flush fun(self: skyfall.TraceWriter) hands everything written so far to the system: readers see it, and it survives a kill
---@field close fun(self: skyfall.TraceWriter) flushes and ends the file; others may write it then

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

---@class skyfall.ReadRow: skyfall.Row a row that was read; fields become Lua values when touched, and cannot be set
---@field totable fun(self: skyfall.ReadRow): skyfall.Row a table of the script's own

---@class skyfall.TraceOptions
---@field append boolean? go on with the file; a torn last row is cut off first
---@field strict_json boolean? write numbers that are not finite as null
---@field flush_every integer? flush after every so many rows
---@field columns string[]? what `push` takes, such as `{ "step", "reward", "regime_id", "action.index", "reward_components.upright" }`

--- Opens a trace for writing; the name's end (`.gz`, `.zst`) says how it is compressed. `meta` is
--- merged into every row: the identity keys (run_id, seed, policy_id, task, algorithm_id) first,
--- then the others sorted. Rows reach the system in blocks of 64 KiB, at `flush`, at every
--- `flush_every`th row and at `close`; a killed process loses those since. Closes itself with
--- `<close>`.
---
--- ```lua
--- local w <close> = skyfall.trace.writer("t.jsonl", { run_id = "a", seed = 1 })
--- w:write { step = 0, reward = 1.0, regime_id = "calm" }
--- ```
---@param path string
---@param meta table?
---@param options skyfall.TraceOptions?
---@return skyfall.TraceWriter
M.writer = native.writer

---@class skyfall.Run
---@field run_id any
---@field seed any
---@field policy_id any
---@field task any
---@field algorithm_id any
---@field meta table keys with one value in all rows
---@field steps skyfall.ReadRow[]

--- Reads a trace file, or a directory of them, whole: the runs, in order of first appearance.
---
--- ```lua
--- local w <close> = skyfall.trace.writer("t.jsonl", { run_id = "a" })
--- w:write { step = 0, reward = 1.5 }
--- w:close()
--- assert(skyfall.trace.load("t.jsonl")[1].steps[1].reward == 1.5)
--- ```
---@param path string
---@return skyfall.Run[]
M.load = native.load

--- Reads a trace row by row: `for row, meta in trace.rows(path) do`. `meta` holds the row's
--- identity and metadata, and is one table for as long as these stay the same.
---
--- ```lua
--- local w <close> = skyfall.trace.writer("t.jsonl", { run_id = "a" })
--- w:write { step = 0, reward = 1.5 }
--- w:close()
--- for row, meta in skyfall.trace.rows("t.jsonl") do assert(row.reward == 1.5 and meta.run_id == "a") end
--- ```
---@param path string
---@return fun(): skyfall.ReadRow?, table?
M.rows = native.rows

---@class skyfall.Fault
---@field code string
---@field message string what is odd, and what was done about it
---@field file string?
---@field line integer?
---@field step integer?
---@field count integer

--- What is odd about a trace: an empty list if nothing is.
---
--- ```lua
--- skyfall.fs.write("t.jsonl", '{"step": 0, "reward": 1}\nno row\n')
--- assert(#skyfall.trace.check("t.jsonl") > 0)
--- ```
---@param path string
---@return skyfall.Fault[]
M.check = native.check

return M
