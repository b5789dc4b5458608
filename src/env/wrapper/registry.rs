//! The wrappers by name.

use super::Wrapper;
use super::action::{ActionMask, ActionPermutation, StickyActions};
use super::delay::{ActionDelay, ObservationDelay, RewardDelay};
use super::dropout::ObservationDropout;
use super::noise::{ActionNoise, ObservationNoise};
use super::random_action::RandomAction;
use super::reward::RewardScale;
use crate::suggest;

/// The names of all wrappers, sorted.
pub const NAMES: [&str; 11] = [
    "action_delay",
    "action_mask",
    "action_noise",
    "action_permutation",
    "observation_delay",
    "observation_dropout",
    "observation_noise",
    "random_action",
    "reward_delay",
    "reward_scale",
    "sticky_actions",
];

/// The wrapper called `name` at its neutral setting.
pub(super) fn neutral(name: &str) -> Option<Box<dyn Wrapper>> {
    Some(match name {
        "action_delay" => Box::new(ActionDelay::default()),
        "action_mask" => Box::new(ActionMask::default()),
        "action_noise" => Box::new(ActionNoise::default()),
        "action_permutation" => Box::new(ActionPermutation::default()),
        "observation_delay" => Box::new(ObservationDelay::default()),
        "observation_dropout" => Box::new(ObservationDropout::default()),
        "observation_noise" => Box::new(ObservationNoise::default()),
        "random_action" => Box::new(RandomAction::default()),
        "reward_delay" => Box::new(RewardDelay::default()),
        "reward_scale" => Box::new(RewardScale::default()),
        "sticky_actions" => Box::new(StickyActions::default()),
        _ => return None,
    })
}

/// The message about a wrapper that there is not.
pub(super) fn unknown(name: &str) -> String {
    format!("there is no wrapper `{name}`; {}", suggest::hint(name, "known are", NAMES))
}
