//! Progress: where a person watches, and nowhere else; what is printed is the same with `--quiet`.

use super::world;
use crate::interrupt::on_a_terminal;

/// What may take long; `%` is a name that is not taken.
const LONG: [&str; 19] = [
    "run config.yaml --traces %.jsonl",
    "serve bundle --steps 120 --traces %.jsonl",
    "eval --traces t.jsonl",
    "eval --traces t.jsonl -o %.html",
    "trace check t.jsonl",
    "trace stats t.jsonl",
    "trace cat t.jsonl -o %.csv",
    "trace rescore t.jsonl --reward reward.lua -o %.jsonl",
    "sweep sweep.lua --out %",
    "sweep table quick",
    "sweep report quick -o %.html",
    "rollouts run --shard-manifest c/shard-manifest.jsonl --script oracle.lua --all --final-root %",
    "rollouts status c/shard-manifest.jsonl",
    "rollouts write records.jsonl -o % --set selected_depth_enabled=false",
    "rollouts merge c/shards/shard-000000 c/shards/shard-000001 -o %",
    "rollouts select c/shards/shard-000000 --scene line-0 -o %",
    "rollouts split c/shards/shard-000000 --by scene -o %",
    "rollouts validate c/shards/shard-000000",
    "rollouts info c/shards/shard-000000 --validate",
];

/// What clears a line.
const CLEAR: &str = "\u{1b}[2K";

#[test]
fn long_work_is_seen_on_a_terminal_and_nowhere_else() {
    let scratch = world();
    scratch.write("records.jsonl", &crate::rollouts::record_line());
    scratch.write("reward.lua", "local reward = require('skyfall').reward\nreturn reward.compose { { reward.term('one', function() return 1 end), weight = 1 } }\n");
    for (count, long) in LONG.into_iter().enumerate() {
        let words = |name: &str| long.replace('%', &format!("{name}{count}"));
        let seen = on_a_terminal(&scratch, &words("a").split(' ').collect::<Vec<_>>());
        assert!(seen.contains(CLEAR), "{long}: {seen:?}");
        let quiet = words("b") + " --quiet";
        let seen = on_a_terminal(&scratch, &quiet.split(' ').collect::<Vec<_>>());
        assert!(!seen.contains(CLEAR), "{quiet}: {seen:?}");
        let piped = scratch.skyfall(&words("c").split(' ').collect::<Vec<_>>()).ok();
        assert!(!piped.stderr.contains('\u{1b}') && !piped.stdout.contains('\u{1b}'), "{long}: {}", piped.stderr);
        let quiet = words("d") + " --quiet";
        let quiet = scratch.skyfall(&quiet.split(' ').collect::<Vec<_>>()).ok();
        let told = quiet.stdout.replace(&format!("d{count}"), &format!("c{count}"));
        // A store's manifest has the time in it.
        let known = |told: &str| told.split(", manifest ").next().unwrap_or_default().to_owned();
        assert_eq!(known(&told), known(&piped.stdout), "{long}");
        assert!(quiet.stderr.lines().all(|line| line.starts_with("warning: ")), "{long}: {}", quiet.stderr);
    }
}
