//! The values wrappers are set by that worlds do not have.

use crate::env::setting::Setting;
use crate::value::Value;

/// The longest delay, in steps: what is held back must fit in memory.
const LONGEST: i64 = 10_000;

/// A number of steps, 0 or more.
#[derive(Clone, Copy, Default)]
pub(super) struct Steps(pub(super) usize);

impl Setting for Steps {
    fn get(&self) -> Value {
        Value::Int(i64::try_from(self.0).unwrap_or(LONGEST))
    }

    fn set(&mut self, value: &Value) -> Result<(), String> {
        let steps = value.as_int().filter(|steps| (0..=LONGEST).contains(steps));
        let steps = steps.and_then(|steps| usize::try_from(steps).ok());
        self.0 = steps.ok_or_else(|| format!("must be an integer from 0 to {LONGEST}, got {}", shown(value)))?;
        Ok(())
    }
}

/// What is delivered where nothing is there to be delivered.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Fill {
    /// The latest (of a dropped observation) or the oldest (of a delay) that there is.
    #[default]
    Last,
    /// The space's zero.
    Zeros,
}

impl Setting for Fill {
    fn get(&self) -> Value {
        Value::from(if *self == Self::Last { "last" } else { "zeros" })
    }

    fn set(&mut self, value: &Value) -> Result<(), String> {
        *self = match value.as_text() {
            Some("last") => Self::Last,
            Some("zeros") => Self::Zeros,
            _ => return Err(format!("must be `last` or `zeros`, got {}", shown(value))),
        };
        Ok(())
    }
}

/// How noise is distributed around 0.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Distribution {
    #[default]
    Gaussian,
    Uniform,
}

impl Setting for Distribution {
    fn get(&self) -> Value {
        Value::from(if *self == Self::Gaussian { "gaussian" } else { "uniform" })
    }

    fn set(&mut self, value: &Value) -> Result<(), String> {
        *self = match value.as_text() {
            Some("gaussian") => Self::Gaussian,
            Some("uniform") => Self::Uniform,
            _ => return Err(format!("must be `gaussian` or `uniform`, got {}", shown(value))),
        };
        Ok(())
    }
}

/// Standard deviations: one for all elements, or one for each.
#[derive(Clone)]
pub(super) struct Spread {
    each: Vec<f64>,
    /// Whether one stands for all.
    common: bool,
    /// How many elements there are, once that is known.
    elements: Option<usize>,
}

impl Default for Spread {
    fn default() -> Self {
        Self { each: vec![0.0], common: true, elements: None }
    }
}

impl Spread {
    /// Fits it to `elements` elements.
    ///
    /// # Errors
    /// When it names another number of them.
    pub(super) fn fit(&mut self, elements: usize) -> Result<(), String> {
        self.elements = Some(elements);
        self.fits(self.common, self.each.len())
    }

    fn fits(&self, common: bool, given: usize) -> Result<(), String> {
        match self.elements {
            Some(elements) if !common && elements != given => {
                Err(format!("must be one number, or {elements}, one for each element; got {given}"))
            }
            _ => Ok(()),
        }
    }

    /// The standard deviation of each element, in C order, without end.
    pub(super) fn each(&self) -> impl Iterator<Item = f64> {
        self.each.iter().copied().cycle()
    }
}

impl Setting for Spread {
    fn get(&self) -> Value {
        match self.each.first() {
            Some(one) if self.common => Value::Float(*one),
            _ => Value::List(self.each.iter().map(|each| Value::Float(*each)).collect()),
        }
    }

    fn set(&mut self, value: &Value) -> Result<(), String> {
        let number = |value: &Value| {
            let number = value.as_float().filter(|number| *number >= 0.0 && number.is_finite());
            number.ok_or_else(|| format!("must be a finite number of at least 0, got {}", shown(value)))
        };
        let (each, common) = match value {
            Value::List(items) if !items.is_empty() => {
                (items.iter().map(number).collect::<Result<Vec<_>, _>>()?, false)
            }
            one => (vec![number(one)?], true),
        };
        self.fits(common, each.len())?;
        (self.each, self.common) = (each, common);
        Ok(())
    }
}

/// `value` for a message: itself where it is a single number or text, else its kind.
pub(super) fn shown(value: &Value) -> String {
    match value {
        Value::Int(_) | Value::Float(_) | Value::Text(_) => crate::text::json::to_string(value),
        other => other.kind().to_owned(),
    }
}
