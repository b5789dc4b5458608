//! What decides the store that is made of a shard's rows: the writer's options, and the program
//! that the records come from.

use std::path::Path;

use crate::digest::sha256_hex;
use crate::rollouts::{ConfigError, RolloutZarrStoreConfig, ShardEntry};
use crate::text::json;
use crate::value::{Map, Value};

/// What decides a shard's store, beside its rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    config: RolloutZarrStoreConfig,
    /// What the records come from, by name, with the SHA-256 of each: a script and its modules, or
    /// a file of records.
    sources: Map,
    /// When the stores are made, if the options say so.
    is_dated: bool,
}

/// Options that a shard, or the place it goes to, decides.
const DECIDED: [&str; 3] = ["store_dir", "paths", "split_manifest_hash"];

impl Recipe {
    /// The recipe of writer's options and of `sources`. Stores are made at `created_at_utc` unless
    /// the options name a time, and by `invocation` unless they name one.
    ///
    /// # Errors
    /// The first option that does not hold, or that is not for the options to say.
    pub fn new(
        options: &Map,
        sources: &[(String, String)],
        created_at_utc: String,
        invocation: Value,
    ) -> Result<Self, ConfigError> {
        if let Some(option) = options.keys().find(|option| DECIDED.contains(&option.as_str())) {
            return Err(ConfigError {
                option: option.clone(),
                message: "is the shard's to say, or the command's; leave it out".to_owned(),
            });
        }
        let mut options = options.clone();
        let is_dated = options.contains_key("created_at_utc");
        options.insert("store_dir".to_owned(), "store".into());
        let mut config = RolloutZarrStoreConfig::from_options(&options, created_at_utc)?;
        let context = &mut config.manifest_context;
        if !context.shard.is_null() {
            let message = "has a `shard`; that is the plan's to say".to_owned();
            return Err(ConfigError { option: "manifest_context".to_owned(), message });
        }
        if context.invocation.is_null() {
            context.invocation = invocation;
        }
        let sources = sources.iter().map(|(name, digest)| (name.clone(), digest.as_str().into())).collect();
        let mut recipe = Self { config, sources, is_dated };
        if recipe.config.manifest_context.writer_config.is_null() {
            recipe.config.manifest_context.writer_config = recipe.resolved();
        }
        Ok(recipe)
    }

    /// The version of the source cache that the options name.
    #[must_use]
    pub fn source_cache_version(&self) -> &str {
        &self.config.source_offline_store_version
    }

    /// The hash of everything here that decides a store's content: 16 hexadecimal digits.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut whole = Map::from_iter([("resolved".to_owned(), self.resolved())]);
        let context = &self.config.manifest_context;
        whole.insert("writer_config".to_owned(), context.writer_config.clone());
        whole.insert("runtime".to_owned(), context.runtime.clone());
        let mut hash = sha256_hex(json::to_canonical(&Value::Map(whole)).as_bytes());
        hash.truncate(16);
        hash
    }

    /// The options with their defaults, and the sources.
    fn resolved(&self) -> Value {
        let mut options = self.config.resolved();
        if self.is_dated {
            options.insert("created_at_utc".to_owned(), self.config.created_at_utc.as_str().into());
        }
        Value::Map(Map::from_iter([
            ("options".to_owned(), Value::Map(options)),
            ("sources_sha256".to_owned(), Value::Map(self.sources.clone())),
        ]))
    }

    /// What the store of `entry` is written with at `store`.
    pub(super) fn config(&self, entry: &ShardEntry, store: &Path) -> RolloutZarrStoreConfig {
        let mut config = self.config.clone();
        config.store_dir = store.to_owned();
        config.split_manifest_hash.clone_from(&entry.split_manifest_hash);
        config.source_offline_store_version.clone_from(&entry.source_cache_version);
        config.manifest_context.shard = entry.to_value();
        config
    }
}
