//! What holds for every command, whatever it does.

mod json;
mod progress;

use std::path::Path;

use crate::command::Scratch;

/// One of everything that commands look at: a trace, a bundle, a sweep, a campaign and its stores.
fn world() -> Scratch {
    let scratch = Scratch::in_memory();
    let home = Path::new(env!("CARGO_MANIFEST_DIR"));
    let data = |name: &str| std::fs::read_to_string(home.join("tests/data/campaign").join(name)).unwrap();
    scratch.write("config.yaml", "env: {id: CartPole-v1}\nalgorithm: {name: discrete_hill_climbing, policy: {id: linear_menu}}\nrollout: {total_steps: 120, window_steps: 50}\n");
    scratch.write("sweep.lua", &crate::sweep::quick("{ steps = { 20, 40 } }", "repeats = 2, "));
    scratch.write("oracle.lua", &data("oracle.lua"));
    scratch.write("index.jsonl", &crate::campaign::index(2));
    scratch.write("a_test.lua", "skyfall = require 'skyfall'\nskyfall.test.it('adds', function() assert(1 + 1 == 2) end)\nskyfall.test.it('fails', function() error('no') end)\n");
    let ok = |words: &str| drop(scratch.skyfall(&words.split(' ').collect::<Vec<_>>()).ok());
    ok("run config.yaml --traces t.jsonl --export bundle");
    ok("sweep sweep.lua");
    ok("rollouts plan index.jsonl --script oracle.lua --rows-per-shard 1 --out c");
    ok("rollouts run --shard-manifest c/shard-manifest.jsonl --script oracle.lua --all");
    scratch
}

/// The words of every command that does something, from what help says.
fn commands() -> Vec<String> {
    fn walk(scratch: &Scratch, words: &[&str], found: &mut Vec<String>) {
        let help = scratch.skyfall(&[words, &["--help"]].concat()).ok().stdout;
        let listed = help.split_once("Commands:\n").map(|(_, rest)| rest.split("\n\n").next().unwrap());
        if !help.contains(" <COMMAND>\n") && !words.is_empty() {
            found.push(words.join(" "));
        }
        for line in listed.unwrap_or_default().lines() {
            let name = line.split_whitespace().next().unwrap();
            if name != "help" {
                walk(scratch, &[words, &[name]].concat(), found);
            }
        }
    }
    let mut found = Vec::new();
    walk(&Scratch::new(), &[], &mut found);
    found
}
