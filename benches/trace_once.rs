//! One pass of one task, for `benches/peers/trace_peers.py` to time from outside:
//! `write POOL OUT TIMES`, `columns FILE`, `rows FILE`.
#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, missing_docs, reason = "a bench")]

use std::path::PathBuf;

use skyfall::trace::columns::RunColumns;
use skyfall::trace::{ReadOptions, Row, Writer, WriterOptions, load, read_columns, rows};
use skyfall::value::Map;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["write", pool, out, times] => write(pool, out, times.parse().unwrap()),
        ["columns", file] => columns(file),
        ["rows", file] => println!("{}", rows(file).unwrap().count()),
        // `cargo bench` and `cargo test` start it without a task.
        [] => {}
        other => panic!("no such task: {other:?}"),
    }
}

/// Writes the rows of `pool` so many times, its runs one after another.
fn write(pool: &str, out: &str, times: usize) {
    let runs: Vec<(Map, Vec<Row>)> = load(&[PathBuf::from(pool)])
        .unwrap()
        .into_iter()
        .map(|run| {
            let identity = run.identity.fields.into_iter().map(|(key, value)| (key.to_owned(), value));
            (identity.chain(run.meta).collect(), run.steps)
        })
        .collect();
    let mut count = 0;
    for _ in 0..times {
        for (meta, steps) in &runs {
            let mut writer = Writer::create(out, meta, WriterOptions::default()).unwrap();
            steps.iter().for_each(|row| writer.write(row).unwrap());
            count += writer.close().unwrap().rows;
        }
    }
    println!("{count}");
}

/// Reads, groups, segments by label, and means the rewards of each segment, as the peers do.
fn columns(file: &str) {
    let options = ReadOptions { digest: false, ..ReadOptions::default() };
    let columns = read_columns(&[PathBuf::from(file)], &options).unwrap();
    let mut segments = 0;
    let mut total = 0.0;
    for run in &columns.runs {
        for (sum, count) in segment_sums(run) {
            segments += 1;
            total += sum / count;
        }
    }
    println!("{segments} segments, means add up to {total}");
}

fn segment_sums(run: &RunColumns) -> Vec<(f64, f64)> {
    let mut sums: Vec<(f64, f64)> = Vec::new();
    let mut last = None;
    for (label, reward) in run.regime.iter().zip(&run.reward) {
        if last != Some(label) {
            sums.push((0.0, 0.0));
            last = Some(label);
        }
        if let Some((sum, count)) = sums.last_mut() {
            *sum += reward;
            *count += 1.0;
        }
    }
    sums
}
