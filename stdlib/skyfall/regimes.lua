--- Lists of regimes made by rule, for `skyfall.regime.schedule` and `cycle`.

local tables = require "skyfall.tables"

---@class skyfall.regimeslib
local M = {}

--- A parameter that goes from one value to another in even levels, each in force for `steps`.
---
--- ```lua
--- local entries = skyfall.regimes.ramp { parameter = "gravity", from = 9.8, to = 12.8, levels = 4, steps = 500 }
--- assert(#entries == 4 and entries[2].env.gravity == 10.8 and entries[4].id == "gravity-4")
--- skyfall.regime.schedule(entries)
--- ```
---@param params { parameter: string, from: number, to: number, levels: integer, steps: integer, id: string? }
---@return skyfall.RegimeEntry[]
function M.ramp(params)
  local values = tables.linspace(params.from, params.to, params.levels)
  return tables.map(values, function(value, level)
    return { id = (params.id or params.parameter) .. "-" .. level, steps = params.steps, env = { [params.parameter] = value } }
  end)
end

--- The entries over and over, `times` in all; each visit after the first has a label of its own
--- (`calm-2`) and says which it repeats, so that forgetting can be told.
---
--- ```lua
--- local entries = skyfall.regimes.revisits({ { id = "calm", steps = 100 }, { id = "windy", steps = 100 } }, 2)
--- assert(#entries == 4 and entries[3].id == "calm-2" and entries[3].origin == "calm")
--- skyfall.regime.schedule(entries)
--- ```
---@param entries skyfall.RegimeEntry[]
---@param times integer
---@return skyfall.RegimeEntry[]
function M.revisits(entries, times)
  local all = {}
  for visit = 1, times do
    for _, entry in ipairs(entries) do
      local copy = tables.copy(entry)
      if visit > 1 then
        copy.origin = entry.origin or entry.id
        copy.id = ("%s-%d"):format(entry.id, visit)
      end
      all[#all + 1] = copy
    end
  end
  return all
end

--- The entries in an order drawn from `seed`, the same in every run.
---
--- ```lua
--- local entries = skyfall.regimes.shuffled({ { id = "a", steps = 9 }, { id = "b", steps = 9 } }, 7)
--- assert(#entries == 2)
--- ```
---@param entries skyfall.RegimeEntry[]
---@param seed integer
---@return skyfall.RegimeEntry[]
function M.shuffled(entries, seed)
  return require("skyfall.random").rng(seed):shuffle(tables.copy(entries))
end

return M
