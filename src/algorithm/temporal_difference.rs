//! `q_learning` (Watkins 1989) and `sarsa` (Rummery and Niranjan 1994): action values from
//! one step to the next, with eligibility traces.
//!
//! While learning, a random action is taken with probability `epsilon`, else one of those whose
//! value is highest; both draw from the stream called `algorithm`. The value of the action taken
//! moves by `learning_rate` towards the reward plus `discount` times a value of the next
//! observation: the highest for `q_learning`, that of the action taken next for `sarsa`. An
//! observation that ends its episode because the task did has no value; one at which a limit cut
//! the episode keeps its own.
//!
//! Over several cells the change is shared out evenly. With `lambda` above 0, what was visited
//! before changes along, by `discount * lambda` less for every step since: traces are replaced
//! (Singh and Sutton 1996), and `q_learning` drops them after an action that was not the best
//! (Watkins).

use super::moments::number;
use super::{Algorithm, AlgorithmError, Episode};
use crate::policy::settings::Settings;
use crate::policy::{ActionValues, Policy, PolicyError};
use crate::random::Rng;
use crate::reward::StepView;
use crate::snapshot::{self, SnapshotError};
use crate::space::Element;
use crate::value::Value;

/// A trace below this share is dropped.
const NEGLIGIBLE: f64 = 1e-3;

/// Whose value is learned of the next observation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Target {
    /// The best action's.
    Best,
    /// That of the action taken next.
    Taken,
}

/// An entry of the table that still changes along.
struct Trace {
    cell: usize,
    action: usize,
    share: f64,
}

pub(super) struct TemporalDifference {
    policy: Box<dyn Policy>,
    rng: Rng,
    target: Target,
    learning_rate: f64,
    discount: f64,
    lambda: f64,
    epsilon: f64,
    /// The cells that are acted on, the action's place, and whether they are a step to learn from.
    cells: Vec<usize>,
    action: usize,
    /// The cells of the next observation, and the action chosen there, if one was.
    next_cells: Vec<usize>,
    next_action: Option<usize>,
    traces: Vec<Trace>,
    /// Scratch: the values of all actions.
    values: Vec<f64>,
}

impl TemporalDifference {
    pub(super) fn new(
        mut settings: Settings<'_>,
        mut policy: Box<dyn Policy>,
        seed: u64,
        target: Target,
    ) -> Result<Self, String> {
        let rng = Rng::named(settings.seed(seed), "algorithm");
        let learning_rate = settings.positive("learning_rate", 0.1);
        let discount = settings.share("discount", 0.99);
        let lambda = settings.share("lambda", 0.0);
        let epsilon = settings.share("epsilon", 0.1);
        let n_actions = policy.action_values().map(|table| table.n_actions());
        if n_actions.is_none() {
            settings.note("its policy has no table of action values: `tabular` does");
        }
        let n_actions = settings.finish(n_actions)?;
        Ok(Self {
            policy,
            rng,
            target,
            learning_rate,
            discount,
            lambda,
            epsilon,
            cells: Vec::new(),
            action: 0,
            next_cells: Vec::new(),
            next_action: None,
            traces: Vec::new(),
            values: vec![0.0; n_actions],
        })
    }

    /// The value of the next observation, as the target has it.
    fn next_value(&mut self) -> f64 {
        let Some(table) = self.policy.action_values() else { return 0.0 };
        match self.target {
            Target::Best => {
                table.values(&self.next_cells, &mut self.values);
                self.values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
            }
            Target::Taken => {
                let next = choose(table, &self.next_cells, &mut self.values, self.epsilon, &mut self.rng);
                self.next_action = Some(next);
                self.values.get(next).copied().unwrap_or(0.0)
            }
        }
    }

    /// Moves what is eligible by `error`, and lets it fade.
    fn learn(&mut self, error: f64) {
        let Some(table) = self.policy.action_values() else { return };
        let step = self.learning_rate * error / number(self.cells.len().max(1));
        let action = self.action;
        if self.lambda == 0.0 {
            for cell in &self.cells {
                table.add(*cell, action, step);
            }
            return;
        }
        // What is visited again has a new trace, for this action only.
        self.traces.retain(|trace| !self.cells.contains(&trace.cell));
        self.traces.extend(self.cells.iter().map(|cell| Trace { cell: *cell, action, share: 1.0 }));
        for trace in &mut self.traces {
            table.add(trace.cell, trace.action, step * trace.share);
            trace.share *= self.discount * self.lambda;
        }
        self.traces.retain(|trace| trace.share > NEGLIGIBLE);
    }
}

