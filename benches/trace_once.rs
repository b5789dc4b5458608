//! One pass of one task, for `benches/peers/trace_peers.py` to time from outside:
//! `write POOL OUT TIMES`, `copy FILE OUT`, `limit FILE`, `segments FILE`, `columns FILE`, `rows FILE`,
//! `parquet FILE OUT`, `push OUT ROWS`, `tables OUT ROWS`.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a bench"
)]

use std::fs::File;
use std::hint::black_box;
use std::io::{BufWriter, Read, Write};
use std::path::PathBuf;
use std::rc::Rc;

use skyfall::script::{Console, Script, ScriptHost, Settings};
use skyfall::trace::{Filter, ReadOptions, Row, Writer, WriterOptions, load, parquet, read_columns, rows, stats};
use skyfall::value::Map;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["write", pool, out, times] => write(pool, out, times.parse().unwrap()),
        ["copy", file, out] => copy(file, out),
        ["limit", file] => limit(file),
        ["segments", file] => segments(file),
        ["parquet", file, out] => {
            let mut out = BufWriter::new(File::create(out).unwrap());
            let (_, written) = parquet(&[PathBuf::from(file)], &Filter::default(), &mut out).unwrap();
            written.unwrap();
        }
        ["columns", file] => {
            let options = ReadOptions { digest: false, ..ReadOptions::default() };
            println!("{}", read_columns(&[PathBuf::from(file)], &options).unwrap().runs.len());
        }
        [how @ ("push" | "tables"), out, rows] => script(how, out, rows),
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
            let identity = run.identity.as_written().map(|(key, value)| (key.to_owned(), value.clone()));
            (identity.chain(run.meta.clone()).collect(), run.steps)
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

/// Moves the bytes of one file to another, through memory, as any writer must.
fn copy(file: &str, out: &str) {
    let (mut file, mut out) = (File::open(file).unwrap(), File::create(out).unwrap());
    let mut block = vec![0; 1 << 18];
    loop {
        let length = file.read(&mut block).unwrap();
        if length == 0 {
            break;
        }
        out.write_all(&block[..length]).unwrap();
    }
}

/// Reads the file and finds its lines, and does nothing with them.
fn limit(file: &str) {
    let mut file = File::open(file).unwrap();
    let mut block = vec![0; 1 << 18];
    let mut lines = 0;
    loop {
        let length = file.read(&mut block).unwrap();
        if length == 0 {
            break;
        }
        for line in memchr::memchr_iter(b'\n', &block[..length]) {
            lines += usize::from(black_box(line) < length);
        }
    }
    println!("{lines}");
}

/// Reads, groups, segments by label, and means the rewards of each segment, as the peers do.
fn segments(file: &str) {
    let options = ReadOptions { digest: false, ..ReadOptions::default() };
    let stats = stats(&[PathBuf::from(file)], &options).unwrap();
    let means = stats.runs.iter().flat_map(|run| &run.segments).filter_map(|segment| segment.reward.mean());
    let (count, total) = means.fold((0, 0.0), |(count, total), mean| (count + 1, total + mean));
    println!("{count} segments, means add up to {total}");
}

/// Writes `rows` rows from Lua, scalar by scalar or as tables.
fn script(how: &str, out: &str, rows: &str) {
    let body = match how {
        "push" => "w:push(i, a + b + c, label, i & 1, i % 50 == 0, i % 16 == 0 and a * 64 or nil, a, b, c)",
        _ => {
            "w:write { step = i, reward = a + b + c, regime_id = label, action = { index = i & 1 }, invalid_action = i % 50 == 0, effective_rank = i % 16 == 0 and a * 64 or nil, reward_components = { balance = a, effort = b, centre = c } }"
        }
    };
    let code = format!(
        r#"local columns = {{ "step", "reward", "regime_id", "action.index", "invalid_action", "effective_rank",
             "reward_components.balance", "reward_components.effort", "reward_components.centre" }}
           local meta = {{ run_id = "bench-0", seed = 0, algorithm_id = "steady" }}
           local w = require("skyfall.trace").writer("{out}", meta, {{ columns = columns }})
           local a, b, c = 0.5, -0.0112, 0.92
           for i = 0, {rows} - 1 do
             a = (a * 1103.515245 + 0.12345) % 1
             local label = i // 6250 % 2 == 0 and "wind-3" or "wind-7"
             {body}
           end
           w:close()"#
    );
    let mut settings = Settings::default();
    settings.permissions.all_paths = true;
    let host = ScriptHost::new(Script::Text { name: "bench".into(), code }, settings, Rc::new(Silent)).unwrap();
    host.run().unwrap();
}

struct Silent;

impl Console for Silent {
    fn warn(&self, _: &str) {}
    fn info(&self, _: &str) {}
    fn progress(&self, _: &str, _: u64, _: u64) {}
}
