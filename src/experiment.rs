//! Experiments: a configuration made real, and the run loop.
//!
//! [`Experiment::new`] builds every part and checks how they fit before anything is written;
//! [`Experiment::run`] goes through the steps. [`Catalog`] says what names stand for; scripts add
//! theirs to the native ones. [`rollout`] is the loop itself, which serving a bundle shares.
//!
//! Seeds: from the experiment's seed `s`, the environment is reset once with `seed=s` (what
//! Gymnasium's `reset(seed=s)` draws) and from then on without a seed; the policy, the algorithm,
//! the regime and a script draw from [`Rng::named`](crate::random::Rng::named)`(s, name)` with
//! the names `policy`, `algorithm`, `regime` and `script`. A `seed` among the parameters of a
//! policy or an algorithm takes the place of `s` in its own stream.

mod catalog;
mod checkpoint;
mod effective_rank;
mod error;
mod regimes;
pub(crate) mod rollout;
mod row;

pub use catalog::{AlgorithmMaker, Catalog, EnvMaker, PolicyMaker, Scripts};
pub use checkpoint::{Checkpoints, checkpoint_path};
pub use error::{ExperimentError, ResumeError, RunError};
pub use rollout::{Observer, RunResult, Silent};

use std::path::Path;

use crate::algorithm::Algorithm;
use crate::config::{ExperimentConfig, RunConfig};
use crate::env::{Env, EnvError};
use crate::policy::{Context, PolicyError};
use crate::regime::{Provider, RegimeRecord};
use crate::reward::{Composition, RewardRecord};
use crate::trace::row::IDENTITY_KEYS;
use crate::value::{Map, Value, unrecorded};
use regimes::RegimeTrack;
use rollout::{Output, Plan, Rollout};

/// Parts that a script made already; the configuration's own records are used where one is
/// missing.
#[derive(Default)]
pub struct Parts {
    /// How steps are scored.
    pub reward: Option<Composition>,
    /// When the world shifts.
    pub provider: Option<Box<dyn Provider>>,
}

/// A configuration made real.
pub struct Experiment {
    config: ExperimentConfig,
    env: Box<dyn Env>,
    algorithm: Box<dyn Algorithm>,
    reward: Option<Composition>,
    provider: Box<dyn Provider>,
    env_code: Result<Option<Value>, String>,
    policy_code: Result<Option<Value>, String>,
    ran: bool,
}

impl Experiment {
    /// Builds every part of `config` and checks that they fit each other. Writes nothing.
    ///
    /// # Errors
    /// When a name is unknown, a parameter is wrong, the policy does not fit the spaces, or a
    /// regime that is known up front sets a parameter the environment lacks or weighs a term the
    /// composition lacks.
    pub fn new(config: ExperimentConfig, catalog: &Catalog, parts: Parts) -> Result<Self, ExperimentError> {
        catalog.begin(config.run.seed);
        let catalog = &with_recorded(catalog, &config)?;
        let mut env = catalog.wrapped_env(&config.env.id, &config.env.kwargs, &config.env.wrappers)?;
        let seed = config.run.seed;
        let (observation_space, action_space) = (env.observation_space().clone(), env.action_space().clone());
        let context = Context { observation_space: &observation_space, action_space: &action_space, seed };
        let algorithm = catalog.learner(&config.algorithm, context)?;
        let reward = match (parts.reward, &config.reward) {
            (Some(reward), _) => Some(reward),
            (None, Some(record)) => Some(catalog.composition(record)?),
            (None, None) => None,
        };
        let provider = match parts.provider {
            Some(provider) => provider,
            None => catalog.provider(&config.regime, seed)?,
        };
        RegimeTrack::new(&*env).check(&*provider, &mut *env, reward.as_ref())?;
        let env_code = catalog.env_code(&config.env.id);
        let policy = config.algorithm.policy.as_ref();
        let policy_code = policy.map_or(Ok(None), |policy| catalog.policy_code(&policy.id));
        Ok(Self { config, env, algorithm, reward, provider, env_code, policy_code, ran: false })
    }

    /// Runs the experiment to its end; with `traces`, a row a step is written there, and the
    /// resolved configuration [beside it](crate::config::beside).
    ///
    /// # Errors
    /// When a part fails or the trace cannot be written. What was written until then is whole
    /// rows and stays. An experiment runs once.
    pub fn run(&mut self, traces: Option<&Path>, observer: &mut dyn Observer) -> Result<RunResult, RunError> {
        self.run_with(traces, None, observer)
    }

    /// As [`Experiment::run`], with checkpoints beside the trace, so that a run that was killed
    /// can go on. The last one stays until [`Experiment::discard_checkpoint`].
    ///
    /// # Errors
    /// As [`Experiment::run`]; and when the run is to resume and cannot, before anything is
    /// written.
    pub fn run_with(
        &mut self,
        traces: Option<&Path>,
        checkpoints: Option<Checkpoints>,
        observer: &mut dyn Observer,
    ) -> Result<RunResult, RunError> {
        if std::mem::replace(&mut self.ran, true) {
            return Err(RunError::AlreadyRun);
        }
        let plan = Plan {
            seed: self.config.run.seed,
            total_steps: self.config.rollout.total_steps,
            window_steps: self.config.rollout.window_steps,
            auto_reset: self.config.rollout.auto_reset,
            meta: self.identity(),
            record: self.config.trace.record.clone(),
            effective_rank: self.config.trace.effective_rank,
        };
        let resolved = traces.map(|_| self.resolved());
        let rollout = Rollout {
            plan: &plan,
            env: &mut *self.env,
            algorithm: &mut *self.algorithm,
            reward: self.reward.as_mut(),
            provider: &mut *self.provider,
        };
        rollout.run(Output { traces, config: resolved.as_ref(), checkpoints }, observer)
    }

