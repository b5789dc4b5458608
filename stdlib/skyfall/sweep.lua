--- Sweeps: one experiment at many points, each trial in a process of its own.
---
--- A script returns one, and `skyfall sweep` (or `skyfall script`) runs it:
---
---     return skyfall.sweep {
---       name = "noise",
---       axes = { noise = { 0.05, 0.2, 0.8 } },
---       repeats = 3,
---       metric = "mean_reward",
---       experiment = function(p) return { env = ..., run = { seed = p.seed } } end,
---     }

local native = ...

---@class skyfall.SweepSpace which points there are, in which order
---@field points fun(self: skyfall.SweepSpace): table[]

---@class skyfall.SweepDistribution what a drawn axis's values are drawn from

---@alias skyfall.SweepCondition (fun(point: table): boolean)|table<string, any> a function of the point, or values it must have; a list there stands for any of its items

---@class skyfall.SweepDefinition
---@field experiment fun(point: table): skyfall.Config|skyfall.Experiment makes the configuration of a point; it must depend on nothing else
---@field axes skyfall.SweepSpace|table|nil a space; a table is a grid
---@field name string? the sweep's name, and its directory's unless `--out` says otherwise
---@field metric string? what trials are compared by: `mean_reward` unless given, or `total_reward`, `mean_return`, `steps`, `episodes`, `windows`, or any metric of `skyfall eval`
---@field goal ("maximize"|"minimize")? which end of the metric is the good one, unless it is the metric's own
---@field repeats (integer|integer[])? seeds for every point, or how many from 1: the axis `seed`, the fastest; a search is told their mean
---@field except skyfall.SweepCondition? points that are left out
---@field stop skyfall.SweepRule? ends trials that fall behind
---@field search skyfall.SweepSearch? proposes the points, in place of `axes`

---@class skyfall.Sweep

---@class skyfall.SweepRule

---@class skyfall.SweepSearch

---@alias skyfall.SweepWatch "window_reward"|"mean_reward"|fun(window: skyfall.WindowSummary): number

---@class skyfall.SweepSampler
---@field ask fun(self: skyfall.SweepSampler, rng: skyfall.Rng, index: integer): table the next point; it depends on nothing but what was told, `rng` and `index`, from 1
---@field tell (fun(self: skyfall.SweepSampler, point: table, value: number?))? how a point came out, the mean over `repeats`, in the order they were asked for; where a trial failed there is no value

---@class skyfall.sweeplib
---@overload fun(definition: skyfall.SweepDefinition): skyfall.Sweep
local M = {}

--- Every combination of the axes' values. Axes are ordered by name, the last the fastest, then come
--- the spaces without a name in their order. A space under a name is nested: `p.optimizer.lr`.
---
--- ```lua
--- local points = skyfall.sweep.grid({ noise = { 0.1, 0.2 }, seed = { 1, 2, 3 } }):points()
--- assert(#points == 6 and points[2].noise == 0.1 and points[2].seed == 2)
--- ```
---@param axes table<string|integer, any[]|skyfall.SweepSpace>
---@return skyfall.SweepSpace
M.grid = native.grid

--- The first values of all axes, then the second ones: the lists must be of one length.
---
--- ```lua
--- local points = skyfall.sweep.zip({ width = { 8, 16 }, noise = { 0.2, 0.1 } }):points()
--- assert(#points == 2 and points[2].width == 16 and points[2].noise == 0.1)
--- ```
---@param axes table<string, any[]>
---@return skyfall.SweepSpace
M.zip = native.zip

--- These points.
---
--- ```lua
--- local points = skyfall.sweep.list({ { noise = 0.1 }, { noise = 0.3 } }):points()
--- assert(#points == 2 and points[2].noise == 0.3)
--- ```
---@param points table[]
---@return skyfall.SweepSpace
M.list = native.list

--- The points of one space, then those of the next.
---
--- ```lua
--- local sweep = skyfall.sweep
--- local both = sweep.chain { sweep.grid { noise = { 0.1, 0.2 } }, sweep.list { { noise = 0.9 } } }
--- assert(#both:points() == 3)
--- ```
---@param spaces skyfall.SweepSpace[]
---@return skyfall.SweepSpace
M.chain = native.chain

