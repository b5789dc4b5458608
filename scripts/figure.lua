-- scripts/figure.lua: from a trace to a figure of one's own. Reads rows as they stand, smooths their reward within each
-- regime, and writes an SVG file. (`skyfall eval --plots DIR` draws a dozen figures without a line of code.)
-- Run: skyfall script scripts/figure.lua -- TRACES FIGURE.svg
local skyfall = require "skyfall"

local traces, figure = arg[1], arg[2]
if not figure then error { code = "figure/usage", message = "two arguments are needed: TRACES FIGURE.svg" } end

-- The run's stretches, each of one regime, with the mean of the last hundred rewards at each row.
local stretches, rows = {}, 0
for row in skyfall.trace.rows(traces) do
  local last = stretches[#stretches]
  if not last or last.id ~= row.regime_id then
    last = { id = row.regime_id, like = row.regime_origin or row.regime_id, from = rows, rewards = {} }
    stretches[#stretches + 1] = last
  end
  last.rewards[#last.rewards + 1] = row.reward
  rows = rows + 1
end
local least, greatest = math.huge, -math.huge
for _, stretch in ipairs(stretches) do
  stretch.level = skyfall.stats.moving_mean(stretch.rewards, 100)
  local level = skyfall.array.from(stretch.level, "f64")
  least, greatest = math.min(least, level:min()), math.max(greatest, level:max())
end

local WIDTH, HEIGHT = 720, 240
local COLOURS = { "#0072b2", "#d55e00", "#009e73", "#cc79a7" } -- Okabe and Ito's; a revisit has its origin's
local function x(row) return WIDTH * row / rows end
local function y(level) return HEIGHT - 20 - (HEIGHT - 50) * (level - least) / (greatest - least) end

local parts, colours, regimes = {}, {}, 0
local function draw(text, ...) parts[#parts + 1] = text:format(...) end
draw('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif">', WIDTH, HEIGHT)
for _, stretch in ipairs(stretches) do
  if not colours[stretch.like] then
    regimes = regimes + 1
    colours[stretch.like] = COLOURS[(regimes - 1) % #COLOURS + 1]
  end
  local from, colour, points = x(stretch.from), colours[stretch.like], {}
  for i = 1, #stretch.level, 10 do
    points[#points + 1] = ("%.1f,%.1f"):format(x(stretch.from + i), y(stretch.level[i]))
  end
  draw('<rect x="%.1f" width="%.1f" height="%d" fill="%s" opacity="0.1"/>', from, x(#stretch.level), HEIGHT, colour)
  draw('<text x="%.1f" y="18" font-size="12" fill="%s">%s</text>', from + 6, colour, stretch.id)
  draw('<polyline points="%s" fill="none" stroke="%s"/>', table.concat(points, " "), colour)
end
draw "</svg>\n"
skyfall.fs.write(figure, table.concat(parts, "\n"))
print(("%s: %d rows from %.2f to %.2f, %d stretches of %d regimes"):format(
  figure, rows, least, greatest, #stretches, regimes))
