//! `constant`, `schedule` and `cycle`: regimes one after the other, for as long as each says.

use super::read::{KEYS, note_unknown_keys, regime};
use super::{Provider, Regime, RegimeError, RegimeRecord};
use crate::snapshot::{self, SnapshotError};
use crate::text::decode::Field;
use crate::value::Value;

/// Regimes one after the other: what these three come down to.
pub(super) struct Timeline {
    record: RegimeRecord,
    spans: Vec<Span>,
    repeats: bool,
    /// The span in force and the step it ends before.
    present: Option<(usize, u64)>,
}

pub(super) struct Span {
    regime: Regime,
    /// How long it lasts; only the last may have no end.
    steps: Option<u64>,
}

impl Timeline {
    pub(super) fn new(record: &RegimeRecord, spans: Vec<Span>, repeats: bool) -> Self {
        Self { record: record.clone(), spans, repeats, present: None }
    }

    /// The span that holds `step`, and the step it ends before.
    fn locate(&self, step: u64) -> Option<(usize, u64)> {
        let total = self.pass().filter(|_| self.repeats);
        let mut begin = total.map_or(0, |total| step - step % total);
        for (index, span) in self.spans.iter().enumerate() {
            let last = !self.repeats && index + 1 == self.spans.len();
            let end = span.steps.filter(|_| !last).map_or(u64::MAX, |steps| begin.saturating_add(steps));
            if step < end || last {
                return Some((index, end));
            }
            begin = end;
        }
        None
    }
}

impl Provider for Timeline {
    fn shift(&mut self, step: u64) -> Result<Option<Regime>, RegimeError> {
        if self.present.is_some_and(|(_, end)| step < end) {
            return Ok(None);
        }
        let before = self.present.and_then(|(index, _)| self.spans.get(index)).map(|span| &span.regime);
        let located = self.locate(step);
        let regime = located.and_then(|(index, _)| self.spans.get(index)).map(|span| &span.regime);
        let shifted = if regime == before { None } else { regime.cloned() };
        self.present = located;
        Ok(shifted)
    }

    fn record(&self) -> Result<RegimeRecord, RegimeError> {
        Ok(self.record.clone())
    }

    fn pass(&self) -> Option<u64> {
        if self.record.provider == "constant" {
            return None;
        }
        self.spans.iter().try_fold(0u64, |total, span| Some(total.saturating_add(span.steps?)))
    }

    fn snapshot(&self) -> Result<Value, SnapshotError> {
        let (index, end) = self.present.unzip();
        let index = index.and_then(|index| u64::try_from(index).ok());
        Ok(snapshot::state([("index", index.map(snapshot::count).into()), ("end", end.map(snapshot::count).into())]))
    }

    fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        self.present = match snapshot::entry(state, "index")? {
            Value::Null => None,
            _ => Some((snapshot::read_index(state, "index", self.spans.len())?, snapshot::read_count(state, "end")?)),
        };
        Ok(())
    }

    fn known(&self) -> Vec<&Regime> {
        self.spans.iter().map(|span| &span.regime).collect()
    }
}

pub(super) fn constant(field: &Field<'_>) -> Option<Vec<Span>> {
    note_unknown_keys(field, &KEYS);
    Some(vec![Span { regime: regime(field)?, steps: None }])
}

pub(super) fn entries(field: &Field<'_>, repeats: bool) -> Option<Vec<Span>> {
    note_unknown_keys(field, &["entries"]);
    let list = field.require("entries", "the list of regimes")?;
    let items = list.items()?;
    if items.is_empty() {
        list.note("expected at least one regime");
    }
    let mut spans = Vec::with_capacity(items.len());
    for (index, entry) in items.iter().enumerate() {
        note_unknown_keys(entry, &["id", "steps", "origin", "env", "reward"]);
        let endless = !repeats && index + 1 == items.len();
        let steps = match entry.get("steps") {
            None if !endless => entry.require("steps", "an integer of at least 1").and(None),
            steps => steps.and_then(|steps| steps.whole(1)),
        };
        spans.extend(regime(entry).map(|regime| Span { regime, steps }));
    }
    Some(spans)
}