--- The space where the point so far fulfils the condition; elsewhere its axes are left out. In a
--- grid the point so far is made of the named axes and of the spaces before.
---
--- ```lua
--- local sweep = skyfall.sweep
--- local space = sweep.grid {
---   algorithm = { "ppo", "reinforce" },
---   sweep.when({ algorithm = "ppo" }, { clip = { 0.1, 0.2 } }),
--- }
--- assert(#space:points() == 3)
--- ```
---@param condition skyfall.SweepCondition
---@param space skyfall.SweepSpace|table
---@return skyfall.SweepSpace
M.when = native.when

--- `n` independent draws; a greater `n` keeps the first ones. A list is chosen from.
---
--- ```lua
--- local axes = { noise = skyfall.sweep.log_uniform(0.01, 1), width = { 8, 16 } }
--- local points = skyfall.sweep.random(5, axes, { seed = 1 }):points()
--- assert(#points == 5 and points[1].noise >= 0.01 and points[1].noise < 1)
--- ```
---@param n integer
---@param axes table<string, skyfall.SweepDistribution|any[]>
---@param options { seed: integer? }?
---@return skyfall.SweepSpace
M.random = native.random

--- `n` draws of which every axis has one in each of `n` equally likely parts.
---
--- ```lua
--- local points = skyfall.sweep.latin_hypercube(4, { x = skyfall.sweep.uniform(0, 1) }):points()
--- table.sort(points, function(a, b) return a.x < b.x end)
--- assert(points[1].x < 0.25 and points[4].x >= 0.75)
--- ```
---@param n integer
---@param axes table<string, skyfall.SweepDistribution|any[]>
---@param options { seed: integer? }?
---@return skyfall.SweepSpace
M.latin_hypercube = native.latin_hypercube

--- `n` points of Sobol's sequence, evenest where `n` is a power of two. The seed shifts them;
--- `shift = false` leaves the plain sequence, which begins at the lowest value of every axis. Axes
--- are numbered in the order of their names; there are at most 40.
---
--- ```lua
--- local points = skyfall.sweep.sobol(4, { x = skyfall.sweep.uniform(0, 1) }, { shift = false }):points()
--- assert(points[1].x == 0 and points[2].x == 0.5)
--- ```
---@param n integer
---@param axes table<string, skyfall.SweepDistribution|any[]>
---@param options { seed: integer?, shift: boolean? }?
---@return skyfall.SweepSpace
M.sobol = native.sobol

--- A float from `low` up to `high`.
---
--- ```lua
--- local x = skyfall.sweep.random(1, { x = skyfall.sweep.uniform(2, 3) }):points()[1].x
--- assert(x >= 2 and x < 3)
--- ```
---@param low number
---@param high number
---@return skyfall.SweepDistribution
M.uniform = native.uniform

--- A float from `low`, above 0, up to `high`, its logarithm uniform.
---
--- ```lua
--- local x = skyfall.sweep.random(1, { x = skyfall.sweep.log_uniform(1e-4, 1e-2) }):points()[1].x
--- assert(x >= 1e-4 and x < 1e-2)
--- ```
---@param low number
---@param high number
---@return skyfall.SweepDistribution
M.log_uniform = native.log_uniform

--- A normally distributed float.
---
--- ```lua
--- local x = skyfall.sweep.random(1, { x = skyfall.sweep.normal(0, 0.1) }):points()[1].x
--- assert(math.type(x) == "float")
--- ```
---@param mean number
---@param deviation number
---@return skyfall.SweepDistribution
M.normal = native.normal

--- An integer from `low` to `high`, both possible.
---
--- ```lua
--- local n = skyfall.sweep.random(1, { n = skyfall.sweep.integer(1, 6) }):points()[1].n
--- assert(math.type(n) == "integer" and n >= 1 and n <= 6)
--- ```
---@param low integer
---@param high integer
---@return skyfall.SweepDistribution
M.integer = native.integer

--- One of the values.
---
--- ```lua
--- local p = skyfall.sweep.random(1, { p = skyfall.sweep.choice { "linear_menu", "random" } }):points()[1].p
--- assert(p == "linear_menu" or p == "random")
--- ```
---@param values any[]
---@return skyfall.SweepDistribution
M.choice = native.choice