/// A random action with probability `epsilon`, else one of the best; leaves `values` filled.
fn choose(table: &dyn ActionValues, cells: &[usize], values: &mut [f64], epsilon: f64, rng: &mut Rng) -> usize {
    table.values(cells, values);
    let random = |rng: &mut Rng, n: usize| {
        usize::try_from(rng.integers(0, i64::try_from(n).unwrap_or(i64::MAX))).unwrap_or_default()
    };
    if rng.double() < epsilon {
        return random(rng, values.len());
    }
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let best = || values.iter().enumerate().filter(|(_, value)| **value >= most).map(|(place, _)| place);
    let pick = random(rng, best().count());
    best().nth(pick).unwrap_or(0)
}

impl Algorithm for TemporalDifference {
    fn policy(&self) -> &dyn Policy {
        &*self.policy
    }

    fn policy_mut(&mut self) -> &mut dyn Policy {
        &mut *self.policy
    }

    fn act(&mut self, observation: &Element, action: &mut Element) -> Result<(), PolicyError> {
        let Some(table) = self.policy.action_values() else { return Ok(()) };
        self.action = match self.next_action.take() {
            Some(chosen) => {
                std::mem::swap(&mut self.cells, &mut self.next_cells);
                chosen
            }
            None => {
                table.cells(observation, &mut self.cells)?;
                choose(table, &self.cells, &mut self.values, self.epsilon, &mut self.rng)
            }
        };
        if self.target == Target::Best && !self.traces.is_empty() {
            table.values(&self.cells, &mut self.values);
            let taken = self.values.get(self.action).copied().unwrap_or(0.0);
            if self.values.iter().any(|value| *value > taken) {
                self.traces.clear();
            }
        }
        *action = table.action(self.action);
        Ok(())
    }

    fn on_step(&mut self, step: &StepView<'_>, reward: f64) -> Result<(), AlgorithmError> {
        let next = if step.terminated {
            0.0
        } else {
            let table = self.policy.action_values();
            table.map_or(Ok(()), |table| table.cells(step.next_observation, &mut self.next_cells))?;
            self.next_value()
        };
        if let Some(table) = self.policy.action_values() {
            table.values(&self.cells, &mut self.values);
        }
        let error = reward + self.discount * next - self.values.get(self.action).copied().unwrap_or(0.0);
        if error.is_finite() {
            self.learn(error);
        }
        Ok(())
    }

    fn on_episode(&mut self, _: &Episode) -> Result<(), AlgorithmError> {
        self.take_over(false);
        Ok(())
    }

    fn take_over(&mut self, _: bool) {
        self.next_action = None;
        self.traces.clear();
    }

    /// The cells acted on last are no part of it: they are those of the next act, or are found anew.
    fn snapshot(&self) -> Result<Value, SnapshotError> {
        let shares: Vec<f64> = self.traces.iter().map(|trace| trace.share).collect();
        let [cells, actions] = [|trace: &Trace| trace.cell, |trace: &Trace| trace.action]
            .map(|place| snapshot::indices(&self.traces.iter().map(place).collect::<Vec<_>>()));
        Ok(snapshot::state([
            ("rng", self.rng.snapshot()),
            ("next_cells", snapshot::indices(&self.next_cells)),
            ("next_action", self.next_action.map(snapshot::index).into()),
            ("cells", cells),
            ("actions", actions),
            ("shares", snapshot::numbers(&shares)),
        ]))
    }

    fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        let n_actions = self.values.len();
        let n_cells = self.policy.parameters().map_or(0, <[f64]>::len) / n_actions.max(1);
        self.rng.restore_snapshot(snapshot::entry(state, "rng")?)?;
        self.next_cells = snapshot::read_indices(state, "next_cells", n_cells)?;
        let index = |value: &Value| usize::try_from(value.as_int()?).ok().filter(|index| *index < n_actions);
        self.next_action = snapshot::read_optional(state, "next_action", index)?;
        let cells = snapshot::read_indices(state, "cells", n_cells)?;
        let actions = snapshot::read_indices(state, "actions", n_actions)?;
        let shares = snapshot::read_numbers(state, "shares")?;
        if cells.len() != actions.len() || cells.len() != shares.len() {
            return Err(snapshot::damaged("cells"));
        }
        let traces = cells.into_iter().zip(actions).zip(shares);
        self.traces = traces.map(|((cell, action), share)| Trace { cell, action, share }).collect();
        Ok(())
    }
}
