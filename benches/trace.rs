//! The trace's speed: writing rows, reading them whole, reading them as columns.
#![allow(clippy::unwrap_used, missing_docs, reason = "a bench")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use skyfall::trace::{ReadOptions, Row, Writer, WriterOptions, read_columns, rows};
use skyfall::value::{Map, Value};

const ROWS: u64 = 50_000;

/// A row like those of a small experiment: three components, an action, now and then a rank.
fn fill(row: &mut Row, step: u64) {
    let noise =
        |salt: u64| (step.wrapping_add(salt).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11) as f64 / (1_u64 << 53) as f64;
    row.step = step as i64;
    row.regime_id.get_or_insert_default().clear();
    row.regime_id.get_or_insert_default().push_str(if (step / 1000).is_multiple_of(2) { "calm" } else { "windy" });
    row.effective_rank = step.is_multiple_of(16).then(|| noise(3) * 64.0);
    row.invalid_action = step.is_multiple_of(50);
    row.reward = 0.0;
    for (salt, name) in ["upright", "center", "effort"].into_iter().enumerate() {
        let value = noise(salt as u64);
        row.reward += value;
        match row.reward_components.get_mut(name) {
            Some(component) => *component = value,
            None => drop(row.reward_components.insert(name.to_owned(), value)),
        }
    }
}

fn trace(criterion: &mut Criterion) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("traces.jsonl");
    let meta: Map = [("run_id", Value::from("bench")), ("seed", 1.into()), ("algorithm_id", "steady".into())]
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect();
    let mut group = criterion.benchmark_group("trace");
    group.throughput(Throughput::Elements(ROWS)).sample_size(10);
    let mut row =
        Row { action: Some(Value::Map([("index".to_owned(), Value::Int(1))].into_iter().collect())), ..Row::default() };
    group.bench_function("write", |bencher| {
        bencher.iter(|| {
            let mut writer = Writer::create(&path, &meta, WriterOptions::default()).unwrap();
            for step in 0..ROWS {
                fill(&mut row, step);
                writer.write(&row).unwrap();
            }
            writer.close().unwrap()
        });
    });
    group.bench_function("rows", |bencher| bencher.iter(|| rows(&path).unwrap().count()));
    for (name, digest) in [("columns", false), ("columns and digest", true)] {
        let options = ReadOptions { digest, ..ReadOptions::default() };
        group.bench_function(name, |bencher| {
            bencher.iter(|| read_columns(std::slice::from_ref(&path), &options).unwrap().runs.len());
        });
    }
    group.finish();
}

criterion_group!(benches, trace);
criterion_main!(benches);
