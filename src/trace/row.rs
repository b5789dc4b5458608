//! One row of a trace.

use indexmap::IndexMap;

use crate::value::{Map, Value};

/// The keys that tell one run from another, in their order in a row and in a run's key.
pub(crate) const IDENTITY_KEYS: [&str; 5] = ["run_id", "seed", "policy_id", "task", "algorithm_id"];

/// The fields of a step, in their order in a row.
pub(crate) const STEP_FIELDS: [&str; 12] = [
    "step",
    "regime_id",
    "regime_origin",
    "observed_at",
    "action",
    "reward",
    "reward_components",
    "reward_detail",
    "invalid_action",
    "effective_rank",
    "ticket_snapshot",
    "verifier_snapshot",
];

/// One step, with the fields of the format document in their order there. Only `step` and
/// `reward` are required of a producer; everything else has a default.
///
/// The run loop keeps one row and changes it in place, so that writing allocates nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// The step index within the run.
    pub step: i64,
    /// The regime label; `None` rows are unlabelled.
    pub regime_id: Option<String>,
    /// What the label repeats, for a revisit under a new name.
    pub regime_origin: Option<String>,
    /// When the step was observed, if a term read the clock.
    pub observed_at: Option<String>,
    /// The action taken, a mapping (`{"index": 1}`, `{"value": [..]}`).
    pub action: Option<Value>,
    /// The step's scalar reward, possibly not finite.
    pub reward: f64,
    /// Each component's weighted contribution to the reward, in order of composition.
    pub reward_components: IndexMap<String, f64>,
    /// Each component's internal sub-terms, where it reports them.
    pub reward_detail: Map,
    /// The environment refused the action.
    pub invalid_action: bool,
    /// The policy's representation rank; `None` is "not measured", never zero.
    pub effective_rank: Option<f64>,
    /// Operational records of environments that have them.
    pub ticket_snapshot: Map,
    /// Operational records of environments that have them.
    pub verifier_snapshot: Map,
    /// Further keys, written after the fields above and kept by a reader.
    pub extra: Map,
}
