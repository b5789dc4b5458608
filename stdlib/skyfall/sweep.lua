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
---@field metric string? what trials are compared by; `mean_reward` unless given
---@field goal ("maximize"|"minimize")? which end of the metric is the good one; `maximize` unless given
---@field repeats (integer|integer[])? seeds for every point, or how many from 1: the axis `seed`, the fastest
---@field except skyfall.SweepCondition? points that are left out

---@class skyfall.Sweep

---@class skyfall.sweeplib
---@overload fun(definition: skyfall.SweepDefinition): skyfall.Sweep
local M = {}

--- Every combination of the axes' values. Axes are ordered by name, the last the fastest, then come
--- the spaces without a name in their order. A space under a name is nested: `p.optimizer.lr`.
---@param axes table<string|integer, any[]|skyfall.SweepSpace>
---@return skyfall.SweepSpace
M.grid = native.grid

--- The first values of all axes, then the second ones: the lists must be of one length.
---@param axes table<string, any[]>
---@return skyfall.SweepSpace
M.zip = native.zip

--- These points.
---@param points table[]
---@return skyfall.SweepSpace
M.list = native.list

--- The points of one space, then those of the next.
---@param spaces skyfall.SweepSpace[]
---@return skyfall.SweepSpace
M.chain = native.chain

--- The space where the point so far fulfils the condition; elsewhere its axes are left out. In a
--- grid the point so far is made of the named axes and of the spaces before.
---
---     sweep.grid {
---       algorithm = { "ppo", "reinforce" },
---       sweep.when({ algorithm = "ppo" }, { clip = { 0.1, 0.2 } }),
---     }
---@param condition skyfall.SweepCondition
---@param space skyfall.SweepSpace|table
---@return skyfall.SweepSpace
M.when = native.when

--- `n` independent draws; a greater `n` keeps the first ones. A list is chosen from.
---@param n integer
---@param axes table<string, skyfall.SweepDistribution|any[]>
---@param options { seed: integer? }?
---@return skyfall.SweepSpace
M.random = native.random

--- `n` draws of which every axis has one in each of `n` equally likely parts.
---@param n integer
---@param axes table<string, skyfall.SweepDistribution|any[]>
---@param options { seed: integer? }?
---@return skyfall.SweepSpace
M.latin_hypercube = native.latin_hypercube

--- `n` points of Sobol's sequence, evenest where `n` is a power of two. The seed shifts them;
--- `shift = false` leaves the plain sequence, which begins at the lowest value of every axis. Axes
--- are numbered in the order of their names; there are at most 40.
---@param n integer
---@param axes table<string, skyfall.SweepDistribution|any[]>
---@param options { seed: integer?, shift: boolean? }?
---@return skyfall.SweepSpace
M.sobol = native.sobol

--- A float from `low` up to `high`.
---@param low number
---@param high number
---@return skyfall.SweepDistribution
M.uniform = native.uniform

--- A float from `low`, above 0, up to `high`, its logarithm uniform.
---@param low number
---@param high number
---@return skyfall.SweepDistribution
M.log_uniform = native.log_uniform

--- A normally distributed float.
---@param mean number
---@param deviation number
---@return skyfall.SweepDistribution
M.normal = native.normal

--- An integer from `low` to `high`, both possible.
---@param low integer
---@param high integer
---@return skyfall.SweepDistribution
M.integer = native.integer

--- One of the values.
---@param values any[]
---@return skyfall.SweepDistribution
M.choice = native.choice

return setmetatable(M, { __call = native.call })
