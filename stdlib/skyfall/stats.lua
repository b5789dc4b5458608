--- Statistics of lists of numbers, and of flat arrays.

---@class skyfall.statslib
local M = {}

---@alias skyfall.Numbers number[]|skyfall.Array

local function needs(xs, count, name)
  if #xs < count then error(("%s needs at least %d number(s), got %d"):format(name, count, #xs), 3) end
end

--- The arithmetic mean.
---
--- ```lua
--- assert(skyfall.stats.mean { 1, 2, 6 } == 3)
--- ```
---@param xs skyfall.Numbers
---@return number
function M.mean(xs)
  needs(xs, 1, "mean")
  local sum = 0.0
  for i = 1, #xs do sum = sum + xs[i] end
  return sum / #xs
end

--- The variance of a sample: divided by one less than there are numbers.
---
--- ```lua
--- assert(skyfall.stats.variance { 1, 2, 3 } == 1)
--- ```
---@param xs skyfall.Numbers at least two
---@return number
function M.variance(xs)
  needs(xs, 2, "variance")
  local mean, sum = M.mean(xs), 0.0
  for i = 1, #xs do sum = sum + (xs[i] - mean) ^ 2 end
  return sum / (#xs - 1)
end

--- The standard deviation of a sample.
---
--- ```lua
--- assert(skyfall.stats.std { 2, 4, 6 } == 2)
--- ```
---@param xs skyfall.Numbers at least two
---@return number
function M.std(xs)
  needs(xs, 2, "std")
  return math.sqrt(M.variance(xs))
end

--- The value below which the share `q` of the numbers lies, between two of them by their
--- distances (NumPy's `linear`).
---
--- ```lua
--- assert(skyfall.stats.quantile({ 1, 2, 3, 4 }, 0.25) == 1.75)
--- ```
---@param xs skyfall.Numbers
---@param q number from 0 to 1
---@return number
function M.quantile(xs, q)
  needs(xs, 1, "quantile")
  if not (q >= 0 and q <= 1) then error(("quantile: `q` must be from 0 to 1, got %s"):format(q), 2) end
  local sorted = {}
  for i = 1, #xs do sorted[i] = xs[i] end
  table.sort(sorted)
  local place = (#sorted - 1) * q
  local low = math.floor(place)
  local one, other = sorted[low + 1], sorted[math.min(low + 2, #sorted)]
  return one + (other - one) * (place - low)
end

--- The value in the middle.
---
--- ```lua
--- assert(skyfall.stats.median { 5, 1, 3 } == 3)
--- ```
---@param xs skyfall.Numbers
---@return number
function M.median(xs)
  needs(xs, 1, "median")
  return M.quantile(xs, 0.5)
end

--- Pearson's correlation of two lists of one length.
---
--- ```lua
--- assert(math.abs(skyfall.stats.correlation({ 1, 2, 3 }, { 2, 4, 6 }) - 1) < 1e-12)
--- ```
---@param xs skyfall.Numbers
---@param ys skyfall.Numbers
---@return number
function M.correlation(xs, ys)
  needs(xs, 2, "correlation")
  if #xs ~= #ys then error(("correlation: %d and %d numbers"):format(#xs, #ys), 2) end
  local mx, my = M.mean(xs), M.mean(ys)
  local xy, xx, yy = 0.0, 0.0, 0.0
  for i = 1, #xs do
    local dx, dy = xs[i] - mx, ys[i] - my
    xy, xx, yy = xy + dx * dy, xx + dx * dx, yy + dy * dy
  end
  return xy / math.sqrt(xx * yy)
end

--- The mean of each number and of those before it, `window` at the most.
---
--- ```lua
--- local smooth = skyfall.stats.moving_mean({ 1, 3, 5, 7 }, 2)
--- assert(smooth[1] == 1 and smooth[4] == 6)
--- ```
---@param xs skyfall.Numbers
---@param window integer
---@return number[]
function M.moving_mean(xs, window)
  if math.type(window) ~= "integer" or window < 1 then error("moving_mean: `window` must be a positive integer", 2) end
  local means = {}
  for i = 1, #xs do
    local sum, first = 0.0, math.max(1, i - window + 1)
    for j = first, i do sum = sum + xs[j] end
    means[i] = sum / (i - first + 1)
  end
  return means
end

--- The exponential moving mean: each number with the weight `rate`, what was before with the rest.
---
--- ```lua
--- local smooth = skyfall.stats.ema({ 0, 1, 1 }, 0.5)
--- assert(smooth[2] == 0.5 and smooth[3] == 0.75)
--- ```
---@param xs skyfall.Numbers
---@param rate number above 0, up to 1
---@return number[]
function M.ema(xs, rate)
  if not (rate > 0 and rate <= 1) then error(("ema: `rate` must be above 0, up to 1, got %s"):format(rate), 2) end
  local means, mean = {}, nil
  for i = 1, #xs do
    mean = mean and mean + rate * (xs[i] - mean) or xs[i]
    means[i] = mean
  end
  return means
end

return M
