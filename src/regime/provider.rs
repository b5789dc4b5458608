//! The native providers.

use super::read::{KEYS, check_keys, join, map, regime};
use super::{Provider, Regime, RegimeError, RegimeRecord};
use crate::suggest;
use crate::value::{Map, Value};

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
/// When there is no such provider, or its parameters are not what it takes (entries are counted
/// from 1).
pub fn from_record(record: &RegimeRecord) -> Result<Box<dyn Provider>, RegimeError> {
    let fail = |message: String| RegimeError { provider: record.provider.clone(), message };
    if record.lua.is_some() {
        return Err(fail("it is written in Lua, and nothing that runs Lua is at hand here".to_owned()));
    }
    let (spans, repeats) = match record.provider.as_str() {
        "constant" => (constant(&record.params).map_err(fail)?, false),
        "schedule" => (entries(&record.params, false).map_err(fail)?, false),
        "cycle" => (entries(&record.params, true).map_err(fail)?, true),
        name => {
            let near = suggest::nearest(name, PROVIDERS).map(|near| format!("; did you mean `{near}`?"));
            let near = near.unwrap_or_else(|| format!("; known: {}", PROVIDERS.join(", ")));
            return Err(fail(format!("there is no such provider{near}")));
        }
    };
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

fn constant(params: &Map) -> Result<Vec<Span>, String> {
    check_keys(params, &KEYS, "params")?;
    Ok(vec![Span { regime: regime(params, "params")?, steps: None }])
}

fn entries(params: &Map, repeats: bool) -> Result<Vec<Span>, String> {
    check_keys(params, &["entries"], "params")?;
    let list = match params.get("entries") {
        Some(Value::List(list)) if !list.is_empty() => list,
        None => return Err("`params.entries` is missing: the list of regimes".to_owned()),
        Some(Value::List(_)) => return Err("`params.entries` is empty; it needs at least one regime".to_owned()),
        Some(other) => return Err(format!("`params.entries` must be a list, got {}", other.kind())),
    };
    let span = |(index, entry): (usize, &Value)| {
        let path = format!("params.entries[{}]", index + 1);
        let open = !repeats && index + 1 == list.len();
        let entry = map(entry, &path)?;
        check_keys(&entry, &["id", "steps", "origin", "env", "reward"], &path)?;
        let steps = match entry.get("steps") {
            None | Some(Value::Null) if open => None,
            None | Some(Value::Null) => return Err(format!("`{}` is missing", join(&path, "steps"))),
            Some(given) => {
                match given.as_int().and_then(|steps| u64::try_from(steps).ok()).filter(|steps| *steps > 0) {
                    Some(steps) => Some(steps),
                    None => {
                        let given = given.as_int().map_or_else(|| given.kind().to_owned(), |given| given.to_string());
                        return Err(format!(
                            "`{}` must be an integer of at least 1, got {given}",
                            join(&path, "steps")
                        ));
                    }
                }
            }
        };
        Ok(Span { regime: regime(&entry, &path)?, steps })
    };
    list.iter().enumerate().map(span).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;

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
        assert!(line.contains("`params.entries[2].step`") && line.contains("`steps`"), "{line}");
        assert!(message(&record("schedule", vec![entry("a", 0)])).contains("`params.entries[1].steps`"));
        assert!(message(&record("schedule", vec![])).contains("at least one"));
        assert!(message(&record("shedule", vec![])).contains("`schedule`"));
        let weight = Value::Map(Map::from_iter([(
            "reward".to_owned(),
            Value::Map(Map::from_iter([("x".to_owned(), "y".into())])),
        )]));
        assert!(message(&record("schedule", vec![weight])).contains("`params.entries[1].reward.x`"));
        let endless = Value::Map(Map::from_iter([("id".to_owned(), "a".into())]));
        assert!(message(&record("cycle", vec![endless])).contains("`params.entries[1].steps` is missing"));
    }
}
