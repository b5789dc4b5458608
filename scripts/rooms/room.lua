-- A room of boxes, for rooms/rollouts.lua: how far places are from its surfaces, and what cameras see.
-- A box is { centre, half }, in metres; the walls are a box seen from inside. A camera is
-- { x, y, z, yaw, pitch }, without roll.
local array = require "skyfall".array
local abs, cos, sin, sqrt, max, min = math.abs, math.cos, math.sin, math.sqrt, math.max, math.min

local M = {}

--- The signed distance of a place to a box's surface, negative inside.
function M.box_distance(box, x, y, z)
  local c, h = box.centre, box.half
  local a, b, d = abs(x - c[1]) - h[1], abs(y - c[2]) - h[2], abs(z - c[3]) - h[3]
  return sqrt(max(a, 0) ^ 2 + max(b, 0) ^ 2 + max(d, 0) ^ 2) + min(max(a, b, d), 0)
end

--- The signed distance to the nearest surface of the room, positive where nothing is.
function M.clearance(room, x, y, z)
  local least = -M.box_distance(room.walls, x, y, z)
  for _, box in ipairs(room.boxes) do least = min(least, M.box_distance(box, x, y, z)) end
  return least
end

--- The least clearance met between two places, up to where a body of this radius would touch something.
--- Nothing is nearer than the clearance, so that is how far a stride may go (sphere tracing).
function M.path_clearance(room, from, to, radius)
  local dx, dy, dz = to.x - from.x, to.y - from.y, to.z - from.z
  local length, gone, least = sqrt(dx * dx + dy * dy + dz * dz), 0, math.huge
  while true do
    local share = gone / length
    local free = M.clearance(room, from.x + share * dx, from.y + share * dy, from.z + share * dz)
    least = min(least, free)
    if free < radius or gone >= length then return least end
    gone = min(length, gone + max(free - radius, 0.01))
  end
end

--- `count` places all over a box's faces; not the bottom's, unless it is told, for boxes stand on it.
local function samples(rng, box, count, bottom)
  local places = {}
  for i = 1, count do
    local place, axis = {}, rng:integers(1, 4)
    for k = 1, 3 do place[k] = rng:uniform(-1, 1) end
    place[axis] = (axis == 3 and not bottom) and 1 or rng:choice { -1, 1 }
    for k = 1, 3 do place[k] = box.centre[k] + place[k] * box.half[k] end
    places[i] = place
  end
  return places
end

--- A room of six boxes with ways between them. Each box, and the room, has a `surface` to be measured
--- against: the distance of any place to it, and places on it.
function M.build(rng)
  local room = { walls = { centre = { 3, 2.5, 1.3 }, half = { 3, 2.5, 1.3 } }, boxes = {} }
  local seen = samples(rng, room.walls, 40, true)
  room.surface = { samples = seen, distance = function(...) return abs(M.clearance(room, ...)) end }
  while #room.boxes < 6 do
    local half = { rng:uniform(0.2, 0.5), rng:uniform(0.2, 0.5), rng:uniform(0.3, 1.0) }
    local box = { half = half, centre = { rng:uniform(0.6, 5.4), rng:uniform(0.6, 4.4), half[3] } }
    local apart = true
    for _, other in ipairs(room.boxes) do
      apart = apart and M.box_distance(other, box.centre[1], box.centre[2], other.centre[3]) > 0.8
    end
    if apart then
      local own = samples(rng, box, 40)
      box.surface = { samples = own, distance = function(...) return abs(M.box_distance(box, ...)) end }
      room.boxes[#room.boxes + 1] = box
      table.move(own, 1, 8, #seen + 1, seen)
    end
  end
  return room
end

--- World from camera: the axes left, up and forward as columns, row by row, then the place.
function M.pose(camera)
  local cy, sy, cp, sp = cos(camera.yaw), sin(camera.yaw), cos(camera.pitch), sin(camera.pitch)
  return { -sy, -sp * cy, cp * cy, cy, -sp * sy, cp * sy, 0, cp, sp, camera.x, camera.y, camera.z }
end

-- Whether a box may be in the view of a camera with this pose: the ball around it, in the camera's axes.
local function in_view(p, box)
  local h, x, y, z = box.half, box.centre[1] - p[10], box.centre[2] - p[11], box.centre[3] - p[12]
  local left, up = p[1] * x + p[4] * y + p[7] * z, p[2] * x + p[5] * y + p[8] * z
  local forward = p[3] * x + p[6] * y + p[9] * z
  return max(abs(left), abs(up)) < forward + sqrt(2 * (h[1] ^ 2 + h[2] ^ 2 + h[3] ^ 2))
end

--- What cameras see with a field of view of 90 degrees, `size` pixels a side: `depth` along each camera's
--- forward axis (cameras, rows, columns); `points(depth)`, where rays are at depths (x y z, cameras, rows,
--- columns); `hits(i)`, where box i is what they meet.
---
--- A ray is inside a box from the last slab it enters to the first it leaves, and all rays of all cameras
--- go through a box at once. Directions are 1 along the forward axis, so a ray's parameter is the depth.
--- Boxes compete by nearness, 1 / depth: it is 0 for a miss and negative behind the camera, so neither wins.
function M.cast(room, cameras, size)
  local poses, slopes = {}, {}
  for i, camera in ipairs(cameras) do poses[i] = M.pose(camera) end
  for i = 1, size do slopes[i] = 1 - (2 * i - 1) / size end
  local columns, slope = array.from(poses, "f32"):transpose(), array.from(slopes, "f32")
  local function part(first, last, step)
    return columns:slice(1, first, last, step):reshape { 3, #cameras, 1, 1 }
  end
  local left, up, forward, origin = part(1, 9, 3), part(2, 9, 3), part(3, 9, 3), part(10, 12)
  local direction = left * slope + forward + up * slope:reshape { size, 1 }

  local inverse = 1 / direction
  local magnitude = inverse * (inverse:gt(0):astype "f32" * 2 - 1)
  local function vector(v) return array.from(v, "f32"):reshape { 3, 1, 1, 1 } end
  -- Along each axis a ray is in a box's slab from `middle - reach` to `middle + reach`.
  local function slabs(box) return inverse * (vector(box.centre) - origin), magnitude * vector(box.half) end

  local nearness = array.new("f32", { #room.boxes + 1, #cameras, size, size })
  local middle, reach = slabs(room.walls)
  nearness[#room.boxes + 1] = 1 / (middle + reach):min(1)
  for i, box in ipairs(room.boxes) do
    local seen = false
    for _, p in ipairs(poses) do seen = seen or in_view(p, box) end
    if seen then
      middle, reach = slabs(box)
      local enter, leave = (middle - reach):max(1), (middle + reach):min(1)
      nearness[i] = enter:le(leave) / enter
    end
  end
  local nearest = nearness:max(1)
  return {
    depth = 1 / nearest,
    points = function(depth) return origin + direction * depth end,
    hits = function(i) return nearness[i]:eq(nearest) end,
  }
end

return M
