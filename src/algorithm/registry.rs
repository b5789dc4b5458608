//! The native algorithms by name.

use super::hill_climbing::HillClimbing;
use super::none::Frozen;
use super::{Algorithm, AlgorithmError};
use crate::policy::{self, Context, Policy};
use crate::suggest;
use crate::value::{Map, Value};

/// The names of all native algorithms.
pub const NAMES: [&str; 2] = ["none", "discrete_hill_climbing"];

/// Makes a native algorithm around `policy`, or around its default policy:
///
/// | name | parameters | default policy |
/// |---|---|---|
/// | `none` | - | `random` |
/// | `discrete_hill_climbing` | `noise` (1), `episodes` (5), `seed` | `linear_menu` |
///
/// # Errors
/// When there is no algorithm of this name, it does not take `params`, or cannot train `policy`.
pub fn make(
    name: &str,
    params: &Map,
    policy: Option<Box<dyn Policy>>,
    context: Context<'_>,
) -> Result<Box<dyn Algorithm>, AlgorithmError> {
    let parameters = Parameters { name, params };
    let policy_or = |default: &str| match policy {
        Some(policy) => Ok(policy),
        None => policy::registry::make(default, &Map::new(), context)
            .map_err(|source| AlgorithmError::Policy { name: name.to_owned(), source }),
    };
    Ok(match name {
        "none" => {
            parameters.only(&[])?;
            Box::new(Frozen(policy_or("random")?))
        }
        "discrete_hill_climbing" => Box::new(HillClimbing::new(&parameters, policy_or("linear_menu")?, context.seed)?),
        _ => {
            let nearest = suggest::nearest(name, NAMES).map(str::to_owned);
            return Err(AlgorithmError::UnknownName { name: name.to_owned(), nearest });
        }
    })
}

/// An algorithm that leaves `policy` as it is.
#[must_use]
pub fn frozen(policy: Box<dyn Policy>) -> Box<dyn Algorithm> {
    Box::new(Frozen(policy))
}

/// An algorithm's parameters under construction.
pub(super) struct Parameters<'a> {
    pub(super) name: &'a str,
    params: &'a Map,
}

impl Parameters<'_> {
    pub(super) fn error(&self, message: impl Into<String>) -> AlgorithmError {
        AlgorithmError::Argument { name: self.name.to_owned(), message: message.into() }
    }

    /// Fails at the first parameter that is none of `known`.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), AlgorithmError> {
        let Some(key) = self.params.keys().find(|key| !known.contains(&key.as_str())) else { return Ok(()) };
        let near = suggest::nearest(key, known.iter().copied()).map(|near| format!("; did you mean `{near}`?"));
        let near = near.unwrap_or_else(|| match known {
            [] => "; it takes none".to_owned(),
            known => format!("; it takes {}", known.join(", ")),
        });
        Err(self.error(format!("unknown parameter `params.{key}`{near}")))
    }

    /// An integer of at least `least`, if given.
    pub(super) fn integer(&self, key: &str, least: u64) -> Result<Option<u64>, AlgorithmError> {
        let read =
            |value: &Value| value.as_int().and_then(|value| u64::try_from(value).ok()).filter(|value| *value >= least);
        self.read(key, read, &format!("an integer of at least {least}"))
    }

    /// A finite number above 0, if given.
    pub(super) fn positive(&self, key: &str) -> Result<Option<f64>, AlgorithmError> {
        let read = |value: &Value| value.as_float().filter(|value| value.is_finite() && *value > 0.0);
        self.read(key, read, "a number above 0")
    }

    fn read<T>(
        &self,
        key: &str,
        read: impl Fn(&Value) -> Option<T>,
        expected: &str,
    ) -> Result<Option<T>, AlgorithmError> {
        match self.params.get(key).filter(|value| !value.is_null()) {
            None => Ok(None),
            Some(value) => match read(value) {
                Some(read) => Ok(Some(read)),
                None => {
                    let given = crate::text::json::to_compact(value);
                    Err(self.error(format!("`params.{key}` must be {expected}, got {given}")))
                }
            },
        }
    }
}
