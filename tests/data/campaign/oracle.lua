local skyfall = require "skyfall"
local array, rollouts, random = skyfall.array, skyfall.rollouts, skyfall.random
local IDENTITY = { 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0 }
local function pose(x) return { 1, 0, 0, 0, 1, 0, 0, 0, 1, x, 0, 0 } end

local function step(rng, index, before)
  local n = rng:integers(3, 6)
  local poses, valid, gain = {}, {}, {}
  local best
  for i = 1, n do
    poses[i], valid[i] = pose(rng:uniform(-1, 1)), i == 1 or rng:uniform(0, 1) < 0.7
    gain[i] = before * rng:uniform(0, 0.5)
    if valid[i] and (not best or gain[i] > gain[best]) then best = i end
  end
  local no = array.new("bool", { n })
  return {
    step_index = index, selected_shell_index = best - 1,
    selection_score_label = "target_root_gain", selection_policy = "oracle_greedy",
    candidates = {
      shell_poses = poses, mask_valid = valid, masks = { { "FreeSpaceRule", valid } },
      strategy_id = array.new("i32", { n }), position_id = array.new("i32", { n }), mixture_id = array.new("i32", { n }),
      sampler_probability = array.new("f32", { n }) + 1 / n,
      extras = { path_collision_mask = no, path_collision_applicable_mask = no, path_collision_evaluated_mask = no },
    },
    labels = { target_root_gain = gain, target_rri = gain },
  }, before - gain[best]
end

return rollouts.oracle {
  options = { selected_depth_enabled = false, discount_gamma = 0.95, created_at_utc = "2026-01-01T00:00:00Z" },
  records = function(rows, shard)
    for _, row in ipairs(rows) do
      local rng, steps, err = random.rng(row.sample_index), {}, 1.0
      for k = 0, 1 do steps[k + 1], err = step(rng, k, err) end
      shard:add {
        rollout_id_prefix = row.sample_key,
        root_pose_world = IDENTITY, horizon = 2, branch_factor = 1, selection_policy = "oracle_greedy",
        source = row.source,
        target = {
          target_id = "point", target_source = "gt_obbs_oracle", target_source_index = 0,
          matched_gt_target_row_id = 0, matched_gt_target_id = "point", gt_match_status = "matched",
          target_crop_policy = "none", target_center_world = { 0, 0, 0 }, target_extents = { 1, 1, 1 },
          target_pose_world_object = IDENTITY, target_relative_pose_reference_object = IDENTITY,
        },
        policy = { candidate_config_hash = "c", oracle_config_hash = "o", rollout_config_hash = "r", random_seed = 1 },
        trajectories = { { terminated_early = false, steps = steps } },
      }
    end
  end,
}
