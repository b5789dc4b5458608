//! Options by name, as text or as plain values.

use indexmap::IndexMap;

use super::{Bounds, RegretReference, Settings};
use crate::eval::condition::Condition;
use crate::eval::error::{EvalError, nearest_or_all};
use crate::eval::select::Duplicates;
use crate::trace::Restart;
use crate::value::{Map, Value};

/// Every option that [`set`] knows.
const OPTIONS: [&str; 22] = [
    "window",
    "recover",
    "adapt",
    "threshold",
    "regret_ref",
    "bounds",
    "from_step",
    "until_step",
    "from_frac",
    "until_frac",
    "regime",
    "skip_null",
    "group_by",
    "metric",
    "ci",
    "reps",
    "ci_seed",
    "compare",
    "fail_if",
    "on_duplicate",
    "on_restart",
    "strict",
];

/// An option on its way in: its name as the user wrote it, and what they gave.
struct Asked<'a> {
    name: &'a str,
    value: &'a Value,
}

pub(super) fn set(settings: &mut Settings, name: &str, value: &Value) -> Result<(), EvalError> {
    let asked = Asked { name, value };
    let selection = &mut settings.selection;
    match name.replace('-', "_").as_str() {
        "window" => settings.window = asked.window()?,
        "recover" => settings.recover = asked.share()?,
        "adapt" => settings.adapt = asked.share()?,
        "threshold" => settings.threshold = Some(asked.number()?),
        "regret_ref" => settings.regret_ref = asked.regret_reference()?,
        "bounds" => settings.bounds = asked.bounds()?,
        "from_step" => selection.from_step = Some(asked.integer()?),
        "until_step" => selection.until_step = Some(asked.integer()?),
        "from_frac" => selection.from_frac = Some(asked.fraction()?),
        "until_frac" => selection.until_frac = Some(asked.fraction()?),
        "regime" => selection.regimes = asked.texts()?,
        "skip_null" => selection.skip_null = asked.flag()?,
        "group_by" => settings.group_by = asked.keys()?,
        "metric" => settings.metrics = asked.texts()?,
        "ci" => settings.bootstrap.confidence = asked.confidence()?,
        "reps" => settings.bootstrap.reps = asked.reps()?,
        "ci_seed" => settings.bootstrap.seed = asked.seed()?,
        "compare" => settings.compare = Some(asked.two()?),
        "fail_if" => settings.fail_if = asked.conditions()?,
        "on_duplicate" => selection.duplicates = asked.duplicates()?,
        // What evaluation's contract calls it.
        "on_restart" | "resume" => settings.reading.on_restart = asked.on_restart()?,
        "strict" => settings.reading.strict = asked.flag()?,
        plain => {
            return Err(EvalError::UnknownOption { name: name.to_owned(), known: nearest_or_all(plain, OPTIONS) });
        }
    }
    Ok(())
}

