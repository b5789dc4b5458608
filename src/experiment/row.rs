//! Filling the trace row of a step, in place: a native step allocates nothing.

use super::effective_rank::EffectiveRank;
use crate::array::Array;
use crate::config::Record;
use crate::env::Info;
use crate::regime::Regime;
use crate::reward::StepView;
use crate::snapshot::SnapshotError;
use crate::space::Element;
use crate::trace::Row;
use crate::value::{Map, Value};

/// The extra keys a row can record, in the order they stand in it.
const RECORDS: [Record; 5] =
    [Record::Observation, Record::NextObservation, Record::EnvReward, Record::Terminated, Record::Truncated];

/// One row, changed from step to step.
pub(super) struct StepRow {
    pub(super) row: Row,
    record: Vec<Record>,
    rank: Option<EffectiveRank>,
}

impl StepRow {
    /// A row that records the extra keys `record`, and the effective rank of windows of
    /// `rank_window` steps.
    pub(super) fn new(record: &[Record], rank_window: Option<u64>) -> Self {
        let record: Vec<Record> = RECORDS.into_iter().filter(|known| record.contains(known)).collect();
        let extra = record.iter().map(|record| (record.key().to_owned(), Value::Null)).collect();
        Self { row: Row { extra, ..Row::default() }, record, rank: rank_window.map(EffectiveRank::new) }
    }

    /// What a checkpoint must know: the window whose rank is being measured.
    pub(super) fn snapshot(&self) -> Value {
        self.rank.as_ref().map(EffectiveRank::snapshot).into()
    }

    /// Goes back to a snapshot.
    ///
    /// # Errors
    /// When `state` is none of a row like this one.
    pub(super) fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        self.rank.as_mut().map_or(Ok(()), |rank| rank.restore(state))
    }

    /// Labels the rows that follow.
    pub(super) fn label(&mut self, regime: &Regime) {
        self.row.regime_id.clone_from(&regime.id);
        self.row.regime_origin.clone_from(&regime.origin);
    }

    /// Measures the representation that a policy has of the step, if that is asked for; without
    /// it, or between two measurements, the row keeps what [`StepRow::fill`] found.
    pub(super) fn measure(&mut self, representation: Option<&[f64]>) {
        if let (Some(rank), Some(activations)) = (&mut self.rank, representation) {
            self.row.effective_rank = rank.observe(activations);
        }
    }

    /// Fills in what `step` says; reward, components and detail are the caller's.
    pub(super) fn fill(&mut self, step: &StepView<'_>) {
        self.row.step = i64::try_from(step.step).unwrap_or(i64::MAX);
        write_action(step.action, self.row.action.get_or_insert_default());
        self.row.invalid_action = step.info.invalid_action;
        self.fill_reported(step.info);
        for record in &self.record {
            let Some(slot) = self.row.extra.get_mut(record.key()) else { continue };
            match record {
                Record::Observation => write_element(step.observation, slot),
                Record::NextObservation => write_element(step.next_observation, slot),
                Record::EnvReward => *slot = Value::Float(step.env_reward),
                Record::Terminated => *slot = Value::Bool(step.terminated),
                Record::Truncated => *slot = Value::Bool(step.truncated),
            }
        }
    }

    /// Fills in what only some environments report.
    fn fill_reported(&mut self, info: &Info) {
        let entries = info.entries.as_deref();
        let map = |key| entries.and_then(|entries| entries.get(key)).and_then(Value::as_map);
        self.row.effective_rank = entries.and_then(|entries| entries.get("effective_rank")).and_then(Value::as_float);
        for (slot, key) in
            [(&mut self.row.ticket_snapshot, "ticket_snapshot"), (&mut self.row.verifier_snapshot, "verifier_snapshot")]
        {
            match map(key) {
                Some(reported) => slot.clone_from(reported),
                None => slot.clear(),
            }
        }
    }
}

/// The time at which the environment says the step was observed.
pub(super) fn reported_time(info: &Info) -> Option<&str> {
    info.entries.as_deref().and_then(|entries| entries.get("observed_at")).and_then(Value::as_text)
}

/// An action as a mapping: a Dict as it is, `{"index": n}` for a discrete one, else
/// `{"value": ...}`.
fn write_action(action: &Element, slot: &mut Value) {
    let key = match action {
        Element::Dict(_) => return write_element(action, slot),
        Element::Discrete(_) => "index",
        _ => "value",
    };
    if let Value::Map(map) = slot
        && let Some(inner) = map.get_mut(key)
    {
        return write_element(action, inner);
    }
    let mut inner = Value::Null;
    write_element(action, &mut inner);
    *slot = Value::Map(Map::from_iter([(key.to_owned(), inner)]));
}

/// An element as plain data, written over what is there.
pub(crate) fn write_element(element: &Element, slot: &mut Value) {
    match (element, slot) {
        (Element::Array(Array::F32(array)), Value::List(items)) if array.ndim() == 1 && array.len() == items.len() => {
            for (item, number) in items.iter_mut().zip(array) {
                *item = Value::Float(f64::from(*number));
            }
        }
        (element, slot) => *slot = element.to_value(),
    }
}
