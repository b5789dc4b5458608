//! What becomes of the actions of a discrete space: permuted, masked.

use super::setting::shown;
use crate::env::setting::Setting;
use crate::space::Space;
use crate::value::Value;

/// The most actions that a permutation can name.
const ACTIONS: i64 = 1 << 16;

/// Which action stands for which: the first is what becomes of the first action, and so on.
#[derive(Clone, Default)]
pub(super) struct Permutation {
    order: Vec<i64>,
    /// The first action and their number, once they are known.
    actions: Option<(i64, i64)>,
}

impl Permutation {
    /// Fits it to a discrete space; if it was not set, it is the identity there.
    ///
    /// # Errors
    /// When the space is another, or larger than can be permuted, or the permutation is not one of
    /// its actions.
    pub(super) fn fit(&mut self, space: &Space) -> Result<(), String> {
        let (start, n) = match space {
            Space::Discrete { n, start, .. } if *n <= ACTIONS => (*start, *n),
            other => return Err(format!("needs a discrete action space of at most {ACTIONS} actions, got {other}")),
        };
        self.actions = Some((start, n));
        if self.order.is_empty() {
            self.order = (start..=start + (n - 1)).collect();
        }
        self.checked(&self.order).map_err(|message| format!("`permutation` {message}"))
    }

    /// What becomes of `action`.
    pub(super) fn apply(&self, action: i64) -> i64 {
        let index = self.actions.and_then(|(start, _)| usize::try_from(action.checked_sub(start)?).ok());
        index.and_then(|index| self.order.get(index)).copied().unwrap_or(action)
    }

    fn checked(&self, order: &[i64]) -> Result<(), String> {
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        let (start, n) = self.actions.unwrap_or_else(|| {
            (sorted.first().copied().unwrap_or_default(), i64::try_from(sorted.len()).unwrap_or(ACTIONS))
        });
        if sorted.iter().copied().eq(start..=start.saturating_add(n - 1)) {
            return Ok(());
        }
        let which = match self.actions {
            Some(_) => format!("each of the actions {start} to {} once", start.saturating_add(n - 1)),
            None => "each of the actions once".to_owned(),
        };
        let shown: Vec<String> = order.iter().take(8).map(i64::to_string).collect();
        let more = if order.len() > shown.len() { ", ..." } else { "" };
        Err(format!("must name {which}, got [{}{more}]", shown.join(", ")))
    }
}

impl Setting for Permutation {
    fn get(&self) -> Value {
        Value::List(self.order.iter().map(|action| Value::Int(*action)).collect())
    }

    fn set(&mut self, value: &Value) -> Result<(), String> {
        let order: Option<Vec<i64>> = value.as_list().and_then(|list| list.iter().map(Value::as_int).collect());
        let order = order.filter(|order| !order.is_empty());
        let order = order.ok_or_else(|| format!("must be a list of actions, got {}", shown(value)))?;
        self.checked(&order)?;
        self.order = order;
        Ok(())
    }
}

/// Actions that are not to be had.
#[derive(Clone, Default)]
pub(super) struct Mask {
    masked: Vec<i64>,
    /// The first action and their number, once they are known.
    actions: Option<(i64, i64)>,
}

impl Mask {
    /// Fits it to a discrete space.
    ///
    /// # Errors
    /// When the space is another, or the mask does not go with its actions.
    pub(super) fn fit(&mut self, space: &Space) -> Result<(), String> {
        let Space::Discrete { n, start, .. } = space else {
            return Err(format!("needs a discrete action space, got {space}"));
        };
        self.actions = Some((*start, *n));
        self.checked(&self.masked).map_err(|message| format!("`masked` {message}"))
    }

    /// The action to take in place of `action`, if that is masked.
    pub(super) fn instead_of(&self, action: i64) -> Option<i64> {
        let (start, n) = self.actions.filter(|_| self.masked.contains(&action))?;
        (start..=start + (n - 1)).find(|action| !self.masked.contains(action))
    }

    fn checked(&self, masked: &[i64]) -> Result<(), String> {
        let Some((start, n)) = self.actions else { return Ok(()) };
        let last = start + (n - 1);
        if let Some(other) = masked.iter().find(|action| !(start..=last).contains(*action)) {
            return Err(format!("must name actions from {start} to {last}, got {other}"));
        }
        let all = i64::try_from(masked.len()).is_ok_and(|masked| masked >= n);
        if all && (start..=last).all(|action| masked.contains(&action)) {
            return Err("must leave one action at least".to_owned());
        }
        Ok(())
    }
}

impl Setting for Mask {
    fn get(&self) -> Value {
        Value::List(self.masked.iter().map(|action| Value::Int(*action)).collect())
    }

    fn set(&mut self, value: &Value) -> Result<(), String> {
        let masked: Option<Vec<i64>> = match value {
            // Lua's `{}` does not say which of the two it is.
            Value::Map(map) if map.is_empty() => Some(Vec::new()),
            list => list.as_list().and_then(|list| list.iter().map(Value::as_int).collect()),
        };
        let masked = masked.ok_or_else(|| format!("must be a list of actions, got {}", shown(value)))?;
        self.checked(&masked)?;
        self.masked = masked;
        Ok(())
    }
}
