//! One pass over a group of a store, for `benches/peers/store_read_peers.py` to time: prints the
//! CPU seconds and the seconds it took. `table DIR GROUP` reads every column, `validate DIR` checks.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a bench"
)]

use std::path::Path;
use std::time::Instant;

use skyfall::rollouts::{Store, validate};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let (cpu, wall) = (cpu_seconds(), Instant::now());
    match arguments.as_slice() {
        ["table", directory, group] => {
            let store = Store::open(Path::new(directory)).unwrap();
            let table = store.table(group, &[], 0..usize::MAX).unwrap();
            assert!(!table.is_empty());
        }
        ["validate", directory] => {
            let validation = validate(Path::new(directory)).unwrap();
            assert!(validation.ok(), "{:?}", validation.errors);
        }
        // `cargo bench` and `cargo test` start it without a task.
        [] => return,
        other => panic!("no such task: {other:?}"),
    }
    println!("{:.3} {:.3}", cpu_seconds() - cpu, wall.elapsed().as_secs_f64());
}

/// Of this process, in ticks of the system's clock.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}
