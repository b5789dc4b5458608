//! Writing a store: records are checked and taken apart as they come, and their rows are on disk
//! soon after; the store appears, whole, when the writer finishes, and what stood at its place
//! before stays whole until then.
//!
//! Memory holds a few batches of rows ([`RolloutZarrStoreConfig::memory_bytes`] bounds them),
//! about 400 bytes a chain, and nothing else that grows.

mod destination;
mod pipeline;
mod sink;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::column::Column;
use super::config::{ConfigError, RolloutZarrStoreConfig};
use super::dictionary::{self, Dictionary};
use super::q_h::View;
use super::record::{RecordError, RolloutRecord};
use super::rows::{ROLES, Rows};
use super::schema::{CODEC_GROUPS, GROUPS, MANIFEST_FILE, REASONS};
use super::split_hash::split_hash;
use super::tables::Tables;
use super::zarr::{Layout, StoreError, StoreReader, StoreWriter};
use super::{attributes, manifest};
use crate::array::Array;
use crate::atomic::{AtomicError, StagedDirectory};
use crate::diagnostic::{Exit, Problem};
use crate::digest::sha256_hex;
use crate::text::json;
use crate::value::Value;
use pipeline::{Batch, Pipeline};
use sink::{Cuts, Sinks};

/// Where ids wait that are not final yet; gone when the store is complete.
const WAITING: &str = ".waiting";
/// Bytes of rows that keep one thread busy.
const BATCH_A_THREAD: usize = 8 << 20;

/// Summary of one rollout store write. Counts are rows of tables, not source samples.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RolloutZarrWriteResult {
    /// The store's directory.
    pub store_dir: PathBuf,
    /// Retained chains.
    pub num_rollouts: usize,
    /// States.
    pub num_steps: usize,
    /// Candidates of full shells.
    pub num_candidates: usize,
    /// The provenance sidecar.
    pub manifest_path: PathBuf,
    /// The SHA-256 of its canonical JSON.
    pub manifest_sha256: String,
}

/// Why a store could not be written. What stood at its place is untouched.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// An option does not hold.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A record cannot enter the store.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// There is nothing to write.
    #[error("no record was added: a store needs at least one")]
    Empty,
    /// What stands at the destination is not the writer's to replace.
    #[error("{path} {what}; it is not replaced")]
    Occupied {
        /// The destination.
        path: String,
        /// What it is.
        what: &'static str,
    },
    /// The store at the destination holds something that no store has.
    #[error("{path} holds `{name}`, which is no part of a store; move it away, or write elsewhere")]
    Foreign {
        /// The destination.
        path: String,
        /// What is in the way.
        name: String,
    },
    /// The sources' split hash is not the one that the store was to be bound to.
    #[error("split_manifest_hash: is `{given}`, but the campaign's sources in the order they were added give {actual}")]
    Campaign {
        /// The writer's option.
        given: String,
        /// What the sources give.
        actual: String,
    },
    /// The shard's campaign binds another target than the records hold.
    #[error("manifest_context.shard: its campaign binds explicit_target_hash `{bound}`, but the records hold {held}")]
    Binding {
        /// The hash of the campaign's binding.
        bound: String,
        /// The hashes of the targets.
        held: String,
    },
    /// The hierarchy could not be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The store could not be put in place.
    #[error(transparent)]
    Place(#[from] AtomicError),
}

impl Problem for WriteError {
    fn code(&self) -> &'static str {
        match self {
            Self::Config(error) => error.code(),
            Self::Record(error) => error.code(),
            Self::Empty => "rollouts/empty",
            Self::Occupied { .. } | Self::Foreign { .. } => "rollouts/occupied",
            Self::Campaign { .. } | Self::Binding { .. } => "rollouts/campaign",
            Self::Store(_) | Self::Place(_) => "rollouts/write",
        }
    }

    fn exit(&self) -> Exit {
        Exit::Failure
    }
}

/// A store under construction.
///
/// Dropped before it is finished, it leaves nothing behind.
pub struct Writer {
    config: RolloutZarrStoreConfig,
    tables: Tables,
    rows: Rows,
    // The thread ends before the directory goes that it writes to.
    pipeline: Pipeline,
    store: Arc<StoreWriter>,
    staged: StagedDirectory,
}

