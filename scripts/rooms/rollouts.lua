-- Rollouts in rooms of boxes, for rollouts_room.lua and room_oracle.lua: a camera learns the shape of a box.
-- Each step offers a shell of candidate views; an oracle scores them by point-to-surface distances. What comes
-- of a row depends on nothing but its number, so that any process can make it, at any time.
local skyfall = require "skyfall"
local rooms = require "rooms.room"
local clearance, pose, cast = rooms.clearance, rooms.pose, rooms.cast
local random = skyfall.random
local cos, sin, sqrt, max, pi = math.cos, math.sin, math.sqrt, math.max, math.pi

local SEED, ROOTS, HORIZON = 7, 3, 5
local RECIPES = { "oracle_greedy", "temperature_softmax" }
local TEMPERATURE = 0.05
local BODY, STANDOFF = 0.15, 0.25 -- metres that the camera's body needs on its way, and where it stops
local RANGE, NOISE = 5.0, 0.01    -- the sensor's reach in metres, and its error as a share of the depth
local UNSEEN = 1.0                -- metres that a place on a surface counts as missed by until seen from nearer
local COARSE = 16                 -- pixels a side of the views that score a candidate

local M = {}

-- Errors: how far what was seen lies from a surface, and how far the surface lies from what was seen.

local function unseen(surface)
  local gaps = {}
  for i = 1, #surface.samples do gaps[i] = UNSEEN ^ 2 end
  return { surface = surface, gaps = gaps, off = 0, points = 0 }
end

