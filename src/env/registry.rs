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

type Make = fn(&'static str, &Map) -> Result<Box<dyn Native>, EnvError>;

macro_rules! worlds {
    ($($id:literal: $make:expr;)+) => {
        /// The ids of all native environments, sorted.
        pub const IDS: [&str; [$($id),+].len()] = [$($id),+];

        fn world(id: &str) -> Option<(&'static str, Make)> {
            match id {
                $($id => Some(($id, $make)),)+
                _ => None,
            }
        }
    };
}

// Each with its time limit, sorted by id.
worlds! {
    "Acrobot-v1": |id, kwargs| made(id, 500, Acrobot::default(), kwargs);
    "Blackjack-v1": |id, kwargs| made(id, None, Blackjack::default(), kwargs);
    "CartPole-v0": |id, kwargs| made(id, 200, CartPole::default(), kwargs);
    "CartPole-v1": |id, kwargs| made(id, 500, CartPole::default(), kwargs);
    "CliffWalking-v1": |id, kwargs| made(id, None, CliffWalking::default(), kwargs);
    "CliffWalkingSlippery-v1": |id, kwargs| made(id, None, CliffWalking::slippery(), kwargs);
    "FrozenLake-v1": |id, kwargs| lake(id, 100, "4x4", kwargs);
    "FrozenLake8x8-v1": |id, kwargs| lake(id, 200, "8x8", kwargs);
    "MountainCar-v0": |id, kwargs| made(id, 200, MountainCar::default(), kwargs);
    "MountainCarContinuous-v0": |id, kwargs| made(id, 999, MountainCarContinuous::default(), kwargs);
    "Pendulum-v1": |id, kwargs| made(id, 200, Pendulum::default(), kwargs);
    "Taxi-v3": |id, kwargs| made(id, 200, Taxi::<3>::default(), kwargs);
    "Taxi-v4": |id, kwargs| made(id, 200, Taxi::<4>::default(), kwargs);
}

fn made<W: World + 'static>(
    id: &'static str,
    limit: impl Into<Option<u64>>,
    world: W,
    kwargs: &Map,
) -> Result<Box<dyn Native>, EnvError> {
    Ok(Box::new(Episode::new(id, limit.into(), world, kwargs)?))
}

fn lake(id: &'static str, limit: u64, map: &str, kwargs: &Map) -> Result<Box<dyn Native>, EnvError> {
    let (lake, kwargs) =
        FrozenLake::new(map, kwargs).map_err(|message| EnvError::Argument { id: id.to_owned(), message })?;
    made(id, limit, lake, &kwargs)
}

/// Makes a native environment, as `gymnasium.make(id, **kwargs)` does, time limit included.
///
/// # Errors
/// When there is no environment of this id, or it does not take `kwargs`.
pub fn make(id: &str, kwargs: &Map) -> Result<Box<dyn Env>, EnvError> {
    native(id, kwargs)?.single()
}

/// The native world `id` with its time limit, for one environment or for many.
pub(super) fn native(id: &str, kwargs: &Map) -> Result<Box<dyn Native>, EnvError> {
    match world(id) {
        Some((id, make)) => make(id, kwargs),
        // Only who may start programs makes them: `foreign::Programs::make`.
        None if foreign::is_foreign(id) => Err(EnvError::NotAllowed { id: id.to_owned() }),
        None => {
            let nearest = suggest::nearest(id, IDS).map(str::to_owned);
            Err(EnvError::UnknownId { id: id.to_owned(), nearest })
        }
    }
}
