//! A store to be read from: sound, open, and what of it is small.

use std::path::{Path, PathBuf};

use super::JoinError;
use super::texts::Texts;
use crate::array::{Array, Item};
use crate::rollouts::dictionary::Dictionary;
use crate::rollouts::record::Source;
use crate::rollouts::{Columns, Store, StoreError, validate};
use crate::text::json;
use crate::value::{Map, Value};

/// Violations that a refusal shows.
const SHOWN: usize = 5;

/// A store that was found sound.
pub(super) struct Part {
    pub(super) path: PathBuf,
    pub(super) store: Store,
    /// How it came about, by its sidecar.
    pub(super) manifest: Map,
    /// Its sources, in the order of their rows.
    pub(super) sources: Vec<Source>,
}

impl Part {
    /// Opens the store at `path`, after checking it.
    pub(super) fn open(path: &Path) -> Result<Self, JoinError> {
        let validation = validate(path)?;
        if let Some((count, first)) = shown(&validation.errors) {
            return Err(JoinError::Invalid { path: path.to_owned(), count, first });
        }
        let store = Store::open(path)?;
        let manifest = store.manifest()?.as_map().cloned().unwrap_or_default();
        let sources = sources(&store)?;
        Ok(Self { path: path.to_owned(), store, manifest, sources })
    }

    /// One of the root's attributes as JSON, to be compared and shown.
    pub(super) fn printed(&self, key: &str) -> String {
        self.store.attribute(key).map_or_else(|| "missing".to_owned(), json::to_string)
    }

    /// What the sidecar says of how the store was made.
    pub(super) fn generation(&self, key: &str) -> Option<&Value> {
        self.manifest.get("generation")?.as_map()?.get(key)
    }

    /// Its rows of `count`, such as `num_steps`.
    pub(super) fn count(&self, key: &str) -> i64 {
        self.store.attribute(key).and_then(Value::as_int).unwrap_or_default()
    }

    /// The shard it was written as, if it was.
    pub(super) fn shard(&self) -> Option<&Map> {
        self.generation("shard")?.as_map()
    }

    /// What to call it: its shard's id, or its directory's name.
    pub(super) fn name(&self) -> String {
        let id = self.shard().and_then(|shard| shard.get("shard_id")?.as_text());
        let real = || self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        let own = || real().file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        id.map_or_else(own, str::to_owned)
    }

    /// A refusal of this store.
    pub(super) fn refuse(&self, what: impl Into<String>) -> JoinError {
        JoinError::Refused { path: self.path.clone(), what: what.into() }
    }
}

/// How many violations there are and the first few, if there is one.
pub(super) fn shown(errors: &[String]) -> Option<(usize, String)> {
    let first: Vec<&str> = errors.iter().take(SHOWN).map(String::as_str).collect();
    (!errors.is_empty()).then(|| (errors.len(), first.join("; ")))
}

/// The cells of a column, none for one of another kind.
pub(super) fn cells<'a, T: Item>(columns: &'a Columns, name: &str) -> &'a [T] {
    columns.get(name).and_then(Array::as_slice).unwrap_or_default()
}

/// The sources of a store as a record would give them.
fn sources(store: &Store) -> Result<Vec<Source>, StoreError> {
    let table = store.table("sources", &[], 0..usize::MAX)?;
    let keys = Texts::read(store, Dictionary::SourceKey)?;
    let scenes = Texts::read(store, Dictionary::Scene)?;
    let snippets = Texts::read(store, Dictionary::Snippet)?;
    let splits = Texts::read(store, Dictionary::Split)?;
    let configs = Texts::read(store, Dictionary::Config)?;
    let shards = Texts::read(store, Dictionary::SourceShard)?;
    let int = |name: &str, row: usize| cells::<i64>(&table, name).get(row).copied();
    let read = |row: usize| {
        let exact = |texts: &Texts, name: &str| texts.of(cells(&table, name).get(row).copied());
        // Of most texts, one that is empty stands for none; so does a split that is not known.
        let text = |texts: &Texts, name: &str| exact(texts, name).filter(|text| !text.is_empty());
        let split = |name: &str| exact(&splits, name).filter(|split| split != "unknown");
        Source {
            scene_id: text(&scenes, "scene_id"),
            snippet_id: text(&snippets, "snippet_id"),
            split: split("split_id"),
            campaign_split: split("campaign_split_id"),
            source_row_id: int("source_row_id", row),
            source_sample_index: int("sample_index", row),
            source_sample_key: text(&keys, "sample_key_id"),
            source_shard_id: text(&shards, "source_shard_id"),
            source_shard_row: int("source_shard_row", row),
            source_cache_version: text(&configs, "source_cache_version_id"),
            source_offline_store_manifest_hash: text(&configs, "source_offline_store_manifest_hash_id"),
            // The store's own, which another store may not share.
            split_manifest_hash: None,
            mesh_version: None,
        }
    };
    Ok((0..cells::<i64>(&table, "source_row_id").len()).map(read).collect())
}
