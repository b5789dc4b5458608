//! The native providers.

use super::read::{KEYS, note_unknown_keys, read_at, regime};
use super::{Provider, Regime, RegimeError, RegimeRecord};
use crate::snapshot::{self, SnapshotError};
use crate::suggest;
use crate::text::decode::Field;
use crate::value::Value;

/// The native providers' names.
pub const PROVIDERS: [&str; 3] = ["constant", "schedule", "cycle"];

/// The native provider that `record` describes:
///
/// | name | parameters | regime in force |
/// |---|---|---|
/// | `constant` | `id`, `origin`, `env`, `reward` | the same one throughout |
/// | `schedule` | `entries`, each `id`, `steps`, `origin`, `env`, `reward` | one entry after the other; the last continues (its `steps` may be left out) |
/// | `cycle` | as `schedule` | the same, beginning anew after the last |
///
/// # Errors
/// When there is no such provider, or its parameters are not what it takes; every mistake is
/// named (entries are counted from 0, as the configuration's reader does).
pub fn from_record(record: &RegimeRecord) -> Result<Box<dyn Provider>, RegimeError> {
    let fail = |message: String| RegimeError { provider: record.provider.clone(), message };
    if record.lua.is_some() {
        return Err(fail("it is written in Lua, and nothing that runs Lua is at hand here".to_owned()));
    }
    let params = Value::Map(record.params.clone());
    let (spans, repeats) = match record.provider.as_str() {
        "constant" => (read_at("params", &params, constant), false),
        "schedule" => (read_at("params", &params, |field| entries(field, false)), false),
        "cycle" => (read_at("params", &params, |field| entries(field, true)), true),
        name => {
            let near = suggest::nearest(name, PROVIDERS).map(|near| format!("; did you mean `{near}`?"));
            let near = near.unwrap_or_else(|| format!("; known: {}", PROVIDERS.join(", ")));
            return Err(fail(format!("there is no such provider{near}")));
        }
    };
    let spans = spans.map_err(|mistakes| fail(mistakes.to_string()))?;
    Ok(Box::new(Timeline { record: record.clone(), spans, repeats, present: None }))
}

/// Regimes one after the other: what every native provider comes down to.
struct Timeline {
    record: RegimeRecord,
    spans: Vec<Span>,
    repeats: bool,
    /// The span in force and the step it ends before.
    present: Option<(usize, u64)>,
}

struct Span {
    regime: Regime,
    /// How long it lasts; only the last may have no end.
    steps: Option<u64>,
}

impl Timeline {
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

    fn snapshot(&self) -> Result<Value, SnapshotError> {
        let (index, end) = self.present.unzip();
        let index = index.and_then(|index| u64::try_from(index).ok());
        Ok(snapshot::state([("index", index.map(snapshot::count).into()), ("end", end.map(snapshot::count).into())]))
    }

    fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        self.present = match snapshot::entry(state, "index")? {
            Value::Null => None,
            index => {
                let index = index.as_int().and_then(|index| usize::try_from(index).ok());
                let index =
                    index.filter(|index| *index < self.spans.len()).ok_or_else(|| snapshot::damaged("index"))?;
                Some((index, snapshot::read_count(state, "end")?))
            }
        };
        Ok(())
    }

    fn pass(&self) -> Option<u64> {
        if self.record.provider == "constant" {
            return None;
        }
        self.spans.iter().try_fold(0u64, |total, span| Some(total.saturating_add(span.steps?)))
    }

    fn known(&self) -> Vec<&Regime> {
        self.spans.iter().map(|span| &span.regime).collect()
    }
}

fn constant(field: &Field<'_>) -> Option<Vec<Span>> {
    note_unknown_keys(field, &KEYS);
    Some(vec![Span { regime: regime(field)?, steps: None }])
}

fn entries(field: &Field<'_>, repeats: bool) -> Option<Vec<Span>> {
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

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;
    use crate::value::Map;

    fn entry(id: &str, steps: i64) -> Value {
        Value::Map(Map::from_iter([("id".to_owned(), id.into()), ("steps".to_owned(), steps.into())]))
    }

    fn record(provider: &str, entries: Vec<Value>) -> RegimeRecord {
        let params = Map::from_iter([("entries".to_owned(), Value::List(entries))]);
        RegimeRecord { provider: provider.to_owned(), params, lua: None }
    }

    /// The label of every step up to `steps`, shifts marked.
    fn labels(provider: &mut dyn Provider, steps: u64) -> String {
        let mut labels = String::new();
        let mut present = None;
        for step in 0..steps {
            if let Some(regime) = provider.shift(step).unwrap() {
                present = regime.id;
                labels.push('|');
            }
            labels.push_str(present.as_deref().unwrap_or("-"));
        }
        labels
    }

    #[test]
    fn a_schedule_goes_through_its_entries_and_stays_in_the_last() {
        let record = record("schedule", vec![entry("a", 2), entry("b", 3), entry("c", 1)]);
        let mut provider = from_record(&record).unwrap();
        assert_eq!(labels(&mut *provider, 9), "|aa|bbb|cccc");
        assert_eq!(provider.pass(), Some(6));
        assert_eq!(provider.record().unwrap(), record);
    }

    #[test]
    fn a_cycle_begins_anew() {
        let mut provider = from_record(&record("cycle", vec![entry("a", 2), entry("b", 1)])).unwrap();
        assert_eq!(labels(&mut *provider, 8), "|aa|b|aa|b|aa");
        assert_eq!(provider.pass(), Some(3));
        let mut alone = from_record(&record("cycle", vec![entry("a", 2)])).unwrap();
        assert_eq!(labels(&mut *alone, 6), "|aaaaaa");
    }

    #[test]
    fn a_constant_regime_is_unlabelled_unless_named() {
        let mut provider =
            from_record(&RegimeRecord { provider: "constant".to_owned(), params: Map::new(), lua: None }).unwrap();
        assert_eq!(labels(&mut *provider, 3), "|---");
        assert_eq!(provider.pass(), None);
    }

    #[test]
    fn a_provider_can_be_asked_in_the_middle() {
        let mut provider = from_record(&record("cycle", vec![entry("a", 2), entry("b", 3)])).unwrap();
        assert_eq!(provider.shift(1003).unwrap().unwrap().id.as_deref(), Some("b"));
        assert_eq!(provider.shift(1004).unwrap(), None);
        assert_eq!(provider.shift(1005).unwrap().unwrap().id.as_deref(), Some("a"));
    }

    #[test]
    fn mistakes_are_named_with_their_path() {
        let message = |record: &RegimeRecord| from_record(record).err().unwrap().to_string();
        let misspelt = Value::Map(Map::from_iter([("step".to_owned(), 3.into())]));
        let line = message(&record("schedule", vec![entry("a", 1), misspelt]));
        assert!(line.contains("`params.entries[1].step`") && line.contains("`steps`"), "{line}");
        assert!(message(&record("schedule", vec![entry("a", 0)])).contains("`params.entries[0].steps`"));
        assert!(message(&record("schedule", vec![])).contains("at least one"));
        assert!(message(&record("shedule", vec![])).contains("`schedule`"));
        let weight = Value::Map(Map::from_iter([(
            "reward".to_owned(),
            Value::Map(Map::from_iter([("x".to_owned(), "y".into())])),
        )]));
        assert!(message(&record("schedule", vec![weight])).contains("`params.entries[0].reward.x`"));
        let endless = Value::Map(Map::from_iter([("id".to_owned(), "a".into())]));
        assert!(message(&record("cycle", vec![endless])).contains("`params.entries[0].steps`: missing"));
    }
}
