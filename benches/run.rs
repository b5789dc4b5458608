//! The run loop's speed: alone, with a trace, and with reward terms written in Lua (in the bare
//! sandbox, as `skyfall serve` runs them). `benches/peers/run_peers.py` has its parts and a peer.
#![allow(clippy::unwrap_used, missing_docs, reason = "a bench")]

use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sha2::{Digest, Sha256};
use skyfall::config::ExperimentConfig;
use skyfall::experiment::{Catalog, Experiment, Parts, Silent};
use skyfall::script::BareScripts;
use skyfall::text::json;
use skyfall::value::Value;

const STEPS: u64 = 20_000;
const TERMS: [(&str, &str); 2] = [
    ("upright", "return function(s) return math.cos(s.next_observation[3]) end"),
    ("centred", "return function(s) return 1 - math.abs(s.next_observation[1]) / 2.4 end"),
];

/// CartPole with a linear policy that does not learn, scored by the first `terms` of them.
fn experiment(terms: usize) -> Experiment {
    let term = |(name, source): &(&str, &str)| {
        let digest: String = Sha256::digest(source).iter().map(|byte| format!("{byte:02x}")).collect();
        format!(r#"{{"name": "{name}", "lua": {{"source": "{source}", "sha256": "{digest}"}}}}"#)
    };
    let list: Vec<String> = TERMS.iter().take(terms).map(term).collect();
    let reward = if terms == 0 { String::new() } else { format!(r#", "reward": {{"terms": [{}]}}"#, list.join(", ")) };
    let text = format!(
        r#"{{"env": {{"id": "CartPole-v1"}},
            "algorithm": {{"name": "none", "policy": {{"id": "linear_menu", "kwargs": {{"n_actions": 2}}}}}},
            "rollout": {{"window_steps": 1000, "total_steps": {STEPS}}}, "run": {{"name": "bench", "seed": 1}}{reward}}}"#
    );
    let config = ExperimentConfig::from_value(&json::parse(&text).unwrap_or(Value::Null)).unwrap();
    let catalog = Catalog::native().with_scripts(BareScripts::new().unwrap());
    Experiment::new(config, &catalog, Parts::default()).unwrap()
}

fn run(criterion: &mut Criterion) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("traces.jsonl");
    let mut group = criterion.benchmark_group("run");
    group.throughput(Throughput::Elements(STEPS)).sample_size(10);
    let trace = Some(Path::new(&path));
    for (name, terms, traces) in [
        ("alone", 0, None),
        ("trace", 0, trace),
        ("one term", 1, None),
        ("two terms", 2, None),
        ("two terms, trace", 2, trace),
    ] {
        group.bench_function(name, |bencher| {
            bencher.iter_batched(
                || experiment(terms),
                |mut experiment| experiment.run(traces, &mut Silent).unwrap().steps,
                criterion::BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

/// What a call across the border costs at the least: what a term adds is to be compared with it.
fn call(criterion: &mut Criterion) {
    let lua = mlua::Lua::new();
    let add: mlua::Function = lua.load("return function(a, b, c, d) return a + b + c + d end").eval().unwrap();
    let mut group = criterion.benchmark_group("call");
    group.throughput(Throughput::Elements(STEPS)).sample_size(10);
    group.bench_function("four numbers", |bencher| {
        bencher.iter(|| (0..STEPS).map(|_| add.call::<f64>((1.0, 2.0, 3.0, 4.0)).unwrap()).sum::<f64>());
    });
    group.finish();
}

criterion_group!(benches, call, run);
criterion_main!(benches);
