//! The reference and what there is: neither has what the other lacks, and every example runs.

use std::collections::BTreeSet;

use skyfall::script::reference::{Entry, Kind, Module, page, reference};

use crate::command::Scratch;

fn functions(module: &Module) -> impl Iterator<Item = &Entry> {
    module.entries.iter().filter(|entry| entry.kind == Kind::Function)
}

#[test]
fn what_is_documented_is_there_and_what_is_there_is_documented() {
    let mut code = String::new();
    for module in reference() {
        code.push_str(&format!(
            "for name, value in pairs(require '{0}') do if type(value) == 'function' then print('{0}.' .. name) end end\n",
            module.name
        ));
    }
    let live: BTreeSet<String> = Scratch::new().script(&code).ok().stdout.lines().map(str::to_owned).collect();
    let documented: BTreeSet<String> = reference()
        .iter()
        .flat_map(|module| functions(module).map(|entry| entry.name.clone()).collect::<Vec<_>>())
        .collect();
    assert_eq!(live, documented);
}

#[test]
fn every_function_says_what_it_takes_gives_and_how_it_is_used() {
    for module in reference() {
        assert!(!module.doc.is_empty() && !module.entries.is_empty(), "{}", module.name);
        for entry in functions(&module) {
            assert!(!entry.doc.is_empty(), "{} says nothing", entry.name);
            let shown = module.name == "skyfall.sweep" || !entry.examples().is_empty();
            assert!(shown, "{} has no example", entry.name);
            for part in &entry.parts {
                assert!(!part.kind.is_empty(), "{}: the parameter {} has no type", entry.name, part.name);
            }
        }
        for entry in module.entries.iter().filter(|entry| matches!(entry.kind, Kind::Class(_))) {
            for part in &entry.parts {
                assert!(!part.kind.is_empty(), "{}: the field {} has no type", entry.name, part.name);
            }
        }
    }
}

#[test]
fn every_example_runs() {
    let mut ran = 0;
    for entry in reference().iter().flat_map(|module| &module.entries) {
        for example in entry.examples() {
            let scratch = Scratch::new();
            let code = format!("local skyfall = require 'skyfall'\n{example}");
            // What tests say of themselves is run as tests are.
            let done = if entry.name.starts_with("skyfall.test.") {
                scratch.write("example_test.lua", &code);
                scratch.skyfall(&["test", "example_test.lua"])
            } else {
                scratch.script(&code)
            };
            assert_eq!(done.code, 0, "{}\n{code}\n{}{}", entry.name, done.stdout, done.stderr);
            ran += 1;
        }
    }
    assert!(ran >= 80, "{ran} examples");
}

/// An object of each class whose methods are documented.
const OBJECTS: &[(&str, &str)] = &[
    ("skyfall.Array", "skyfall.array.new('f32', 2)"),
    ("skyfall.Rng", "skyfall.random.rng(1)"),
    ("skyfall.Space", "skyfall.space.box { low = 0, high = { 1 } }"),
    ("skyfall.Env", "skyfall.env.make 'CartPole-v1'"),
    ("skyfall.Vector", "skyfall.env.vector('CartPole-v1', 2)"),
    ("skyfall.TraceWriter", "skyfall.trace.writer('t.jsonl', {})"),
    ("skyfall.Expectation", "skyfall.test.expect(1)"),
    (
        "skyfall.Experiment",
        "skyfall.experiment { env = { id = 'CartPole-v1' }, algorithm = { policy = { id = 'random' } }, rollout = { total_steps = 1 } }",
    ),
];

#[test]
fn objects_have_the_methods_that_are_documented() {
    let modules = reference();
    for (class, expression) in OBJECTS {
        let entry = modules.iter().flat_map(|module| &module.entries).find(|entry| entry.name == *class);
        let entry = entry.unwrap_or_else(|| panic!("{class} is not documented"));
        let mut code = format!("local skyfall = require 'skyfall'\nlocal object = {expression}\n");
        let methods = entry.parts.iter().filter(|part| part.kind.starts_with("fun(") && !part.name.starts_with('['));
        for part in methods {
            code.push_str(&format!("assert(object.{0}, '{0} is not there')\n", part.name));
        }
        let done = Scratch::new().script(&code);
        assert_eq!(done.code, 0, "{class}: {}", done.stderr);
    }
}

/// To mend it: `skyfall doc --all > docs/library.md`.
#[test]
fn the_page_is_up_to_date() {
    assert_eq!(page(&reference()), include_str!("../docs/library.md"));
}
