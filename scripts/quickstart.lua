-- The main job in one page: a policy learns CartPole while the world shifts under it, scored by
-- rewards of our own; then a small rollout store. Run: skyfall script scripts/quickstart.lua
local skyfall = require "skyfall"
local reward, regime = skyfall.reward, skyfall.regime

local upright = reward.term("upright", function(s)
  return math.cos(s.next_observation[3])
end)

local centred = reward.term("centred", function(s)
  local distance = math.abs(s.next_observation[1])
  return 1 - distance / s.params.half_width, { distance = distance }
end, { half_width = 2.4 })

local out = "out/quickstart"
local result = skyfall.run_experiment({
  env = { id = "CartPole-v1" },
  algorithm = {
    name = "discrete_hill_climbing",
    params = { seed = 0 },
    policy = { id = "linear_menu", kwargs = { n_actions = 2, seed = 0 } },
  },
  reward = reward.compose { { upright, weight = 0.8 }, { centred, weight = 0.2 } },
  regime = regime.schedule {
    { id = "calm", steps = 20000 },
    { id = "heavy", steps = 20000, env = { masspole = 0.5, length = 1.0 } },
    { id = "calm-again", origin = "calm", steps = 20000 },
  },
  rollout = { window_steps = 1000, total_steps = 60000 },
  run = { name = "quickstart", seed = 0 },
}, { traces = out .. "/traces.jsonl", export_dir = out .. "/bundle" })

print(("trained %d steps, %d episodes, mean return %.1f"):format(result.steps, result.episodes, result.mean_return))

local run = skyfall.eval.traces(result.traces).runs[1]
for _, encounter in ipairs(run.encounters) do
  print(("  %-10s  entered at %.3f, left at %.3f a step"):format(encounter.labels[1], encounter.entry, encounter.exit))
end
local metrics = run.metrics
print(("forgetting %.3f, adaptation after %.0f steps"):format(metrics.forgetting.value, metrics.adaptation_rows.value or 0 / 0))

-- Finite-candidate rollouts on a line: each step offers a shell of moves towards a point.
local rng = skyfall.random.rng(0)
local IDENTITY = { 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0 }

local function step(index, distance)
  local n = rng:integers(4, 8)
  local poses, valid, gain, rri, best = {}, {}, {}, {}, nil
  for i = 1, n do
    local move = rng:uniform(0, 0.5 * distance)
    poses[i] = { 1, 0, 0, 0, 1, 0, 0, 0, 1, 1 - distance + move, 0, 0 }
    valid[i] = i == 1 or rng:uniform(0, 1) < 0.8
    gain[i], rri[i] = move, move / distance
    if valid[i] and (not best or gain[i] > gain[best]) then best = i end
  end
  local none = skyfall.array.new("bool", { n })
  return {
    step_index = index, selected_shell_index = best - 1,
    selection_score_label = "target_root_gain", selection_policy = "oracle_greedy",
    candidates = {
      shell_poses = poses, mask_valid = valid, masks = { { "FreeSpaceRule", valid } },
      strategy_id = skyfall.array.new("i32", { n }), position_id = skyfall.array.new("i32", { n }),
      mixture_id = skyfall.array.new("i32", { n }), sampler_probability = skyfall.array.new("f32", { n }) + 1 / n,
      extras = { path_collision_mask = none, path_collision_applicable_mask = none, path_collision_evaluated_mask = none },
    },
    labels = { target_root_gain = gain, target_rri = rri },
  }, distance - gain[best]
end

local writer = skyfall.rollouts.writer {
  store_dir = out .. "/rollouts.zarr", discount_gamma = 0.95, selected_depth_enabled = false,
  source_offline_store_version = "1", split_manifest_hash = "quickstart",
}
for root = 0, 9 do
  local steps, distance = {}, 1.0
  for k = 0, 3 do steps[k + 1], distance = step(k, distance) end
  writer:add {
    rollout_id_prefix = ("root-%06d"):format(root),
    root_pose_world = IDENTITY, horizon = 4, branch_factor = 1, selection_policy = "oracle_greedy",
    source = {
      scene_id = "line", snippet_id = "quickstart", split = "train",
      source_row_id = root, source_sample_index = root, source_sample_key = ("line:%d"):format(root),
      source_shard_id = "shard-000000", source_shard_row = root, source_cache_version = "1",
      source_offline_store_manifest_hash = "quickstart", split_manifest_hash = "quickstart",
    },
    target = {
      target_id = "point", target_source = "gt_obbs_oracle", target_source_index = 0,
      matched_gt_target_row_id = 0, matched_gt_target_id = "point", gt_match_status = "matched",
      target_crop_policy = "none", target_center_world = { 1, 0, 0 }, target_extents = { 1, 1, 1 },
      target_pose_world_object = IDENTITY, target_relative_pose_reference_object = IDENTITY,
    },
    policy = { candidate_config_hash = "line", oracle_config_hash = "line", rollout_config_hash = "line", random_seed = root },
    trajectories = { { terminated_early = false, steps = steps } },
  }
end
local store = writer:finish()
assert(skyfall.rollouts.validate(store.store_dir).ok)
print(("rollout store: %d rollouts, %d steps, %d candidates"):format(store.num_rollouts, store.num_steps, store.num_candidates))

print(("\nwrote %s/traces.jsonl   the trace     (skyfall eval --traces %s/traces.jsonl)"):format(out, out))
print(("      %s/bundle         the bundle    (skyfall serve %s/bundle)"):format(out, out))
print(("      %s/rollouts.zarr  the store     (python: zarr.open('%s/rollouts.zarr'))"):format(out, out))
