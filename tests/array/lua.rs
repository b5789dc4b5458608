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
