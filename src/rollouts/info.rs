//! What a store holds, for people and for programs: attributes, manifest, statistics, preflight,
//! a chain drawn at random, a panel to read.

mod distribution;
mod panel;
mod plot;
mod preflight;
mod stats;
mod twister;

use super::identifier::compact;
use super::{Store, StoreError, Validation, validate};
use crate::diagnostic::{Exit, Problem};
use crate::value::{Map, Value};
pub use plot::{PlotError, plot};
use twister::Twister;

/// How strict a preflight is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Doubts are warnings.
    #[default]
    Smoke,
    /// Doubts are blockers.
    Production,
}

impl Profile {
    /// Its name in commands and JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Smoke => "smoke",
            Self::Production => "production",
        }
    }
}

/// What beside attributes and manifest is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InfoSections {
    /// What a check of the store finds.
    pub validate: bool,
    /// Statistics.
    pub stats: bool,
    /// Whether the store is fit to be trained from.
    pub preflight: Option<Profile>,
}

/// What a store holds.
#[derive(Clone, Debug)]
pub struct Info {
    /// `root_attrs`, `manifest`, and the sections that were wanted; identifiers are shortened.
    pub tree: Value,
    /// Whether the preflight, where one was wanted, found nothing against the store.
    pub go: bool,
    /// Whether the check, where one was wanted, found nothing wrong.
    pub ok: bool,
}

/// Why no chain could be drawn.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DrawError {
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No chain has so long a horizon.
    #[error("no rollout has a horizon of at least {min_horizon}")]
    NoneEligible {
        /// What was asked for.
        min_horizon: i64,
    },
}

impl Problem for DrawError {
    fn code(&self) -> &'static str {
        match self {
            Self::Store(error) => error.code(),
            Self::NoneEligible { .. } => "rollouts/none-eligible",
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Store(error) => error.exit(),
            Self::NoneEligible { .. } => Exit::Failure,
        }
    }
}

/// What the store holds, as far as it is wanted.
///
/// # Errors
/// When the store cannot be read.
pub fn info(store: &Store, sections: InfoSections) -> Result<Info, StoreError> {
    let manifest = store.manifest()?;
    let mut tree = Map::new();
    tree.insert("root_attrs".to_owned(), Value::Map(store.attributes()));
    tree.insert("manifest".to_owned(), manifest.clone());
    let checked = match sections.validate || sections.preflight.is_some() {
        true => Some(validate(store.directory())?),
        false => None,
    };
    let (mut go, mut ok) = (true, true);
    if let Some(checked) = checked.as_ref().filter(|_| sections.validate) {
        ok = checked.ok();
        tree.insert("validation".to_owned(), validation(checked));
    }
    // An unsound store may lack what statistics are of.
    let counted = match (sections.stats, sections.preflight) {
        (true, _) => stats::stats(store, &manifest)?,
        (false, Some(_)) => stats::stats(store, &manifest).unwrap_or((Value::Null, Value::Null)),
        (false, None) => (Value::Null, Value::Null),
    };
    if sections.stats {
        tree.insert("stats".to_owned(), counted.0.clone());
    }
    if let (Some(profile), Some(checked)) = (sections.preflight, &checked) {
        let (section, fit) = preflight::preflight(store, &manifest, checked, (&counted.0, counted.1), profile);
        go = fit;
        tree.insert("preflight".to_owned(), section);
    }
    Ok(Info { tree: shortened(Value::Map(tree)), go, ok })
}

/// A check's findings as data.
#[must_use]
pub(crate) fn validation(validation: &Validation) -> Value {
    let count = |count: usize| Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
    let errors = validation.errors.iter().map(|error| error.as_str().into()).collect();
    Value::map([
        ("ok", validation.ok().into()),
        ("num_rollouts", count(validation.num_rollouts)),
        ("num_steps", count(validation.num_steps)),
        ("num_candidates", count(validation.num_candidates)),
        ("errors", Value::List(errors)),
    ])
}

/// The same with long identifiers in their short form.
fn shortened(value: Value) -> Value {
    match value {
        Value::Text(text) => Value::Text(compact(&text)),
        Value::List(items) => Value::List(items.into_iter().map(shortened).collect()),
        Value::Map(map) => Value::Map(map.into_iter().map(|(key, value)| (compact(&key), shortened(value))).collect()),
        other => other,
    }
}

/// A rollout drawn among those whose horizon is at least `min_horizon`, as Python's
/// `Random(seed).randrange` draws it: `store_dir`, `seed`, `min_horizon`, `index`, `horizon`,
/// `num_eligible`.
///
/// # Errors
/// When the store cannot be read, or no rollout is eligible.
pub(crate) fn random_index(store: &Store, min_horizon: i64, seed: i64) -> Result<Map, DrawError> {
    let horizons = store.array("rollouts/horizon")?;
    let eligible: Vec<(usize, i64)> = horizons
        .as_i16()
        .unwrap_or_default()
        .iter()
        .enumerate()
        .map(|(row, horizon)| (row, i64::from(*horizon)))
        .filter(|(_, horizon)| *horizon >= min_horizon)
        .collect();
    let count = u32::try_from(eligible.len()).unwrap_or(u32::MAX);
    if count == 0 {
        return Err(DrawError::NoneEligible { min_horizon });
    }
    let drawn = usize::try_from(Twister::new(seed).below(count)).unwrap_or_default();
    let (index, horizon) = eligible.get(drawn).copied().unwrap_or_default();
    let int = |number: usize| Value::Int(i64::try_from(number).unwrap_or(i64::MAX));
    let entries = [
        ("store_dir", store.directory().display().to_string().into()),
        ("seed", Value::Int(seed)),
        ("min_horizon", Value::Int(min_horizon)),
        ("index", int(index)),
        ("horizon", Value::Int(horizon)),
        ("num_eligible", int(eligible.len())),
    ];
    Ok(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// A panel for people to read: what the store is, and what of `tree` was wanted.
#[must_use]
pub(crate) fn panel(info: &Info) -> String {
    panel::panel(&info.tree)
}