impl Writer {
    /// A writer of the store that `config` describes, staged beside its destination.
    ///
    /// # Errors
    /// When an option does not hold, the destination is not the writer's to replace, or nothing
    /// can be written beside it.
    pub fn new(config: RolloutZarrStoreConfig) -> Result<Self, WriteError> {
        config.validate()?;
        destination::check(&config)?;
        // Where a link leads is what is replaced, not the link.
        let destination = config.destination();
        let staged = StagedDirectory::new(&destination.canonicalize().unwrap_or(destination))?;
        let store = Arc::new(StoreWriter::new(staged.path()));
        let pipeline = Pipeline::start(Arc::clone(&store), Cuts::of(&config), staged.path().join(WAITING))?;
        Ok(Self { rows: Rows::new(&config), tables: Tables::default(), config, pipeline, store, staged })
    }

    /// Checks one record and takes it in; its rows are encoded and written meanwhile.
    ///
    /// # Errors
    /// The place in the record that keeps it out; the writer is then as before. Or what earlier
    /// rows could not be written for; the writer is then of no more use.
    pub fn add(&mut self, record: &RolloutRecord) -> Result<(), WriteError> {
        self.tables.add(record, &self.config, &mut self.rows)?;
        // Three batches at most are there at a time, and what encoding takes beside them. Smaller
        // ones are enough to busy every thread, and the caches and page tables thank for them.
        let bound = usize::try_from(self.config.memory_bytes / 8).unwrap_or(usize::MAX);
        let batch = bound.min(BATCH_A_THREAD.saturating_mul(rayon::current_num_threads()));
        if self.rows.bytes() >= batch {
            let room = self.pipeline.written();
            self.pipeline.send(Batch::Rows(self.rows.take(room)))?;
        }
        Ok(())
    }

