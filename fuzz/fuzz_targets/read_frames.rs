//! The environment protocol: whatever a program answers makes an environment that resets and steps,
//! or an error.
#![no_main]

use std::os::unix::fs::PermissionsExt;
use std::sync::OnceLock;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use skyfall::env::foreign::Programs;
use skyfall::value::Map;
use skyfall_fuzz::{place, scratch};

/// A program that answers what stands in the file `answers`, whatever it is asked, and no more.
fn program() -> &'static str {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let answers = scratch().join("answers");
        let text = format!("#!/bin/sh\ncat '{}'\nexec 1>&-\ncat >/dev/null\n", answers.display());
        let path = place("program", text.as_bytes());
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a program");
        format!("program:{}", path.display())
    })
}

fuzz_target!(|bytes: &[u8]| {
    place("answers", bytes);
    let programs = Programs { timeout: Some(Duration::from_secs(5)), ..Programs::default() };
    let Ok(mut env) = programs.make(program(), &Map::new()) else { return };
    let mut observation = env.observation_space().blank();
    let action = env.action_space().blank();
    if env.reset(Some(1), &mut observation).is_ok() {
        while env.step(&action, &mut observation).is_ok() {}
    }
});
