-- scripts/rollouts_room.lua: a rollout store in earnest: rooms of boxes, with the depth of every view taken.
-- Run: skyfall script scripts/rollouts_room.lua -- ROOMS
-- The same rows in shards, by many processes: room_oracle.lua.
local skyfall = require "skyfall"
local room = require "rooms.rollouts"
local rollouts = skyfall.rollouts

local ROOMS = tonumber(arg[1]) or 10 -- of 30 steps each
local FINE = 240                     -- pixels a side of the depth that is kept

local store_dir = "out/rollouts_room/rollouts.zarr"
local options = room.options(FINE)
options.store_dir, options.split_manifest_hash = store_dir, "rooms"
local writer = rollouts.writer(options)
for row = 0, ROOMS * room.ROOTS - 1 do
  for _, record in ipairs(room.records(row, room.source(row), FINE)) do writer:add(record) end
end
local result = writer:finish()

local check = rollouts.validate(store_dir)
assert(check.ok, table.concat(check.errors, "\n"))
local store = rollouts.open(store_dir)
local function share(path) return store:array(path):mean() end
print(("%s: %d rollouts, %d steps, %d candidates, valid"):format(
  store_dir, result.num_rollouts, result.num_steps, result.num_candidates))
print(("  %.0f %% of the candidates may be taken, %.0f %% would touch something on their way"):format(
  100 * share "candidates/actor_action_mask", 100 * share "candidate_diagnostics/path_collision_mask"))
print(("  %.0f %% of the target's error and %.0f %% of the scene's are gone at a chain's end"):format(
  100 * share "rollouts/final_cumulative_target_root_gain", 100 * share "rollouts/final_cumulative_scene_root_gain"))
