//! One settable value of a world: what it may be, and its form as plain data.

use crate::value::Value;

/// A value that a world lets others set.
pub(super) enum Field<'a> {
    /// Any finite number.
    Number(&'a mut f64),
    /// A finite number above zero: a mass, a length, a duration.
    Positive(&'a mut f64),
    /// A probability.
    Share(&'a mut f64),
    /// A switch.
    Flag(&'a mut bool),
    /// Anything else.
    Other(&'a mut dyn Setting),
}

/// A settable value with rules of its own.
pub(super) trait Setting {
    /// The value as plain data.
    fn get(&self) -> Value;

    /// Sets it.
    ///
    /// # Errors
    /// What the value must be and what came, to follow the field's name.
    fn set(&mut self, value: &Value) -> Result<(), String>;
}

impl Field<'_> {
    /// The value as plain data.
    pub(super) fn get(&self) -> Value {
        match self {
            Self::Number(number) | Self::Positive(number) | Self::Share(number) => Value::Float(**number),
            Self::Flag(flag) => Value::Bool(**flag),
            Self::Other(setting) => setting.get(),
        }
    }

    /// Sets the value.
    ///
    /// # Errors
    /// What the value must be and what came, to follow the field's name.
    pub(super) fn set(&mut self, value: &Value) -> Result<(), String> {
        let (slot, what, range): (_, _, fn(f64) -> bool) = match self {
            Self::Number(slot) => (slot, "a finite number", f64::is_finite),
            Self::Positive(slot) => (slot, "a finite number above 0", |number| number > 0.0 && number.is_finite()),
            Self::Share(slot) => (slot, "a number from 0 to 1", |number| (0.0..=1.0).contains(&number)),
            Self::Flag(flag) => {
                **flag = value.as_bool().ok_or_else(|| format!("must be a boolean, got {}", value.kind()))?;
                return Ok(());
            }
            Self::Other(setting) => return setting.set(value),
        };
        match value.as_float() {
            Some(number) if range(number) => **slot = number,
            Some(number) => return Err(format!("must be {what}, got {number}")),
            None => return Err(format!("must be {what}, got {}", value.kind())),
        }
        Ok(())
    }
}
