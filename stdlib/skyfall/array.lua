--- Native arrays: typed, of any rank, in C order.
---
--- Indices and axes count from 1, negative ones from the end, and ranges include their end.
--- Arithmetic is element by element and broadcasts; result types are NumPy's, but an integer
--- result outside its type is an error instead of wrapping around.

local native = ...

---@class skyfall.arraylib
local M = {}

---@alias skyfall.dtype "f16"|"f32"|"f64"|"i8"|"i16"|"i32"|"i64"|"u8"|"u16"|"u32"|"bool"

--- ```lua
--- local a = skyfall.array.from({ { 1, 2, 3 }, { 4, 5, 6 } }, "f32")
--- assert(#a == 2 and a[2][3] == 6 and a:get(-1, -1) == 6)
--- local centred = a - a:mean(1)
--- assert(centred:get(1, 1) == -1.5 and (a * 2):sum() == 42)
--- assert(a:slice(2, 2, -1):sum(2)[1] == 5)
--- assert(a:gt(2):sum() == 4 and not a:gt(2):all())
--- assert((a:gt(2) & a:lt(5)):sum() == 2 and a:argmax() == 6 and a:argmax(2)[1] == 3)
--- assert(a:clip(2, 4):sum() == 19 and a:sqrt():get(2, 1) == 2 and a:abs():round().dtype == "f32")
--- assert(a:dot({ 1, 0, 0 })[2] == 4 and a:cumsum(2):get(1, 3) == 6)
--- ```
---@class skyfall.Array
---@field shape integer[] the length of each axis
---@field dtype skyfall.dtype
---@field get fun(self: skyfall.Array, ...: integer): any the element at an index for each axis; with fewer, the part there, as a copy
---@field set fun(self: skyfall.Array, ...: any) an index for each axis, then the value
---@field fill fun(self: skyfall.Array, value: number|boolean) sets every element
---@field slice fun(self: skyfall.Array, axis: integer, first: integer?, last: integer?, step: integer?): skyfall.Array the positions `first` (1) to `last` (-1) along an axis, as a copy
---@field reshape fun(self: skyfall.Array, shape: integer[]): skyfall.Array the same elements, in C order, under another shape
---@field transpose fun(self: skyfall.Array): skyfall.Array the axes in reverse order
---@field astype fun(self: skyfall.Array, dtype: skyfall.dtype): skyfall.Array the same values; one that does not fit is an error
---@field copy fun(self: skyfall.Array): skyfall.Array
---@field map fun(self: skyfall.Array, fn: (fun(value: any): any), dtype: skyfall.dtype?): skyfall.Array `fn` of every element, as `f64` unless told
---@field sum fun(self: skyfall.Array, axis: integer?): any a number; along an axis an array, both in float64
---@field mean fun(self: skyfall.Array, axis: integer?): any as `sum`; NaN of nothing
---@field min fun(self: skyfall.Array, axis: integer?): any NaN if any is; nil of nothing
---@field max fun(self: skyfall.Array, axis: integer?): any NaN if any is; nil of nothing
---@field argmin fun(self: skyfall.Array, axis: integer?): any the position (from 1, in C order) of the least; the first NaN before all; nil of nothing
---@field argmax fun(self: skyfall.Array, axis: integer?): any the position of the greatest
---@field any fun(self: skyfall.Array, axis: integer?): any whether an element is not 0 or false; along an axis an array
---@field all fun(self: skyfall.Array, axis: integer?): any whether no element is 0 or false
---@field cumsum fun(self: skyfall.Array, axis: integer?): skyfall.Array running sums in float64; without an axis of all elements in C order
---@field norm fun(self: skyfall.Array, axis: integer?): any the Euclidean length, in float64
---@field dot fun(self: skyfall.Array, other: skyfall.Array|table): any inner product of vectors, a number; product of matrices, or of a matrix and a vector, in float64
---@field sort fun(self: skyfall.Array, axis: integer?): skyfall.Array in rising order along an axis (the last), NaN at the end
---@field abs fun(self: skyfall.Array): skyfall.Array
---@field sign fun(self: skyfall.Array): skyfall.Array -1, 0 or 1; NaN stays
---@field sqrt fun(self: skyfall.Array): skyfall.Array of integers as floats
---@field exp fun(self: skyfall.Array): skyfall.Array of integers as floats
---@field log fun(self: skyfall.Array): skyfall.Array the natural logarithm, of integers as floats
---@field floor fun(self: skyfall.Array): skyfall.Array in the same dtype
---@field ceil fun(self: skyfall.Array): skyfall.Array in the same dtype
---@field round fun(self: skyfall.Array): skyfall.Array halves go to the even neighbour
---@field minimum fun(self: skyfall.Array, other: skyfall.Array|number): skyfall.Array the lesser of each two elements, NaN if either is
---@field maximum fun(self: skyfall.Array, other: skyfall.Array|number): skyfall.Array the greater of each two elements, NaN if either is
---@field clip fun(self: skyfall.Array, low: skyfall.Array|number|nil, high: skyfall.Array|number|nil): skyfall.Array no element below `low` or above `high`
---@field logical_and fun(self: skyfall.Array, other: skyfall.Array|number|boolean): skyfall.Array where both are not 0; of bool arrays also `a & b`
---@field logical_or fun(self: skyfall.Array, other: skyfall.Array|number|boolean): skyfall.Array where either is not 0; of bool arrays also `a | b`
---@field logical_xor fun(self: skyfall.Array, other: skyfall.Array|number|boolean): skyfall.Array where one only is not 0; of bool arrays also `a ~ b`
---@field logical_not fun(self: skyfall.Array): skyfall.Array where elements are 0; of bool arrays also `~a`
---@field eq fun(self: skyfall.Array, other: skyfall.Array|number): skyfall.Array where elements are equal, as `bool`
---@field ne fun(self: skyfall.Array, other: skyfall.Array|number): skyfall.Array where elements differ; NaN differs from all
---@field lt fun(self: skyfall.Array, other: skyfall.Array|number): skyfall.Array where they are less
---@field le fun(self: skyfall.Array, other: skyfall.Array|number): skyfall.Array where they are less or equal
---@field gt fun(self: skyfall.Array, other: skyfall.Array|number): skyfall.Array where they are greater
---@field ge fun(self: skyfall.Array, other: skyfall.Array|number): skyfall.Array where they are greater or equal
---@field totable fun(self: skyfall.Array): any nested lists
---@field [integer] any an element of a vector, or a row (a copy); rows can be assigned
---@operator add(skyfall.Array|number): skyfall.Array
---@operator sub(skyfall.Array|number): skyfall.Array
---@operator mul(skyfall.Array|number): skyfall.Array
---@operator div(skyfall.Array|number): skyfall.Array
---@operator idiv(skyfall.Array|number): skyfall.Array
---@operator mod(skyfall.Array|number): skyfall.Array
---@operator pow(skyfall.Array|number): skyfall.Array
---@operator unm: skyfall.Array
---@operator band(skyfall.Array): skyfall.Array
---@operator bor(skyfall.Array): skyfall.Array
---@operator bxor(skyfall.Array): skyfall.Array
---@operator bnot: skyfall.Array
---@operator len: integer

