//! `drift`: values that move between two ends instead of jumping.
//!
//! One position from 0 to 1 moves along a path; every parameter and every weight goes with it
//! from its `from` to its `to`. The position's range is cut into `buckets` of equal width, and
//! the bucket it is in labels the regime (`drift-0`, `drift-1`, ...): however long the run, there
//! are no more labels than buckets, and a path that comes back revisits them.
//!
//! The position changes every `every` steps. On a `linear` path it goes from 0 to 1 in `steps`
//! steps and stays; on a `sine` path it swings from 0 to 1 and back with the period `steps`; on a
//! `random_walk` it begins at `start` and each change adds a normal of standard deviation `std`
//! (one draw), reflected at 0 and 1.

use std::f64::consts::TAU;

use super::provider::stream;
use super::read::note_unknown_keys;
use super::{Provider, Regime, RegimeError, RegimeRecord};
use crate::random::Rng;
use crate::snapshot::{self, SnapshotError};
use crate::suggest;
use crate::text::decode::Field;
use crate::value::{Map, Value};

const PATHS: [&str; 3] = ["linear", "sine", "random_walk"];

/// The buckets when the parameters name no number of them.
const BUCKETS: u64 = 5;

/// A position on its path, and what moves with it.
pub(super) struct Drift {
    record: RegimeRecord,
    path: Path,
    every: u64,
    ends: Ends,
    /// Regimes on the way, to be checked before the run.
    known: Vec<Regime>,
    rng: Rng,
    /// The step last asked for, the position there, and what was answered.
    present: Option<(u64, f64, Regime)>,
}

#[derive(Clone, Copy)]
enum Path {
    Linear { steps: u64 },
    Sine { steps: u64 },
    RandomWalk { std: f64, start: f64 },
}

/// What the ends of the path stand for.
struct Ends {
    id: String,
    buckets: u64,
    env: Vec<(String, [f64; 2])>,
    reward: Vec<(String, [f64; 2])>,
}

impl Ends {
    /// The regime at `position`, from 0 to 1.
    fn at(&self, position: f64) -> Regime {
        #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let bucket = ((position * self.buckets as f64) as u64).min(self.buckets - 1);
        let values = |moving: &[(String, [f64; 2])]| -> Map {
            let value = |[from, to]: [f64; 2]| if position < 1.0 { from + position * (to - from) } else { to };
            moving.iter().map(|(name, ends)| (name.clone(), Value::Float(value(*ends)))).collect()
        };
        let id = Some(format!("{}-{bucket}", self.id));
        Regime { id, origin: None, env: values(&self.env), reward: values(&self.reward) }
    }
}

impl Drift {
    /// The drift that `params` describes; `None` after noting every mistake.
    pub(super) fn read(record: &RegimeRecord, params: &Field<'_>, seed: u64) -> Option<Self> {
        let path = read_path(params);
        let rng = stream(params, seed);
        let whole = |key, default| params.get(key).map_or(Some(default), |field| field.whole(1));
        let (every, buckets) = (whole("every", 1), whole("buckets", BUCKETS));
        let id = params.get("id").map_or_else(|| Some("drift".to_owned()), |id| id.text());
        let (env, reward) = (read_ends(params, "env"), read_ends(params, "reward"));
        let ends = Ends { id: id?, buckets: buckets?, env: env?, reward: reward? };
        // The third is no end: a parameter that takes only whole numbers is found out by it.
        let known = [0.0, 1.0, 0.381_966].map(|position| ends.at(position)).into();
        Some(Self { record: record.clone(), path: path?, every: every?, ends, known, rng: rng?, present: None })
    }

    /// The position at `step`, after `position` at `before`; asked in order.
    fn position(&mut self, step: u64, before: Option<(u64, f64)>) -> f64 {
        let moved = step - step % self.every;
        #[expect(clippy::cast_precision_loss, reason = "steps are counted far below 2^53")]
        let share = |at: u64, steps: u64| at as f64 / steps as f64;
        match self.path {
            Path::Linear { steps } => share(moved.min(steps), steps),
            Path::Sine { steps } => (1.0 - (TAU * share(moved % steps, steps)).cos()) / 2.0,
            Path::RandomWalk { std, start } => {
                let (from, mut position) = before.unwrap_or((0, start));
                for _ in from / self.every..step / self.every {
                    position = reflected(position + std * self.rng.standard_normal());
                }
                position
            }
        }
    }
}

