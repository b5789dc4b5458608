//! `manifest.yaml`: what a bundle is, in the format document's fields and order.
//!
//! Spaces and the reward specification stay plain data here, as they stand in the file; their own
//! rooms decode them. A reader tolerates fields it does not know: they are kept and written back.

use crate::diagnostic::{Exit, Problem};
use crate::env::wrapper::WrapperRecord;
use crate::regime::RegimeRecord;
use crate::reward::RewardRecord;
use crate::text::decode::{Field, Mistakes, decode};
use crate::text::yaml::{self, YamlError};
use crate::value::{Map, Value};

/// The version of the format that this reader reads and this writer writes.
pub const VERSION: i64 = 1;

/// The known fields, at the top and in the sections that are not free-form.
const TOP: [&str; 9] =
    ["version", "policy", "observation_space", "action_space", "reward_spec", "env", "regime", "run", "provenance"];
const SECTIONS: [(&str, &[&str]); 3] = [
    ("policy", &["id", "kwargs", "format", "checkpoint", "external", "lua"]),
    ("env", &["id", "kwargs", "wrappers", "lua"]),
    ("regime", &["provider", "params", "lua"]),
];

/// The description of a bundle.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// How to rebuild the policy, and where its weights are.
    pub policy: PolicyEntry,
    /// The observation space, encoded; `None` when the environment declared none.
    pub observation_space: Option<Value>,
    /// The action space, encoded; `None` when the environment declared none.
    pub action_space: Option<Value>,
    /// The reward specification by value ([`Manifest::reward`] decodes ours); `None` when the
    /// environment scored itself.
    pub reward_spec: Option<Value>,
    /// The environment.
    pub env: EnvEntry,
    /// The configuration-shift provider the run trained under.
    pub regime: RegimeRecord,
    /// The training run's identity, merged into every served trace's rows.
    pub run: Map,
    /// What the environment reported about itself, kept as it is.
    pub provenance: Map,
    /// Fields that this version does not know; those of a section stand under its name.
    pub unknown: Map,
}

/// `policy`: how the policy is rebuilt and restored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyEntry {
    /// A registered name or a dotted factory; `None` when the run's backend built its own
    /// default policy, and the bundle cannot be served.
    pub id: Option<String>,
    /// The factory's keyword arguments.
    pub kwargs: Map,
    /// How the checkpoint restores; `None` when nothing was saved.
    pub format: Option<CheckpointFormat>,
    /// Where the weights are: relative to the bundle, or absolute if `external`.
    pub checkpoint: Option<String>,
    /// Whether `checkpoint` is an absolute path outside the bundle.
    pub external: bool,
    /// The definition of a policy written in Lua: its source and the digest of that.
    pub lua: Option<Value>,
}

/// `policy.format`: what the rebuilt policy is handed to restore itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckpointFormat {
    /// `checkpoint`: a directory.
    Checkpoint,
    /// `weights`: a file.
    Weights,
}

impl CheckpointFormat {
    /// The name in the manifest.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Checkpoint => "checkpoint",
            Self::Weights => "weights",
        }
    }
}

/// `env`: enough to rebuild the environment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EnvEntry {
    /// A registered id.
    pub id: String,
    /// The environment's keyword arguments.
    pub kwargs: Map,
    /// What is around it, the innermost first; the key is left out where there is nothing.
    pub wrappers: Vec<WrapperRecord>,
    /// The definition of an environment written in Lua: its source and the digest of that.
    pub lua: Option<Value>,
}

/// Why a manifest cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ManifestError {
    /// The text is not YAML.
    #[error("the manifest is not YAML: {0}")]
    Malformed(YamlError),
    /// A version of the format that this reader does not know.
    #[error("`version`: this reader knows manifests of version {VERSION}, found {found}")]
    Version {
        /// What stands there, as JSON.
        found: String,
    },
    /// Fields that are missing or of the wrong kind.
    #[error("the manifest is incomplete or wrong: {0}")]
    Invalid(Mistakes),
}

