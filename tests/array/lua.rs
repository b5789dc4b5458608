//! Arrays in a script's hands.

use crate::command::Scratch;

const PRELUDE: &str =
    "local array = require 'skyfall.array'\nlocal a = array.from({ { 1, 2, 3 }, { 4, 5, 6 } }, 'i32')\n";

fn says(code: &str, printed: &str) {
    let ran = Scratch::new().script(&format!("{PRELUDE}{code}")).ok();
    assert_eq!(ran.stdout.trim_end(), printed, "{code}");
}

fn refused(code: &str, words: &str) {
    Scratch::new().script(&format!("{PRELUDE}{code}")).failed(1, &["script.lua:3", words]);
}

#[test]
fn elements_parts_and_slices() {
    says("print(a[2][3], a:get(1, 2), a:get(-1, -1), a:get(2):sum(), #a, a[3])", "6\t2\t6\t15.0\t2\tnil");
    says("a[1] = { 7, 8, 9 } a[2] = a[1] a:set(2, 1, 0) print(a:sum(), a:get(2, 1))", "41.0\t0");
    says("a[1] = array.from({ 5 }, 'i32') print(a:get(1):totable()[3])", "5");
    says("a:fill(3) print(a:sum())", "18.0");
    says("local s = a:slice(2, -2) print(s.shape[1], s.shape[2], s:get(1, 1), s:get(2, 2))", "2\t2\t2\t6");
    says("print(a:slice(2, 1, 3, 2):sum(), a:slice(1, 2, 1).shape[1], a:slice(2, 1, 0).shape[2])", "14.0\t0\t0");
    says("print(a:transpose().shape[1], a:reshape({ 6 })[4], a:reshape({ 3, 2 }):get(2, 1))", "3\t4\t3");
    says("local c = a:copy() c:set(1, 1, 9) print(a:get(1, 1), c:get(1, 1))", "1\t9");
}

#[test]
fn reductions_go_over_all_or_along_an_axis() {
    says("print(a:sum(), a:mean(), a:min(), a:max())", "21.0\t3.5\t1\t6");
    says("local s = a:sum(1) print(s.dtype, s[1], s[2], s[3])", "f64\t5.0\t7.0\t9.0");
    says("print(a:mean(2)[2], a:max(-1)[1], a:min(1)[3], a:max(1).dtype)", "5.0\t3\t3\ti32");
    says(
        "local e = array.new('f32', { 0, 2 }) print(e:sum(1)[1], e:mean(1)[1] ~= e:mean(1)[1], e:min())",
        "0.0\ttrue\tnil",
    );
    refused("array.new('f32', { 0, 2 }):max(1)", "is empty and has no extreme");
    refused("a:sum(3)", "axis 3 does not exist: the array has 2");
    refused("a:sum(0)", "axis 0 does not exist");
}

#[test]
fn arithmetic_broadcasts_and_comparisons_are_arrays() {
    says("local c = a - a:mean(1) print(c.dtype, c:get(1, 1), c:get(2, 3))", "f64\t-1.5\t1.5");
    says(
        "print((a * array.from({ { 10 }, { 20 } }, 'i32')):get(2, 1), (2 - a):get(1, 3), (-a):get(1, 1))",
        "80\t-1\t-1",
    );
    says("print((a / 2):get(1, 1), (a + 0.5).dtype, (a + 1).dtype)", "0.5\tf64\ti32");
    says(
        "local g = a:gt(2) print(g.dtype, g:sum(), g:any(), g:all(), a:eq(a):all(), a:lt(0):any())",
        "bool\t4.0\ttrue\tfalse\ttrue\tfalse",
    );
    says("print(a:le(1):sum(), a:ge(6):sum(), a:map(function(x) return x * 0.5 end):get(1, 1))", "1.0\t1.0\t0.5");
    says("print(a:map(function(x) return x > 3 end, 'bool'):sum(), a:astype('u8').dtype)", "3.0\tu8");
    refused("local _ = a + array.new('f32', 2)", "do not broadcast together");
    refused("local _ = a + 'x'", "got the text \"x\"");
    refused("local _ = a * 2000000000", "does not fit i32");
    refused("local _ = -array.from({ 1 }, 'u8')", "-1 does not fit u8");
}

