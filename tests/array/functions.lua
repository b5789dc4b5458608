-- Inputs of every dtype, and what every function makes of them; NumPy does the same from the files.
local skyfall = require "skyfall"
local array = skyfall.array
local nan, inf = 0 / 0, math.huge

local given, done = {}, {}
for _, dtype in ipairs { "f16", "f32", "f64" } do
  given[dtype] = array.from({ { -2.5, 0.5, nan, 1.5 }, { inf, -inf, -0.0, 3 }, { 1, 0.0, 2.5, nan } }, dtype)
end
for _, dtype in ipairs { "i8", "i16", "i32", "i64" } do
  given[dtype] = array.from({ { -3, 0, 7, 100 }, { 5, -9, 2, 2 }, { 1, 1, -128, 4 } }, dtype)
end
for _, dtype in ipairs { "u8", "u16", "u32" } do
  given[dtype] = array.from({ { 3, 0, 7, 200 }, { 5, 9, 2, 2 }, { 1, 1, 128, 4 } }, dtype)
end
given.bool = array.from({ { true, false, true, true }, { false, false, true, false }, { true, true, true, true } }, "bool")
given.row = array.from({ 1, -2, 3, 0 }, "i16")
given.column = array.from({ { 0.5 }, { -1 }, { nan } }, "f32")
given.vector = array.from({ 0.5, 2, -1, 4 }, "f64")
given.few, given.powers = array.from({ 3, -2, 1, 5 }, "i8"), array.from({ 2, 1, 0, 1 }, "u8")
given.low, given.high = array.from({ 0, 0, 0, 0 }, "i8"), array.from({ 2, 2, 1, 3 }, "i8")

local function put(name, ...)
  done[table.concat({ name, ... }, " ")] = true
  return table.concat({ name, ... }, " ")
end

for dtype, a in skyfall.tables.sorted(given) do
  local is_bool, is_float = a.dtype == "bool", a.dtype:sub(1, 1) == "f"
  if not is_bool then
    if a.dtype ~= "i8" or dtype ~= "i8" then done[put("abs", dtype)] = a:abs() end
    done[put("sign", dtype)] = a:sign()
    for _, name in ipairs { "floor", "ceil", "round" } do done[put(name, dtype)] = a[name](a) end
  end
  for _, name in ipairs { "sqrt", "exp", "log", "logical_not" } do done[put(name, dtype)] = a[name](a) end
  if #a.shape == 2 and a.shape[2] == 4 then
    for axis = 1, 2 do
      for _, name in ipairs { "sort", "cumsum", "norm", "any", "all", "argmin", "argmax", "min", "max" } do
        done[put(name, dtype, tostring(axis))] = a[name](a, axis)
      end
    end
    done[put("dot", dtype, "vector")] = a:dot(given.vector)
    for _, other in ipairs { "row", "column", "u8", "f32", "i64", "bool" } do
      local b = given[other]
      for _, name in ipairs { "minimum", "maximum", "logical_and", "logical_or", "logical_xor" } do
        done[put(name, dtype, other)] = a[name](a, b)
      end
      done[put("where", "bool", dtype, other)] = array.where(given.bool, a, b)
      done[put("where", other, "column", dtype)] = array.where(b, given.column, a)
    end
    for _, other in ipairs { "few", "column", "vector", "f16" } do
      done[put("floor_divide", dtype, other)] = a // given[other]
      done[put("remainder", dtype, other)] = a % given[other]
    end
    for _, other in ipairs { "powers", "column", "vector" } do done[put("power", dtype, other)] = a ^ given[other] end
    done[put("stack", dtype, "u8", "2")] = array.stack({ a, given.u8 }, 2)
    done[put("concatenate", dtype, "i16", dtype, "1")] = array.concatenate({ a, given.i16, a }, 1)
    done[put("concatenate", dtype, "column", "2")] = array.concatenate({ a, given.column }, 2)
    if not is_bool then done[put("clip", dtype, "low", "high")] = a:clip(given.low, given.high) end
  end
end
done[put("dot", "column", "row")] = nil
array.save_npz("given.npz", given)
array.save_npz("done.npz", done)
