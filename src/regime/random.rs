//! `random`: a Markov chain over named states.
//!
//! A state is in force for its `min_steps`, then leaves before each further step with the
//! probability that makes its mean dwell `mean_steps`. It is followed by another one, all equally
//! likely, or by one drawn with the weights of its row of `transition` (itself, if it is drawn:
//! then it dwells once more).
//!
//! Draws: a double before every step beyond the least dwell; when the state leaves, a double for
//! the row, or the integer among the others (none where there is only one). No draw depends on
//! what happens in the run, so a seed fixes the whole sequence.

use super::provider::stream;
use super::read::{KEYS, note_unknown_keys, regime};
use super::{Provider, Regime, RegimeError, RegimeRecord};
use crate::random::Rng;
use crate::snapshot::{self, SnapshotError};
use crate::text::decode::Field;
use crate::value::Value;

/// The parameters, and the keys of a state.
const PARAMETERS: [&str; 6] = ["states", "min_steps", "mean_steps", "transition", "start", "seed"];
const DWELL: [&str; 2] = ["min_steps", "mean_steps"];

/// A chain and where it stands.
pub(super) struct RandomSwitching {
    record: RegimeRecord,
    states: Vec<State>,
    start: usize,
    rng: Rng,
    present: Option<Present>,
}

struct State {
    regime: Regime,
    dwell: Dwell,
    /// What follows it, by weight; without weights all others are equally likely.
    follow: Option<Vec<f64>>,
}

/// How long a state is in force.
#[derive(Clone, Copy)]
struct Dwell {
    min_steps: u64,
    /// The probability of leaving before each step after those.
    leave: f64,
}

#[derive(Clone, Copy)]
struct Present {
    step: u64,
    state: usize,
    /// The steps it was in force, this one included.
    age: u64,
}

impl RandomSwitching {
    /// The chain that `params` describes; `None` after noting every mistake.
    pub(super) fn read(record: &RegimeRecord, params: &Field<'_>, seed: u64) -> Option<Self> {
        note_unknown_keys(params, &PARAMETERS);
        let rng = stream(params, seed);
        let mut states = read_states(params)?;
        let start = read_start(params, &states);
        if let Some(rows) = params.get("transition") {
            let rows = read_rows(&rows, states.len())?;
            states.iter_mut().zip(rows).for_each(|(state, row)| state.follow = Some(row));
        }
        Some(Self { record: record.clone(), states, start: start?, rng: rng?, present: None })
    }

    /// The state that follows `state`.
    fn next(&mut self, state: usize) -> usize {
        match self.states.get(state).and_then(|state| state.follow.as_ref()) {
            Some(weights) => self.rng.weighted(weights),
            None if self.states.len() < 2 => state,
            None => {
                let others = i64::try_from(self.states.len() - 1).unwrap_or(i64::MAX);
                let drawn = usize::try_from(self.rng.integers(0, others)).unwrap_or_default();
                if drawn < state { drawn } else { drawn + 1 }
            }
        }
    }

    /// Goes on by one step.
    fn advance(&mut self, present: Present) -> Present {
        let step = present.step + 1;
        let dwell = self.states.get(present.state).map(|state| state.dwell);
        let leaves = dwell.is_some_and(|dwell| present.age >= dwell.min_steps && self.rng.double() < dwell.leave);
        if leaves {
            return Present { step, state: self.next(present.state), age: 1 };
        }
        Present { step, age: present.age + 1, ..present }
    }
}

impl Provider for RandomSwitching {
    fn shift(&mut self, step: u64) -> Result<Option<Regime>, RegimeError> {
        let before = self.present.map(|present| present.state);
        let mut present = self.present.unwrap_or(Present { step: 0, state: self.start, age: 1 });
        while present.step < step {
            present = self.advance(present);
        }
        self.present = Some(present);
        if before == Some(present.state) {
            return Ok(None);
        }
        Ok(self.states.get(present.state).map(|state| state.regime.clone()))
    }

    fn record(&self) -> Result<RegimeRecord, RegimeError> {
        Ok(self.record.clone())
    }

