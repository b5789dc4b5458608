-- scripts/line.lua: rollouts on a line, for quickstart.lua and store.lua: a walker goes to the point 1, and each step
-- offers a shell of strides of which some cannot be taken. It shows all that a record must have.
local array = require "skyfall".array

local IDENTITY = { 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0 } -- a rotation row by row, then a place

local M = {}

-- A step from so far away, and how far away it ends. It takes the longest stride that can be taken.
local function step(index, distance, rng)
  local n = rng:integers(4, 8)
  local poses, valid, gain, rri, best = {}, {}, {}, {}, 1
  for i = 1, n do
    gain[i] = rng:uniform(0, 0.5 * distance)
    rri[i] = gain[i] / distance
    valid[i] = i == 1 or rng:uniform() < 0.8
    if valid[i] and gain[i] > gain[best] then best = i end
    poses[i] = { 1, 0, 0, 0, 1, 0, 0, 0, 1, 1 - distance + gain[i], 0, 0 }
  end
  local ids, none = array.new("i32", { n }), array.new("bool", { n })
  return {
    step_index = index, selected_shell_index = best - 1,
    selection_score_label = "target_root_gain", selection_policy = "oracle_greedy",
    candidates = {
      shell_poses = poses, mask_valid = valid, masks = { { "FreeSpaceRule", valid } },
      strategy_id = ids, position_id = ids, mixture_id = ids,
      sampler_probability = array.new("f32", { n }) + 1 / n,
      extras = {
        path_collision_mask = none, path_collision_applicable_mask = none, path_collision_evaluated_mask = none,
      },
    },
    labels = { target_root_gain = gain, target_rri = rri },
  }, distance - gain[best]
end

--- A record with one chain of so many steps, drawn from `rng`.
function M.record(root, steps, rng)
  local chain, distance = {}, 1.0
  for k = 1, steps do chain[k], distance = step(k - 1, distance, rng) end
  return {
    rollout_id_prefix = ("root-%06d"):format(root), root_pose_world = IDENTITY,
    horizon = steps, branch_factor = 1, selection_policy = "oracle_greedy",
    source = {
      scene_id = "line", snippet_id = "line", split = "train", source_row_id = root, source_sample_index = root,
      source_sample_key = ("line:%d"):format(root), source_shard_id = "shard-000000", source_shard_row = root,
      source_cache_version = "1", source_offline_store_manifest_hash = "line",
    },
    target = {
      target_id = "point", target_source = "gt_obbs_oracle", target_source_index = 0, matched_gt_target_row_id = 0,
      matched_gt_target_id = "point", gt_match_status = "matched", target_crop_policy = "none",
      target_center_world = { 1, 0, 0 }, target_extents = { 1, 1, 1 }, target_pose_world_object = IDENTITY,
    },
    policy = { candidate_config_hash = "line", oracle_config_hash = "line", rollout_config_hash = "line" },
    trajectories = { { terminated_early = false, steps = chain } },
  }
end

return M