/// `position` mirrored at 0 and 1 until it lies between them.
fn reflected(position: f64) -> f64 {
    let folded = position.rem_euclid(2.0);
    if folded > 1.0 { 2.0 - folded } else { folded }
}

impl Provider for Drift {
    fn shift(&mut self, step: u64) -> Result<Option<Regime>, RegimeError> {
        let before = self.present.take();
        if let Some((last, ..)) = &before
            && *last / self.every == step / self.every
        {
            self.present = before;
            return Ok(None);
        }
        let position = self.position(step, before.as_ref().map(|(step, position, _)| (*step, *position)));
        let regime = self.ends.at(position);
        let changed = before.is_none_or(|(.., before)| before != regime);
        self.present = Some((step, position, regime.clone()));
        Ok(changed.then_some(regime))
    }

    fn record(&self) -> Result<RegimeRecord, RegimeError> {
        Ok(self.record.clone())
    }

    fn pass(&self) -> Option<u64> {
        match self.path {
            Path::Linear { steps } | Path::Sine { steps } => Some(steps),
            Path::RandomWalk { .. } => None,
        }
    }

    fn snapshot(&self) -> Result<Value, SnapshotError> {
        let present = self.present.as_ref().map(|(step, position, _)| {
            snapshot::state([("step", snapshot::count(*step)), ("position", (*position).into())])
        });
        Ok(snapshot::state([("rng", self.rng.snapshot()), ("present", present.into())]))
    }

    fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        self.rng.restore_snapshot(snapshot::entry(state, "rng")?)?;
        self.present = match snapshot::entry(state, "present")? {
            Value::Null => None,
            present => {
                let position = snapshot::read_number(present, "position")?;
                Some((snapshot::read_count(present, "step")?, position, self.ends.at(position)))
            }
        };
        Ok(())
    }

    fn known(&self) -> Vec<&Regime> {
        self.known.iter().collect()
    }
}

/// The path, whose kind says which parameters there are.
fn read_path(params: &Field<'_>) -> Option<Path> {
    const COMMON: [&str; 7] = ["path", "every", "buckets", "id", "env", "reward", "seed"];
    let name = params.get("path").map_or_else(|| Some("linear".to_owned()), |path| path.text())?;
    let own: &[&str] = if name == "random_walk" { &["std", "start"] } else { &["steps"] };
    note_unknown_keys(params, &[&COMMON[..], own].concat());
    let steps = || params.require("steps", "an integer of at least 1").and_then(|steps| steps.whole(1));
    match name.as_str() {
        "linear" => Some(Path::Linear { steps: steps()? }),
        "sine" => Some(Path::Sine { steps: steps()? }),
        "random_walk" => {
            let std = params.require("std", "a number from 0 to 1").and_then(|std| share(&std));
            let start = params.get("start").map_or(Some(0.5), |start| share(&start));
            Some(Path::RandomWalk { std: std?, start: start? })
        }
        other => {
            let hint = suggest::hint(other, "known are", PATHS);
            params.note_key("path", format!("there is no path `{other}`; {hint}"));
            None
        }
    }
}

/// The number at `field`, from 0 to 1.
fn share(field: &Field<'_>) -> Option<f64> {
    let number = field.number()?;
    let within = (0.0..=1.0).contains(&number);
    if !within {
        field.note(format!("expected a number from 0 to 1, found {number}"));
    }
    within.then_some(number)
}

/// The map at `key`, `{from, to}` by name.
fn read_ends(params: &Field<'_>, key: &str) -> Option<Vec<(String, [f64; 2])>> {
    let Some(field) = params.get(key) else { return Some(Vec::new()) };
    let mut ends = Vec::new();
    let mut whole = true;
    for name in field.map()?.keys() {
        let pair = field.require(name, "a map of `from` and `to`").and_then(|pair| pair.section());
        let pair = pair.and_then(|pair| {
            note_unknown_keys(&pair, &["from", "to"]);
            let number = |end| pair.require(end, "a finite number").and_then(|end| end.number());
            let (from, to) = (number("from"), number("to"));
            Some([from?, to?])
        });
        whole &= pair.is_some();
        ends.extend(pair.map(|pair| (name.clone(), pair)));
    }
    whole.then_some(ends)
}
