//! A scalar's place in a row, by name: for writers that hand over scalars or whole columns.

use crate::trace::row::{Row, STEP_FIELDS};
use crate::value::{Map, Value};

/// A place for a scalar. Inside a field that is a mapping it is written with a point:
/// `reward_components.upright`, `action.index`, `reward_detail.centred.distance`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slot {
    /// `step`.
    Step,
    /// `reward`.
    Reward,
    /// `regime_id`.
    RegimeId,
    /// `regime_origin`.
    RegimeOrigin,
    /// `observed_at`.
    ObservedAt,
    /// `invalid_action`.
    InvalidAction,
    /// `effective_rank`.
    EffectiveRank,
    /// A component's name.
    Component(String),
    /// A key of the action.
    Action(String),
    /// A term and a key of its detail.
    Detail(String, String),
    /// A further key.
    Extra(String),
}

/// What a place is filled with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar<'a> {
    /// Nothing.
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// Text.
    Text(&'a str),
}

impl Slot {
    /// The place that `name` names.
    ///
    /// # Errors
    /// One line, when no scalar can stand there.
    pub fn parse(name: &str) -> Result<Self, String> {
        Ok(match name.split_once('.') {
            None => match name {
                "step" => Self::Step,
                "reward" => Self::Reward,
                "regime_id" => Self::RegimeId,
                "regime_origin" => Self::RegimeOrigin,
                "observed_at" => Self::ObservedAt,
                "invalid_action" => Self::InvalidAction,
                "effective_rank" => Self::EffectiveRank,
                "action" => return Err("`action` is a mapping; name a key of it, such as `action.index`".to_owned()),
                "reward_components" | "reward_detail" => {
                    return Err(format!("`{name}` is a mapping; name a key of it, such as `{name}.upright`"));
                }
                _ if STEP_FIELDS.contains(&name) => {
                    return Err(format!("`{name}` is a mapping; write rows that have one as tables"));
                }
                _ => Self::Extra(name.to_owned()),
            },
            Some(("reward_components", component)) => Self::Component(component.to_owned()),
            Some(("action", key)) => Self::Action(key.to_owned()),
            Some(("reward_detail", inner)) => match inner.split_once('.') {
                Some((term, key)) => Self::Detail(term.to_owned(), key.to_owned()),
                None => return Err(format!("`{name}` is a mapping; name a key of it, such as `{name}.distance`")),
            },
            Some((field, _)) if STEP_FIELDS.contains(&field) => {
                return Err(format!("`{name}`: `{field}` holds no such key"));
            }
            Some(_) => Self::Extra(name.to_owned()),
        })
    }

    /// Puts `scalar` in this place of `row`; nothing is allocated where the place was filled before.
    ///
    /// # Errors
    /// What is expected here, when that is something else.
    pub fn put(&self, row: &mut Row, scalar: Scalar<'_>) -> Result<(), &'static str> {
        match self {
            Self::Step => row.step = scalar.int().ok_or("an integer")?,
            Self::Reward => row.reward = scalar.float().ok_or("a number")?,
            Self::RegimeId => put_text(&mut row.regime_id, scalar)?,
            Self::RegimeOrigin => put_text(&mut row.regime_origin, scalar)?,
            Self::ObservedAt => put_text(&mut row.observed_at, scalar)?,
            Self::InvalidAction => {
                row.invalid_action = match scalar {
                    Scalar::Bool(value) => value,
                    Scalar::Null => false,
                    _ => return Err("a boolean"),
                }
            }
            Self::EffectiveRank => {
                row.effective_rank = match scalar {
                    Scalar::Null => None,
                    scalar => Some(scalar.float().ok_or("a number")?),
                }
            }
            Self::Component(name) => {
                let value = scalar.float().ok_or("a number")?;
                match row.reward_components.get_mut(name) {
                    Some(place) => *place = value,
                    None => drop(row.reward_components.insert(name.clone(), value)),
                }
            }
            Self::Action(key) => match row.action.get_or_insert_with(|| Value::Map(Map::new())) {
                Value::Map(map) => put_value(map, key, scalar),
                other => *other = Value::Map(Map::from_iter([(key.clone(), scalar.into())])),
            },
            Self::Detail(term, key) => {
                let inner = row.reward_detail.entry(term.clone()).or_insert_with(|| Value::Map(Map::new()));
                if let Value::Map(map) = inner {
                    put_value(map, key, scalar);
                }
            }
            Self::Extra(key) => put_value(&mut row.extra, key, scalar),
        }
        Ok(())
    }
}

fn put_text(place: &mut Option<String>, scalar: Scalar<'_>) -> Result<(), &'static str> {
    match scalar {
        Scalar::Null => *place = None,
        Scalar::Text(text) if place.as_deref() == Some(text) => {}
        Scalar::Text(text) => {
            let place = place.get_or_insert_default();
            place.clear();
            place.push_str(text);
        }
        _ => return Err("text"),
    }
    Ok(())
}

fn put_value(map: &mut Map, key: &str, scalar: Scalar<'_>) {
    match map.get_mut(key) {
        Some(place) => *place = scalar.into(),
        None => drop(map.insert(key.to_owned(), scalar.into())),
    }
}

impl Scalar<'_> {
    fn int(self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(value),
            Self::Float(value) => Value::Float(value).as_int(),
            _ => None,
        }
    }

    fn float(self) -> Option<f64> {
        match self {
            #[expect(clippy::cast_precision_loss, reason = "a float is what the field holds")]
            Self::Int(value) => Some(value as f64),
            Self::Float(value) => Some(value),
            _ => None,
        }
    }
}

impl From<Scalar<'_>> for Value {
    fn from(scalar: Scalar<'_>) -> Self {
        match scalar {
            Scalar::Null => Self::Null,
            Scalar::Bool(value) => Self::Bool(value),
            Scalar::Int(value) => Self::Int(value),
            Scalar::Float(value) => Self::Float(value),
            Scalar::Text(text) => Self::Text(text.to_owned()),
        }
    }
}
