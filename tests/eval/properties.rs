//! What must not change a number: how rows are cut into files, the order of files, compression,
//! fields nobody knows, the names of regimes.

use std::io::Write as _;
use std::path::PathBuf;

use skyfall::eval::{Report, Settings};
use skyfall::random::Rng;
use skyfall::value::{Map, Value};

use super::peer::random_trace;
use super::{at, report_of};
use crate::command::Scratch;

const SEEDS: std::ops::Range<u64> = 100..112;

/// Runs and groups, without what says where the rows came from.
fn numbers(report: &Report) -> Vec<Value> {
    let tree = report.to_value();
    let without = |run: &Value| {
        let mut run: Map = run.as_map().unwrap().clone();
        for key in ["files", "meta"] {
            run.shift_remove(key);
        }
        Value::Map(run)
    };
    let runs = at(&tree, "runs").as_list().unwrap().iter().map(without);
    runs.chain(at(&tree, "groups").as_list().unwrap().iter().cloned()).collect()
}

fn of(paths: &[PathBuf]) -> Vec<Value> {
    numbers(&report_of(paths, &Settings::default()))
}

/// For each of some random traces: its text and a directory.
fn each(check: impl Fn(&str, &Scratch, &mut Rng)) {
    for seed in SEEDS {
        let mut rng = Rng::new(seed);
        let text = random_trace(&mut rng, "");
        check(&text, &Scratch::new(), &mut rng);
    }
}

#[test]
fn cutting_into_files_and_naming_them_in_any_order() {
    each(|text, scratch, rng| {
        let whole = of(&[scratch.write("whole.jsonl", text)]);
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let mut cuts = [0, lines.len(), rng.integers(0, 500) as usize, rng.integers(0, 500) as usize];
        cuts.iter_mut().for_each(|cut| *cut = (*cut).min(lines.len()));
        cuts.sort_unstable();
        let mut parts: Vec<PathBuf> = cuts
            .windows(2)
            .enumerate()
            .filter(|(_, cut)| cut[0] < cut[1])
            .map(|(number, cut)| scratch.write(&format!("part{number}.jsonl"), &lines[cut[0]..cut[1]].concat()))
            .collect();
        for _ in 0..parts.len() {
            assert_eq!(of(&parts), whole, "{parts:?}");
            parts.rotate_left(1);
        }
    });
}

#[test]
fn compressing() {
    each(|text, scratch, _| {
        let plain = of(&[scratch.write("plain.jsonl", text)]);
        let path = scratch.file("packed.jsonl.gz");
        let mut packed =
            flate2::write::GzEncoder::new(std::fs::File::create(&path).unwrap(), flate2::Compression::fast());
        packed.write_all(text.as_bytes()).unwrap();
        packed.finish().unwrap();
        assert_eq!(of(&[path]), plain);
    });
}

#[test]
fn adding_unknown_fields() {
    each(|text, scratch, _| {
        let plain = of(&[scratch.write("plain.jsonl", text)]);
        let noted: String = text
            .lines()
            .enumerate()
            .map(|(row, line)| {
                format!("{{\"note\": {{\"row\": {row}}}, \"tag\": \"x\", {}\n", line.strip_prefix('{').unwrap())
            })
            .collect();
        assert_eq!(of(&[scratch.write("noted.jsonl", &noted)]), plain);
    });
}

/// Renames strings of a tree, keys too.
fn renamed(value: &Value, name: &impl Fn(&str) -> String) -> Value {
    match value {
        Value::Text(text) => name(text).into(),
        Value::List(items) => Value::List(items.iter().map(|item| renamed(item, name)).collect()),
        Value::Map(map) => Value::Map(map.iter().map(|(key, value)| (name(key), renamed(value, name))).collect()),
        value => value.clone(),
    }
}

#[test]
fn relabelling_regimes() {
    const NAMES: [(&str, &str); 4] = [("calm", "<b>"), ("windy", "=1+1"), ("left", "a|b"), ("ghost", "\u{202e}x")];
    each(|text, scratch, _| {
        let plain = of(&[scratch.write("plain.jsonl", text)]);
        let mut relabelled = text.to_owned();
        for (name, other) in NAMES {
            relabelled = relabelled.replace(&format!("\"{name}\""), &format!("\"{other}\""));
        }
        let found = of(&[scratch.write("relabelled.jsonl", &relabelled)]);
        let back = |text: &str| {
            let known = NAMES.iter().find(|(_, other)| *other == text);
            known.map_or_else(|| text.to_owned(), |(name, _)| (*name).to_owned())
        };
        let found: Vec<Value> = found.iter().map(|value| renamed(value, &back)).collect();
        assert_eq!(found, plain);
    });
}

#[test]
fn evaluating_again() {
    let scratch = Scratch::new();
    scratch.write("t.jsonl", &random_trace(&mut Rng::new(7), ""));
    let report = |format: &str| scratch.skyfall(&["eval", "--traces", "t.jsonl", "--format", format]).ok().stdout;
    for format in ["text", "json", "csv", "md", "html"] {
        assert_eq!(report(format), report(format), "{format}");
    }
}
