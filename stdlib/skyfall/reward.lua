--- Rewards: named terms, weighted and added in the order they are declared.

local native = ...

---@class skyfall.rewardlib
local M = {}

---@class skyfall.StepView what a term sees of one step, to look at and not to change; its lists are written over at the next step, so copy what you keep
---@field step integer the step's index within the run, from 0
---@field observation any what the action answered: an integer, a list of numbers (an array where they are many), ...
---@field action any
---@field next_observation any what followed (the terminal observation at an episode's end)
---@field env_reward number the environment's own reward
---@field terminated boolean the task ended here
---@field truncated boolean a limit ended the episode here
---@field info table what else the environment reported
---@field regime_id string? the label of the regime in force
---@field observed_at string the step's time (RFC 3339, UTC); reading it records it in the row
---@field params table what the term was made with

---@class skyfall.Term

--- A reward term. `fn` returns a finite number and, if it likes, a table of sub-terms that lands
--- in the row's `reward_detail`.
---
--- ```lua
--- local upright = skyfall.reward.term("upright", function(s) return math.cos(s.next_observation[3]) end)
--- skyfall.reward.compose { { upright } }
--- ```
---@param name string the component's name
---@param fn fun(s: skyfall.StepView): number, table?
---@param params table? plain data, seen as `s.params`
---@return skyfall.Term
M.term = native.term

--- A native term: `env` (the environment's own reward), `alive`, `action_cost`, ...
---
--- ```lua
--- skyfall.reward.compose { { skyfall.reward.builtin "env" }, { skyfall.reward.builtin "alive", weight = 0.1 } }
--- ```
---@param name string
---@param params table?
---@return skyfall.Term
M.builtin = native.builtin

---@class skyfall.Composition

--- A composition: a list of `{ term, weight = w }` (weight 1 when left out). A row's
--- `reward_components[name]` is weight x value, and `reward` is exactly their sum.
---
--- ```lua
--- local still = skyfall.reward.term("still", function(s) return -math.abs(s.next_observation[2]) end)
--- skyfall.reward.compose { { skyfall.reward.builtin "env" }, { still, weight = 0.1 } }
--- ```
---@param terms { [1]: skyfall.Term, weight: number? }[]
---@return skyfall.Composition
M.compose = native.compose

return M
