//! A bundle's policy as a function from plain data to plain data: what a server answers with.

use super::{Bundle, BundleError};
use crate::experiment::Catalog;
use crate::policy::Policy;
use crate::snapshot::state;
use crate::space::{Element, Space};
use crate::value::Value;

/// A restored policy, its spaces, and what is told of it.
pub struct Actor {
    policy: Box<dyn Policy>,
    observation_space: Space,
    action_space: Space,
    action: Element,
    about: Value,
}

/// Why there is no action.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActError {
    /// The request is not one of those that are answered.
    #[error("{0}")]
    Request(String),
    /// The policy failed, or acted outside its space.
    #[error("{0}")]
    Policy(String),
}

impl Actor {
    /// The policy of `bundle`, rebuilt and restored.
    ///
    /// # Errors
    /// When the bundle cannot be served; the error says exactly why.
    pub fn new(bundle: &Bundle, catalog: &Catalog) -> Result<Self, BundleError> {
        let [observation_space, action_space] = bundle.spaces(catalog)?;
        let policy = bundle.policy(catalog)?;
        let manifest = bundle.manifest();
        let about = state([
            ("skyfall", env!("CARGO_PKG_VERSION").into()),
            ("policy", manifest.policy.id.clone().into()),
            ("env", manifest.env.id.as_str().into()),
            ("run", manifest.run.clone().into()),
            ("observation_space", observation_space.encode()),
            ("action_space", action_space.encode()),
        ]);
        let action = action_space.blank();
        Ok(Self { policy, observation_space, action_space, action, about })
    }

    /// What is served: the policy, the environment it was trained in, the run, the spaces.
    #[must_use]
    pub fn about(&self) -> &Value {
        &self.about
    }

    /// Answers `{"observation": o}` with `{"action": a}` and `{"observations": [o, ...]}` with
    /// `{"actions": [a, ...]}`. All observations are checked before the policy sees one.
    ///
    /// # Errors
    /// When an observation does not lie in the space, or the policy fails.
    pub fn answer(&mut self, request: &Value) -> Result<Value, ActError> {
        const FORM: &str = "expected {\"observation\": ...} or {\"observations\": [...]}";
        let refuse = |message: String| ActError::Request(message);
        let map = request.as_map().ok_or_else(|| refuse(format!("{FORM}, got {}", request.kind())))?;
        match (map.get("observation"), map.get("observations"), map.len()) {
            (Some(observation), None, 1) => {
                let observation = self.observation(observation, "observation")?;
                Ok(state([("action", self.act(&observation)?)]))
            }
            (None, Some(Value::List(batch)), 1) => {
                let read = |(index, data)| self.observation(data, &format!("observations[{index}]"));
                let batch = batch.iter().enumerate().map(read).collect::<Result<Vec<_>, _>>()?;
                let actions = batch.iter().map(|observation| self.act(observation)).collect::<Result<Vec<_>, _>>()?;
                Ok(state([("actions", actions.into())]))
            }
            (None, Some(other), 1) => Err(refuse(format!("`observations` must be a list, got {}", other.kind()))),
            _ => Err(refuse(FORM.to_owned())),
        }
    }

    fn observation(&self, data: &Value, path: &str) -> Result<Element, ActError> {
        let observation = self.observation_space.element(data, path).map_err(ActError::Request)?;
        if self.observation_space.contains(&observation) {
            return Ok(observation);
        }
        Err(ActError::Request(format!("`{path}` lies outside {}", self.observation_space)))
    }

    fn act(&mut self, observation: &Element) -> Result<Value, ActError> {
        self.policy.act(observation, &mut self.action).map_err(|error| ActError::Policy(error.to_string()))?;
        if !self.action_space.contains(&self.action) {
            return Err(ActError::Policy(format!("the policy's action lies outside {}", self.action_space)));
        }
        Ok(self.action.to_value())
    }
}
