//! What a person sees while a sweep runs.

use super::quick;
use crate::command::Scratch;
use crate::interrupt::on_a_terminal;

#[test]
fn a_terminal_sees_what_is_under_way_and_what_is_best() {
    let scratch = Scratch::new();
    let axes =
        "sweep.list { { policy = 1 }, { note = '\\27[31m\\nred', steps = 1000000 }, { policy = 3, steps = 1000000 } }";
    scratch.write("sweep.lua", &quick(axes, ""));
    let seen = on_a_terminal(&scratch, &["sweep", "sweep.lua", "--jobs", "2"]);
    let seen = seen.replace("\u{1b}[2K", "").replace("\u{1b}[1B", "");
    assert!(seen.contains("0/3 trials") && seen.contains("1/3 trials"), "{}", &seen[seen.len() - 500..]);
    assert!(seen.contains("best mean_reward: 1.000000 at policy=1"), "{}", &seen[seen.len() - 500..]);
    // Trials by number with their steps, and when it will be over.
    assert!(
        seen.contains("/1000000 steps  policy=3 steps=1000000") && seen.contains("0002  "),
        "{}",
        &seen[seen.len() - 500..]
    );
    let done = seen.split("0002  ").skip(1).map(|rest| rest.split('/').next().unwrap().trim());
    let done: Vec<u64> = done.filter_map(|row| row.rsplit(' ').next()?.parse().ok()).collect();
    assert!(done.iter().any(|steps| *steps > 0 && *steps < 1_000_000), "{done:?}");
    assert!(done.is_sorted() && seen.contains("  eta "), "{done:?}");
    assert!(!seen.contains("\u{1b}[31m"), "a value does not write to the terminal");
    assert!(seen.ends_with("sweep: quick\r\n"), "{}", &seen[seen.len() - 500..]);
    // The note is gone with its trial.
    assert!(scratch.tree().iter().all(|name| !name.contains(".progress")), "{:?}", scratch.tree());
    let piped = scratch.skyfall(&["sweep", "sweep.lua", "--resume"]).ok();
    assert_eq!(piped.stderr, "", "a pipe sees none");
}