#[test]
fn functions_are_numpy_s() {
    let scratch = Scratch::new();
    scratch.script(include_str!("functions.lua")).ok();
    let answer = crate::peers::python(&scratch, "check_arrays.py", &["given.npz", "done.npz"]);
    let checked: usize = answer.trim_end().strip_prefix("ok ").unwrap().parse().unwrap();
    assert!(checked > 750, "{checked}");
}

#[test]
fn functions_over_all_elements_and_of_numbers() {
    says("print(a:argmin(), a:argmax(), a:argmax(2):totable()[2], array.new('f32', 0):argmin())", "1\t6\t3\tnil");
    says(
        "print(array.from({ 1, 0/0, 3 }, 'f64'):argmax(), a:any(), a:all(1)[2], array.new('u8', 0):all())",
        "2\ttrue\ttrue\ttrue",
    );
    says("print(a:cumsum()[6], a:norm() == math.sqrt(91), a:cumsum().dtype, #a:cumsum())", "21.0\ttrue\tf64\t6");
    says(
        "print(a:clip(2, 5):sum(), a:clip(nil, 2):sum(), a:minimum(2.5).dtype, a:maximum(3).dtype)",
        "21.0\t11.0\tf64\ti32",
    );
    says(
        "local x, y = a:gt(2), a:lt(5) print((x & y):sum(), (x | y):sum(), (x ~ y):sum(), (~x):sum())",
        "2.0\t6.0\t4.0\t2.0",
    );
    says("print(a:logical_and(0):any(), a:logical_or(true):all(), a:ne(3):sum())", "false\ttrue\t5.0");
    says(
        "print(array.from({ 1, 2 }, 'f32'):dot { 3, 4 }, a:dot(a:transpose()):get(2, 1), #a:dot({ 1, 2, 3 }))",
        "11.0\t32.0\t2",
    );
    says(
        "print(array.where(a:gt(3), 1, 0).dtype, array.where(a:gt(3), a, 0.5).dtype, array.where({ true }, 1, 0.5)[1])",
        "i64\tf64\t1.0",
    );
    says(
        "print(array.range(1, 10, 3):totable()[4], #array.range(3, 1), array.range(3, 1, -1)[3], #array.range(0, 1, 0.1))",
        "10\t0\t1\t11",
    );
    says(
        "local w = array.range(math.mininteger, math.maxinteger, math.maxinteger) print(#w, w[1], w[3])",
        "3\t-9223372036854775808\t9223372036854775806",
    );
    says(
        "print(array.stack({ a, a, a }).shape[1], array.stack({ a, a }, -1).shape[3], array.concatenate({ a, a }, -1).shape[2])",
        "3\t2\t6",
    );
    says(
        "print(#array.concatenate { {}, { 1 } }, array.new('f32', { 2, 0 }):dot(array.new('f32', { 0, 3 })):sum())",
        "1\t0.0",
    );
    says("print(#array.from({}, 'u8'), array.from({}, 'u8').dtype)", "0\tu8");
    let huge = "local _ = array.new('u8', { 1 << 20, 1 }) + array.new('u8', { 1, 1 << 30 })";
    Scratch::new().script(&format!("{PRELUDE}{huge}")).failed(3, &["error[limit/memory]", "script.lua:3", "too large"]);
    refused("array.from({ -128 }, 'i8'):abs()", "does not fit i8");
    says("print((a ^ 2).dtype, (2 ^ a)[2][3], (a ^ 0.5).dtype, (7 // a)[2][1], (-a % 4)[1][1])", "i32\t64\tf64\t1\t3");
    says("print((array.from({ math.mininteger }, 'i64') % -1)[1], (a / 0)[1][1], (a % 0.5)[1][1])", "0\tinf\t0.0");
    refused("local _ = a // 0", "divided by zero");
    refused("local _ = a % 0", "divided by zero");
    refused("local _ = a ^ -1", "negative power");
    refused("local _ = a ^ 40", "does not fit i32");
    refused("local _ = array.from({ math.mininteger }, 'i64') // -1", "does not fit i64");
    refused("local _ = a & a", "`&`, `|` and `~` are for two bool arrays; of others there is `a:logical_and(b)`");
    refused("a:dot(a)", "have no product");
    refused("array.stack {}", "there is no array to join");
    refused("array.stack({ a, { 1 } })", "do not broadcast");
    refused("array.concatenate({ a, { 1, 2 } }, 1)", "do not broadcast");
    refused("array.concatenate({ a, a }, 3)", "axis 3 does not exist: there are 2");
    refused("array.stack({ a, a }, 4)", "axis 4 does not exist: there are 3");
    refused("array.range(1, 2, 0)", "`step` must lead");
    refused("array.range(1, math.huge)", "`step` must lead");
    refused("array.range(1, math.maxinteger)", "too large");
    refused("array.where(a, array.new('f32', 2), 1)", "do not broadcast");
    refused("array.where(a, 'x', 1)", "`yes`: expected a number");
    refused("array.from({ 1 }, 'f32'):sort(2)", "axis 2 does not exist");
}

