//! The window at an encounter's entry and exit.

use std::str::FromStr;

use crate::eval::error::EvalError;
use crate::value::Value;

/// The rows at an encounter's entry and exit that its levels are taken from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Window {
    /// So many rows.
    Rows(u64),
    /// A share of the encounter's rows, in percent, rounded up.
    Percent(f64),
}

impl Default for Window {
    fn default() -> Self {
        Self::Percent(10.0)
    }
}

impl Window {
    /// The window for an encounter of `n` finite rows: at least 1, at most half of them.
    #[must_use]
    pub fn rows(self, n: usize) -> usize {
        let asked = match self {
            Self::Rows(rows) => usize::try_from(rows).unwrap_or(usize::MAX),
            #[expect(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a share of a row count, between 0 and the count"
            )]
            Self::Percent(percent) => (n as f64 * percent / 100.0).ceil() as usize,
        };
        asked.clamp(1, (n / 2).max(1))
    }

    /// A number of rows, or a text such as `10%`.
    pub(super) fn to_value(self) -> Value {
        match self {
            Self::Rows(rows) => super::whole(rows),
            Self::Percent(percent) => Value::Text(format!("{percent}%")),
        }
    }

    /// The window in words: `200 rows`, `10%`.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Self::Rows(1) => "1 row".to_owned(),
            Self::Rows(rows) => format!("{rows} rows"),
            Self::Percent(percent) => format!("{percent}%"),
        }
    }
}

impl FromStr for Window {
    type Err = EvalError;

    fn from_str(text: &str) -> Result<Self, EvalError> {
        let refuse = || EvalError::Window(text.to_owned());
        if let Some(percent) = text.strip_suffix('%') {
            let percent: f64 = percent.trim().parse().map_err(|_| refuse())?;
            return if percent > 0.0 && percent <= 50.0 { Ok(Self::Percent(percent)) } else { Err(refuse()) };
        }
        match text.trim().parse() {
            Ok(rows) if rows > 0 => Ok(Self::Rows(rows)),
            _ => Err(refuse()),
        }
    }
}