    /// Steps taken in so far.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.tables.totals.steps
    }

    /// Writes what remains and puts the store in place.
    ///
    /// # Errors
    /// When there is nothing to write or the files cannot be written.
    pub fn finish(mut self) -> Result<RolloutZarrWriteResult, WriteError> {
        if self.tables.totals.steps == 0 {
            return Err(WriteError::Empty);
        }
        self.pipeline.send(Batch::Rows(self.rows.take(None)))?;
        self.complete(|_| Ok(()))
    }

    /// Takes over rows of other stores, for those of [`Writer::tables`] that hold none; a writer
    /// that does so takes no records.
    pub(super) fn take(&mut self, columns: Vec<Column<'static>>) -> Result<(), StoreError> {
        self.pipeline.send(Batch::Columns(columns))
    }

    /// What the store holds once, to be filled in beside [`Writer::take`].
    pub(super) fn tables(&mut self) -> &mut Tables {
        &mut self.tables
    }

    /// Completes the store and puts it in place, unless `check` finds fault with it where it is
    /// staged.
    pub(super) fn complete<E: From<WriteError>>(
        mut self,
        check: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<RolloutZarrWriteResult, E> {
        let manifest_sha256 = self.write_all()?;
        check(self.staged.path())?;
        destination::check(&self.config)?;
        self.staged.commit().map_err(WriteError::from)?;
        let destination = self.config.destination();
        Ok(RolloutZarrWriteResult {
            num_rollouts: self.tables.rollouts.rollout_row_id.len(),
            num_steps: self.tables.totals.steps,
            num_candidates: self.tables.totals.candidates,
            manifest_path: destination.join(MANIFEST_FILE),
            store_dir: destination,
            manifest_sha256,
        })
    }

    /// Everything but the rows that were sent already; returns the sidecar's digest.
    fn write_all(&mut self) -> Result<String, WriteError> {
        let sinks = self.pipeline.finish()?;
        self.check_campaign()?;
        self.tables.seal(&self.config);
        self.write_rows(sinks)?;
        self.write_tables()?;
        self.write_view()?;
        Ok(self.write_documents()?)
    }

    /// A campaign's store is bound to the split of its sources, and to its target.
    fn check_campaign(&self) -> Result<(), WriteError> {
        let sources = || self.tables.given_sources().map(|(_, source)| source);
        let given = &self.config.split_manifest_hash;
        if sources().any(|source| source.campaign().is_some()) {
            let actual = split_hash(sources());
            if actual != *given {
                return Err(WriteError::Campaign { given: given.clone(), actual });
            }
        }
        let binding =
            |value: &Value| value.as_map()?.get("campaign_binding")?.as_map()?.get("explicit_target_hash").cloned();
        match binding(&self.config.manifest_context.shard) {
            Some(Value::Text(bound)) if !bound.is_empty() => {
                let held = self.tables.explicit_hashes();
                if held.iter().any(|hash| *hash != bound) {
                    let held = held.into_iter().collect::<Vec<_>>().join(", ");
                    return Err(WriteError::Binding { bound, held });
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The tables that were streamed.
    fn write_rows(&self, sinks: Option<Sinks>) -> Result<(), StoreError> {
        let waiting = self.staged.path().join(WAITING);
        let Some(sinks) = sinks else { return Ok(()) };
        sinks.finish(&self.tables.dictionaries)?;
        std::fs::remove_dir(&waiting).map_err(|source| StoreError::Files { path: waiting, source })
    }

    /// The tables and lists that waited in memory.
    fn write_tables(&self) -> Result<(), StoreError> {
        let (store, tables, codes) = (&*self.store, &self.tables, &self.tables.dictionaries);
        sink::write(store, tables.sources.columns(), codes)?;
        sink::write(store, tables.targets.columns(), codes)?;
        sink::write(store, tables.rollouts.columns(), codes)?;
        sink::write(store, tables.lineage.columns(), codes)?;
        let text = |path: &str, list: &[String]| {
            let bytes = dictionary::encode(list);
            store.array(path, &Array::U8(ndarray::Array1::from(bytes).into_dyn()), Layout::COLUMN)
        };
        let texts =
            |path: &str, list: &[&str]| text(path, &list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        for (name, list) in codes.lists() {
            text(&format!("dictionaries/{name}"), list)?;
        }
        text("target_eval_crops/crop_policy_dictionary", codes.list(Dictionary::Config))?;
        texts("target_eval_crops/source_role_names", &ROLES)?;
        texts("targets/target_protocol_version", &[self.config.target_protocol_version.name()])?;
        texts("metadata/field_retention_policy", &[&self.config.field_retention_policy])?;
        texts("metadata/reason_code_names", &REASONS)?;
        let bits: Vec<u16> = (0..).take(REASONS.len()).collect();
        store.array("metadata/reason_code_bits", &Array::U16(ndarray::Array1::from(bits).into_dyn()), Layout::COLUMN)
    }

    /// The derived view, from the tables that are on disk by now.
    fn write_view(&self) -> Result<(), StoreError> {
        let view = View {
            states: self.tables.totals.steps,
            width: self.tables.totals.max_candidates,
            gamma: self.config.discount_gamma,
            rollouts: &self.tables.rollouts,
        };
        view.write(&self.store, &StoreReader::unfinished(self.staged.path()), self.config.q_h_chunk_states)
    }

    /// Groups, the sidecar and the root; returns the sidecar's digest.
    fn write_documents(&self) -> Result<String, StoreError> {
        let codec = if self.tables.agreed.codec == Some(true) { &CODEC_GROUPS[..] } else { &[] };
        for group in GROUPS.iter().chain(codec) {
            self.store.group(group, &attributes::group(group, &self.tables, &self.config))?;
        }
        let mut root = attributes::root(&self.tables, &self.config);
        let sidecar = json::to_canonical(&manifest::payload(&self.tables, &self.config, &root));
        let manifest_sha256 = sha256_hex(sidecar.as_bytes());
        root.insert("manifest_sha256".to_owned(), manifest_sha256.as_str().into());
        let path = self.staged.path().join(MANIFEST_FILE);
        std::fs::write(&path, sidecar).map_err(|source| StoreError::Files { path, source })?;
        // The root comes last: without it the directory is no store.
        self.store.group("", &root)?;
        Ok(manifest_sha256)
    }
}

/// Replaces `config`'s destination with a store of `records`.
///
/// # Errors
/// As [`Writer::new`], [`Writer::add`] and [`Writer::finish`].
pub fn write_rollout_zarr_store<'a>(
    records: impl IntoIterator<Item = &'a RolloutRecord>,
    config: RolloutZarrStoreConfig,
) -> Result<RolloutZarrWriteResult, WriteError> {
    let mut writer = Writer::new(config)?;
    for record in records {
        writer.add(record)?;
    }
    writer.finish()
}
