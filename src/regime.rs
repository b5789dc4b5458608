//! Regimes: which configuration of the world is in force at each step, and when it shifts.
//!
//! Native providers: `constant`, `schedule`, `cycle`, `random` and `drift` (see [`from_record`]); a
//! script adds its own. A shift to another label begins a new segment of the trace; values that
//! move under one label (a drift) do not.

mod drift;
mod origin;
mod provider;
mod random;
mod read;
pub mod record;
mod timeline;

use crate::diagnostic::{Exit, Problem};
use crate::snapshot::SnapshotError;
use crate::value::{Map, Value};

pub use origin::stray_origins;
pub use provider::from_record;
pub(crate) use read::{regime_from_value, regime_to_value};

/// One configuration of the world.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Regime {
    /// The label that segments the trace; `None` leaves rows unlabelled.
    pub id: Option<String>,
    /// The label this one repeats, for a revisit under a new name.
    pub origin: Option<String>,
    /// Environment parameters to set; those not named have their base values.
    pub env: Map,
    /// Reward weights to replace, by term; those not named have their declared weights.
    pub reward: Map,
}

/// Decides the regime of every step.
pub trait Provider {
    /// The regime from `step` on, if it differs from that of the step before. Called once
    /// before each step, in order, and answers `Some` at step 0.
    ///
    /// # Errors
    /// When a scripted provider raises or answers with something else than a regime.
    fn shift(&mut self, step: u64) -> Result<Option<Regime>, RegimeError>;

    /// The provider by value, so that it can be rebuilt from a manifest alone.
    ///
    /// # Errors
    /// When it captures what cannot be recorded; the error names the capture.
    fn record(&self) -> Result<RegimeRecord, RegimeError>;

    /// The state between two steps, its random stream included, for a checkpoint.
    ///
    /// # Errors
    /// When it cannot be saved; the default is that it cannot.
    fn snapshot(&self) -> Result<Value, SnapshotError> {
        Err(SnapshotError::unknown("the regime provider"))
    }

    /// Goes back to where [`Provider::snapshot`] was taken; the provider is one made anew.
    ///
    /// # Errors
    /// When `state` is not what this provider saved.
    fn restore(&mut self, _state: &Value) -> Result<(), SnapshotError> {
        Err(SnapshotError::unknown("the regime provider"))
    }

    /// The steps of one full pass, for providers that have an end.
    fn pass(&self) -> Option<u64> {
        None
    }

    /// The regimes that are known to come, so that they can be checked before a run; empty for
    /// providers that decide step by step.
    fn known(&self) -> Vec<&Regime> {
        Vec::new()
    }
}

/// A provider by value: the manifest's `regime`.
#[derive(Clone, Debug, PartialEq)]
pub struct RegimeRecord {
    /// The provider's registered name.
    pub provider: String,
    /// What it was configured with.
    pub params: Map,
    /// Lua source by value, for scripted providers (as `script::source` records it).
    pub lua: Option<Value>,
}

/// Why a provider could not be built, asked or recorded.
#[derive(Debug, thiserror::Error)]
#[error("regime provider `{provider}`: {message}")]
pub struct RegimeError {
    /// The provider.
    pub provider: String,
    /// What happened.
    pub message: String,
}

impl Problem for RegimeError {
    fn code(&self) -> &'static str {
        "regime/provider"
    }

    fn exit(&self) -> Exit {
        Exit::Failure
    }
}
