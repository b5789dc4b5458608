//! Python peers: what we write they read, and our numbers are theirs.
//!
//! `tests/run` makes the venv and names its interpreter in `SKYFALL_PYTHON`; without it these
//! tests fail and say so, rather than pass unseen.

use std::path::Path;
use std::process::Command;

use crate::command::Scratch;

/// Runs a script of `tests/python` in `scratch` and returns what it printed.
pub(crate) fn python(scratch: &Scratch, script: &str, arguments: &[&str]) -> String {
    let interpreter = std::env::var("SKYFALL_PYTHON").expect("SKYFALL_PYTHON names no interpreter: run tests/run");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python").join(script);
    let output = Command::new(interpreter).arg(script).args(arguments).current_dir(scratch.path()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

fn acceptance(scratch: &Scratch, name: &str) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/acceptance").join(name);
    std::fs::copy(script, scratch.file(name)).unwrap();
    scratch.skyfall(&["script", name]).ok();
}

#[test]
fn zarr_python_opens_the_store_and_derives_the_same_view() {
    let scratch = Scratch::new();
    acceptance(&scratch, "05_rollouts.lua");
    assert!(python(&scratch, "check_store.py", &["rollouts.zarr"]).starts_with("ok"));
    scratch.skyfall(&["rollouts", "validate", "rollouts.zarr"]).ok();
}

#[test]
fn pyyaml_reads_the_manifest_and_prints_it_again() {
    let scratch = Scratch::new();
    acceptance(&scratch, "03_experiment.lua");
    python(&scratch, "check_manifest.py", &["out/bundle/manifest.yaml"]);
}

#[test]
fn python_s_json_reads_the_trace_and_prints_it_again() {
    let scratch = Scratch::new();
    acceptance(&scratch, "03_experiment.lua");
    python(&scratch, "check_trace.py", &["out/traces.jsonl"]);
}

#[test]
fn gymnasium_goes_the_same_way_on_seeds_of_no_vector() {
    let scratch = Scratch::new();
    let walk = "local e = require('skyfall').env.make('CartPole-v1')\n\
                for seed = 1000, 1009 do\n\
                local o = e:reset { seed = seed }\n\
                local k, done = 0, false\n\
                while not done do\n\
                local r, t, u\n\
                o, r, t, u = e:step((k + seed) % 2)\n\
                print(('%d %d %.17g %.17g %.17g %.17g %g %s'):format(seed, k, o[1], o[2], o[3], o[4], r, t))\n\
                k, done = k + 1, t or u\n\
                end\n\
                end\n";
    let ours = scratch.script(walk).ok().stdout;
    assert!(ours.lines().count() > 100);
    scratch.write("ours.txt", &ours);
    python(&scratch, "check_cartpole.py", &["ours.txt"]);
}
