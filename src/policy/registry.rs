//! The native policies by id.

use super::fixed::{ConstantPolicy, RandomPolicy};
use super::linear::LinearMenu;
use super::{Context, Policy, PolicyError};
use crate::suggest;
use crate::value::{Map, Value};

/// The dotted factory under which the Python reference knows `linear_menu`.
pub const REFERENCE_LINEAR_MENU: &str = "skyfall_crl.train.backends.hill_climbing:linear_menu_policy";

/// The ids of all native policies.
pub const IDS: [&str; 4] = ["linear_menu", "random", "constant", REFERENCE_LINEAR_MENU];

/// Makes a native policy:
///
/// | id | arguments | acts |
/// |---|---|---|
/// | `linear_menu` | `n_actions` (default: the action space's), `seed` | the action whose linear score is highest |
/// | `random` | `seed` | a random element of the action space |
/// | `constant` | `action` | always the same |
///
/// # Errors
/// When there is no policy of this id, it does not take `kwargs`, or does not fit the spaces.
pub fn make(id: &str, kwargs: &Map, context: Context<'_>) -> Result<Box<dyn Policy>, PolicyError> {
    let arguments = Arguments { id, kwargs };
    Ok(match id {
        "linear_menu" | REFERENCE_LINEAR_MENU => Box::new(LinearMenu::new(&arguments, context)?),
        "random" => Box::new(RandomPolicy::new(&arguments, context)?),
        "constant" => Box::new(ConstantPolicy::new(&arguments, context)?),
        _ => {
            let nearest = suggest::nearest(id, IDS).map(str::to_owned);
            return Err(PolicyError::UnknownId { id: id.to_owned(), nearest });
        }
    })
}

/// A policy's keyword arguments under construction.
pub(super) struct Arguments<'a> {
    pub(super) id: &'a str,
    pub(super) kwargs: &'a Map,
}

impl Arguments<'_> {
    pub(super) fn error(&self, message: impl Into<String>) -> PolicyError {
        PolicyError::Argument { id: self.id.to_owned(), message: message.into() }
    }

    /// Fails at the first argument that is none of `known`.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), PolicyError> {
        match self.kwargs.keys().find(|key| !known.contains(&key.as_str())) {
            None => Ok(()),
            Some(key) => {
                let near = suggest::nearest(key, known.iter().copied()).map(|near| format!("; did you mean `{near}`?"));
                let near = near.unwrap_or_else(|| format!("; it takes {}", known.join(", ")));
                Err(self.error(format!("unknown argument `kwargs.{key}`{near}")))
            }
        }
    }

    /// An integer argument of at least `least`, if given.
    pub(super) fn integer(&self, name: &str, least: i64) -> Result<Option<i64>, PolicyError> {
        match self.kwargs.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => match value.as_int().filter(|value| *value >= least) {
                Some(value) => Ok(Some(value)),
                None => {
                    let given = value.as_int().map_or_else(|| value.kind().to_owned(), |given| given.to_string());
                    Err(self.error(format!("`kwargs.{name}` must be an integer of at least {least}, got {given}")))
                }
            },
        }
    }

    /// The seed: the argument `seed`, else the experiment's.
    pub(super) fn seed(&self, context: Context<'_>) -> Result<u64, PolicyError> {
        Ok(self.integer("seed", 0)?.map_or(context.seed, i64::cast_unsigned))
    }
}
