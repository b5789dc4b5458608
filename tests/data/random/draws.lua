-- Prints what `skyfall.random` draws, for `tests/python/check_random.py`.
local random = require "skyfall.random"

local P = { 0.1, 0.25, 0.0, 0.4, 0.05, 0.2 }
local SIX = { 0, 1, 2, 3, 4, 5 }

--- The numbers of lists, arrays and bare values, one after the other.
local function flat(...)
  local found = {}
  for _, part in ipairs { ... } do
    if type(part) == "table" or type(part) == "userdata" then
      for index = 1, #part do found[#found + 1] = part[index] end
    else
      found[#found + 1] = part
    end
  end
  return found
end

local function spelled(value)
  if math.type(value) == "float" then return ("%016x"):format((">I8"):unpack((">d"):pack(value))) end
  if type(value) == "boolean" then return value and "1" or "0" end
  return tostring(value)
end

local kinds = {
  uniform = function(rng) return rng:uniform(-3, 8.5, 9) end,
  normal = function(rng) return rng:normal(1.5, 0.25, 400) end,
  exponential = function(rng) return rng:exponential(2.5, 400) end,
  geometric = function(rng) return rng:geometric(0.02, 40) end,
  geometric_search = function(rng) return rng:geometric(0.4, 40) end,
  integers = function(rng)
    local found = {}
    for _, high in ipairs { 3, 1000, 1 << 31, (1 << 32) - 7, (1 << 32) - 6, 1 << 40, 1 << 62 } do
      found[#found + 1] = rng:integers(-7, high)
    end
    return found
  end,
  bool = function(rng) return rng:integers(0, 2, 70, "bool") end,
  int8 = function(rng) return rng:integers(-128, 128, 11, "int8") end,
  uint8 = function(rng) return rng:integers(3, 103, 11, "uint8") end,
  int16 = function(rng) return rng:integers(-300, 299, 11, "int16") end,
  uint16 = function(rng) return rng:integers(0, 65536, 11, "uint16") end,
  int32 = function(rng) return rng:integers(-(1 << 31), 1 << 31, 11, "int32") end,
  uint32 = function(rng) return rng:integers(5, 3 << 30, 11, "uint32") end,
  choice = function(rng) return rng:choice(SIX), rng:choice(SIX, { count = 9 }) end,
  choice_p = function(rng) return rng:choice(SIX, { p = P }), rng:choice(SIX, { p = P, count = 9 }) end,
  choice_once = function(rng)
    return rng:choice(SIX, { count = 4, replace = false }), rng:choice(SIX, { count = 6, replace = false })
  end,
  choice_once_p = function(rng)
    return rng:choice(SIX, { count = 5, replace = false, p = P }), rng:choice(SIX, { count = 2, replace = false, p = P })
  end,
  permutation = function(rng)
    local from_one = rng:permutation(17)
    for index, value in ipairs(from_one) do from_one[index] = value - 1 end
    return from_one, rng:permutation(SIX)
  end,
  shuffle = function(rng) return rng:shuffle { 0, 1, 2, 3, 4, 5 } end,
  spawn = function(rng)
    local children = rng:spawn(2)
    local first, second = children[1]:uniform(), children[2]:uniform()
    return first, second, children[1]:spawn():uniform(), rng:uniform()
  end,
  state = function(rng)
    rng:integers(0, 9)
    local state = rng:state()
    return state.state, state.inc, state.has_uint32, state.uinteger
  end,
}

for kind, draw in pairs(kinds) do
  for _, seed in ipairs { 5, 1234, 99991, (1 << 33) + 1, 7777777 } do
    local line = { tostring(seed), kind }
    for _, value in ipairs(flat(draw(random.rng(seed)))) do line[#line + 1] = spelled(value) end
    print(table.concat(line, " "))
  end
end
