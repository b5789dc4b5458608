//! The script host's speed: a machine with the whole library, rows written from Lua beside the same
//! rows from Rust. What a reward term costs is in `benches/run.rs`, beside the bare call of four numbers.
#![allow(clippy::unwrap_used, missing_docs, reason = "a bench")]

use std::path::Path;
use std::rc::Rc;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use skyfall::script::{Console, Script, ScriptHost, Settings};
use skyfall::trace::{Row, Writer, WriterOptions};
use skyfall::value::Map;

const ROWS: u64 = 1_000_000;

struct Unheard;

impl Console for Unheard {
    fn warn(&self, _message: &str) {}

    fn info(&self, _message: &str) {}

    fn progress(&self, _what: &str, _done: u64, _total: u64) {}
}

fn host(code: String) -> ScriptHost {
    let script = Script::Text { name: "bench".to_owned(), code };
    let mut settings = Settings::default();
    settings.permissions.all_paths = true;
    ScriptHost::new(script, settings, Rc::new(Unheard)).unwrap()
}

fn start(criterion: &mut Criterion) {
    criterion.bench_function("host/start with the library", |bencher| {
        bencher.iter(|| host("require 'skyfall'".to_owned()).run().unwrap());
    });
}

fn from_rust(path: &Path) -> u64 {
    let mut writer = Writer::create(path, &Map::new(), WriterOptions::default()).unwrap();
    let mut row = Row { regime_id: Some("calm".to_owned()), ..Row::default() };
    row.reward_components.insert("upright".to_owned(), 0.0);
    for step in 0..ROWS {
        let reward = (step % 1000) as f64 * 0.5;
        row.step = step as i64;
        row.reward = reward;
        if let Some(component) = row.reward_components.get_mut("upright") {
            *component = reward;
        }
        writer.write(&row).unwrap();
    }
    writer.close().unwrap().rows
}

fn rows(criterion: &mut Criterion) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("t.jsonl");
    let options = "{ columns = { 'step', 'reward', 'regime_id', 'reward_components.upright' } }";
    let open = format!("local w <close> = require('skyfall.trace').writer('{}', {{}}, {options})\n", path.display());
    let push = format!("{open}for step = 0, {ROWS} - 1 do local r = step % 1000 * 0.5 w:push(step, r, 'calm', r) end");
    let extend = format!(
        "{open}local array = require 'skyfall.array' for block = 0, {ROWS} - 1, 10000 do\n\
         local steps, rewards = array.new('i64', 10000), array.new('f64', 10000)\n\
         for i = 1, 10000 do local step = block + i - 1 steps[i] = step rewards[i] = step % 1000 * 0.5 end\n\
         w:extend {{ step = steps, reward = rewards, regime_id = 'calm', ['reward_components.upright'] = rewards }} end"
    );
    let mut group = criterion.benchmark_group("rows");
    group.throughput(Throughput::Elements(ROWS)).sample_size(10);
    group.bench_function("from Rust", |bencher| bencher.iter(|| from_rust(&path)));
    group.bench_function("pushed from Lua", |bencher| bencher.iter(|| host(push.clone()).run().unwrap()));
    group.bench_function("extended from Lua", |bencher| bencher.iter(|| host(extend.clone()).run().unwrap()));
    group.finish();
}

criterion_group!(benches, start, rows);
criterion_main!(benches);
