//! The numbers of trials: a number stays with its configuration whatever becomes of the plan, so
//! that more values, more axes or more repeats leave the trials alone that are there.

use std::collections::HashMap;

use super::directory::Directory;
use super::error::SweepError;

/// Which configuration has which number.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    /// By the short identity: the number, and whether this plan has met it.
    given: HashMap<u64, (u64, bool)>,
    next: u64,
}

impl Numbers {
    /// The numbers that are in use in `directory`: those of its plan, then those that stand in the
    /// names of its trials and failures, kept ones among them. A plan that cannot be read gives
    /// none: what was made is named all the same.
    ///
    /// # Errors
    /// When a directory cannot be read.
    pub(crate) fn of(directory: &Directory) -> Result<Self, SweepError> {
        let mut numbers = Self::default();
        if let Ok(plan) = directory.plan() {
            for (number, key) in plan.map_while(Result::ok).filter_map(|trial| parts(&trial.unit().name())) {
                numbers.give(number, key);
            }
        }
        for name in directory.every_name()? {
            if let Some((number, key)) = parts(&name) {
                numbers.give(number, key);
            }
        }
        Ok(numbers)
    }

    fn give(&mut self, number: u64, key: u64) {
        self.given.insert(key, (number, false));
        self.next = self.next.max(number.saturating_add(1));
    }

    /// The id of the trial with this short identity, a new one where it has none; `None` if the
    /// plan has met it already.
    pub(crate) fn meet(&mut self, short: &str) -> Option<String> {
        let key = u64::from_str_radix(short, 16).unwrap_or_default();
        let (number, met) = self.given.entry(key).or_insert((self.next, false));
        if std::mem::replace(met, true) {
            return None;
        }
        let number = *number;
        self.next = self.next.max(number.saturating_add(1));
        Some(format!("{number:04}"))
    }

    /// Whether `name` is a trial's, and this plan has not met it.
    #[must_use]
    pub(crate) fn misses(&self, name: &str) -> bool {
        parts(name).is_some_and(|(_, key)| self.given.get(&key).is_none_or(|(_, met)| !met))
    }
}

/// The number and the short identity in a trial's name.
fn parts(name: &str) -> Option<(u64, u64)> {
    let (id, short) = name.split_once('-').filter(|(_, short)| short.len() == 16)?;
    Some((id.parse().ok()?, u64::from_str_radix(short, 16).ok()?))
}
