//! The native environments by id.

use super::{Env, EnvError, cartpole::CartPole};
use crate::value::Map;

/// The ids of all native environments, sorted.
pub const IDS: [&str; 2] = ["CartPole-v0", "CartPole-v1"];

/// Makes a native environment, as `gymnasium.make(id, **kwargs)` does.
///
/// # Errors
/// When there is no environment of this id, or it does not take `kwargs`.
pub fn make(id: &str, kwargs: &Map) -> Result<Box<dyn Env>, EnvError> {
    Ok(match id {
        "CartPole-v0" => Box::new(CartPole::new("CartPole-v0", 200, kwargs)?),
        "CartPole-v1" => Box::new(CartPole::new("CartPole-v1", 500, kwargs)?),
        _ => {
            let nearest = crate::suggest::nearest(id, IDS).map(str::to_owned);
            return Err(EnvError::UnknownId { id: id.to_owned(), nearest });
        }
    })
}
