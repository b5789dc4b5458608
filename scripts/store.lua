-- scripts/store.lua: writes a rollout store and reads what a learner reads. Each row of the q_h view is a state with
-- its whole shell of candidates: which may be taken, what each would gain, which one was taken, and what came after.
-- Run: skyfall script scripts/store.lua
local skyfall = require "skyfall"
local line = require "line"
local array, rollouts = skyfall.array, skyfall.rollouts

local STEPS = 4
local writer <close> = rollouts.writer {
  store_dir = "out/store/line.zarr", discount_gamma = 0.9, selected_depth_enabled = false,
}
local rng = skyfall.random.rng(7)
for root = 0, 199 do writer:add(line.record(root, STEPS, rng)) end
local written = writer:finish()

local found = rollouts.validate(written.store_dir)
print(("%s: %d chains, %d states, %d candidates, %s"):format(
  written.store_dir, found.num_rollouts, found.num_steps, found.num_candidates, found.ok and "valid" or "not valid"))

local view = rollouts.open(written.store_dir):q_h_view()
local trained_on = view.q_train_mask -- states x widest shell, as all below but for the last
local gain = array.where(trained_on, view.one_step_target_root_gain, 0)
local best, mean = gain:max(2), gain:sum(2) / trained_on:sum(2)

-- What was taken, and what followed, discounted: from a chain's end to its beginning.
local value = array.new("f64", { written.num_steps })
local row_of = {}
for row = 1, written.num_steps do row_of[view.state_step_row_id[row]] = row end
for row = written.num_steps, 1, -1 do
  local next_row = row_of[view.td_next_step_row_id[row]]
  value[row] = view.td_reward[row] + (next_row and view.td_discount[row] * value[next_row] or 0)
end

print "step  to choose from  gain of the best  of a random one  value"
for k = 1, STEPS do
  local function at(column) return column:slice(1, k, -1, STEPS):mean() end -- the states of step k, over all chains
  print(("%4d  %14.2f  %16.3f  %15.3f  %5.3f"):format(k, at(trained_on:sum(2)), at(best), at(mean), at(value)))
end