    fn snapshot(&self) -> Result<Value, SnapshotError> {
        let present = self.present.map(|present| {
            snapshot::state([
                ("step", snapshot::count(present.step)),
                ("state", snapshot::index(present.state)),
                ("age", snapshot::count(present.age)),
            ])
        });
        Ok(snapshot::state([("rng", self.rng.snapshot()), ("present", present.into())]))
    }

    fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        self.rng.restore_snapshot(snapshot::entry(state, "rng")?)?;
        self.present = match snapshot::entry(state, "present")? {
            Value::Null => None,
            present => Some(Present {
                step: snapshot::read_count(present, "step")?,
                state: snapshot::read_index(present, "state", self.states.len())?,
                age: snapshot::read_count(present, "age")?,
            }),
        };
        Ok(())
    }

    fn known(&self) -> Vec<&Regime> {
        self.states.iter().map(|state| &state.regime).collect()
    }
}

/// The states; `None` after noting every mistake in any of them.
fn read_states(params: &Field<'_>) -> Option<Vec<State>> {
    let list = params.require("states", "the list of regimes")?;
    let items = list.items()?;
    if items.is_empty() {
        list.note("expected at least one regime");
    }
    let mut labels = Vec::new();
    let read = items.iter().map(|item| {
        note_unknown_keys(item, &[&KEYS[..], &DWELL[..]].concat());
        let (regime, dwell) = (regime(item)?, read_dwell(params, item));
        let label = item.require("id", "the regime's label")?.text()?;
        if labels.contains(&label) {
            item.note_key("id", "another state has this label already");
        }
        labels.push(label);
        Some(State { regime, dwell: dwell?, follow: None })
    });
    let read: Vec<_> = read.collect();
    read.into_iter().collect()
}

/// The dwell of the state at `item`, which may override that of all states.
fn read_dwell(params: &Field<'_>, item: &Field<'_>) -> Option<Dwell> {
    let own = |key| item.get(key).or_else(|| params.get(key));
    let min_steps = own("min_steps").map_or(Some(1), |steps| steps.whole(1));
    let Some(mean) = own("mean_steps") else {
        item.note_key("mean_steps", "missing, expected a number of steps here or for all states");
        return None;
    };
    let (min_steps, steps) = (min_steps?, mean.number()?);
    #[expect(clippy::cast_precision_loss, reason = "steps are counted far below 2^53")]
    let beyond = steps - min_steps as f64;
    if beyond < 0.0 {
        mean.note(format!("expected at least the {min_steps} of `min_steps`, found {steps}"));
        return None;
    }
    Some(Dwell { min_steps, leave: 1.0 / (1.0 + beyond) })
}

/// The index of the state that `start` names; the first one where it names none.
fn read_start(params: &Field<'_>, states: &[State]) -> Option<usize> {
    let Some(start) = params.get("start") else { return Some(0) };
    let label = start.text()?;
    let found = states.iter().position(|state| state.regime.id.as_ref() == Some(&label));
    if found.is_none() {
        let known: Vec<&str> = states.iter().filter_map(|state| state.regime.id.as_deref()).collect();
        start.note(format!("`{label}` is none of the states, which are {}", known.join(", ")));
    }
    found
}

/// The weights at `field`: a row for each state, in it a weight for each state.
fn read_rows(field: &Field<'_>, states: usize) -> Option<Vec<Vec<f64>>> {
    let read: Vec<_> = field.items()?.iter().map(|row| read_row(row, states)).collect();
    if read.len() != states {
        field.note(format!("expected a row for each of the {states} states, found {}", read.len()));
        return None;
    }
    read.into_iter().collect()
}

fn read_row(row: &Field<'_>, states: usize) -> Option<Vec<f64>> {
    let weights: Option<Vec<f64>> = row.items()?.iter().map(Field::number).collect();
    let weights = weights?;
    let whole = weights.len() == states;
    if !whole || weights.iter().any(|weight| *weight < 0.0) || weights.iter().sum::<f64>() <= 0.0 {
        row.note(format!("expected {states} weights of at least 0, not all of them 0"));
        return None;
    }
    Some(weights)
}
