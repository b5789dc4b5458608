//! From a configuration back to plain data, in the schema's order, every default filled in.

use std::path::{Path, PathBuf};

use super::{AlgorithmConfig, EnvConfig, ExperimentConfig, Record, RunConfig};
use crate::env::wrapper::WrapperRecord;
use crate::text::{json, yaml};
use crate::value::{Map, Value};

impl ExperimentConfig {
    /// The resolved configuration as plain data; [`ExperimentConfig::from_value`] gives an equal
    /// one back.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let record: Vec<Value> = self.trace.record.iter().map(|record| Record::key(*record).into()).collect();
        section([
            ("env", env(&self.env)),
            ("algorithm", algorithm(&self.algorithm)),
            (
                "rollout",
                section([
                    ("window_steps", self.rollout.window_steps.into()),
                    ("total_steps", self.rollout.total_steps.into()),
                    ("auto_reset", self.rollout.auto_reset.into()),
                ]),
            ),
            ("reward", self.reward.as_ref().map(|reward| reward.to_value()).into()),
            ("regime", self.regime.to_value()),
            ("run", run(&self.run)),
            ("trace", section([("record", record.into()), ("effective_rank", self.trace.effective_rank.into())])),
        ])
    }

    /// The SHA-256 of the resolved configuration's canonical JSON (`indent=2`, sorted keys), as
    /// hexadecimal text: what makes two runs the same experiment.
    #[must_use]
    pub fn sha256(&self) -> String {
        crate::digest::sha256_hex(json::to_canonical(&self.to_value()).as_bytes())
    }

    /// The resolved configuration as a YAML document with its SHA-256 in a comment: what a dry
    /// run prints and what stands beside a trace. [`super::load`] gives an equal one back.
    #[must_use]
    pub fn to_document(&self) -> String {
        let header = "# The resolved configuration; `skyfall run` takes this file as it stands.";
        format!("{header}\n# sha256 (of its canonical JSON): {}\n{}", self.sha256(), yaml::to_string(&self.to_value()))
    }
}

/// Where the resolved configuration of the run that writes `trace` stands: `out/traces.jsonl` and
/// `out/traces.jsonl.zst` have `out/traces.config.yaml`.
#[must_use]
pub fn beside(trace: &Path) -> PathBuf {
    beside_as(trace, "config.yaml")
}

/// The file of the kind `ending` that stands beside `trace`.
pub(crate) fn beside_as(trace: &Path, ending: &str) -> PathBuf {
    let name = trace.file_name().unwrap_or_default().to_string_lossy();
    let endings = [".gz", ".zst", ".jsonl"];
    let stem = endings.iter().fold(&*name, |stem, ending| match stem.strip_suffix(ending) {
        Some(rest) if !rest.is_empty() => rest,
        _ => stem,
    });
    trace.with_file_name(format!("{stem}.{ending}"))
}

fn section<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map>())
}

/// `wrappers` is there only where there are some, as in the manifest.
fn env(config: &EnvConfig) -> Value {
    let mut env = made(&config.id, &config.kwargs, config.lua.as_ref());
    if !config.wrappers.is_empty() {
        env.insert("wrappers".to_owned(), WrapperRecord::list_to_value(&config.wrappers));
    }
    Value::Map(env)
}

fn algorithm(config: &AlgorithmConfig) -> Value {
    let policy = config.policy.as_ref();
    section([
        ("name", config.name.as_str().into()),
        ("params", config.params.clone().into()),
        ("policy", policy.map(|policy| made(&policy.id, &policy.kwargs, policy.lua.as_ref())).into()),
    ])
}

/// What is made by a name, with the code that defines it where there is some.
fn made(id: &str, kwargs: &Map, lua: Option<&Value>) -> Map {
    let mut map = Map::from_iter([("id".to_owned(), id.into()), ("kwargs".to_owned(), kwargs.clone().into())]);
    map.extend(lua.map(|code| ("lua".to_owned(), code.clone())));
    map
}

fn run(config: &RunConfig) -> Value {
    section([
        ("name", config.name.as_str().into()),
        ("seed", config.seed.into()),
        ("task", config.task.clone().into()),
        ("policy_id", config.policy_id.clone().into()),
        ("meta", config.meta.clone().into()),
    ])
}
