//! Writing a store: records are checked and taken apart as they come; the store appears, whole,
//! when the writer finishes, and what stood at its place before stays whole until then.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::config::{ConfigError, RolloutZarrStoreConfig};
use super::dictionary::{self, Dictionary};
use super::record::{RecordError, RolloutRecord};
use super::schema::{
    Candidates, Diagnostics, GROUPS, Lineage, MANIFEST_FILE, REASONS, Rollouts, Sources, Steps, Targets,
};
use super::tables::Tables;
use super::zarr::{Codec, StoreError, StoreWriter};
use super::{attributes, manifest, q_h};
use crate::array::{Array, DType};
use crate::atomic::{AtomicError, StagedDirectory};
use crate::diagnostic::{Exit, Problem};
use crate::digest::sha256_hex;
use crate::text::json;

/// Rows a chunk of a column: a table of a million rows stays within a few hundred files.
const CHUNK_ROWS: usize = 65_536;

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
            Self::Occupied { .. } => "rollouts/occupied",
            Self::Store(_) | Self::Place(_) => "rollouts/write",
        }
    }

    fn exit(&self) -> Exit {
        Exit::Failure
    }
}

/// A store under construction.
pub struct Writer {
    config: RolloutZarrStoreConfig,
    tables: Tables,
}

impl Writer {
    /// A writer of the store that `config` describes. Nothing is written yet.
    ///
    /// # Errors
    /// When an option does not hold, or the destination is not the writer's to replace.
    pub fn new(config: RolloutZarrStoreConfig) -> Result<Self, WriteError> {
        config.validate()?;
        replaceable(&config.destination())?;
        Ok(Self { config, tables: Tables::default() })
    }

    /// Checks one record and takes it in.
    ///
    /// # Errors
    /// The place in the record that keeps it out; the writer is then as before.
    pub fn add(&mut self, record: &RolloutRecord) -> Result<(), WriteError> {
        Ok(self.tables.add(record, &self.config)?)
    }

    /// Writes the store and puts it in place.
    ///
    /// # Errors
    /// When there is nothing to write or the files cannot be written.
    pub fn finish(mut self) -> Result<RolloutZarrWriteResult, WriteError> {
        if self.tables.rollouts.rollout_row_id.is_empty() {
            return Err(WriteError::Empty);
        }
        let destination = self.config.destination();
        self.tables.seal(&self.config);
        let mut root = attributes::root(&self.tables, &self.config);
        let sidecar = json::to_canonical(&manifest::payload(&self.tables, &self.config, &root));
        let manifest_sha256 = sha256_hex(sidecar.as_bytes());
        root.insert("manifest_sha256".to_owned(), manifest_sha256.as_str().into());

        let staged = StagedDirectory::new(&destination)?;
        let store = StoreWriter::new(staged.path());
        for group in GROUPS {
            store.group(group, &attributes::group(group, &self.tables, &self.config))?;
        }
        self.arrays()
            .par_iter()
            .try_for_each(|array| store.array(&array.path, &array.data, &array.chunks, array.codec))?;
        let sidecar_path = staged.path().join(MANIFEST_FILE);
        std::fs::write(&sidecar_path, sidecar.as_bytes())
            .map_err(|source| StoreError::Files { path: sidecar_path, source })?;
        // The root comes last: without it the directory is no store.
        store.group("", &root)?;
        replaceable(&destination)?;
        staged.commit()?;
        Ok(RolloutZarrWriteResult {
            num_rollouts: self.tables.rollouts.rollout_row_id.len(),
            num_steps: self.tables.steps.step_row_id.len(),
            num_candidates: self.tables.candidates.candidate_row_id.len(),
            manifest_path: destination.join(MANIFEST_FILE),
            store_dir: destination,
            manifest_sha256,
        })
    }