    /// Removes the checkpoint of the run that wrote `trace`, once nothing is left to do for it.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn discard_checkpoint(trace: &Path) -> Result<(), RunError> {
        Ok(checkpoint::discard(trace)?)
    }

    /// The configuration with everything that a script defined in it by value: on its own it
    /// makes the same experiment again. What cannot be recorded says why in place of its code.
    #[must_use]
    pub fn resolved(&self) -> ExperimentConfig {
        let code = |code: &Result<Option<Value>, String>| code.clone().unwrap_or_else(|why| Some(unrecorded(why)));
        let mut config = self.config.clone();
        config.env.lua = code(&self.env_code);
        if let Some(policy) = &mut config.algorithm.policy {
            policy.lua = code(&self.policy_code);
        }
        config.reward = self.reward.as_ref().map(Composition::describe);
        config.regime = self.provider.record().unwrap_or_else(|error| RegimeRecord {
            provider: error.provider,
            params: Map::new(),
            lua: Some(unrecorded(error.message)),
        });
        config
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &ExperimentConfig {
        &self.config
    }

    /// The environment.
    #[must_use]
    pub fn env(&self) -> &dyn Env {
        &*self.env
    }

    /// The algorithm, which owns the policy.
    #[must_use]
    pub fn algorithm(&self) -> &dyn Algorithm {
        &*self.algorithm
    }

    /// The run's identity, merged into every row and into the manifest; where an effective rank is
    /// measured, which one (`effective_rank_kind`) and over how many steps.
    #[must_use]
    pub fn identity(&self) -> Map {
        let mut run = self.config.run.clone();
        let measured = self.algorithm.policy().representation().is_some();
        if let Some(window) = self.config.trace.effective_rank.filter(|_| measured) {
            run.meta.insert("effective_rank_kind".to_owned(), effective_rank::KIND.into());
            run.meta.insert("effective_rank_window".to_owned(), window.into());
        }
        identity(&run, &self.config.algorithm.name)
    }

    /// The composition by value; `None` when the environment scores itself.
    ///
    /// # Errors
    /// When a term captures what cannot be recorded.
    pub fn reward_record(&self) -> Result<Option<RewardRecord>, ExperimentError> {
        Ok(self.reward.as_ref().map(Composition::record).transpose()?)
    }

    /// The environment's definition by value; `None` for a native one.
    ///
    /// # Errors
    /// When it captures what cannot be recorded.
    pub fn env_code(&self) -> Result<Option<Value>, ExperimentError> {
        let unrecorded = |line: String| {
            let message = format!("cannot travel in a bundle: {line}");
            ExperimentError::Env(EnvError::Failed { id: self.config.env.id.clone(), message })
        };
        self.env_code.clone().map_err(unrecorded)
    }

    /// The policy's definition by value; `None` for a native one.
    ///
    /// # Errors
    /// When it captures what cannot be recorded.
    pub fn policy_code(&self) -> Result<Option<Value>, ExperimentError> {
        let id = self.config.algorithm.policy.as_ref().map(|policy| policy.id.clone());
        let unrecorded = |line: String| {
            let message = format!("cannot travel in a bundle: {line}");
            ExperimentError::Policy(PolicyError::Failed { id: id.unwrap_or_default(), message })
        };
        self.policy_code.clone().map_err(unrecorded)
    }

    /// The regime provider by value.
    ///
    /// # Errors
    /// When it captures what cannot be recorded.
    pub fn regime_record(&self) -> Result<RegimeRecord, ExperimentError> {
        Ok(self.provider.record()?)
    }
}

/// `catalog` with what the configuration defines by value.
fn with_recorded(catalog: &Catalog, config: &ExperimentConfig) -> Result<Catalog, ExperimentError> {
    let mut catalog = catalog.clone();
    if let Some(code) = &config.env.lua {
        catalog = catalog.with_recorded_env(&config.env.id, code)?;
    }
    if let Some((policy, code)) =
        config.algorithm.policy.as_ref().and_then(|policy| Some((policy, policy.lua.as_ref()?)))
    {
        catalog = catalog.with_recorded_policy(&policy.id, code)?;
    }
    Ok(catalog)
}

/// A run's identity keys in their order, then its other keys sorted.
fn identity(run: &RunConfig, algorithm: &str) -> Map {
    let values: [Option<Value>; 5] = [
        Some(run.name.as_str().into()),
        Some(run.seed.into()),
        run.policy_id.as_deref().map(Value::from),
        run.task.as_deref().map(Value::from),
        Some(algorithm.into()),
    ];
    let keys = IDENTITY_KEYS.into_iter().zip(values);
    let mut identity: Map = keys.filter_map(|(key, value)| Some((key.to_owned(), value?))).collect();
    let mut others: Vec<_> = run.meta.iter().filter(|(key, _)| !IDENTITY_KEYS.contains(&key.as_str())).collect();
    others.sort_by_key(|(key, _)| key.as_str());
    identity.extend(others.into_iter().map(|(key, value)| (key.clone(), value.clone())));
    identity
}
