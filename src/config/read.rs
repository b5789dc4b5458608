//! From plain data to a configuration: defaults, and every mistake at once.

use super::schema::{EXPERIMENT, note_unknown_keys};
use super::{
    AlgorithmConfig, EnvConfig, ExperimentConfig, PolicyConfig, Record, RolloutConfig, RunConfig, TraceConfig,
};
use crate::diagnostic::Problem;
use crate::env::wrapper::WrapperRecord;
use crate::regime::RegimeRecord;
use crate::reward::RewardRecord;
use crate::suggest;
use crate::text::decode::{Field, Mistake, Mistakes, decode};
use crate::value::{Map, Value};

/// The steps of a window when the configuration names none.
const WINDOW_STEPS: u64 = 1000;

/// The row keys that identify a run; `run.meta` cannot replace them.
const IDENTITY: [(&str, &str); 5] = [
    ("run_id", "run.name"),
    ("seed", "run.seed"),
    ("policy_id", "run.policy_id"),
    ("task", "run.task"),
    ("algorithm_id", "algorithm.name"),
];

/// What is wrong with a configuration: at least one mistake, each with its path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigErrors(Mistakes);

impl ConfigErrors {
    /// The mistakes, in the order of the schema, unknown keys first.
    #[must_use]
    pub fn mistakes(&self) -> &[Mistake] {
        &self.0.0
    }
}

impl Problem for ConfigErrors {
    fn code(&self) -> &'static str {
        "config/invalid"
    }
}

impl ExperimentConfig {
    /// The configuration that `value` describes, in the format document's shape. Required are
    /// `env.id` and `rollout.total_steps`; whole floats count as integers.
    ///
    /// # Errors
    /// All mistakes: unknown keys (with the nearest known one), missing and mistyped values.
    pub fn from_value(value: &Value) -> Result<Self, ConfigErrors> {
        decode(value, |root| {
            note_unknown_keys(root, EXPERIMENT);
            read(root)
        })
        .map_err(ConfigErrors)
    }
}

/// Every section is read before any failure is handed on, so that all mistakes are noted.
fn read(root: &Field<'_>) -> Option<ExperimentConfig> {
    let root = root.clone().section()?;
    let env = root.require("env", "a map with the environment's `id`").and_then(read_env);
    let algorithm = section(&root, "algorithm", read_algorithm, default_algorithm);
    let rollout = root.require("rollout", "a map with `total_steps`").and_then(read_rollout);
    let reward = root.get("reward").map(|reward| RewardRecord::read(&reward));
    let regime = section(&root, "regime", |regime| RegimeRecord::read(&regime), RegimeRecord::constant);
    let run = section(&root, "run", read_run, default_run);
    let trace = section(&root, "trace", read_trace, TraceConfig::default);
    let reward = match reward {
        Some(reward) => Some(reward?),
        None => None,
    };
    Some(ExperimentConfig {
        env: env?,
        algorithm: algorithm?,
        rollout: rollout?,
        reward,
        regime: regime?,
        run: run?,
        trace: trace?,
    })
}

/// What `read` makes of the value at `key`, or `default` where there is none.
fn section<'a, T>(
    field: &Field<'a>,
    key: &str,
    read: impl FnOnce(Field<'a>) -> Option<T>,
    default: impl FnOnce() -> T,
) -> Option<T> {
    field.get(key).map_or_else(|| Some(default()), read)
}

fn open_map(field: &Field<'_>, key: &str) -> Option<Map> {
    section(field, key, |map| map.map(), Map::new)
}

/// The text at `key`, `Some(None)` where there is none.
fn optional_text(field: &Field<'_>, key: &str) -> Option<Option<String>> {
    section(field, key, |text| text.text().map(Some), || None)
}

fn read_env(field: Field<'_>) -> Option<EnvConfig> {
    let field = field.section()?;
    let id = field.require("id", "an environment's id").and_then(|id| id.text());
    let kwargs = open_map(&field, "kwargs");
    let lua = section(&field, "lua", read_code, || None);
    let wrappers = section(&field, "wrappers", |wrappers| WrapperRecord::read_checked_list(&wrappers), Vec::new);
    Some(EnvConfig { id: id?, kwargs: kwargs?, lua: lua?, wrappers: wrappers? })
}

fn default_algorithm() -> AlgorithmConfig {
    AlgorithmConfig { name: "none".to_owned(), ..AlgorithmConfig::default() }
}

fn read_algorithm(field: Field<'_>) -> Option<AlgorithmConfig> {
    let field = field.section()?;
    let name = section(&field, "name", |name| name.text(), || default_algorithm().name);
    let params = open_map(&field, "params");
    let policy = section(&field, "policy", |policy| read_policy(policy).map(Some), || None);
    Some(AlgorithmConfig { name: name?, params: params?, policy: policy? })
}

fn read_policy(field: Field<'_>) -> Option<PolicyConfig> {
    let field = field.section()?;
    let id = field.require("id", "a policy's name or dotted factory").and_then(|id| id.text());
    let kwargs = open_map(&field, "kwargs");
    let lua = section(&field, "lua", read_code, || None);
    Some(PolicyConfig { id: id?, kwargs: kwargs?, lua: lua? })
}

/// A definition by value; what it says is checked when it is rebuilt.
fn read_code(field: Field<'_>) -> Option<Option<Value>> {
    field.map().map(|code| Some(code.into()))
}

fn read_rollout(field: Field<'_>) -> Option<RolloutConfig> {
    let field = field.section()?;
    let window_steps = section(&field, "window_steps", |steps| steps.whole(1), || WINDOW_STEPS);
    let total_steps = field.require("total_steps", "an integer of at least 1").and_then(|steps| steps.whole(1));
    let auto_reset = section(&field, "auto_reset", |flag| flag.flag(), || true);
    Some(RolloutConfig { window_steps: window_steps?, total_steps: total_steps?, auto_reset: auto_reset? })
}

fn default_run() -> RunConfig {
    RunConfig { name: "run".to_owned(), ..RunConfig::default() }
}

fn read_run(field: Field<'_>) -> Option<RunConfig> {
    let field = field.section()?;
    let name = section(&field, "name", |name| name.text(), || default_run().name);
    let seed = section(&field, "seed", |seed| seed.whole(0), || 0);
    let task = optional_text(&field, "task");
    let policy_id = optional_text(&field, "policy_id");
    let meta = section(&field, "meta", read_meta, Map::new);
    Some(RunConfig { name: name?, seed: seed?, task: task?, policy_id: policy_id?, meta: meta? })
}

fn read_meta(field: Field<'_>) -> Option<Map> {
    let meta = field.map()?;
    for (key, source) in IDENTITY {
        if meta.contains_key(key) {
            field.note_key(key, format!("identifies the run, so it comes from `{source}`"));
        }
    }
    Some(meta)
}

fn read_trace(field: Field<'_>) -> Option<TraceConfig> {
    let field = field.section()?;
    let effective_rank = section(&field, "effective_rank", |window| window.whole(2).map(Some), || None);
    let items = section(&field, "record", |record| record.items(), Vec::new)?;
    let mut record = Vec::with_capacity(items.len());
    for item in items {
        let key = item.text()?;
        match Record::ALL.into_iter().find(|record| record.key() == key) {
            Some(known) if record.contains(&known) => {}
            Some(known) => record.push(known),
            None => item.note(unknown_record(&key)),
        }
    }
    Some(TraceConfig { record, effective_rank: effective_rank? })
}

fn unknown_record(key: &str) -> String {
    format!("`{key}` cannot be recorded; {}", suggest::hint(key, "what can is", Record::ALL.map(Record::key)))
}
