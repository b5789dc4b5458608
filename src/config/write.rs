//! From a configuration back to plain data, in the schema's order, every default filled in.

use super::{AlgorithmConfig, EnvConfig, ExperimentConfig, PolicyConfig, Record, RunConfig};
use crate::env::wrapper::WrapperRecord;
use crate::text::json;
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
                    ("window_steps", whole(self.rollout.window_steps)),
                    ("total_steps", whole(self.rollout.total_steps)),
                    ("auto_reset", self.rollout.auto_reset.into()),
                ]),
            ),
            ("reward", self.reward.as_ref().map(|reward| reward.to_value()).into()),
            ("regime", self.regime.to_value()),
            ("run", run(&self.run)),
            (
                "trace",
                section([("record", record.into()), ("effective_rank", self.trace.effective_rank.map(whole).into())]),
            ),
        ])
    }

    /// The SHA-256 of the resolved configuration's canonical JSON (`indent=2`, sorted keys), as
    /// hexadecimal text: what makes two runs the same experiment.
    #[must_use]
    pub fn sha256(&self) -> String {
        crate::digest::sha256_hex(json::to_canonical(&self.to_value()).as_bytes())
    }
}

fn section<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Map(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map>())
}

/// `wrappers` is there only where there are some, as in the manifest.
fn env(config: &EnvConfig) -> Value {
    let mut env = Map::from_iter([
        ("id".to_owned(), config.id.as_str().into()),
        ("kwargs".to_owned(), config.kwargs.clone().into()),
    ]);
    if !config.wrappers.is_empty() {
        env.insert("wrappers".to_owned(), WrapperRecord::list_to_value(&config.wrappers));
    }
    Value::Map(env)
}

fn algorithm(config: &AlgorithmConfig) -> Value {
    section([
        ("name", config.name.as_str().into()),
        ("params", config.params.clone().into()),
        ("policy", config.policy.as_ref().map(policy).into()),
    ])
}

fn policy(config: &PolicyConfig) -> Value {
    section([("id", config.id.as_str().into()), ("kwargs", config.kwargs.clone().into())])
}

fn run(config: &RunConfig) -> Value {
    section([
        ("name", config.name.as_str().into()),
        ("seed", whole(config.seed)),
        ("task", config.task.clone().into()),
        ("policy_id", config.policy_id.clone().into()),
        ("meta", config.meta.clone().into()),
    ])
}

fn whole(value: u64) -> Value {
    i64::try_from(value).map_or_else(|_| Value::BigInt(value.to_string()), Value::Int)
}