impl Problem for ManifestError {
    fn code(&self) -> &'static str {
        match self {
            Self::Malformed(_) => "bundle/malformed",
            Self::Version { .. } => "bundle/version",
            Self::Invalid(_) => "bundle/invalid",
        }
    }

    fn exit(&self) -> Exit {
        Exit::Input
    }
}

impl Manifest {
    /// The text of `manifest.yaml`, fields in the format document's order. An absent
    /// `policy.format` or `policy.checkpoint` is left out; unknown fields follow the known ones.
    #[must_use]
    pub fn to_yaml(&self) -> String {
        yaml::to_string(&self.to_value())
    }

    /// The manifest as plain data, in the order of [`Manifest::to_yaml`].
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut document = Map::from_iter([
            ("version".to_owned(), Value::Int(VERSION)),
            ("policy".to_owned(), self.policy.to_value()),
            ("observation_space".to_owned(), self.observation_space.clone().into()),
            ("action_space".to_owned(), self.action_space.clone().into()),
            ("reward_spec".to_owned(), self.reward_spec.clone().into()),
            ("env".to_owned(), self.env.to_value()),
            ("regime".to_owned(), self.regime.to_value()),
            ("run".to_owned(), self.run.clone().into()),
            ("provenance".to_owned(), self.provenance.clone().into()),
        ]);
        for (key, value) in &self.unknown {
            match (document.get_mut(key), value) {
                (Some(Value::Map(section)), Value::Map(unknown)) => section.extend(unknown.clone()),
                (Some(_), _) => {}
                (None, value) => {
                    document.insert(key.clone(), value.clone());
                }
            }
        }
        Value::Map(document)
    }

    /// The manifest in `text`.
    ///
    /// # Errors
    /// When the text is not YAML, of another version, or fields are missing or of the wrong kind
    /// (all are named).
    pub fn from_yaml(text: &str) -> Result<Self, ManifestError> {
        Self::from_value(&yaml::parse(text).map_err(ManifestError::Malformed)?)
    }

    /// The manifest in `value`, with defaults for what may be absent.
    ///
    /// # Errors
    /// As [`Manifest::from_yaml`].
    pub fn from_value(value: &Value) -> Result<Self, ManifestError> {
        // First the version: of another one, nothing else can be judged.
        let version = value.as_map().and_then(|map| map.get("version"));
        if let Some(found) = version.filter(|version| version.as_int() != Some(VERSION)) {
            return Err(ManifestError::Version { found: crate::text::json::to_string(found) });
        }
        decode(value, read).map_err(ManifestError::Invalid)
    }

    /// The reward composition that `reward_spec` records; `None` when the environment scored
    /// itself.
    ///
    /// # Errors
    /// When the specification is of another producer's making; its mistakes name the fields.
    pub fn reward(&self) -> Result<Option<RewardRecord>, Mistakes> {
        self.reward_spec.as_ref().map(RewardRecord::from_value).transpose()
    }
}

impl PolicyEntry {
    fn to_value(&self) -> Value {
        let mut map = Map::from_iter([
            ("id".to_owned(), self.id.clone().into()),
            ("kwargs".to_owned(), self.kwargs.clone().into()),
        ]);
        if let Some(format) = self.format {
            map.insert("format".to_owned(), format.name().into());
        }
        if let Some(checkpoint) = &self.checkpoint {
            map.insert("checkpoint".to_owned(), checkpoint.as_str().into());
        }
        map.insert("external".to_owned(), self.external.into());
        map.extend(self.lua.clone().map(|code| ("lua".to_owned(), code)));
        Value::Map(map)
    }

