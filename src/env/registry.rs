//! The native environments by id.

use super::acrobot::Acrobot;
use super::cartpole::CartPole;
use super::cliff_walking::CliffWalking;
use super::frozen_lake::FrozenLake;
use super::mountain_car::MountainCar;
use super::mountain_car_continuous::MountainCarContinuous;
use super::native::Native;
use super::pendulum::Pendulum;
use super::taxi::Taxi;
use super::{Env, EnvError, foreign};
use crate::suggest;
use crate::value::Map;

/// The ids of all native environments, sorted.
pub const IDS: [&str; 10] = [
    "Acrobot-v1",
    "CartPole-v0",
    "CartPole-v1",
    "CliffWalking-v1",
    "FrozenLake-v1",
    "MountainCar-v0",
    "MountainCarContinuous-v0",
    "Pendulum-v1",
    "Taxi-v3",
    "Taxi-v4",
];

/// Makes a native environment, as `gymnasium.make(id, **kwargs)` does, time limit included.
///
/// # Errors
/// When there is no environment of this id, or it does not take `kwargs`.
pub fn make(id: &str, kwargs: &Map) -> Result<Box<dyn Env>, EnvError> {
    Ok(match id {
        "Acrobot-v1" => Box::new(Native::new("Acrobot-v1", Some(500), Acrobot::default(), kwargs)?),
        "CartPole-v0" => Box::new(Native::new("CartPole-v0", Some(200), CartPole::default(), kwargs)?),
        "CartPole-v1" => Box::new(Native::new("CartPole-v1", Some(500), CartPole::default(), kwargs)?),
        "CliffWalking-v1" => Box::new(Native::new("CliffWalking-v1", None, CliffWalking::default(), kwargs)?),
        "FrozenLake-v1" => {
            let (lake, kwargs) =
                FrozenLake::new(kwargs).map_err(|message| EnvError::Argument { id: id.to_owned(), message })?;
            Box::new(Native::new("FrozenLake-v1", Some(100), lake, &kwargs)?)
        }
        "MountainCar-v0" => Box::new(Native::new("MountainCar-v0", Some(200), MountainCar::default(), kwargs)?),
        "MountainCarContinuous-v0" => {
            Box::new(Native::new("MountainCarContinuous-v0", Some(999), MountainCarContinuous::default(), kwargs)?)
        }
        "Pendulum-v1" => Box::new(Native::new("Pendulum-v1", Some(200), Pendulum::default(), kwargs)?),
        "Taxi-v3" => Box::new(Native::new("Taxi-v3", Some(200), Taxi::default(), kwargs)?),
        "Taxi-v4" => Box::new(Native::new("Taxi-v4", Some(200), Taxi::default(), kwargs)?),
        // Only who may start programs makes them: `foreign::Programs::make`.
        _ if foreign::is_foreign(id) => return Err(EnvError::NotAllowed { id: id.to_owned() }),
        _ => {
            let nearest = suggest::nearest(id, IDS).map(str::to_owned);
            return Err(EnvError::UnknownId { id: id.to_owned(), nearest });
        }
    })
}