--- Asynchronous successive halving (Li et al. 2020), in its stopping form: after `first` windows,
--- `first * factor`, and so on, a trial goes on if it is among the best 1 / `factor` of those that
--- came so far. `watch` is what a window's value is: its reward per step, the run's so far, or what
--- a function makes of it. What is decided depends on the order in which trials get there.
---
--- ```lua
--- return skyfall.sweep {
---   axes = { noise = { 0.05, 0.2 }, seed = { 1, 2 } },
---   stop = skyfall.sweep.asha { first = 1, factor = 2 },
---   experiment = function(p)
---     return {
---       env = { id = "CartPole-v1" },
---       algorithm = {
---         name = "discrete_hill_climbing", params = { noise = p.noise },
---         policy = { id = "linear_menu", kwargs = { n_actions = 2 } },
---       },
---       rollout = { window_steps = 50, total_steps = 200 },
---       run = { seed = p.seed },
---     }
---   end,
--- }
--- ```
---@param options { first: integer?, factor: integer?, watch: skyfall.SweepWatch? }? `first` is 1 and `factor` 3 unless given
---@return skyfall.SweepRule
M.asha = native.asha

--- The median rule (Golovin et al. 2017): from `first` windows on, every `every`, a trial ends whose
--- best value is worse than the median of the others' means so far, if at least `least` are there.
---
--- ```lua
--- return skyfall.sweep {
---   axes = { noise = { 0.05, 0.2 }, seed = { 1, 2 } },
---   stop = skyfall.sweep.median { first = 2, least = 2 },
---   experiment = function(p)
---     return {
---       env = { id = "CartPole-v1" },
---       algorithm = {
---         name = "discrete_hill_climbing", params = { noise = p.noise },
---         policy = { id = "linear_menu", kwargs = { n_actions = 2 } },
---       },
---       rollout = { window_steps = 50, total_steps = 200 },
---       run = { seed = p.seed },
---     }
---   end,
--- }
--- ```
---@param options { first: integer?, every: integer?, least: integer?, watch: skyfall.SweepWatch? }? 1, 1 and 3 unless given
---@return skyfall.SweepRule
M.median = native.median

--- A search of `n` points by the tree-structured Parzen estimator (Bergstra et al. 2011). When a
--- point is asked for, exactly the trials up to `ahead` before it have been told: the points are
--- the same for any number of jobs, of which no more than `ahead` have work at a time.
---
--- ```lua
--- return skyfall.sweep {
---   search = skyfall.sweep.tpe(4, { noise = skyfall.sweep.log_uniform(0.01, 1) }, { startup = 2 }),
---   experiment = function(p)
---     return {
---       env = { id = "CartPole-v1" },
---       algorithm = {
---         name = "discrete_hill_climbing", params = { noise = p.noise },
---         policy = { id = "linear_menu", kwargs = { n_actions = 2 } },
---       },
---       rollout = { window_steps = 50, total_steps = 200 },
---       run = { seed = 1 },
---     }
---   end,
--- }
--- ```
---@param n integer
---@param axes table<string, skyfall.SweepDistribution|any[]>
---@param options { seed: integer?, ahead: integer?, startup: integer? }? 0, 4 and 10 unless given; `startup` points are drawn at random first
---@return skyfall.SweepSearch
M.tpe = native.tpe

--- A search of `n` points by a sampler of your own.
---
--- ```lua
--- return skyfall.sweep {
---   search = skyfall.sweep.search(4, {
---     ask = function(self, rng) return { noise = (self.best or 0.5) * rng:uniform(0.5, 2) } end,
---     tell = function(self, point, value)
---       if value and value > (self.value or -math.huge) then self.best, self.value = point.noise, value end
---     end,
---   }),
---   experiment = function(p)
---     return {
---       env = { id = "CartPole-v1" },
---       algorithm = {
---         name = "discrete_hill_climbing", params = { noise = p.noise },
---         policy = { id = "linear_menu", kwargs = { n_actions = 2 } },
---       },
---       rollout = { window_steps = 50, total_steps = 200 },
---       run = { seed = 1 },
---     }
---   end,
--- }
--- ```
---@param n integer
---@param sampler skyfall.SweepSampler
---@param options { seed: integer?, ahead: integer? }?
---@return skyfall.SweepSearch
M.search = native.search

return setmetatable(M, { __call = native.call })