    fn read(field: Field<'_>) -> Option<Self> {
        let field = field.section()?;
        let entry = Self {
            id: field.get("id").and_then(|id| id.text()),
            kwargs: open_map(&field, "kwargs"),
            format: field.get("format").and_then(|format| read_format(&format)),
            checkpoint: field.get("checkpoint").and_then(|path| path.text()),
            external: field.get("external").and_then(|external| external.flag()).unwrap_or(false),
            lua: field.get("lua").map(|code| code.value().clone()),
        };
        if field.get("format").is_some() && field.get("checkpoint").is_none() {
            field.note_key("checkpoint", "missing, expected the path of what `format` restores");
        }
        Some(entry)
    }
}

impl EnvEntry {
    fn to_value(&self) -> Value {
        let mut map = Map::from_iter([
            ("id".to_owned(), self.id.as_str().into()),
            ("kwargs".to_owned(), self.kwargs.clone().into()),
        ]);
        if !self.wrappers.is_empty() {
            map.insert("wrappers".to_owned(), WrapperRecord::list_to_value(&self.wrappers));
        }
        map.extend(self.lua.clone().map(|code| ("lua".to_owned(), code)));
        Value::Map(map)
    }

    fn read(field: Field<'_>) -> Option<Self> {
        let field = field.section()?;
        let id = field.require("id", "an environment's id").and_then(|id| id.text());
        let kwargs = open_map(&field, "kwargs");
        let wrappers = field.get("wrappers").map_or_else(|| Some(Vec::new()), |list| WrapperRecord::read_list(&list));
        let lua = field.get("lua").map(|code| code.value().clone());
        Some(Self { id: id?, kwargs, wrappers: wrappers?, lua })
    }
}

fn read(root: &Field<'_>) -> Option<Manifest> {
    let root = root.clone().section()?;
    let version = root.require("version", "the manifest format's version");
    let policy = root.require("policy", "a map with the policy's `id`").and_then(PolicyEntry::read);
    let env = root.require("env", "a map with the environment's `id`").and_then(EnvEntry::read);
    let regime =
        root.get("regime").map_or_else(|| Some(RegimeRecord::constant()), |regime| RegimeRecord::read(&regime));
    let opaque = |key| root.get(key).map(|field| field.value().clone());
    let run = open_map(&root, "run");
    let provenance = open_map(&root, "provenance");
    version?;
    Some(Manifest {
        policy: policy?,
        observation_space: opaque("observation_space"),
        action_space: opaque("action_space"),
        reward_spec: opaque("reward_spec"),
        env: env?,
        regime: regime?,
        run,
        provenance,
        unknown: unknown(root.value()),
    })
}

/// The map at `key`, empty where there is none; a mistake there is noted and fails the whole.
fn open_map(field: &Field<'_>, key: &str) -> Map {
    field.get(key).and_then(|map| map.map()).unwrap_or_default()
}

fn read_format(field: &Field<'_>) -> Option<CheckpointFormat> {
    let name = field.text()?;
    let known = [CheckpointFormat::Checkpoint, CheckpointFormat::Weights];
    let format = known.into_iter().find(|format| format.name() == name);
    if format.is_none() {
        field.note(format!("expected `checkpoint` or `weights`, found `{name}`"));
    }
    format
}

/// The fields of `document` that are not known, those of a section under its name.
fn unknown(document: &Value) -> Map {
    let mut unknown = others(document, &TOP);
    for (name, known) in SECTIONS {
        let section = document.as_map().and_then(|map| map.get(name));
        let inner = section.map(|section| others(section, known)).unwrap_or_default();
        if !inner.is_empty() {
            unknown.insert(name.to_owned(), inner.into());
        }
    }
    unknown
}

/// The entries of the map `value` whose keys are not among `known`.
fn others(value: &Value, known: &[&str]) -> Map {
    let entries = value.as_map().into_iter().flatten();
    entries.filter(|(key, _)| !known.contains(&key.as_str())).map(|(key, value)| (key.clone(), value.clone())).collect()
}
