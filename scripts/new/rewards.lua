-- What the experiment rewards: one term each, so that the trace tells them apart.
local reward = require "skyfall.reward"

local M = {}

-- 1 when the pole stands, less as it leans. Terms use the local name: a bundle then carries it along.
local function upright(angle) return math.cos(angle) end

M.upright_of = upright

M.upright = reward.term("upright", function(s) return upright(s.next_observation[3]) end)

M.centred = reward.term("centred", function(s) return -math.abs(s.next_observation[1]) / 2.4 end)

return M
