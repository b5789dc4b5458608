//! Putting regimes in force: environment parameters, reward weights, and the way back.
//!
//! Invariant: a parameter that the present regime does not name has its base value, the one it
//! had when the environment was made.

use super::error::ExperimentError;
use crate::env::Env;
use crate::regime::{Provider, Regime};
use crate::reward::Composition;
use crate::suggest;
use crate::value::Map;

/// The regime in force, and the environment's base values.
pub(super) struct RegimeTrack {
    base: Map,
    present: Regime,
}

impl RegimeTrack {
    /// Takes the parameters that `env` has now as its base values.
    pub(super) fn new(env: &dyn Env) -> Self {
        Self { base: env.parameters(), present: Regime::default() }
    }

    pub(super) fn present(&self) -> &Regime {
        &self.present
    }

    /// Goes on under `regime`, which is in force already.
    pub(super) fn resume(&mut self, regime: Regime) {
        self.present = regime;
    }

    /// Puts `regime` in force.
    ///
    /// # Errors
    /// When the environment lacks a parameter or refuses its value, or the composition lacks a
    /// term.
    pub(super) fn shift(
        &mut self,
        regime: Regime,
        env: &mut dyn Env,
        reward: Option<&mut Composition>,
    ) -> Result<(), ExperimentError> {
        self.check_names(&regime, env)?;
        for (name, base) in &self.base {
            let value = regime.env.get(name).unwrap_or(base);
            if value != self.present.env.get(name).unwrap_or(base) {
                env.set_parameter(name, value).map_err(|source| misfit(&regime, source.to_string()))?;
            }
        }
        match reward {
            Some(reward) => reward.set_weights(&regime.reward).map_err(|source| misfit(&regime, source.to_string()))?,
            None => self.check_weights(&regime, None)?,
        }
        self.present = regime;
        Ok(())
    }

    /// Checks the regimes of `provider` that are known up front by setting each and going back;
    /// `env` must be at its base values and is left there.
    ///
    /// # Errors
    /// As [`RegimeTrack::shift`].
    pub(super) fn check(
        &mut self,
        provider: &dyn Provider,
        env: &mut dyn Env,
        reward: Option<&Composition>,
    ) -> Result<(), ExperimentError> {
        for regime in provider.known() {
            self.check_names(regime, env)?;
            self.check_weights(regime, reward)?;
            for (name, value) in &regime.env {
                env.set_parameter(name, value).map_err(|source| misfit(regime, source.to_string()))?;
                if let Some(base) = self.base.get(name) {
                    env.set_parameter(name, base)?;
                }
            }
        }
        Ok(())
    }

    fn check_names(&self, regime: &Regime, env: &dyn Env) -> Result<(), ExperimentError> {
        let Some(name) = regime.env.keys().find(|name| !self.base.contains_key(*name)) else { return Ok(()) };
        let hint = suggest::hint(name, "it has", self.base.keys().map(String::as_str));
        Err(misfit(regime, format!("environment `{}` has no parameter `{name}`; {hint}", env.id())))
    }

    fn check_weights(&self, regime: &Regime, reward: Option<&Composition>) -> Result<(), ExperimentError> {
        match reward {
            Some(reward) => reward.check_weights(&regime.reward).map_err(|source| misfit(regime, source.to_string())),
            None => match regime.reward.keys().next() {
                None => Ok(()),
                Some(name) => {
                    let message = format!("it weighs the reward term `{name}`, but the environment scores itself");
                    Err(misfit(regime, message))
                }
            },
        }
    }
}

fn misfit(regime: &Regime, message: String) -> ExperimentError {
    let regime = regime.id.clone().unwrap_or_else(|| "(unlabelled)".to_owned());
    ExperimentError::Regime { regime, message }
}
