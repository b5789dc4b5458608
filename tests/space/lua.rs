//! `skyfall.space` and `skyfall.random` as scripts use them.

use crate::command::Scratch;

fn run(code: &str) -> String {
    let preamble = "local space, random = require 'skyfall.space', require 'skyfall.random'\n";
    Scratch::new().script(&format!("{preamble}{code}")).ok().stdout
}

/// The one line an erring call gives.
fn error(call: &str) -> String {
    run(&format!("local ok, problem = pcall(function() {call} end)\nassert(not ok)\nprint(problem)"))
}

#[test]
fn every_constructor_makes_its_space() {
    let shown = run(r#"
local d = space.discrete(3, -1, "int32")
print(space.box { low = { 0, -math.huge }, high = { 1, math.huge } })
print(space.box { low = 0, high = 255, shape = { 2, 2 }, dtype = "uint8" })
print(space.box { low = 0, high = 1, shape = {} })
print(d)
print(space.multi_discrete({ 2, 3 }))
print(space.multi_discrete({ { 2, 3 }, { 4, 5 } }, { { 0, 1 }, { 2, 3 } }, "int8"))
print(space.multi_binary(4), space.multi_binary { 2, 2 })
print(space.text(3), space.text { max_length = 2, min_length = 0, charset = "ba" })
print(space.dict { b = d, a = space.discrete(2) })
print(space.dict { { "b", d }, { "a", space.discrete(2) } })
print(space.tuple { d, d }, space.tuple {})
print(space.one_of { d, space.discrete(2) })
print(space.sequence(d), space.sequence(d, true))
print(space.graph(d), space.graph(space.discrete(2), d))
"#);
    let alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let expected = format!(
        "Box([2], float32)\nBox([2, 2], uint8)\nBox([], float32)\nDiscrete(3, start=-1, dtype=int32)\n\
         MultiDiscrete([2, 3])\nMultiDiscrete([2, 3, 4, 5], shape=[2, 2])\nMultiBinary(4)\tMultiBinary([2, 2])\n\
         Text(1, 3, charset=\"{alphanumeric}\")\tText(0, 2, charset=\"ba\")\n\
         Dict(\"a\": Discrete(2), \"b\": Discrete(3, start=-1, dtype=int32))\n\
         Dict(\"b\": Discrete(3, start=-1, dtype=int32), \"a\": Discrete(2))\n\
         Tuple(Discrete(3, start=-1, dtype=int32), Discrete(3, start=-1, dtype=int32))\tTuple()\n\
         OneOf(Discrete(3, start=-1, dtype=int32), Discrete(2))\n\
         Sequence(Discrete(3, start=-1, dtype=int32), stack=false)\tSequence(Discrete(3, start=-1, dtype=int32), stack=true)\n\
         Graph(Discrete(3, start=-1, dtype=int32), no edges)\tGraph(Discrete(2), Discrete(3, start=-1, dtype=int32))\n"
    );
    assert_eq!(shown, expected);
}

#[test]
fn decoding_undoes_encoding_in_lua_too() {
    run(r#"
local d, b = space.discrete(3, -1), space.box { low = { { -math.huge, 0 } }, high = { { 1, 2 } } }
for _, s in ipairs {
  d, b, space.box { low = 0, high = 1, shape = {} }, space.box { low = {}, high = {}, shape = { 0 } },
  space.box { low = -math.huge, high = 3, dtype = "int16" }, space.multi_discrete { { 2 }, { 3 } },
  space.multi_binary(1), space.multi_binary { 1 }, space.text { min_length = 0, max_length = 3, charset = "no" },
  space.dict { { "z", d }, { "a", space.dict { { "y", b }, { "x", d } } } }, space.dict {}, space.tuple {},
  space.tuple { d, space.sequence(b, true) }, space.graph(d, b), space.graph(d), space.one_of { b, d },
} do
  assert(space.decode(s:encode()) == s, tostring(s))
  assert(space.decode(space.encode(s)) == s, tostring(s))
end
assert(space.discrete(3) ~= space.discrete(3, 1))
"#);
}

#[test]
fn parts_are_read_by_name() {
    let shown = run(r#"
local b = space.box { low = { 0, 1 }, high = { 5, math.huge }, dtype = "float64" }
local m = space.multi_discrete({ 2, 3 }, { 0, -1 })
local d = space.dict { m = m, n = space.discrete(4, 2) }
print(b.type, b.shape[1], b.low[2], b.high[2], b.n, m.nvec[2], m.start[2], m.shape[1])
print(d.spaces.n.n, d.spaces.n.start, d.spaces.m.type, space.tuple({ b }).spaces[1] == b, d.nothing)
"#);
    assert_eq!(shown, "Box\t2\t1.0\tinf\tnil\t3\t-1\t2\n4\t2\tMultiDiscrete\ttrue\tnil\n");
}

#[test]
fn elements_cross_the_border_both_ways() {
    run(r#"
local d = space.discrete(3)
for _, s in ipairs {
  d, space.box { low = { { 0, 0 } }, high = { { 1, 2 } } }, space.multi_discrete { 4, 4 }, space.multi_binary { 2, 2 },
  space.text(4), space.dict { a = d, b = space.box { low = 0, high = 1 } }, space.tuple { d, space.text(2) },
  space.sequence(d), space.sequence(d, true), space.sequence(space.tuple { d, d }, true),
  space.graph(space.box { low = { 0, 0 }, high = { 1, 1 } }, d), space.graph(d), space.one_of { d, space.text(2) },
} do
  local sampler, rng = s:sampler(5), random.rng(5)
  for _ = 1, 20 do
    assert(s:contains(sampler:sample()), tostring(s))
    assert(s:contains(s:sample(rng)), tostring(s))
  end
end
assert(d:sample(7) == d:sampler(7):sample())
local s = space.dict { a = d, t = space.tuple { d, d } }
assert(s:contains { a = 1, t = { 0, 2 } } and not s:contains { a = 1, t = { 0, 3 } } and not s:contains { a = 1 })
assert(not s:contains(3) and not d:contains { 1 } and not d:contains(nil) and not d:contains(0.5) and d:contains(2.0))
"#);
}

#[test]
fn wrong_arguments_are_named() {
    for (call, words) in [
        ("space.box { low = 0, hihg = 1 }", "space.box: unknown key `hihg`; did you mean `high`?"),
        ("space.discrete(0)", "space.discrete: n: must be at least 1, got 0"),
        ("space.discrete()", "space.discrete: n: is missing"),
        ("space.discrete('x')", "space.discrete: n: must be an integer, got the text \"x\""),
        ("space.text { charset = 'ab' }", "space.text: max_length: is missing"),
        (
            "space.dict { space.discrete(2) }",
            "`spaces` must be named by text, or be pairs of a name and a space, not by the integer 1",
        ),
        ("space.dict { [true] = space.discrete(2) }", "`spaces` must be named by text"),
        ("space.dict { { 1, space.discrete(2) } }", "not by the integer 1"),
        ("space.dict { { 'a', space.discrete(2) }, { 'a', space.discrete(2) } }", "`spaces` has the name `a` twice"),
        ("space.tuple { space.discrete(2), 3 }", "`spaces[2]` must be a space, got the integer 3"),
        ("space.tuple { a = space.discrete(2) }", "`spaces` must be a list, but has the key a"),
        ("space.one_of {}", "space.one_of: spaces: must be at least one"),
        ("space.graph(3)", "`node_space` must be a space, got the integer 3"),
        ("space.discrete(2):sample()", "space:sample: needs a stream or a seed, got nothing"),
        ("space.discrete(2):sample(-1)", "`seed` must not be negative, got -1"),
        ("random.rng(1):uniform(1, 0)", "rng:uniform: `low` to `high` must be a finite range, got 1 to 0"),
        ("random.rng(1):normal(0, -1)", "rng:normal: `deviation` must be finite and not negative, got the integer -1"),
        ("random.rng(1):integers(3, 3)", "rng:integers: `high` must be greater than `low`"),
        ("random.rng(1):integers(0, 300, 2, 'uint8')", "rng:integers: 0 to 299 are not all integers of u8"),
        ("random.rng(1):choice {}", "rng:choice: `list` must have at least one element"),
        ("random.rng(1):choice({ 1, 2 }, { p = { 0.5, 0.6 } })", "rng:choice: `p` must sum to 1, not 1.1"),
        ("random.rng(1):choice({ 1, 2 }, { p = { 1 } })", "rng:choice: `p` must be a list of 2 numbers"),
        ("random.rng(1):choice({ 1, 2 }, { count = 3, replace = false })", "3 different elements were asked for, of 2"),
        ("random.rng(1):choice({ 1, 2 }, { size = 3 })", "rng:choice: unknown option `size`"),
        ("random.rng(1):geometric(0)", "rng:geometric: `p` must be above 0"),
        ("random.rng(1):permutation(-1)", "rng:permutation: `n` must be from 0"),
        ("random.rng(1):restore { state = 3 }", "rng:restore: `state.has_uint32` must be an integer of 32 bits"),
    ] {
        let line = error(call);
        assert!(line.contains(words) && line.contains("script.lua:2"), "{call}\n{line}");
    }
}

#[test]
fn streams_continue_from_their_state_and_spawn() {
    let shown = run(r#"
local rng = random.rng(42)
print(rng:integers(0, 1000), rng:integers(0, 1000), ("%.16g"):format(rng:uniform()))
rng:spawn()
rng:integers(0, 9)
local state = rng:state()
print(state.state, state.inc, state.has_uint32, state.uinteger, state.spawned)
local ahead = { rng:integers(0, 1000), rng:normal(), rng:spawn():raw() }
local other = random.rng(42)
other:restore(state)
assert(other:integers(0, 1000) == ahead[1] and other:normal() == ahead[2] and other:spawn():raw() == ahead[3])
local children = random.rng(42):spawn(2)
print(#children, children[1]:raw() ~= children[2]:raw(), random.named(42, "policy"):raw() ~= random.rng(42):raw())
local list = { "a", "b", "c" }
assert(rng:shuffle(list) == list and #rng:permutation(4) == 4 and #rng:permutation(list) == 3)
assert(rng:uniform(0, 1, { 2, 3 }).shape[2] == 3 and #rng:integers(0, 9, 5) == 5)
assert(rng:integers(0, 2, 3, "bool").dtype == "bool" and math.type(rng:integers(0, 5, nil, "int8")) == "integer")
"#);
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[0], "89\t773\t0.4388784397520523");
    assert_eq!(lines[2], "2\ttrue\ttrue");
}