    /// Every array of the store.
    fn arrays(&self) -> Vec<Node> {
        let (tables, codes) = (&self.tables, &self.tables.dictionaries);
        let mut nodes = Vec::new();
        let mut table = |group: &str, columns: Vec<(&'static str, Array)>| {
            nodes.extend(columns.into_iter().map(|(name, data)| Node::new(format!("{group}/{name}"), data)));
        };
        table(Sources::GROUP, tables.sources.arrays(codes));
        table(Rollouts::GROUP, tables.rollouts.arrays(codes));
        table(Lineage::GROUP, tables.lineage.arrays(codes));
        table(Steps::GROUP, tables.steps.arrays(codes));
        table(Candidates::GROUP, tables.candidates.arrays(codes));
        table(Diagnostics::GROUP, tables.diagnostics.arrays(codes));
        table(Targets::GROUP, tables.targets.arrays(codes));
        for (name, list) in codes.lists() {
            nodes.push(Node::bytes(format!("dictionaries/{name}"), dictionary::encode(list)));
        }
        let names =
            |names: &[&str]| dictionary::encode(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        let bits: Vec<u16> = (0..).take(REASONS.len()).collect();
        nodes.push(Node::new(
            "metadata/reason_code_bits".to_owned(),
            Array::U16(ndarray::Array1::from(bits).into_dyn()),
        ));
        nodes.push(Node::bytes("metadata/reason_code_names".to_owned(), names(&REASONS)));
        nodes.push(Node::bytes(
            "metadata/field_retention_policy".to_owned(),
            names(&[self.config.field_retention_policy.as_str()]),
        ));
        nodes.push(Node::bytes(
            "targets/target_protocol_version".to_owned(),
            names(&[self.config.target_protocol_version.name()]),
        ));
        self.empty_depth(&mut nodes);
        self.empty_crops(&mut nodes);
        self.view(&mut nodes);
        nodes
    }

    /// The depth arrays, without rows.
    fn empty_depth(&self, nodes: &mut Vec<Node>) {
        let (height, width) = (size(self.config.selected_depth_height_px), size(self.config.selected_depth_width_px));
        for (name, dtype, shape, codec) in [
            ("step_row_id", DType::I64, vec![0], Codec::Default),
            ("candidate_row_id", DType::I64, vec![0], Codec::Default),
            ("focal_px", DType::F32, vec![0, 2], Codec::Default),
            ("principal_point_px", DType::F32, vec![0, 2], Codec::Default),
            ("image_size_hw", DType::I32, vec![0, 2], Codec::Default),
            ("depth_m", DType::F16, vec![0, height, width], Codec::Depth),
            ("valid_mask", DType::Bool, vec![0, height, width], Codec::Depth),
        ] {
            nodes.push(Node { codec, ..Node::new(format!("selected_depth/{name}"), Array::zeros(dtype, &shape)) });
        }
    }

    /// The crop arrays, without rows.
    fn empty_crops(&self, nodes: &mut Vec<Node>) {
        let points = size(self.config.target_eval_crop_max_points);
        for (name, dtype, shape) in [
            ("crop_row_id", DType::I64, vec![0]),
            ("step_row_id", DType::I64, vec![0]),
            ("candidate_row_id", DType::I64, vec![0]),
            ("source_role_id", DType::I32, vec![0]),
            ("crop_policy_id", DType::I32, vec![0]),
            ("voxel_size_m", DType::F32, vec![0]),
            ("max_points", DType::I32, vec![0]),
            ("lengths", DType::I32, vec![0]),
            ("points_world", DType::F32, vec![0, points, 3]),
            ("mask", DType::Bool, vec![0, points]),
        ] {
            nodes.push(Node::new(format!("target_eval_crops/{name}"), Array::zeros(dtype, &shape)));
        }
        let roles = ["current_eval".to_owned(), "candidate_eval".to_owned()];
        nodes.push(Node::bytes("target_eval_crops/source_role_names".to_owned(), dictionary::encode(&roles)));
        let policies = dictionary::encode(self.tables.dictionaries.list(Dictionary::Config));
        nodes.push(Node::bytes("target_eval_crops/crop_policy_dictionary".to_owned(), policies));
    }

    /// The derived view, in chunks of so many states.
    fn view(&self, nodes: &mut Vec<Node>) {
        let states = self.tables.steps.step_row_id.len().max(1);
        let rows = size(self.config.q_h_chunk_states).min(states).max(1);
        for (name, data) in q_h::derive(&self.tables, self.config.discount_gamma) {
            let mut node = Node::new(format!("q_h/{name}"), data);
            if let Some(first) = node.chunks.first_mut() {
                *first = rows;
            }
            nodes.push(node);
        }
    }
}

/// One array to be written.
struct Node {
    path: String,
    data: Array,
    chunks: Vec<usize>,
    codec: Codec,
}

impl Node {
    /// An array in chunks of whole rows.
    fn new(path: String, data: Array) -> Self {
        let mut chunks: Vec<usize> = data.shape().iter().map(|length| (*length).max(1)).collect();
        if let Some(first) = chunks.first_mut() {
            *first = (*first).min(CHUNK_ROWS);
        }
        Self { path, data, chunks, codec: Codec::Default }
    }

    fn bytes(path: String, bytes: Vec<u8>) -> Self {
        Self::new(path, Array::U8(ndarray::Array1::from(bytes).into_dyn()))
    }
}

fn size(size: u32) -> usize {
    usize::try_from(size).unwrap_or(usize::MAX)
}

/// Refuses a destination that is not a store of this kind, or is a promoted shard.
fn replaceable(destination: &Path) -> Result<(), WriteError> {
    let occupied = |what| Err(WriteError::Occupied { path: destination.display().to_string(), what });
    if destination.symlink_metadata().is_err() {
        return Ok(());
    }
    if !destination.is_dir() {
        return occupied("is not a directory");
    }
    if ["_SUCCESS.json", "_owner.json"].iter().any(|marker| destination.join(marker).exists()) {
        return occupied("is a promoted shard");
    }
    let root = std::fs::read_to_string(destination.join("zarr.json")).unwrap_or_default();
    if root.contains(super::schema::SCHEMA_ID) { Ok(()) } else { occupied("exists and is not a rollout store") }
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
