//! What names stand for: environments, policies, algorithms, terms and providers.
//!
//! A name defined here comes before the native one of the same name.

use std::rc::Rc;

use indexmap::IndexMap;

use crate::algorithm::{self, Algorithm, AlgorithmError, Control};
use crate::config::AlgorithmConfig;
use crate::env::foreign::{self, Programs};
use crate::env::wrapper::{self, WrapperRecord};
use crate::env::{self, Env, EnvError};
use crate::policy::{self, Context, Policy, PolicyError};
use crate::regime::{self, Provider, RegimeError, RegimeRecord};
use crate::reward::{self, Composition, RewardRecord, Term, TermError, TermOrigin, TermRecord};
use crate::suggest::nearest;
use crate::value::{Map, Value};

/// Makes an environment from its keyword arguments.
pub type EnvMaker = Rc<dyn Fn(&Map) -> Result<Box<dyn Env>, EnvError>>;
/// Makes a policy from its keyword arguments and what it is for.
pub type PolicyMaker = Rc<dyn Fn(&Map, Context<'_>) -> Result<Box<dyn Policy>, PolicyError>>;
/// Makes an algorithm from its parameters, the configured policy, and what it is for.
pub type AlgorithmMaker =
    Rc<dyn Fn(&Map, Option<Box<dyn Policy>>, Context<'_>) -> Result<Box<dyn Algorithm>, AlgorithmError>>;

/// Why a recorded definition is refused by a catalog without a script host.
const NO_SCRIPTS: &str = "is written in Lua, which is not rebuilt here";

/// What a script defined under a name.
#[derive(Clone)]
struct Defined<M> {
    maker: M,
    /// The definition by value, or the line saying why it cannot be recorded.
    code: Result<Value, String>,
}

/// Rebuilds scripted parts from what was recorded of them; the script host implements it.
pub trait Scripts {
    /// A run under `seed` begins: draws that name no stream are of it.
    fn begin(&self, seed: u64);

    /// The term that `record` describes.
    ///
    /// # Errors
    /// When the record is incomplete, was changed, or does not compile.
    fn term(&self, record: &TermRecord) -> Result<Box<dyn Term>, TermError>;

    /// The provider that `record` describes, drawing from the stream called `regime` under `seed`.
    ///
    /// # Errors
    /// As [`Scripts::term`].
    fn provider(&self, record: &RegimeRecord, seed: u64) -> Result<Box<dyn Provider>, RegimeError>;

    /// What makes the environments that the definition `code` of `id` stands for.
    ///
    /// # Errors
    /// As [`Scripts::term`].
    fn env(&self, id: &str, code: &Value) -> Result<EnvMaker, EnvError>;

    /// What makes the policies that the definition `code` of `id` stands for.
    ///
    /// # Errors
    /// As [`Scripts::term`].
    fn policy(&self, id: &str, code: &Value) -> Result<PolicyMaker, PolicyError>;
}

/// What names stand for.
#[derive(Clone, Default)]
pub struct Catalog {
    envs: IndexMap<String, Defined<EnvMaker>>,
    policies: IndexMap<String, Defined<PolicyMaker>>,
    algorithms: IndexMap<String, AlgorithmMaker>,
    scripts: Option<Rc<dyn Scripts>>,
    programs: Option<Programs>,
}

impl Catalog {
    /// The native names alone.
    #[must_use]
    pub fn native() -> Self {
        Self::default()
    }

    /// The same catalog, able to rebuild scripted terms and providers.
    #[must_use]
    pub fn with_scripts(mut self, scripts: Rc<dyn Scripts>) -> Self {
        self.scripts = Some(scripts);
        self
    }

    /// The same catalog, with leave to start the programs of environments elsewhere.
    #[must_use]
    pub fn with_programs(mut self, programs: Programs) -> Self {
        self.programs = Some(programs);
        self
    }

    /// Defines the environment `id`; `code` is its definition by value, or why it has none.
    pub fn define_env(&mut self, id: impl Into<String>, maker: EnvMaker, code: Result<Value, String>) {
        self.envs.insert(id.into(), Defined { maker, code });
    }

    /// Defines the policy `id`; `code` is its definition by value, or why it has none.
    pub fn define_policy(&mut self, id: impl Into<String>, maker: PolicyMaker, code: Result<Value, String>) {
        self.policies.insert(id.into(), Defined { maker, code });
    }

    /// The same catalog with the environment `id` that the recorded definition `code` stands for.
    ///
    /// # Errors
    /// When it cannot be rebuilt, or this catalog rebuilds no scripts.
    pub fn with_recorded_env(mut self, id: &str, code: &Value) -> Result<Self, EnvError> {
        let none = || EnvError::Failed { id: id.to_owned(), message: NO_SCRIPTS.to_owned() };
        let maker = self.scripts.as_ref().ok_or_else(none)?.env(id, code)?;
        self.define_env(id, maker, Ok(code.clone()));
        Ok(self)
    }

    /// The same for the policy `id`.
    ///
    /// # Errors
    /// As [`Catalog::with_recorded_env`].
    pub fn with_recorded_policy(mut self, id: &str, code: &Value) -> Result<Self, PolicyError> {
        let none = || PolicyError::Failed { id: id.to_owned(), message: NO_SCRIPTS.to_owned() };
        let maker = self.scripts.as_ref().ok_or_else(none)?.policy(id, code)?;
        self.define_policy(id, maker, Ok(code.clone()));
        Ok(self)
    }

    /// The definition of the environment `id` by value; `None` for a native one.
    ///
    /// # Errors
    /// When it captures what cannot be recorded.
    pub fn env_code(&self, id: &str) -> Result<Option<Value>, String> {
        self.envs.get(id).map(|defined| defined.code.clone()).transpose()
    }

    /// The definition of the policy `id` by value; `None` for a native one.
    ///
    /// # Errors
    /// When it captures what cannot be recorded.
    pub fn policy_code(&self, id: &str) -> Result<Option<Value>, String> {
        self.policies.get(id).map(|defined| defined.code.clone()).transpose()
    }

    /// Defines the algorithm `name`.
    pub fn define_algorithm(&mut self, name: impl Into<String>, maker: AlgorithmMaker) {
        self.algorithms.insert(name.into(), maker);
    }

    /// A run under `seed` begins, for what scripts draw without a stream of its own.
    pub(crate) fn begin(&self, seed: u64) {
        if let Some(scripts) = &self.scripts {
            scripts.begin(seed);
        }
    }

    /// All environments' ids, the defined ones first.
    pub fn env_ids(&self) -> impl Iterator<Item = &str> {
        self.envs.keys().map(String::as_str).chain(env::registry::IDS)
    }

    /// All policies' ids, the defined ones first.
    pub fn policy_ids(&self) -> impl Iterator<Item = &str> {
        self.policies.keys().map(String::as_str).chain(policy::registry::IDS)
    }

    /// All algorithms' names, the defined ones first.
    pub fn algorithm_names(&self) -> impl Iterator<Item = &str> {
        self.algorithms.keys().map(String::as_str).chain(algorithm::registry::NAMES)
    }

    /// Makes the environment `id`.
    ///
    /// # Errors
    /// When there is none, it does not take `kwargs`, or it is another program and this catalog may
    /// not start one.
    pub fn env(&self, id: &str, kwargs: &Map) -> Result<Box<dyn Env>, EnvError> {
        let made = match (self.envs.get(id), &self.programs) {
            (Some(defined), _) => (defined.maker)(kwargs),
            (None, Some(programs)) if foreign::is_foreign(id) => programs.make(id, kwargs),
            (None, _) => env::registry::make(id, kwargs),
        };
        made.map_err(|error| match error {
            EnvError::UnknownId { id, .. } => {
                let nearest = nearest(&id, self.env_ids()).map(str::to_owned);
                EnvError::UnknownId { id, nearest }
            }
            other => other,
        })
    }

    /// Makes the environment `id` inside `wrappers`, the first of them innermost.
    ///
    /// # Errors
    /// As [`Catalog::env`], and when a wrapper is unknown or does not fit.
    pub fn wrapped_env(&self, id: &str, kwargs: &Map, wrappers: &[WrapperRecord]) -> Result<Box<dyn Env>, EnvError> {
        wrapper::wrap(self.env(id, kwargs)?, wrappers)
    }

    /// Makes the policy `id`.
    ///
    /// # Errors
    /// When there is none, it does not take `kwargs`, or does not fit the spaces.
    pub fn policy(&self, id: &str, kwargs: &Map, context: Context<'_>) -> Result<Box<dyn Policy>, PolicyError> {
        let made = match self.policies.get(id) {
            Some(defined) => (defined.maker)(kwargs, context),
            None => policy::registry::make(id, kwargs, context),
        };
        made.map_err(|error| match error {
            PolicyError::UnknownId { id, .. } => {
                let nearest = nearest(&id, self.policy_ids()).map(str::to_owned);
                PolicyError::UnknownId { id, nearest }
            }
            other => other,
        })
    }

    /// Makes the learner that `config` describes: the algorithm around the configured policy, or
    /// around its default one; with a name like `ars+reset_at_shift`, under that control.
    ///
    /// # Errors
    /// When there is no such algorithm, control or policy, one does not take its parameters, or
    /// the algorithm cannot train the policy.
    pub fn learner(
        &self,
        config: &AlgorithmConfig,
        context: Context<'_>,
    ) -> Result<Box<dyn Algorithm>, AlgorithmError> {
        let controlled = config.name.split_once('+').filter(|_| !self.algorithms.contains_key(&config.name));
        let Some((name, given)) = controlled else { return self.plain(config, context) };
        let Some((_, control)) = Control::NAMES.into_iter().find(|(known, _)| *known == given) else {
            let nearest = nearest(given, Control::NAMES.map(|(known, _)| known));
            let nearest = nearest.map(|nearest| format!("{name}+{nearest}"));
            return Err(AlgorithmError::UnknownName { name: config.name.clone(), nearest });
        };
        let (catalog, seed) = (self.clone(), context.seed);
        let (observations, actions) = (context.observation_space.clone(), context.action_space.clone());
        let config = AlgorithmConfig { name: name.to_owned(), ..config.clone() };
        let make =
            move || catalog.plain(&config, Context { observation_space: &observations, action_space: &actions, seed });
        algorithm::controlled(control, Box::new(make))
    }

    /// The same without a control.
    fn plain(&self, config: &AlgorithmConfig, context: Context<'_>) -> Result<Box<dyn Algorithm>, AlgorithmError> {
        let AlgorithmConfig { name, params, policy } = config;
        let policy = policy.as_ref().map(|policy| self.policy(&policy.id, &policy.kwargs, context)).transpose()?;
        let made = match self.algorithms.get(name) {
            Some(maker) => maker(params, policy, context),
            None => algorithm::registry::make(name, params, policy, context),
        };
        made.map_err(|error| match error {
            AlgorithmError::UnknownName { name, .. } => {
                let nearest = nearest(&name, self.algorithm_names()).map(str::to_owned);
                AlgorithmError::UnknownName { name, nearest }
            }
            other => other,
        })
    }

    /// The composition that `record` describes.
    ///
    /// # Errors
    /// When a term cannot be rebuilt, or they do not go together.
    pub fn composition(&self, record: &RewardRecord) -> Result<Composition, TermError> {
        let term = |(record, weight): &(TermRecord, f64)| {
            let term = match (&record.origin, &self.scripts) {
                (TermOrigin::Lua(_), Some(scripts)) => scripts.term(record)?,
                _ => reward::builtin_from_record(record)?,
            };
            Ok((term, *weight))
        };
        Composition::new(record.terms.iter().map(term).collect::<Result<_, TermError>>()?)
    }

    /// The provider that `record` describes; if it draws, then under `seed`.
    ///
    /// # Errors
    /// When there is none, it does not take its parameters, or cannot be rebuilt.
    pub fn provider(&self, record: &RegimeRecord, seed: u64) -> Result<Box<dyn Provider>, RegimeError> {
        match (&record.lua, &self.scripts) {
            (Some(_), Some(scripts)) => scripts.provider(record, seed),
            _ => regime::from_record(record, seed),
        }
    }
}