#[test]
fn mistakes_are_named() {
    refused("a:summ()", "an array has no field `summ`; did you mean `sum`?");
    refused("print(a.size)", "an array has no field `size`");
    refused("print(a[1.5])", "an array's index must be an integer, got the number 1.5");
    refused("a[3] = { 1, 2, 3 }", "index 3 is outside 1 to 2");
    refused("a[1] = { 1, 2 }", "do not broadcast");
    refused("a:get(1, 4)", "index 4 is outside axis 2 of length 3");
    refused("a:get(1, 1, 1)", "3 indices for 2 axes");
    refused("a:set(1, 7)", "1 indices for 2 axes");
    refused("a:slice(2, 2, 9)", "slice 2 to 9 is outside axis 2 of length 3");
    refused("a:slice(1, 1, 2, 0)", "`step` must be positive");
    refused("a:reshape { 4 }", "does not hold 6");
    refused("a:astype('bool')", "2 at [1][2] does not fit bool");
    refused("a:map(3)", "expected a function, got the integer 3");
    refused("a:map(function() return 'x' end)", "expected a number");
    refused("a:map(function(x) error('no ' .. x) end)", "no 1");
    refused("array.new('f32', { 1 << 40, 1 << 40 })", "too large");
    refused("print(a[math.mininteger], a[math.maxinteger]) a:get(math.mininteger)", "outside axis 1");
}

#[test]
fn files_are_numpy_s_and_stay_below_the_script_s_directories() {
    says("array.save_npy('d/a.npy', a) local b = array.load_npy('d/a.npy') print(b.dtype, b:eq(a):all())", "i32\ttrue");
    says(
        "array.save_npz('a.npz', { one = a, two = { 0.5 } }, { compressed = true })\n\
         local t = array.load_npz('a.npz') print(t.one:sum(), t.two[1], t.three)",
        "21.0\t0.5\tnil",
    );
    refused("array.save_npy('/elsewhere/a.npy', a)", "--allow-path");
    refused("array.load_npy('../a.npy')", "--allow-path");
    refused("array.load_npy('none.npy')", "none.npy cannot be read");
    refused("array.load_npy('script.lua')", "script.lua is no .npy file");
    refused("array.load_npz('script.lua')", "script.lua is no .npz file");
    refused("array.save_npz('a.npz', { a = 'x' })", "`arrays.a`: expected a number, found text");
    refused("array.save_npz('a.npz', { a })", "`a key of arrays` must be text");
    refused("array.save_npz('a.npz', {}, { compresed = true })", "unknown option `compresed`");
}
