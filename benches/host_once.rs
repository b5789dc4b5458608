//! One task of the script host, for `benches/run` to time from outside: `machines N` (with the
//! library), `bare N` (Lua alone), `calls N` (of four numbers across the border, nothing else).
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, missing_docs, reason = "a bench")]

use std::hint::black_box;
use std::rc::Rc;

use skyfall::script::{Console, Script, ScriptHost, Settings};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["machines", count] => (0..count.parse().unwrap()).for_each(|_: u64| machine()),
        ["bare", count] => (0..count.parse().unwrap()).for_each(|_: u64| {
            black_box(mlua::Lua::new().load("return 1").eval::<i64>().unwrap());
        }),
        ["calls", count] => calls(count.parse().unwrap()),
        // `cargo bench` and `cargo test` start it without a task.
        [] => {}
        other => panic!("no such task: {other:?}"),
    }
}

fn machine() {
    let script = Script::Text { name: "bench".to_owned(), code: "require 'skyfall'".to_owned() };
    ScriptHost::new(script, Settings::default(), Rc::new(Silent)).unwrap().run().unwrap();
}

fn calls(count: u64) {
    let lua = mlua::Lua::new();
    let add: mlua::Function = lua.load("return function(a, b, c, d) return a + b + c + d end").eval().unwrap();
    println!("{}", (0..count).map(|_| add.call::<f64>((1.0, 2.0, 3.0, 4.0)).unwrap()).sum::<f64>());
}

struct Silent;

impl Console for Silent {
    fn warn(&self, _: &str) {}
    fn info(&self, _: &str) {}
    fn progress(&self, _: &str, _: u64, _: u64) {}
}
