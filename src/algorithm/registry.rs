//! The native algorithms by name.

use super::ars::Ars;
use super::cem::CrossEntropy;
use super::hill_climbing::HillClimbing;
use super::none::Frozen;
use super::ppo::Ppo;
use super::reinforce::Reinforce;
use super::temporal_difference::{Target, TemporalDifference};
use super::{Algorithm, AlgorithmError};
use crate::policy::settings::Settings;
use crate::policy::{self, Context, Policy};
use crate::suggest;
use crate::value::{Map, Value};

/// The names of all native algorithms.
pub const NAMES: [&str; 8] =
    ["none", "discrete_hill_climbing", "ars", "cem", "reinforce", "q_learning", "sarsa", "ppo"];

/// Makes a native algorithm around `policy`, or around its default policy:
///
/// | name | parameters | default policy |
/// |---|---|---|
/// | `none` | - | `random` |
/// | `discrete_hill_climbing` | `noise` (1), `episodes` (5) | `linear_menu` |
/// | `ars` | `learning_rate` (0.2), `noise` (0.5), `directions` (2), `top` (all), `episodes` (1) | `linear_menu` from 0 |
/// | `cem` | `population` (40), `elite` (a fifth), `deviation` (1), `noise` (0.7), `noise_generations` (10), `episodes` (1) | `linear_menu` from 0 |
/// | `reinforce` | `learning_rate` (0.05), `discount` (0.995), `batch` (5), `horizon` (10000) | `linear_softmax` from 0 |
/// | `q_learning`, `sarsa` | `learning_rate` (0.1), `discount` (0.99), `epsilon` (0.1), `lambda` (0) | `tabular` |
/// | `ppo` | `learning_rate` (0.001), `discount` (0.98), `lambda` (0.8), `clip` (0.2), `entropy` (0), `max_gradient` (0.5), `horizon` (256), `minibatch` (64), `epochs` (10), `critic` ([64, 64]) | `mlp` |
///
/// All but `none` take a `seed`. `docs/algorithms.md` says more of each.
///
/// # Errors
/// When there is no algorithm of this name, or it cannot train `policy` or does not take
/// `params`; every mistake is named.
pub fn make(
    name: &str,
    params: &Map,
    policy: Option<Box<dyn Policy>>,
    context: Context<'_>,
) -> Result<Box<dyn Algorithm>, AlgorithmError> {
    let Some(default) = default_policy(name) else {
        let nearest = suggest::nearest(name, NAMES).map(str::to_owned);
        return Err(AlgorithmError::UnknownName { name: name.to_owned(), nearest });
    };
    let policy = match policy {
        Some(policy) => policy,
        None => {
            let kwargs = default.1.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
            policy::registry::make(default.0, &kwargs, context)
                .map_err(|source| AlgorithmError::Policy { name: name.to_owned(), source })?
        }
    };
    let (settings, seed) = (Settings::new("params", params), context.seed);
    let made: Result<Box<dyn Algorithm>, String> = match name {
        "discrete_hill_climbing" => boxed(HillClimbing::new(name, settings, policy, seed)),
        "ars" => boxed(Ars::new(name, settings, policy, seed)),
        "cem" => boxed(CrossEntropy::new(name, settings, policy, seed)),
        "reinforce" => boxed(Reinforce::new(settings, policy, seed)),
        "q_learning" => boxed(TemporalDifference::new(settings, policy, seed, Target::Best)),
        "sarsa" => boxed(TemporalDifference::new(settings, policy, seed, Target::Taken)),
        "ppo" => boxed(Ppo::new(settings, policy, seed)),
        _ => settings.finish(Some(())).map(|()| frozen(policy)),
    };
    made.map_err(|message| AlgorithmError::Argument { name: name.to_owned(), message })
}

/// The policy that the algorithm `name` trains unless given one.
fn default_policy(name: &str) -> Option<(&'static str, Vec<(&'static str, Value)>)> {
    Some(match name {
        "none" => ("random", vec![]),
        "discrete_hill_climbing" => ("linear_menu", vec![]),
        "ars" | "cem" => ("linear_menu", vec![("initial", Value::Int(0))]),
        "reinforce" => ("linear_softmax", vec![("initial", Value::Int(0))]),
        "q_learning" | "sarsa" => ("tabular", vec![]),
        "ppo" => ("mlp", vec![]),
        _ => return None,
    })
}

fn boxed<A: Algorithm + 'static>(made: Result<A, String>) -> Result<Box<dyn Algorithm>, String> {
    made.map(|algorithm| Box::new(algorithm) as Box<dyn Algorithm>)
}

/// An algorithm that leaves `policy` as it is.
#[must_use]
pub fn frozen(policy: Box<dyn Policy>) -> Box<dyn Algorithm> {
    Box::new(Frozen(policy))
}
