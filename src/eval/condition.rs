//! Conditions that make an evaluation fail: `forgetting>0.1`, for continuous integration.
//!
//! A condition looks at the metric's mean over the runs of each group and holds where it holds of
//! any. Where the metric is defined on no run it neither holds nor passes in silence: the report
//! says so.

use std::fmt;
use std::str::FromStr;

use super::error::EvalError;
use super::group::Group;
use super::output::cell;
use crate::value::{Map, Value};

/// A metric, a relation and a number.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The condition as the user wrote it.
    pub text: String,
    /// The metric's name.
    pub metric: String,
    /// How its mean is to relate to the number for the condition to hold.
    pub relation: Relation,
    /// The number.
    pub number: f64,
}

/// How two numbers relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// `>`
    Above,
    /// `>=`
    AtLeast,
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `==`
    Equal,
    /// `!=`
    Unequal,
}

impl Relation {
    /// Longer signs before those they begin with.
    const SIGNS: [(&'static str, Self); 6] = [
        (">=", Self::AtLeast),
        ("<=", Self::AtMost),
        ("==", Self::Equal),
        ("!=", Self::Unequal),
        (">", Self::Above),
        ("<", Self::Below),
    ];

    fn holds(self, value: f64, number: f64) -> bool {
        match self {
            Self::Above => value > number,
            Self::AtLeast => value >= number,
            Self::Below => value < number,
            Self::AtMost => value <= number,
            #[expect(clippy::float_cmp, reason = "asked for as such")]
            Self::Equal => value == number,
            #[expect(clippy::float_cmp, reason = "asked for as such")]
            Self::Unequal => value != number,
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl FromStr for Condition {
    type Err = EvalError;

    fn from_str(text: &str) -> Result<Self, EvalError> {
        let refuse = || EvalError::Condition(text.to_owned());
        let at = text.find(['>', '<', '=', '!']).ok_or_else(refuse)?;
        let (metric, rest) = text.split_at(at);
        let (sign, relation) =
            Relation::SIGNS.into_iter().find(|(sign, _)| rest.starts_with(sign)).ok_or_else(refuse)?;
        let number = rest.get(sign.len()..).and_then(|number| number.trim().parse().ok());
        let number = number.filter(|number: &f64| number.is_finite()).ok_or_else(refuse)?;
        let metric = metric.trim();
        if metric.is_empty() {
            return Err(refuse());
        }
        Ok(Self { text: text.to_owned(), metric: metric.to_owned(), relation, number })
    }
}

/// What became of a condition on one group.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The condition.
    pub condition: Condition,
    /// The group's label.
    pub group: String,
    /// The metric's mean over the group's runs.
    pub value: Option<f64>,
    /// Whether the condition holds; `None` where the metric is not defined.
    pub holds: Option<bool>,
}

impl Verdict {
    /// The mean as reports show numbers; in full where the rounded one would belie the verdict. `None`
    /// where the metric is not defined.
    #[must_use]
    pub fn shown(&self) -> Option<String> {
        let Condition { relation, number, .. } = self.condition;
        let value = self.value?;
        let rounded = cell::number(value);
        let agrees = |shown: f64| Some(relation.holds(shown, number)) == self.holds;
        Some(if rounded.parse().is_ok_and(agrees) { rounded } else { value.to_string() })
    }

    pub(super) fn to_value(&self) -> Value {
        let mut map = Map::new();
        map.insert("condition".to_owned(), self.condition.text.as_str().into());
        map.insert("group".to_owned(), self.group.as_str().into());
        map.insert("value".to_owned(), self.value.into());
        map.insert("holds".to_owned(), self.holds.map(Value::Bool).unwrap_or_default());
        Value::Map(map)
    }
}

/// Judges every condition on every group.
pub(super) fn judge(conditions: &[Condition], groups: &[Group]) -> Vec<Verdict> {
    let on = |condition: &Condition, group: &Group| {
        let value = group.metrics.get(&condition.metric).and_then(|summary| summary.mean);
        Verdict {
            condition: condition.clone(),
            group: group.label(),
            value,
            holds: value.map(|value| condition.relation.holds(value, condition.number)),
        }
    };
    conditions.iter().flat_map(|condition| groups.iter().map(move |group| on(condition, group))).collect()
}