--- An array of zeros.
---
--- ```lua
--- local a = skyfall.array.new("u8", { 2, 3 })
--- a:set(1, 2, 255)
--- assert(a:sum() == 255)
--- ```
---@param dtype skyfall.dtype
---@param shape integer[]|integer
---@return skyfall.Array
M.new = native.new

--- An array with a table's numbers; nested lists give it its rank.
---
--- ```lua
--- local a = skyfall.array.from({ { 1, 2 }, { 3, 4 } }, "f64")
--- assert(a.shape[1] == 2 and a:mean() == 2.5)
--- ```
---@param values table
---@param dtype skyfall.dtype
---@return skyfall.Array
M.from = native.from

--- The numbers of a numeric `for`: from `first` to `last`, both included. `i64` if all are integers,
--- else `f64`.
---
--- ```lua
--- assert(skyfall.array.range(1, 5):sum() == 15)
--- assert(skyfall.array.range(0, 1, 0.25)[4] == 0.75)
--- ```
---@param first number
---@param last number
---@param step number?
---@return skyfall.Array
M.range = native.range

--- Elements of `yes` where those of `condition` are not 0, else of `no`. All three broadcast; a number
--- beside an array takes its dtype, as in arithmetic.
---
--- ```lua
--- local a = skyfall.array.from({ -1, 2, -3 }, "f32")
--- local rectified = skyfall.array.where(a:gt(0), a, 0)
--- assert(rectified:sum() == 2 and rectified.dtype == "f32")
--- ```
---@param condition skyfall.Array|table
---@param yes skyfall.Array|table|number
---@param no skyfall.Array|table|number
---@return skyfall.Array
M.where = native.where

--- Arrays of one shape along a new axis, the first unless told.
---
--- ```lua
--- local rows = skyfall.array.stack { { 1, 2 }, { 3, 4 }, { 5, 6 } }
--- assert(rows.shape[1] == 3 and rows:get(3, 2) == 6)
--- assert(skyfall.array.stack({ { 1, 2 }, { 3, 4 } }, 2):get(1, 2) == 3)
--- ```
---@param parts (skyfall.Array|table)[]
---@param axis integer?
---@return skyfall.Array
M.stack = native.stack

--- Arrays one after the other along an axis, the first unless told; elsewhere their shapes are the same.
---
--- ```lua
--- local both = skyfall.array.concatenate { { 1, 2 }, { 0.5 } }
--- assert(#both == 3 and both.dtype == "f64")
--- ```
---@param parts (skyfall.Array|table)[]
---@param axis integer?
---@return skyfall.Array
M.concatenate = native.concatenate

--- The array in a NumPy `.npy` file, of any number or bool type; `uint64` is read as `i64` where
--- it fits.
---
--- ```lua
--- skyfall.array.save_npy("a.npy", { { 1, 2 }, { 3, 4 } })
--- local a = skyfall.array.load_npy("a.npy")
--- assert(a.dtype == "i64" and a:get(2, 1) == 3)
--- ```
---@param path string
---@return skyfall.Array
M.load_npy = native.load_npy

--- Writes an array, or nested lists of numbers, as a file that `numpy.load` opens: complete or
--- not at all.
---
--- ```lua
--- skyfall.array.save_npy("weights.npy", skyfall.array.new("f32", { 4, 2 }))
--- ```
---@param path string
---@param array skyfall.Array|table
M.save_npy = native.save_npy

--- Every array of a NumPy `.npz` archive, by name.
---
--- ```lua
--- skyfall.array.save_npz("both.npz", { a = { 1, 2 }, b = { 0.5 } })
--- local arrays = skyfall.array.load_npz("both.npz")
--- assert(arrays.a:sum() == 3 and arrays.b[1] == 0.5)
--- ```
---@param path string
---@return table<string, skyfall.Array>
M.load_npz = native.load_npz

--- Writes arrays as one archive that `numpy.load` opens, in the order of their names; the same
--- arrays give the same bytes.
---
--- ```lua
--- skyfall.array.save_npz("small.npz", { zeros = skyfall.array.new("f64", 1000) }, { compressed = true })
--- ```
---@param path string
---@param arrays table<string, skyfall.Array|table>
---@param options { compressed: boolean? }?
M.save_npz = native.save_npz

return M
