-- Walks every world at random and prints each walk as JSON: a line that says how the world was
-- made, then a line a step. tests/python/check_worlds.py goes the same way in Gymnasium.
local env, json, random = require("skyfall.env"), require("skyfall.json"), require("skyfall.random")

local cases = {
  { id = "Acrobot-v1" },
  { id = "Acrobot-v1", shift = { link_length_1 = 1.3, link_mass_2 = 0.7, link_moi = 1.2, torque_noise_max = 0.4 } },
  { id = "Acrobot-v1", shift = { link_com_pos_1 = 0.4, link_com_pos_2 = 0.6, link_mass_1 = 1.1, dt = 0.1, max_vel_1 = 2.0 } },
  { id = "Acrobot-v1", options = { low = -60.0, high = 60.0 } },
  { id = "Blackjack-v1" },
  { id = "Blackjack-v1", kwargs = { sab = false } },
  { id = "Blackjack-v1", kwargs = { natural = true, sab = false } },
  { id = "CartPole-v0" },
  { id = "CartPole-v1" },
  { id = "CartPole-v1", kwargs = { sutton_barto_reward = true } },
  { id = "CartPole-v1", options = { low = -0.2, high = 0.1 } },
  {
    id = "CartPole-v1",
    shift = { gravity = 1.62, masscart = 1.5, masspole = 0.3, length = 0.8, force_mag = 7.0, tau = 0.01,
      x_threshold = 1.1, theta_threshold_radians = 0.3 },
  },
  { id = "CliffWalking-v1" },
  { id = "CliffWalking-v1", kwargs = { is_slippery = true } },
  { id = "CliffWalkingSlippery-v1" },
  { id = "FrozenLake-v1" },
  { id = "FrozenLake-v1", kwargs = { map_name = "8x8", is_slippery = false } },
  { id = "FrozenLake-v1", kwargs = { desc = { "SFSF", "FFHF", "FFFG" }, success_rate = 0.7, reward_schedule = { 2, -1, -0.25 } } },
  { id = "FrozenLake8x8-v1", kwargs = { success_rate = 0.9 } },
  { id = "MountainCar-v0" },
  { id = "MountainCar-v0", kwargs = { goal_velocity = 0.02 }, options = { low = 0.2, high = 0.45 } },
  { id = "MountainCar-v0", shift = { force = 0.004, gravity = 0.002, goal_position = 0.3, max_speed = 0.05, min_position = -0.9 } },
  { id = "MountainCarContinuous-v0" },
  { id = "MountainCarContinuous-v0", kwargs = { goal_velocity = 0.01 }, options = { low = 0.2, high = 0.44 } },
  { id = "MountainCarContinuous-v0", shift = { power = 0.005, goal_position = 0.3, max_speed = 0.05, min_position = -0.9, max_position = 0.5 } },
  { id = "Pendulum-v1" },
  { id = "Pendulum-v1", kwargs = { g = 1.62 } },
  { id = "Pendulum-v1", options = { x_init = 0.5, y_init = 7.5 } },
  { id = "Pendulum-v1", shift = { g = 3.7, m = 1.4, l = 0.7, dt = 0.03, max_speed = 5.0, max_torque = 1.5 } },
  { id = "Taxi-v4" },
  { id = "Taxi-v4", kwargs = { is_rainy = true, rainy_probability = 0.6 } },
  { id = "Taxi-v4", kwargs = { fickle_passenger = true, fickle_probability = 0.9 } },
}
local counts = {
  Acrobot = 3, Blackjack = 2, CartPole = 2, CliffWalking = 4, CliffWalkingSlippery = 4, FrozenLake = 4,
  FrozenLake8x8 = 4, MountainCar = 3, Taxi = 6,
}
local STEPS = 450

--- A random action: a discrete one, or (now and then beyond the bounds) a continuous one.
local function draw(rng, id)
  local count = counts[id:match("^[^-]*")]
  if count then
    return rng:integers(0, count)
  end
  return 2.5 * rng:uniform(-1, 1)
end

local function plain(observation)
  return type(observation) == "userdata" and observation:totable() or observation
end

local function walk(case, seed)
  local world = env.make(case.id, case.kwargs)
  for name, value in pairs(case.shift or {}) do
    world:set_parameter(name, value)
  end
  local rng = random.rng(seed)
  local continuous = type(draw(random.rng(0), case.id)) == "number" and math.type(draw(random.rng(0), case.id)) == "float"
  local first = world:reset { seed = seed, options = case.options }
  print(json.encode { id = case.id, kwargs = case.kwargs, shift = case.shift, options = case.options, seed = seed,
    first = plain(first) })
  for _ = 1, STEPS do
    local action = draw(rng, case.id)
    local observation, reward, terminated, truncated = world:step(continuous and { action } or action)
    local row = { action = action, observation = plain(observation), reward = reward, terminated = terminated,
      truncated = truncated }
    if terminated or truncated then
      row.again = plain((world:reset()))
    end
    print(json.encode(row))
  end
end

--- A walk of several copies, against SyncVectorEnv.
local function walk_together(id, seed)
  local n = 3
  local vector = env.vector(id, n)
  local rng = random.rng(seed)
  print(json.encode { id = id, n = n, seed = seed, first = vector:reset { seed = seed }:totable() })
  for _ = 1, STEPS do
    local actions = {}
    for copy = 1, n do
      actions[copy] = draw(rng, id)
    end
    local observations, rewards, terminated, truncated = vector:step(actions)
    print(json.encode { action = actions, observation = observations:totable(), reward = rewards:totable(),
      terminated = terminated:totable(), truncated = truncated:totable() })
  end
end

for index, case in ipairs(cases) do
  for round = 0, 1 do
    walk(case, 7000 + 10 * index + round)
  end
end
for index, id in ipairs { "Blackjack-v1", "CartPole-v1", "FrozenLake-v1", "Pendulum-v1" } do
  walk_together(id, 9000 + 10 * index)
end
