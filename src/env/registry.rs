//! The native environments by id.

use super::cartpole::CartPole;
use super::native::Native;
use super::{Env, EnvError};
use crate::suggest;
use crate::value::Map;

/// The ids of all native environments, sorted.
pub const IDS: [&str; 2] = ["CartPole-v0", "CartPole-v1"];

/// Makes a native environment, as `gymnasium.make(id, **kwargs)` does, time limit included.
///
/// # Errors
/// When there is no environment of this id, or it does not take `kwargs`.
pub fn make(id: &str, kwargs: &Map) -> Result<Box<dyn Env>, EnvError> {
    Ok(match id {
        "CartPole-v0" => Box::new(Native::new("CartPole-v0", Some(200), CartPole::default(), kwargs)?),
        "CartPole-v1" => Box::new(Native::new("CartPole-v1", Some(500), CartPole::default(), kwargs)?),
        _ => {
            let nearest = suggest::nearest(id, IDS).map(str::to_owned);
            return Err(EnvError::UnknownId { id: id.to_owned(), nearest });
        }
    })
}
