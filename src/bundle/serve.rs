//! Serving: the bundle's policy, frozen, in the world and the regimes it was trained in.

use std::path::Path;

use super::{Bundle, BundleError};
use crate::algorithm::registry::frozen;
use crate::experiment::rollout::{Output, Plan, Rollout};
use crate::experiment::{Catalog, ExperimentError, Observer, RunResult};
use crate::policy::Context;
use crate::regime::RegimeRecord;
use crate::space::Space;
use crate::value::{Map, Value};

/// The steps served when neither the caller nor the regime says how many.
const STEPS: u64 = 1000;

/// What is to differ from the recorded run. What is given is recorded in the served rows'
/// metadata, under `serve`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServeOptions {
    /// How many steps; without it one full pass of the regime's schedule, else 1000.
    pub steps: Option<u64>,
    /// The seed; without it the training run's.
    pub seed: Option<u64>,
    /// After which step of training the policy was taken; recorded in the served rows' metadata,
    /// by which an evaluation tells served checkpoints apart.
    pub checkpoint_step: Option<u64>,
    /// Another environment, in the recorded wrappers.
    pub env_id: Option<String>,
    /// Other keyword arguments for the environment; another environment gets none of the
    /// recorded ones.
    pub env_kwargs: Option<Map>,
    /// Another regime.
    pub regime: Option<RegimeRecord>,
}

impl ServeOptions {
    /// What was asked for, as data, keys sorted.
    fn to_map(&self) -> Map {
        let entries = [
            ("env_id", self.env_id.as_deref().map(Value::from)),
            ("env_kwargs", self.env_kwargs.clone().map(Value::from)),
            ("regime", self.regime.as_ref().map(RegimeRecord::to_value)),
            ("seed", self.seed.map(Value::from)),
            ("steps", self.steps.map(Value::from)),
        ];
        entries.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
    }
}

/// Serves `bundle`: rebuilds everything from its manifest, runs the frozen policy, and writes a
/// row a step to `traces`, each with the training run's identity.
///
/// # Errors
/// When something cannot be rebuilt, the environment's spaces are not the recorded ones, or the
/// run stops; nothing is written before everything was rebuilt.
pub fn serve(
    bundle: &Bundle,
    catalog: &Catalog,
    options: &ServeOptions,
    traces: Option<&Path>,
    observer: &mut dyn Observer,
) -> Result<RunResult, BundleError> {
    let manifest = bundle.manifest();
    let seed = options.seed.unwrap_or_else(|| bundle.seed());
    catalog.begin(seed);
    let kwargs = match (&options.env_kwargs, &options.env_id) {
        (Some(kwargs), _) => kwargs.clone(),
        (None, Some(_)) => Map::new(),
        (None, None) => manifest.env.kwargs.clone(),
    };
    let id = options.env_id.as_ref().unwrap_or(&manifest.env.id);
    let wrappers = &manifest.env.wrappers;
    let mut env = bundle.catalog(catalog)?.wrapped_env(id, &kwargs, wrappers).map_err(ExperimentError::from)?;
    let (observation_space, action_space) = (env.observation_space().clone(), env.action_space().clone());
    // Before the policy: that its weights have other shapes would be the lesser half of it.
    same_space(bundle, "observation_space", manifest.observation_space.as_ref(), id, &observation_space)?;
    same_space(bundle, "action_space", manifest.action_space.as_ref(), id, &action_space)?;
    let context = Context { observation_space: &observation_space, action_space: &action_space, seed };
    let mut algorithm = frozen(bundle.policy_for(catalog, context)?);
    let mut reward = bundle.reward(catalog)?;
    let regime = options.regime.as_ref().unwrap_or(&manifest.regime);
    let mut provider = catalog.provider(regime, seed).map_err(ExperimentError::from)?;

    let steps = options.steps.or_else(|| provider.pass()).unwrap_or(STEPS);
    let mut meta = manifest.run.clone();
    let asked = options.to_map();
    if !asked.is_empty() {
        meta.insert("serve".to_owned(), Value::Map(asked));
    }
    if let Some(step) = options.checkpoint_step {
        meta.insert("checkpoint_step".to_owned(), step.into());
    }
    let plan = Plan {
        seed,
        total_steps: steps,
        window_steps: STEPS,
        auto_reset: true,
        meta,
        record: Vec::new(),
        effective_rank: None,
    };
    let mut rollout = Rollout {
        plan: &plan,
        env: &mut *env,
        algorithm: &mut *algorithm,
        reward: reward.as_mut(),
        provider: &mut *provider,
    };
    rollout.check()?;
    Ok(rollout.run(Output { traces, ..Output::default() }, observer)?)
}

/// Fails when the environment's space is not the recorded one.
fn same_space(
    bundle: &Bundle,
    field: &'static str,
    recorded: Option<&Value>,
    env: &str,
    space: &Space,
) -> Result<(), BundleError> {
    match bundle.space(field, recorded)? {
        Some(recorded) if recorded != *space => {
            let message = format!("is {recorded}, but that of environment `{env}` is {space} (or has other bounds)");
            Err(bundle.fault(field, message))
        }
        _ => Ok(()),
    }
}
