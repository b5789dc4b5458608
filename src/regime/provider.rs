//! The native providers.

use super::drift::Drift;
use super::random::RandomSwitching;
use super::read::read_at;
use super::timeline::{self, Timeline};
use super::{Provider, RegimeError, RegimeRecord};
use crate::random::Rng;
use crate::suggest;
use crate::text::decode::{Field, Mistakes};
use crate::value::Value;

/// The native providers' names.
const PROVIDERS: [&str; 5] = ["constant", "schedule", "cycle", "random", "drift"];

/// The native provider that `record` describes; those that draw do so from the stream called
/// `regime` under `seed`, or under the `seed` among their parameters.
///
/// | name | parameters | regime in force |
/// |---|---|---|
/// | `constant` | `id`, `origin`, `env`, `reward` | the same one throughout |
/// | `schedule` | `entries`, each `id`, `steps`, `origin`, `env`, `reward` | one entry after the other; the last continues (its `steps` may be left out) |
/// | `cycle` | as `schedule` | the same, beginning anew after the last |
/// | `random` | `states`, `min_steps`, `mean_steps`, `transition`, `start`, `seed` | a Markov chain over the states |
/// | `drift` | `path`, `steps`, `std`, `start`, `every`, `buckets`, `id`, `env`, `reward`, `seed` | values between two ends, moving |
///
/// # Errors
/// When there is no such provider, or its parameters are not what it takes; every mistake is
/// named (entries are counted from 0, as the configuration's reader does).
pub fn from_record(record: &RegimeRecord, seed: u64) -> Result<Box<dyn Provider>, RegimeError> {
    let fail = |message: String| RegimeError { provider: record.provider.clone(), message };
    if record.lua.is_some() {
        return Err(fail("it is written in Lua, and nothing that runs Lua is at hand here".to_owned()));
    }
    let made = match record.provider.as_str() {
        "constant" => read(record, |field| Some(Timeline::new(record, timeline::constant(field)?, false))),
        "schedule" => read(record, |field| Some(Timeline::new(record, timeline::entries(field, false)?, false))),
        "cycle" => read(record, |field| Some(Timeline::new(record, timeline::entries(field, true)?, true))),
        "random" => read(record, |field| RandomSwitching::read(record, field, seed)),
        "drift" => read(record, |field| Drift::read(record, field, seed)),
        name => {
            let hint = suggest::hint(name, "known are", PROVIDERS);
            return Err(fail(format!("there is no such provider; {hint}")));
        }
    };
    made.map_err(|mistakes| fail(mistakes.to_string()))
}

/// The provider that `read` makes of the record's parameters.
fn read<P: Provider + 'static>(
    record: &RegimeRecord,
    read: impl FnOnce(&Field<'_>) -> Option<P>,
) -> Result<Box<dyn Provider>, Mistakes> {
    let provider = read_at("params", &Value::Map(record.params.clone()), read)?;
    Ok(Box::new(provider))
}

/// The stream a provider draws from: that of the experiment's `seed`, or of the parameter `seed`.
pub(super) fn stream(params: &Field<'_>, seed: u64) -> Option<Rng> {
    let seed = params.get("seed").map_or(Some(seed), |seed| seed.whole(0))?;
    Some(Rng::named(seed, "regime"))
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
        let mut provider = from_record(&record, 0).unwrap();
        assert_eq!(labels(&mut *provider, 9), "|aa|bbb|cccc");
        assert_eq!(provider.pass(), Some(6));
        assert_eq!(provider.record().unwrap(), record);
    }

    #[test]
    fn a_cycle_begins_anew() {
        let mut provider = from_record(&record("cycle", vec![entry("a", 2), entry("b", 1)]), 0).unwrap();
        assert_eq!(labels(&mut *provider, 8), "|aa|b|aa|b|aa");
        assert_eq!(provider.pass(), Some(3));
        let mut alone = from_record(&record("cycle", vec![entry("a", 2)]), 0).unwrap();
        assert_eq!(labels(&mut *alone, 6), "|aaaaaa");
    }

    #[test]
    fn a_constant_regime_is_unlabelled_unless_named() {
        let mut provider =
            from_record(&RegimeRecord { provider: "constant".to_owned(), params: Map::new(), lua: None }, 0).unwrap();
        assert_eq!(labels(&mut *provider, 3), "|---");
        assert_eq!(provider.pass(), None);
    }

    #[test]
    fn a_provider_can_be_asked_in_the_middle() {
        let mut provider = from_record(&record("cycle", vec![entry("a", 2), entry("b", 3)]), 0).unwrap();
        assert_eq!(provider.shift(1003).unwrap().unwrap().id.as_deref(), Some("b"));
        assert_eq!(provider.shift(1004).unwrap(), None);
        assert_eq!(provider.shift(1005).unwrap().unwrap().id.as_deref(), Some("a"));
    }

    #[test]
    fn mistakes_are_named_with_their_path() {
        let message = |record: &RegimeRecord| from_record(record, 0).err().unwrap().to_string();
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
