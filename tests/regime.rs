//! Regime providers that draw and that move: `random` and `drift`.

mod drift;
mod random;
mod runs;

use skyfall::regime::{Provider, Regime, RegimeRecord, from_record, stray_origins};
use skyfall::text::json;
use skyfall::value::Map;

fn record(provider: &str, params: &str) -> RegimeRecord {
    let params = json::parse(params).unwrap().as_map().unwrap().clone();
    RegimeRecord { provider: provider.to_owned(), params, lua: None }
}

fn make(provider: &str, params: &str, seed: u64) -> Box<dyn Provider> {
    from_record(&record(provider, params), seed).unwrap()
}

fn refusal(provider: &str, params: &str) -> String {
    let line = from_record(&record(provider, params), 0).err().unwrap().to_string();
    assert!(line.starts_with(&format!("regime provider `{provider}`: ")) && !line.contains('\n'), "{line}");
    line
}

/// The regime in force at each of the first `steps` steps.
fn regimes(provider: &mut dyn Provider, steps: u64) -> Vec<Regime> {
    let mut present = None;
    (0..steps)
        .map(|step| {
            present = provider.shift(step).unwrap().or_else(|| present.take());
            present.clone().unwrap()
        })
        .collect()
}

fn labels(provider: &mut dyn Provider, steps: u64) -> Vec<String> {
    regimes(provider, steps).into_iter().map(|regime| regime.id.unwrap()).collect()
}

fn number(map: &Map, key: &str) -> f64 {
    map[key].as_float().unwrap()
}

#[test]
fn an_origin_that_looks_like_a_slip_is_told() {
    let told = |params: &str| stray_origins(&make("cycle", params, 0).known());
    let slip = r#"{"entries": [{"id": "right", "steps": 5}, {"id": "left", "steps": 5, "origin": "rigth"}]}"#;
    assert_eq!(told(slip), ["origin `rigth` is the label of no regime here; did you mean `right`?"]);
    // Those of other runs, and of regimes here, are in order.
    let fine =
        r#"{"entries": [{"id": "calm-2", "steps": 5, "origin": "calm"}, {"id": "b", "steps": 5, "origin": "calm-2"}]}"#;
    assert!(told(fine).is_empty());
}