impl Asked<'_> {
    fn refuse<T>(&self, expected: &'static str) -> Result<T, EvalError> {
        let got = match self.value {
            Value::Text(text) => format!("`{text}`"),
            Value::List(_) | Value::Map(_) | Value::Null => self.value.kind().to_owned(),
            value => crate::text::json::to_string(value),
        };
        Err(EvalError::Option { name: self.name.to_owned(), expected, got })
    }

    fn finite(&self) -> Option<f64> {
        let number = match self.value {
            Value::Text(text) => text.trim().parse().ok(),
            value => value.as_float(),
        };
        number.filter(|number: &f64| number.is_finite())
    }

    fn number(&self) -> Result<f64, EvalError> {
        self.finite().map_or_else(|| self.refuse("a finite number"), Ok)
    }

    fn integer(&self) -> Result<i64, EvalError> {
        let number = match self.value {
            Value::Text(text) => text.trim().parse().ok(),
            value => value.as_int(),
        };
        number.map_or_else(|| self.refuse("an integer"), Ok)
    }

    fn share(&self) -> Result<f64, EvalError> {
        let share = self.finite().filter(|share| *share > 0.0 && *share <= 1.0);
        share.map_or_else(|| self.refuse("a share above 0 and at most 1"), Ok)
    }

    fn fraction(&self) -> Result<f64, EvalError> {
        let fraction = self.finite().filter(|fraction| (0.0..=1.0).contains(fraction));
        fraction.map_or_else(|| self.refuse("a fraction of the run between 0 and 1"), Ok)
    }

    fn confidence(&self) -> Result<f64, EvalError> {
        let share = self.finite().filter(|share| *share > 0.0 && *share < 1.0);
        share.map_or_else(|| self.refuse("a share between 0 and 1, such as 0.95"), Ok)
    }

    fn reps(&self) -> Result<usize, EvalError> {
        const MOST: usize = 1_000_000;
        let reps = self.integer().ok().and_then(|reps| usize::try_from(reps).ok());
        reps.filter(|reps| (2..=MOST).contains(reps))
            .map_or_else(|| self.refuse("a number of resamples between 2 and 1000000"), Ok)
    }

    fn seed(&self) -> Result<u64, EvalError> {
        let seed = self.integer().ok().and_then(|seed| u64::try_from(seed).ok());
        seed.map_or_else(|| self.refuse("an integer of at least 0"), Ok)
    }

    fn flag(&self) -> Result<bool, EvalError> {
        match self.value {
            Value::Bool(flag) => Ok(*flag),
            _ => self.refuse("true or false"),
        }
    }

    fn window(&self) -> Result<super::Window, EvalError> {
        match self.value {
            Value::Text(text) => text.parse(),
            Value::Int(rows) => rows.to_string().parse(),
            _ => self.refuse("a number of rows or a share such as 10%"),
        }
    }

    fn texts(&self) -> Result<Vec<String>, EvalError> {
        let texts = match self.value {
            Value::Text(text) => Some(vec![text.clone()]),
            Value::List(items) => items.iter().map(|item| item.as_text().map(str::to_owned)).collect(),
            Value::Map(map) if map.is_empty() => Some(Vec::new()),
            _ => None,
        };
        texts.map_or_else(|| self.refuse("a text or a list of texts"), Ok)
    }

    /// Names, also several in one text between commas.
    fn keys(&self) -> Result<Vec<String>, EvalError> {
        let texts = self.texts()?;
        let keys = texts.iter().flat_map(|text| text.split(',')).map(str::trim).filter(|key| !key.is_empty());
        Ok(keys.map(str::to_owned).collect())
    }

    fn two(&self) -> Result<(String, String), EvalError> {
        match self.texts()?.as_slice() {
            [a, b] => Ok((a.clone(), b.clone())),
            _ => self.refuse("the names of two groups"),
        }
    }

    fn conditions(&self) -> Result<Vec<Condition>, EvalError> {
        self.texts()?.iter().map(|text| text.parse()).collect()
    }

    fn duplicates(&self) -> Result<Duplicates, EvalError> {
        let found = Duplicates::ALL.into_iter().find(|kind| self.value.as_text() == Some(kind.name()));
        found.map_or_else(|| self.refuse("all, last, first or error"), Ok)
    }

    fn on_restart(&self) -> Result<Restart, EvalError> {
        let found =
            [Restart::Keep, Restart::Supersede].into_iter().find(|r| self.value.as_text() == Some(restart_name(*r)));
        found.map_or_else(|| self.refuse("keep or supersede"), Ok)
    }

    fn regret_reference(&self) -> Result<RegretReference, EvalError> {
        const EXPECTED: &str = "run, set, or a reward level for each regime";
        match self.value {
            Value::Text(text) if text == "run" => Ok(RegretReference::Run),
            Value::Text(text) if text == "set" => Ok(RegretReference::Set),
            Value::Map(map) => {
                let level = |(regime, level): (&String, &Value)| Some((regime.clone(), finite(level)?));
                let levels: Option<IndexMap<String, f64>> = map.iter().map(level).collect();
                levels.map_or_else(|| self.refuse(EXPECTED), |levels| Ok(RegretReference::Levels(levels)))
            }
            _ => self.refuse(EXPECTED),
        }
    }

    fn bounds(&self) -> Result<IndexMap<String, Bounds>, EvalError> {
        let Value::Map(map) = self.value else {
            return self.refuse("a map from regimes to {\"min\": number, \"max\": number}");
        };
        let entry = |(regime, entry): (&String, &Value)| match entry.as_map().and_then(bounds_of) {
            Some(bounds) => Ok((regime.clone(), bounds)),
            None => Err(EvalError::Bounds(regime.clone())),
        };
        map.iter().map(entry).collect()
    }
}

fn finite(value: &Value) -> Option<f64> {
    value.as_float().filter(|number| number.is_finite())
}

/// A regime's bounds: at least one of them, in order.
fn bounds_of(map: &Map) -> Option<Bounds> {
    let bound = |key: &str| match map.get(key) {
        None | Some(Value::Null) => Some(None),
        Some(value) => finite(value).map(Some),
    };
    let bounds = Bounds { min: bound("min")?, max: bound("max")? };
    let known = map.keys().all(|key| key == "min" || key == "max");
    let ordered = bounds.range().is_none_or(|(min, max)| min < max);
    (known && ordered && (bounds.min.is_some() || bounds.max.is_some())).then_some(bounds)
}

pub(super) fn restart_name(on_restart: Restart) -> &'static str {
    match on_restart {
        Restart::Keep => "keep",
        Restart::Supersede => "supersede",
    }
}
