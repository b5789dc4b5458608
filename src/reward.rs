//! Rewards: named terms, weighted and added in the order they are declared.
//!
//! `reward_components[name]` is weight x value and the reward is their sum, in float64, added
//! left to right: the components of a row always add up to its reward, exactly.

mod builtin;
mod composition;
mod known;
pub mod record;

use std::cell::Cell;
use std::rc::Rc;

use crate::diagnostic::{Exit, Problem};
use crate::env::Info;
use crate::snapshot::SnapshotError;
use crate::space::Element;
use crate::value::{Map, Value};

pub use builtin::builtin;
pub(crate) use builtin::builtin_from_record;
pub use composition::{Composition, ScoreError};
pub use known::{Known, StepField};

/// What a term sees of one step.
pub struct StepView<'a> {
    /// The step's index within the run, from 0.
    pub step: u64,
    /// The observation the action answered.
    pub observation: &'a Element,
    /// The action.
    pub action: &'a Element,
    /// The observation that followed (the terminal one at an episode's end).
    pub next_observation: &'a Element,
    /// The environment's own reward.
    pub env_reward: f64,
    /// The task ended here.
    pub terminated: bool,
    /// A limit ended the episode here.
    pub truncated: bool,
    /// What else the environment reported.
    pub info: &'a Info,
    /// The label of the regime in force.
    pub regime_id: Option<&'a str>,
    /// The step's time, read through [`StepView::observed_at`].
    pub clock: &'a Rc<StepClock>,
    /// What of this is known; the rest has no meaning.
    pub known: Known,
}

impl StepView<'_> {
    /// When the step was observed (RFC 3339, UTC). Reading it marks the step as clock-reading,
    /// so that its row records the time and a replay sees the same.
    #[must_use]
    pub fn observed_at(&self) -> &str {
        self.clock.read()
    }
}

/// One step's time: given, or taken from the system clock when first read.
#[derive(Debug, Default)]
pub struct StepClock {
    given: Option<String>,
    read: std::cell::OnceCell<String>,
    used: Cell<bool>,
}

impl StepClock {
    /// A clock that answers `time` (a replay, or an environment that reports its own time).
    #[must_use]
    pub fn fixed(time: String) -> Self {
        Self { given: Some(time), ..Self::default() }
    }

    /// The time; the first call on a clock that was not given one asks the system.
    pub fn read(&self) -> &str {
        self.used.set(true);
        match &self.given {
            Some(time) => time,
            None => self.read.get_or_init(now_utc),
        }
    }

    /// The time, if it was read.
    #[must_use]
    pub fn observed(&self) -> Option<&str> {
        self.used.get().then(|| self.read())
    }
}

/// The present time as RFC 3339 text in UTC, to the microsecond.
fn now_utc() -> String {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    crate::text::time::rfc3339(since)
}

/// A reward term: a pure function of one step, as far as the run is concerned.
pub trait Term {
    /// The component's name.
    fn name(&self) -> &str;

    /// The term's value at this step, unweighted.
    ///
    /// # Errors
    /// When the term raises, or answers with something that is not a finite number.
    fn evaluate(&mut self, step: &StepView<'_>) -> Result<TermValue, TermError>;

    /// Whether the term answers from the step alone, so that a checkpoint need not know of it.
    ///
    /// # Errors
    /// When it keeps state, or may; the default is that it may.
    fn check_stateless(&self) -> Result<(), SnapshotError> {
        Err(SnapshotError::unknown(format!("reward term `{}`", self.name())))
    }

    /// The term by value, so that it can be rebuilt from a manifest alone.
    ///
    /// # Errors
    /// When it captures what cannot be recorded; the error names the capture.
    fn record(&self) -> Result<TermRecord, TermError>;
}

/// What a term answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TermValue {
    /// The value, finite.
    pub value: f64,
    /// Internal sub-terms, when the term reports them; they land in `reward_detail`.
    pub detail: Option<Map>,
}

/// A term by value.
#[derive(Clone, Debug, PartialEq)]
pub struct TermRecord {
    /// The component's name.
    pub name: String,
    /// What the term was configured with.
    pub params: Map,
    /// How to rebuild it.
    pub origin: TermOrigin,
}

/// Where a term's code comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum TermOrigin {
    /// A native term, by its registered name.
    Builtin(String),
    /// Lua source, by value: `source`, `sha256` and what it captures, as
    /// `script::source` records it.
    Lua(Value),
}

/// A composition by value: the manifest's `reward_spec`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RewardRecord {
    /// Terms and their weights, in order of composition.
    pub terms: Vec<(TermRecord, f64)>,
}

/// Why a term could not answer, be built or be recorded.
#[derive(Debug, thiserror::Error)]
#[error("reward term `{term}`: {message}")]
pub struct TermError {
    /// The term.
    pub term: String,
    /// What happened, with the script's `file:line` where there is one.
    pub message: String,
}

impl Problem for TermError {
    fn code(&self) -> &'static str {
        "reward/term"
    }

    fn exit(&self) -> Exit {
        Exit::Failure
    }
}
