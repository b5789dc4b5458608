//! The native environments by id.

use super::acrobot::Acrobot;
use super::blackjack::Blackjack;
use super::cartpole::CartPole;
use super::cliff_walking::CliffWalking;
use super::episode::Episode;
use super::frozen_lake::FrozenLake;
use super::mountain_car::MountainCar;
use super::mountain_car_continuous::MountainCarContinuous;
use super::native::Native;
use super::pendulum::Pendulum;
use super::taxi::Taxi;
use super::world::World;
use super::{Env, EnvError, foreign};
use crate::suggest;
use crate::value::Map;

/// The ids of all native environments, sorted.
pub const IDS: [&str; 13] = [
    "Acrobot-v1",
    "Blackjack-v1",
    "CartPole-v0",
    "CartPole-v1",
    "CliffWalking-v1",
    "CliffWalkingSlippery-v1",
    "FrozenLake-v1",
    "FrozenLake8x8-v1",
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
    native(id, kwargs)?.single()
}

/// The native world `id` with its time limit, for one environment or for many.
pub(super) fn native(id: &str, kwargs: &Map) -> Result<Box<dyn Native>, EnvError> {
    fn made<W: World + 'static>(
        id: &'static str,
        limit: impl Into<Option<u64>>,
        world: W,
        kwargs: &Map,
    ) -> Result<Box<dyn Native>, EnvError> {
        Ok(Box::new(Episode::new(id, limit.into(), world, kwargs)?))
    }
    let lake = |id: &'static str, limit: u64, map: &str| {
        let (lake, kwargs) =
            FrozenLake::new(map, kwargs).map_err(|message| EnvError::Argument { id: id.to_owned(), message })?;
        made(id, limit, lake, &kwargs)
    };
    match id {
        "Acrobot-v1" => made("Acrobot-v1", 500, Acrobot::default(), kwargs),
        "Blackjack-v1" => made("Blackjack-v1", None, Blackjack::default(), kwargs),
        "CartPole-v0" => made("CartPole-v0", 200, CartPole::default(), kwargs),
        "CartPole-v1" => made("CartPole-v1", 500, CartPole::default(), kwargs),
        "CliffWalking-v1" => made("CliffWalking-v1", None, CliffWalking::default(), kwargs),
        "CliffWalkingSlippery-v1" => made("CliffWalkingSlippery-v1", None, CliffWalking::slippery(), kwargs),
        "FrozenLake-v1" => lake("FrozenLake-v1", 100, "4x4"),
        "FrozenLake8x8-v1" => lake("FrozenLake8x8-v1", 200, "8x8"),
        "MountainCar-v0" => made("MountainCar-v0", 200, MountainCar::default(), kwargs),
        "MountainCarContinuous-v0" => made("MountainCarContinuous-v0", 999, MountainCarContinuous::default(), kwargs),
        "Pendulum-v1" => made("Pendulum-v1", 200, Pendulum::default(), kwargs),
        "Taxi-v3" => made("Taxi-v3", 200, Taxi::<3>::default(), kwargs),
        "Taxi-v4" => made("Taxi-v4", 200, Taxi::<4>::default(), kwargs),
        // Only who may start programs makes them: `foreign::Programs::make`.
        _ if foreign::is_foreign(id) => Err(EnvError::NotAllowed { id: id.to_owned() }),
        _ => {
            let nearest = suggest::nearest(id, IDS).map(str::to_owned);
            Err(EnvError::UnknownId { id: id.to_owned(), nearest })
        }
    }
}
