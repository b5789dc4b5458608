//! The configuration of an experiment, from Lua, YAML or JSON: one typed schema.
//!
//! A configuration is plain data until [`ExperimentConfig::from_value`] has checked it whole:
//! [`load`] and [`document`] read files, [`set`] changes one value by its path (`--set`),
//! [`ExperimentConfig::to_value`] gives the resolved configuration back, every default filled in,
//! and [`ExperimentConfig::to_document`] the text that stands beside a trace ([`beside`]).

mod load;
mod read;
mod schema;
mod set;
mod write;

pub(crate) use load::document;
pub use load::{LoadError, load};
pub use read::ConfigErrors;
pub use set::{SetError, set};
pub(crate) use set::{set_value, value_at};
pub use write::beside;
pub(crate) use write::beside_as;

use crate::env::wrapper::WrapperRecord;
use crate::regime::RegimeRecord;
use crate::reward::RewardRecord;
use crate::value::{Map, Value};

/// A whole experiment, as data.
#[derive(Clone, Debug, PartialEq)]
pub struct ExperimentConfig {
    /// The world.
    pub env: EnvConfig,
    /// What learns, and with which policy.
    pub algorithm: AlgorithmConfig,
    /// How long, and in which portions.
    pub rollout: RolloutConfig,
    /// How steps are scored; `None` when the environment scores itself (a Tier-1 run).
    pub reward: Option<RewardRecord>,
    /// When the world shifts.
    pub regime: RegimeRecord,
    /// Who the run is.
    pub run: RunConfig,
    /// What the trace records beyond its fields.
    pub trace: TraceConfig,
}

/// `env`: the world.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EnvConfig {
    /// A registered id.
    pub id: String,
    /// The environment's keyword arguments.
    pub kwargs: Map,
    /// What is around it, the innermost first.
    pub wrappers: Vec<WrapperRecord>,
    /// The definition by value of an environment written in Lua, as a bundle's manifest has it.
    pub lua: Option<Value>,
}

/// `algorithm`: what learns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlgorithmConfig {
    /// A registered name.
    pub name: String,
    /// The algorithm's parameters.
    pub params: Map,
    /// The policy; `None` lets the algorithm build its default one.
    pub policy: Option<PolicyConfig>,
}

/// `algorithm.policy`: what acts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyConfig {
    /// A registered name or a dotted factory, kept verbatim.
    pub id: String,
    /// The policy's keyword arguments.
    pub kwargs: Map,
    /// The definition by value of a policy written in Lua, as a bundle's manifest has it.
    pub lua: Option<Value>,
}

/// `rollout`: how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RolloutConfig {
    /// Steps between two calls of the algorithm's window hook, of callbacks and progress; >= 1.
    pub window_steps: u64,
    /// Steps of the whole run; >= 1.
    pub total_steps: u64,
    /// Whether an episode that ends is followed by another; if not, the run ends with it.
    pub auto_reset: bool,
}

/// `run`: identity, merged into every row and into the manifest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunConfig {
    /// The run's name: `run_id`.
    pub name: String,
    /// The experiment's seed, >= 0.
    pub seed: u64,
    /// The task, if named.
    pub task: Option<String>,
    /// The policy's identity, if named.
    pub policy_id: Option<String>,
    /// Further keys for every row.
    pub meta: Map,
}

/// `trace`: what rows hold beyond the format's fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceConfig {
    /// Extra row keys to record.
    pub record: Vec<Record>,
    /// Over how many steps each effective rank of the policy's last hidden layer is measured, >= 2;
    /// `None` measures none.
    pub effective_rank: Option<u64>,
}

/// An extra row key that a run can record; what is recorded can be rescored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each variant is named after the key it records")]
pub enum Record {
    Observation,
    NextObservation,
    EnvReward,
    Terminated,
    Truncated,
}

impl Record {
    /// All keys that can be recorded.
    pub const ALL: [Self; 5] =
        [Self::Observation, Self::NextObservation, Self::EnvReward, Self::Terminated, Self::Truncated];

    /// The row key.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Observation => "observation",
            Self::NextObservation => "next_observation",
            Self::EnvReward => "env_reward",
            Self::Terminated => "terminated",
            Self::Truncated => "truncated",
        }
    }
}
