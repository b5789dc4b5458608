--- Evaluation: the numbers of a continual-RL paper, from trace files alone.

local native = ...

---@class skyfall.evallib
local M = {}

---@class skyfall.EvalOptions the long flags of `skyfall eval`, `_` for `-`
---@field frozen (string|string[])? served traces of the runs' bundles
---@field baseline (string|string[])? runs from scratch
---@field window (integer|string)? rows, or a share such as "10%"
---@field recover number?
---@field adapt number?
---@field threshold number?
---@field regret_ref (string|table<string, number>)? "run", "set", a JSON file, or levels by regime
---@field bounds (string|table<string, { min: number?, max: number? }>)? a JSON file, or bounds by regime
---@field metric (string|string[])? the metrics to report
---@field from_step integer?
---@field until_step integer?
---@field from_frac number?
---@field until_frac number?
---@field regime (string|string[])?
---@field skip_null boolean?
---@field on_duplicate ("all"|"last"|"first"|"error")?
---@field on_restart ("keep"|"supersede")? what a step that goes back means
---@field strict boolean?
---@field group_by (string|string[])?
---@field ci number?
---@field reps integer?
---@field ci_seed integer?
---@field compare string[]? the names of two groups
---@field fail_if (string|string[])? conditions such as "forgetting>0.1"
---@field also skyfall.Metric[]? metrics of your own, reported beside the others

--- Evaluates traces and returns the same tree as `skyfall eval --format json`: an undefined
--- metric has no `value` and says why in `reason`.
---
--- ```lua
--- local w <close> = skyfall.trace.writer("t.jsonl", { run_id = "a" })
--- for step = 0, 99 do w:write { step = step, reward = 1, regime_id = step < 50 and "calm" or "windy" } end
--- w:close()
--- local tree = skyfall.eval.traces("t.jsonl", { window = 10 })
--- assert(type(tree) == "table")
--- ```
---@param paths string|string[]
---@param options skyfall.EvalOptions?
---@return table
M.traces = native.traces

---@class skyfall.ReportOptions
---@field format ("text"|"json"|"csv"|"md"|"html")?
---@field plots string? a directory for every figure, as SVG and as PNG
---@field no_plots boolean? leave the figures out of an HTML report

--- Evaluates traces and writes a report. Its format is that of the file's ending (`.html`, `.md`,
--- `.json`, `.csv`, `.txt`) unless `options.format` names it; a `format` of "csv" fills a directory.
---
--- ```lua
--- local w <close> = skyfall.trace.writer("t.jsonl", { run_id = "a" })
--- for step = 0, 99 do w:write { step = step, reward = 1, regime_id = "calm" } end
--- w:close()
--- skyfall.eval.report("t.jsonl", "report.md")
--- ```
---@param paths string|string[]
---@param file string
---@param options skyfall.EvalOptions | skyfall.ReportOptions | nil
M.report = native.report

---@class skyfall.EvalRun
---@field identity table
---@field meta table
---@field metrics table<string, number> the values of the built-in metrics that are defined
---@field encounters table[] as in the tree, and `rewards`: an array of the finite rewards, in order
---@field pairs table[] revisits; `encounters` are the two visits' places, counted from 0
---@field components table[]

---@class skyfall.Metric
---@field name string
---@field fn fun(run: skyfall.EvalRun): number?, (integer|string)?

--- A metric of your own. `fn` gets a run and returns a number, and over how many observations if
--- that is not the number of encounters; or nil and, in one word, why there is none.
---
--- ```lua
--- local eval = skyfall.eval
--- local w <close> = skyfall.trace.writer("out/traces.jsonl", { run_id = "a" })
--- w:write { step = 0, reward = 1.5 }
--- w:close()
--- local best = eval.metric("best_exit", function(run)
---   local best
---   for _, visit in ipairs(run.encounters) do
---     if visit.exit and (not best or visit.exit > best) then best = visit.exit end
---   end
---   return best, best and #run.encounters or "no_finite_reward"
--- end, { unit = "reward", direction = "higher", about = "The best exit level." })
--- eval.report("out/traces.jsonl", "report.html", { also = { best } })
--- ```
---@param name string letters, digits and `_`
---@param fn fun(run: skyfall.EvalRun): number?, (integer|string)?
---@param about { unit: string?, direction: ("higher"|"lower"|"neutral")?, about: string? }?
---@return skyfall.Metric
function M.metric(name, fn, about)
  about = about or {}
  return { name = name, fn = fn, unit = about.unit, direction = about.direction, about = about.about }
end

return M