-- What is known once `points` are seen too. What was known before stays, to try the next candidate on.
local function observe(known, points)
  local surface, off, gaps = known.surface, known.off, table.move(known.gaps, 1, #known.gaps, 1, {})
  for _, point in ipairs(points) do
    local x, y, z = point[1], point[2], point[3]
    off = off + surface.distance(x, y, z)
    for i, sample in ipairs(surface.samples) do
      local dx, dy, dz = sample[1] - x, sample[2] - y, sample[3] - z
      local gap = dx * dx + dy * dy + dz * dz
      if gap < gaps[i] then gaps[i] = gap end
    end
  end
  return { surface = surface, gaps = gaps, off = off, points = known.points + #points }
end

-- Accuracy plus completeness, in metres.
local function error_of(known)
  local sum = 0
  for _, gap in ipairs(known.gaps) do sum = sum + sqrt(gap) end
  return known.off / max(known.points, 1) + sum / #known.gaps
end

-- For each camera the points its sensor returns: those on the target, and every eighth of all.
local function look(room, target, cameras, rng)
  local view, pixels = cast(room, cameras, COARSE), COARSE * COARSE
  local total = #cameras * pixels
  local noise = rng:normal(1, NOISE, { #cameras, COARSE, COARSE }):astype "f32"
  local places = view.points(view.depth * noise):reshape { 3, total }:transpose():totable()
  local within = view.depth:le(RANGE):reshape { total }:totable()
  local on_target = view.hits(target):reshape { total }:totable()
  local clouds = {}
  for i = 1, total do
    local camera = 1 + (i - 1) // pixels
    local cloud = clouds[camera] or { target = {}, scene = {} }
    clouds[camera] = cloud
    if within[i] and on_target[i] then table.insert(cloud.target, places[i]) end
    if within[i] and i % 8 == 0 then table.insert(cloud.scene, places[i]) end
  end
  return clouds
end

-- Shells: where candidates stand (position families) and look (strategies), each with the store's id for it,
-- and the mixture of both that they are drawn from.

local function bearing(from, to) return math.atan(to.y - from.y, to.x - from.x) end
local function level(from, to) return sqrt((to.x - from.x) ^ 2 + (to.y - from.y) ^ 2) end
local function wrapped(angle) return (angle + pi) % (2 * pi) - pi end
local function polar(from, distance, heading)
  return from.x + distance * cos(heading), from.y + distance * sin(heading)
end

local POSITION = {
  upper_bound_free_shell = { 0, function(rng, at) return polar(at, rng:uniform(1, 3), rng:uniform(-pi, pi)) end },
  forward_local = { 1, function(rng, at) return polar(at, rng:uniform(0.3, 1), at.yaw + rng:uniform(-0.6, 0.6)) end },
  target_bearing_local = { 2, function(rng, at, target)
    return polar(at, rng:uniform(0.3, 1.5), bearing(at, target) + rng:uniform(-0.3, 0.3))
  end },
  lateral_target_bypass = { 3, function(rng, at, target)
    return polar(at, rng:uniform(0.5, 2), bearing(at, target) + rng:choice { -1, 1 } * rng:uniform(1.2, 1.9))
  end },
  local_refinement = { 4, function(_, at) return at.x, at.y end },
  revisit_backtrack = { 5, function(_, _, _, before) return before.x, before.y end },
  target_orbit = { 6, function(rng, at, target)
    return polar(target, level(at, target), bearing(target, at) + rng:uniform(-2, 2))
  end },
}
local STRATEGY = {
  forward_rig = { 0, function(_, at) return at.yaw, at.pitch end },
  radial_away = { 1, function(to, at) return bearing(at, to), 0 end },
  radial_towards = { 2, function(to, at) return bearing(to, at), 0 end },
  target_point = { 3, function(to, _, target)
    return bearing(to, target), math.atan(target.z - to.z, level(to, target))
  end },
}
local MIXTURE = {
  { position = "local_refinement", strategy = "target_point", weight = 0.10 },
  { position = "forward_local", strategy = "forward_rig", weight = 0.15 },
  { position = "forward_local", strategy = "radial_away", weight = 0.10 },
  { position = "target_bearing_local", strategy = "target_point", weight = 0.15 },
  { position = "lateral_target_bypass", strategy = "target_point", weight = 0.15 },
  { position = "target_orbit", strategy = "target_point", weight = 0.20 },
  { position = "revisit_backtrack", strategy = "radial_towards", weight = 0.05 },
  { position = "upper_bound_free_shell", strategy = "radial_away", weight = 0.10 },
}
local COMPONENTS, WEIGHTS = {}, {}
for i, component in ipairs(MIXTURE) do COMPONENTS[i], WEIGHTS[i] = i, component.weight end

-- The first candidate turns on the spot, so that there is always one to take; the others are drawn.
local function sample_shell(rng, at, before, target)
  local shell = { { x = at.x, y = at.y, z = at.z, mixture = 1, probability = 1 } }
  for i = 2, rng:integers(10, 17) do
    local which = rng:choice(COMPONENTS, { p = WEIGHTS })
    local x, y = POSITION[MIXTURE[which].position][2](rng, at, target, before)
    shell[i] = { x = x, y = y, z = at.z + rng:uniform(-0.3, 0.3), mixture = which, probability = WEIGHTS[which] }
  end
  for _, to in ipairs(shell) do to.yaw, to.pitch = STRATEGY[MIXTURE[to.mixture].strategy][2](to, at, target) end
  return shell
end

-- Appends a row of values to columns by name.
local function append(columns, row)
  for name, value in pairs(row) do
    columns[name] = columns[name] or {}
    table.insert(columns[name], value)
  end
end

-- The shell as a record's `candidates`, and those of it that may be taken. Rules apply in turn; the mask of
-- each holds who passed it and all before it.
local function judge(room, shell, at, target)
  local candidates, extras, rules, valid = {}, {}, {}, {}
  for _, to in ipairs(shell) do
    local dx, dy, dz = to.x - at.x, to.y - at.y, to.z - at.z
    local gap = clearance(room, to.x, to.y, to.z)
    local free, standing = gap > 0, gap >= STANDOFF
    -- A turn has no path, and none is looked for to where nobody can stand.
    local moves = dx ~= 0 or dy ~= 0 or dz ~= 0
    local least = moves and standing and rooms.path_clearance(room, at, to, BODY) or 0 / 0
    local reachable = standing and not (least < BODY)
    if reachable then valid[#valid + 1] = to end
    append(rules, { free = free, standing = standing, reachable = reachable })
    append(extras, {
      min_distance_to_mesh = gap,
      free_space_margin_m = -rooms.box_distance(room.walls, to.x, to.y, to.z),
      path_min_clearance_m = least,
      path_collision_mask = least < BODY,
      path_collision_applicable_mask = moves,
      path_collision_evaluated_mask = moves and standing,
      motion_step_length_m = sqrt(dx * dx + dy * dy + dz * dz),
      motion_height_delta_m = dz,
      motion_backward_step_m = max(0, -(dx * cos(at.yaw) + dy * sin(at.yaw))),
      motion_yaw_delta_rad = wrapped(to.yaw - at.yaw),
      target_distance_m = sqrt(level(to, target) ^ 2 + (target.z - to.z) ^ 2),
      target_bearing_yaw_rad = wrapped(bearing(to, target) - to.yaw),
    })
    local component = MIXTURE[to.mixture]
    append(candidates, {
      shell_poses = pose(to), sampler_probability = to.probability, mixture_id = to.mixture - 1,
      position_id = POSITION[component.position][1], strategy_id = STRATEGY[component.strategy][1],
    })
  end
  candidates.mask_valid, candidates.extras = rules.reachable, extras
  candidates.masks = {
    { "FreeSpaceRule", rules.free },
    { "MinDistanceToMeshRule", rules.standing },
    { "PathCollisionRule", rules.reachable },
  }
  return candidates, valid
end

-- One valid candidate's labels for the target or the scene; `root` is the error that the chain began with.
local function label(labels, kind, before, after, root)
  before, after = error_of(before), error_of(after)
  append(labels, {
    [kind .. "_rri"] = (before - after) / max(before, 1e-12),
    [kind .. "_root_gain"] = (before - after) / max(root, 1e-12),
    [kind .. "_log_error_gain"] = math.log(max(before, 1e-12)) - math.log(max(after, 1e-12)),
    [kind .. "_pm_dist_before"] = before,
    [kind .. "_pm_dist_after"] = after,
  })
end

-- The policy's distribution over the valid candidates, as a step's fields, and which of them it takes.
local function choose(policy, scores, rng)
  local greedy = policy == "oracle_greedy"
  local best, sum, order = 1, 0, {}
  for i, score in ipairs(scores) do if score > scores[best] then best = i end end
  local logits, probabilities, logs = {}, {}, {}
  for i, score in ipairs(scores) do
    order[i], logits[i] = i, greedy and score or score / TEMPERATURE
    sum = sum + math.exp((score - scores[best]) / TEMPERATURE)
  end
  for i, score in ipairs(scores) do
    logs[i] = (score - scores[best]) / TEMPERATURE - math.log(sum)
    if greedy then logs[i] = i == best and 0 or -math.huge end
    probabilities[i] = math.exp(logs[i])
  end
  return rng:choice(order, { p = probabilities }), {
    selection_logits = logits, selection_probabilities = probabilities, selection_log_probabilities = logs,
    selection_temperature = not greedy and TEMPERATURE or nil,
  }
end

-- The steps of one chain, with the depth of `fine` pixels a side of each view taken, unless it is nil. Vectors over the valid candidates only, as labels and the policy's are here, are
-- spread over the shell by the writer.
local function roll_out(room, which, root, policy, rng, fine)
  local centre = room.boxes[which].centre
  local target = { x = centre[1], y = centre[2], z = centre[3] }
  local first = look(room, which, { root }, rng)[1]
  local known = {
    target = observe(unseen(room.boxes[which].surface), first.target),
    scene = observe(unseen(room.surface), first.scene),
  }
  local start = { target = error_of(known.target), scene = error_of(known.scene) }
  local at, before, steps = root, root, {}
  for index = 0, HORIZON - 1 do
    local candidate_seed, selection_seed = rng:integers(0, 1 << 31), rng:integers(0, 1 << 31)
    local shell = sample_shell(random.rng(candidate_seed), at, before, target)
    local candidates, valid = judge(room, shell, at, target)

    local labels, after = {}, {}
    for i, cloud in ipairs(look(room, which, valid, rng)) do
      after[i] = { target = observe(known.target, cloud.target), scene = observe(known.scene, cloud.scene) }
      label(labels, "target", known.target, after[i].target, start.target)
      label(labels, "scene", known.scene, after[i].scene, start.scene)
      append(labels, { target_current_support = known.target.points, target_candidate_support = #cloud.target })
    end

    local chosen, step = choose(policy, labels.target_root_gain, random.rng(selection_seed))
    before, at, known = at, valid[chosen], after[chosen]
    for i, candidate in ipairs(shell) do if candidate == at then step.selected_shell_index = i - 1 end end
    if fine then
      local depth = cast(room, { at }, fine).depth[1]
      step.selected_depth = {
        depth_m = depth, valid_mask = depth:le(RANGE),
        focal_px = { fine / 2, fine / 2 }, principal_point_px = { fine / 2, fine / 2 },
      }
    end
    step.step_index, step.candidates, step.labels = index, candidates, labels
    step.selection_score_label, step.selection_policy = "target_root_gain", policy
    step.candidate_rng_seed, step.selection_rng_seed = candidate_seed, selection_seed
    steps[index + 1] = step
  end
  return steps
end

local function root_camera(room, rng)
  local camera
  repeat
    camera = { x = rng:uniform(0, 6), y = rng:uniform(0, 5), z = rng:uniform(0.8, 1.6) }
  until clearance(room, camera.x, camera.y, camera.z) >= 2 * STANDOFF
  camera.yaw, camera.pitch = rng:uniform(-pi, pi), 0
  return camera
end

-- The room that a row looks at; rows come a room at a time.
local number, room
local function room_of(row)
  if number ~= row // ROOTS then number, room = row // ROOTS, rooms.build(random.rng(SEED + 1000 * (row // ROOTS))) end
  return room
end

--- What is known of a row, from 0, before anything is looked at: the `source` of its records.
function M.source(row)
  return {
    scene_id = ("room-%02d"):format(row // ROOTS), snippet_id = ("root-%06d"):format(row), split = "train",
    source_sample_index = row, source_sample_key = ("rooms:%d"):format(row),
    source_shard_id = "shard-000000", source_shard_row = row, source_cache_version = "1",
    source_offline_store_manifest_hash = "rooms",
  }
end

--- How many rows a room has.
M.ROOTS = ROOTS

--- The writer's options that these records go with; `fine` as for `records`.
function M.options(fine)
  return {
    discount_gamma = 0.95, source_offline_store_version = "1",
    -- Every valid candidate is labelled, and the store says so.
    oracle_query_mode = "dense_valid", label_support_semantics = "equals_action_on_realized_steps_v1",
    selected_depth_enabled = fine ~= nil, selected_depth_renderer = "box_slabs",
    selected_depth_width_px = fine, selected_depth_height_px = fine,
    -- With the time fixed too, every run writes the same bytes.
    created_at_utc = "2026-01-01T00:00:00Z",
    manifest_context = { writer_config = { candidate_mixture = { components = MIXTURE } } },
  }
end

--- The records of a row, from 0: one for each recipe. With `fine`, the depth of each view taken is kept at so
--- many pixels a side.
function M.records(row, source, fine)
  local rng = random.rng(SEED + 1000003 * (row + 1))
  local room = room_of(row)
  local root, which = root_camera(room, rng), rng:integers(1, #room.boxes + 1)
  local box = room.boxes[which]
  local name = ("%s/box-%d"):format(source.scene_id, which)
  local records = {}
  for i, policy in ipairs(RECIPES) do
    records[i] = {
      rollout_id_prefix = ("root-%06d-%s"):format(row, policy),
      root_pose_world = pose(root), horizon = HORIZON, branch_factor = 1, selection_policy = policy,
      source = source,
      target = {
        target_id = name, target_class_name = "box", target_source = "gt_obbs_oracle", target_source_index = which - 1,
        matched_gt_target_row_id = which - 1, matched_gt_target_id = name, gt_match_status = "matched",
        target_crop_policy = "rays_that_hit_the_box", target_center_world = box.centre,
        target_extents = { 2 * box.half[1], 2 * box.half[2], 2 * box.half[3] },
        target_pose_world_object = { 1, 0, 0, 0, 1, 0, 0, 0, 1, table.unpack(box.centre) },
      },
      policy = {
        candidate_config_hash = "mixture-1", oracle_config_hash = "surfaces-1", rollout_config_hash = policy,
        random_seed = SEED,
      },
      trajectories = { { terminated_early = false, steps = roll_out(room, which, root, policy, rng:spawn(), fine) } },
    }
  end
  return records
end

return M
