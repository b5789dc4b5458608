//! A run as columns: what evaluation computes from. About 40 bytes a row, whatever the rows held.

use indexmap::IndexMap;

use crate::value::{Map, Value};

/// A column entry of [`RunColumns::regime`] for rows without a label.
pub const NO_REGIME: u32 = u32::MAX;

/// What identifies a run: the five named fields, in order, those that are present and not null
/// (`spec` rule G1).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Identity {
    /// `run_id`, `seed`, `policy_id`, `task`, `algorithm_id`, in this order, as they are compared:
    /// `3.0` is the integer 3.
    pub fields: IndexMap<&'static str, Value>,
    /// Those of the fields that the run's first row writes otherwise, as it does: `3.0`.
    pub spelled: IndexMap<&'static str, Value>,
    /// Set where the five fields do not suffice: the file of an anonymous run (G2) or of a run
    /// whose steps overlap with a namesake's in another file (G3).
    pub file: Option<String>,
}

/// One run's rows, in file order, a column a field. All columns have the same length.
#[derive(Clone, Debug, Default)]
pub struct RunColumns {
    /// Which run this is.
    pub identity: Identity,
    /// The files its rows came from, in order.
    pub files: Vec<String>,
    /// Other keys whose value is the same in every row.
    pub meta: Map,
    /// Other keys that some rows lack or that change from row to row, in order of appearance.
    pub per_step: Vec<String>,
    /// Step indices.
    pub step: Vec<i64>,
    /// Rewards; NaN where the row's reward was not a finite number.
    pub reward: Vec<f64>,
    /// Indices into [`RunColumns::labels`], or [`NO_REGIME`].
    pub regime: Vec<u32>,
    /// Regime labels in order of first appearance.
    pub labels: Vec<String>,
    /// For each label, the first non-null `regime_origin` seen with it.
    pub origins: Vec<Option<String>>,
    /// Whether the environment refused the action.
    pub invalid_action: Vec<bool>,
    /// Effective ranks; NaN where not measured.
    pub effective_rank: Vec<f64>,
    /// Reward components by name in order of first appearance; NaN where a row has none.
    pub components: IndexMap<String, Vec<f64>>,
    /// `observed_at`; [`Moment::NONE`] where a row has none that can be read; empty when no row has
    /// one.
    pub observed_at: Vec<Moment>,
}

/// When a row was observed, in eight bytes: nanoseconds since 1970-01-01T00:00:00, twice, and one
/// more where the text did not name its offset from UTC. Such a time is compared with its like
/// only, never placed in a local zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment(i64);

impl Moment {
    /// No moment that could be read.
    pub const NONE: Self = Self(i64::MIN);

    /// The moment; [`Moment::NONE`] before the year 1824 and after 2115.
    #[must_use]
    pub fn new(nanoseconds: i64, naive: bool) -> Self {
        let doubled = nanoseconds.checked_mul(2).map(|doubled| doubled | i64::from(naive));
        doubled.map_or(Self::NONE, Self)
    }

    /// Nanoseconds since 1970-01-01T00:00:00, in UTC unless it is naive.
    #[must_use]
    pub fn nanoseconds(self) -> Option<i64> {
        (self != Self::NONE).then_some(self.0 >> 1)
    }

    /// Whether its text did not name its offset from UTC.
    #[must_use]
    pub fn is_naive(self) -> bool {
        self.0 & 1 == 1
    }
}

/// Something odd that reading or grouping met, and what was done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// A stable code: `truncated_tail`, `bad_line`, `identity_collision`, `non_monotonic`, ...
    pub code: &'static str,
    /// One line for people.
    pub message: String,
    /// The file, as the user named it.
    pub file: Option<String>,
    /// The line, from 1, of the first occurrence.
    pub line: Option<usize>,
    /// The step of the first occurrence.
    pub step: Option<i64>,
    /// How often it was met.
    pub count: u64,
}

impl Warning {
    /// Whether rows or values were lost: what a strict reader stops at.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        crate::trace::fault::is_loss(self.code)
    }

    /// As plain data: `code`, `message`, `file`, `line`, `step`, `count`.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let line = self.line.and_then(|line| i64::try_from(line).ok());
        let entries: [(&str, Value); 6] = [
            ("code", self.code.into()),
            ("message", self.message.as_str().into()),
            ("file", self.file.clone().into()),
            ("line", line.into()),
            ("step", self.step.into()),
            ("count", i64::try_from(self.count).unwrap_or(i64::MAX).into()),
        ];
        Value::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
    }
}

/// One input file's account.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    /// The path, as the user named it (below a directory: joined to it).
    pub path: String,
    /// Its size in bytes, as stored.
    pub bytes: u64,
    /// The SHA-256 of its bytes, as stored.
    pub sha256: String,
    /// Rows read.
    pub rows: u64,
    /// Lines skipped.
    pub skipped: u64,
}

/// Everything a reading of traces yields.
#[derive(Clone, Debug, Default)]
pub struct TraceColumns {
    /// The files, in reading order.
    pub inputs: Vec<Input>,
    /// The runs, in order of first appearance.
    pub runs: Vec<RunColumns>,
    /// What was odd.
    pub warnings: Vec<Warning>,
}
