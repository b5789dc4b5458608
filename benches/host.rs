//! The script host's speed: a machine with the library, a reward term beside a bare call of four
//! numbers, rows written from Lua beside the same rows from Rust.
//!
//! Times are of the thread's processor, not of the clock: other work on the machine hardly moves them.
#![allow(clippy::unwrap_used, missing_docs, reason = "a bench")]

use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use indexmap::IndexMap;
use skyfall::array::Array;
use skyfall::env::Info;
use skyfall::experiment::Scripts;
use skyfall::reward::{Composition, Known, StepView};
use skyfall::script::{BareScripts, Console, Script, ScriptHost, Settings};
use skyfall::space::Element;
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

/// The processor time of the thread in which benches run.
struct Processor;

impl Measurement for Processor {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        // Of three numbers the first: nanoseconds that the thread ran.
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        Duration::from_nanos(text.split(' ').next().unwrap().parse().unwrap())
    }

    fn end(&self, start: Duration) -> Duration {
        self.start().saturating_sub(start)
    }

    fn add(&self, one: &Duration, other: &Duration) -> Duration {
        *one + *other
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        WallTime.to_f64(value)
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}

fn start(criterion: &mut Criterion<Processor>) {
    let mut group = criterion.benchmark_group("start");
    for (name, code) in
        [("library", "require 'skyfall'"), ("library, every module of it", "for _ in pairs(require 'skyfall') do end")]
    {
        group.bench_function(name, |bencher| bencher.iter(|| host(code.to_owned()).run().unwrap()));
    }
    group.finish();
}

const CALLS: u64 = 10_000;
const TERMS: [(&str, &str); 3] = [
    ("scalar", "function(s) return s.env_reward end"),
    ("component", "function(s) return 1 - math.abs(s.next_observation[1]) / 2.4 end"),
    ("cosine", "function(s) return math.cos(s.next_observation[3]) end"),
];

/// Ten thousand steps scored by one term.
fn score(composition: &mut Composition) -> f64 {
    let observation = Element::Array(Array::from_vec(&[4], vec![0.1_f32, 0.2, 0.3, 0.4]).unwrap());
    let (action, info, clock) = (Element::Discrete(1), Info::default(), Rc::default());
    let (mut components, mut detail) = (IndexMap::new(), Map::new());
    let mut sum = 0.0;
    for step in 0..CALLS {
        let view = StepView {
            step,
            observation: &observation,
            action: &action,
            next_observation: &observation,
            env_reward: 1.0,
            terminated: false,
            truncated: false,
            info: &info,
            regime_id: None,
            clock: &clock,
            known: Known::ALL,
        };
        sum += composition.score(&view, &mut components, &mut detail).unwrap();
    }
    sum
}

fn term(criterion: &mut Criterion<Processor>) {
    let lua = mlua::Lua::new();
    let add: mlua::Function = lua.load("return function(a, b, c, d) return a + b + c + d end").eval().unwrap();
    let mut group = criterion.benchmark_group("term");
    group.throughput(Throughput::Elements(CALLS));
    group.bench_function("bare call of four numbers", |bencher| {
        bencher.iter(|| (0..CALLS).map(|_| add.call::<f64>((1.0, 2.0, 3.0, 4.0)).unwrap()).sum::<f64>());
    });
    for (name, source) in TERMS {
        let code = format!("local r = require('skyfall.reward') return r.compose {{ r.term('{name}', {source}) }}");
        let script = host(code);
        let mut own = script.composition(None).unwrap();
        group.bench_function(format!("{name}, the script's own"), |bencher| bencher.iter(|| score(&mut own)));
        let bare = BareScripts::new().unwrap();
        let terms = own.record().unwrap().terms;
        let mut rebuilt =
            Composition::new(terms.iter().map(|(term, weight)| (bare.term(term).unwrap(), *weight)).collect()).unwrap();
        group.bench_function(format!("{name}, a bundle's"), |bencher| bencher.iter(|| score(&mut rebuilt)));
    }
    group.finish();
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

fn rows(criterion: &mut Criterion<Processor>) {
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

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(Processor);
    targets = start, term, rows
}
criterion_main!(benches);
