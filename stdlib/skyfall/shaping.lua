--- Reward terms that are needed again and again. What they make travels in bundles like any term.

local reward = require "skyfall.reward"

---@class skyfall.shapinglib
local M = {}

--- Shaping by a potential (Ng, Harada and Russell, 1999): `discount` times the potential of what
--- followed, less that of what was. It leaves the best policies what they are; a terminal state
--- counts as 0.
---
--- ```lua
--- local upright = skyfall.shaping.potential("upright", function(o) return math.cos(o[3]) end, 0.99)
--- skyfall.run_experiment {
---   env = { id = "CartPole-v1" },
---   reward = skyfall.reward.compose { { skyfall.reward.builtin "env" }, { upright, weight = 0.5 } },
---   rollout = { total_steps = 20 },
--- }
--- ```
---@param name string the component's name
---@param potential_of fun(observation: any): number
---@param discount number? 1 unless given
---@return skyfall.Term
function M.potential(name, potential_of, discount)
  discount = discount or 1
  return reward.term(name, function(s)
    local after = s.terminated and 0 or potential_of(s.next_observation)
    return discount * after - potential_of(s.observation)
  end)
end

--- The negative distance of one number of what followed from a target, times `scale`.
---
--- ```lua
--- local centred = skyfall.shaping.distance("centred", { index = 1, target = 0, scale = 0.5 })
--- skyfall.reward.compose { { centred } }
--- ```
---@param name string
---@param params { index: integer, target: number?, scale: number? } `index` counts from 1; the target is 0, the scale 1 unless given
---@return skyfall.Term
function M.distance(name, params)
  return reward.term(name, function(s)
    local off = s.next_observation[s.params.index] - (s.params.target or 0)
    return -math.abs(off) * (s.params.scale or 1)
  end, params)
end

--- 1 at each step for which `holds` answers true, 0 at the others.
---
--- ```lua
--- local calm = skyfall.shaping.indicator("calm", function(s) return math.abs(s.next_observation[4]) < 1 end)
--- skyfall.reward.compose { { calm, weight = 0.1 } }
--- ```
---@param name string
---@param holds fun(s: skyfall.StepView): boolean
---@return skyfall.Term
function M.indicator(name, holds)
  return reward.term(name, function(s) return holds(s) and 1 or 0 end)
end

--- What `value_of` answers, held between `low` and `high`.
---
--- ```lua
--- local bounded = skyfall.shaping.clipped("bounded", function(s) return s.env_reward end, -1, 1)
--- skyfall.reward.compose { { bounded } }
--- ```
---@param name string
---@param value_of fun(s: skyfall.StepView): number
---@param low number
---@param high number
---@return skyfall.Term
function M.clipped(name, value_of, low, high)
  return reward.term(name, function(s) return math.max(low, math.min(high, value_of(s))) end)
end

return M
