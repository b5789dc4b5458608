//! Rollout stores: whole or not at all, the same bytes twice, and a validator that sees damage.

mod command;
mod hostile;
mod info;
pub(crate) mod join;
mod reading;
mod records;
mod refusals;
mod streaming;
mod tampering;
mod targets;
mod variants;
mod writing;

use std::path::Path;

use crate::command::Scratch;

/// A record without depth, as a line of a file of records.
pub(crate) fn record_line() -> String {
    format!("{}\n", skyfall::text::json::to_string(&records::plain(&records::record(0, 2, 4))))
}

fn script() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/acceptance/05_rollouts.lua")).unwrap()
}

fn store(scratch: &Scratch) {
    scratch.write(
        "05.lua",
        &script().replace("discount_gamma = 0.95,", "discount_gamma = 0.95, created_at_utc = '2026-01-01T00:00:00Z',"),
    );
    scratch.skyfall(&["script", "05.lua"]).ok();
}

#[test]
fn the_same_records_give_the_same_bytes() {
    let (first, second) = (Scratch::new(), Scratch::new());
    store(&first);
    store(&second);
    assert_eq!(first.tree(), second.tree());
    for name in first.tree() {
        assert!(std::fs::read(first.file(&name)).unwrap() == std::fs::read(second.file(&name)).unwrap(), "{name}");
    }
}

#[test]
fn a_second_write_replaces_the_first_and_leaves_no_debris() {
    let scratch = Scratch::new();
    store(&scratch);
    let tree = scratch.tree();
    store(&scratch);
    assert_eq!(scratch.tree(), tree);
    scratch.skyfall(&["rollouts", "validate", "rollouts.zarr"]).ok();
}

#[test]
fn damage_is_told_and_never_raised() {
    let scratch = Scratch::new();
    store(&scratch);
    let info = scratch.skyfall(&["rollouts", "info", "rollouts.zarr"]).ok().stdout;
    assert!(info.contains("rollouts      20\n"), "{info}");
    let damage: [(&str, fn(&Path), &str); 4] = [
        (
            "rollouts.zarr/manifest.json",
            |path| {
                let text = std::fs::read_to_string(path).unwrap().replace("\"train\"", "\"test\"");
                std::fs::write(path, text).unwrap();
            },
            "digest",
        ),
        ("rollouts.zarr/candidates/position_id/c/0", |path| std::fs::remove_file(path).unwrap(), "position_id"),
        ("rollouts.zarr/q_h/td_reward/zarr.json", |path| std::fs::write(path, "{").unwrap(), "td_reward"),
        ("rollouts.zarr/steps/step_index/c/0", |path| std::fs::write(path, "nonsense").unwrap(), "step_index"),
    ];
    for (name, harm, word) in damage {
        let path = scratch.file(name);
        let before = std::fs::read(&path).unwrap();
        harm(&path);
        let ran = scratch.skyfall(&["rollouts", "validate", "rollouts.zarr"]);
        assert_eq!(ran.code, 1, "{name}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains(word), "{name}: {}", ran.stdout);
        std::fs::write(&path, before).unwrap();
    }
    scratch.skyfall(&["rollouts", "validate", "rollouts.zarr"]).ok();
}
