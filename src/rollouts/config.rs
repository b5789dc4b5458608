//! What a store is written with.

use std::path::{Path, PathBuf};

use super::schema::{INVALID_REASON_VERSION, RETURN_SEMANTICS};
use super::target::TargetInputProtocol;
use super::zarr::{Encoder, LARGEST_FRAME};
use crate::diagnostic::Problem;
use crate::suggest;
use crate::value::{Map, Value};

/// Filesystem, replay, and oracle-retention settings of one rollout store.
#[derive(Clone, Debug, PartialEq)]
pub struct RolloutZarrStoreConfig {
    /// The base that a relative [`Self::store_dir`] resolves against; never stored.
    pub paths: Option<PathBuf>,
    /// The destination, replaced when a write completes; never the source store.
    pub store_dir: PathBuf,
    /// The versioned return family recorded for the derived view.
    pub return_semantics: String,
    /// The discount of non-terminal selected transitions, finite and not negative.
    pub discount_gamma: f64,
    /// The contract between target inputs and oracle labels.
    pub target_protocol_version: TargetInputProtocol,
    /// The version of the invalidity bits.
    pub reason_code_version: String,
    /// Which heavy oracle and audit payloads are retained.
    pub field_retention_policy: String,
    /// The immutable source cache's version.
    pub source_offline_store_version: String,
    /// The hash that binds the source split and its ordered rows.
    pub split_manifest_hash: String,
    /// Provenance for the sidecar.
    pub manifest_context: ManifestContext,
    /// Whether selected-only oracle depth is retained.
    pub selected_depth_enabled: bool,
    /// The depth rasters' width in pixels.
    pub selected_depth_width_px: u32,
    /// The depth rasters' height in pixels.
    pub selected_depth_height_px: u32,
    /// Depth rows a chunk.
    pub selected_depth_chunk_steps: u32,
    /// The renderer's identity.
    pub selected_depth_renderer: String,
    /// The near clipping distance in metres.
    pub selected_depth_znear_m: Option<f64>,
    /// The far clipping distance in metres.
    pub selected_depth_zfar_m: Option<f64>,
    /// How the depth's resolution came about.
    pub selected_depth_source_resolution: String,
    /// State rows a chunk of the derived view.
    pub q_h_chunk_states: u32,
    /// The fixed width of audit crops.
    pub target_eval_crop_max_points: u32,
    /// Whether oracle target crops are retained.
    pub target_eval_crops_enabled: bool,
    /// The oracle's query profile.
    pub oracle_query_mode: String,
    /// How labels relate to the actor-valid rows.
    pub label_support_semantics: String,
    /// When the store was made, `YYYY-MM-DDTHH:MM:SSZ`.
    pub created_at_utc: String,
    /// The source store, where it is at hand: read by others, never written to, and no place for
    /// [`Self::store_dir`]. A relative one resolves as that does; it is never stored.
    pub source_offline_store_dir: Option<PathBuf>,
    /// Who compresses depth rasters; told in the store's attributes.
    pub selected_depth_encoder: Encoder,
    /// About how much memory rows may take before they are on disk, in bytes, at least 64 MiB.
    pub memory_bytes: u64,
}

/// The bytes of the largest crop.
const LARGEST_CROP: usize = 1 << 30;

/// How a store came about, for its sidecar: plain data, taken as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ManifestContext {
    /// The resolved configuration, or null.
    pub writer_config: Value,
    /// How the writer was invoked; null stands for a program.
    pub invocation: Value,
    /// Versions and platform; null stands for none.
    pub runtime: Value,
    /// The shard entry, or null.
    pub shard: Value,
    /// The stores that this one was made from, or null.
    pub origin: Value,
}

/// Which option is wrong, and how.
#[derive(Debug, thiserror::Error)]
#[error("{option}: {message}")]
pub struct ConfigError {
    /// The option.
    pub option: String,
    /// What was expected and what came.
    pub message: String,
}

impl Problem for ConfigError {
    fn code(&self) -> &'static str {
        "rollouts/config"
    }
}

impl RolloutZarrStoreConfig {
    /// The format's defaults for a store at `store_dir`, made at `created_at_utc`.
    #[must_use]
    pub fn new(store_dir: impl Into<PathBuf>, created_at_utc: impl Into<String>) -> Self {
        Self {
            paths: None,
            store_dir: store_dir.into(),
            return_semantics: RETURN_SEMANTICS.to_owned(),
            discount_gamma: 1.0,
            target_protocol_version: TargetInputProtocol::default(),
            reason_code_version: INVALID_REASON_VERSION.to_owned(),
            field_retention_policy: "compact".to_owned(),
            source_offline_store_version: "unknown-source-version".to_owned(),
            split_manifest_hash: "unknown-split-manifest".to_owned(),
            manifest_context: ManifestContext::default(),
            selected_depth_enabled: true,
            selected_depth_width_px: 240,
            selected_depth_height_px: 240,
            selected_depth_chunk_steps: 16,
            selected_depth_renderer: "Pytorch3DDepthRenderer".to_owned(),
            selected_depth_znear_m: Some(0.001),
            selected_depth_zfar_m: Some(20.0),
            selected_depth_source_resolution: "exact_output_size".to_owned(),
            q_h_chunk_states: 64,
            target_eval_crop_max_points: 50_000,
            target_eval_crops_enabled: false,
            oracle_query_mode: "legacy_unspecified".to_owned(),
            label_support_semantics: "subset_of_action_v1".to_owned(),
            created_at_utc: created_at_utc.into(),
            source_offline_store_dir: None,
            selected_depth_encoder: Encoder::default(),
            memory_bytes: 512 << 20,
        }
    }

    /// Reads options by name over the defaults.
    ///
    /// # Errors
    /// The first option that is unknown (naming the nearest) or of the wrong kind.
    pub fn from_options(options: &Map, created_at_utc: String) -> Result<Self, ConfigError> {
        let fail = |option: &str, message: String| ConfigError { option: option.to_owned(), message };
        let store_dir = options
            .get("store_dir")
            .and_then(Value::as_text)
            .filter(|path| !path.is_empty())
            .ok_or_else(|| fail("store_dir", "is missing: the directory to write".to_owned()))?;
        let mut config = Self::new(store_dir, created_at_utc);
        for (option, value) in options {
            config.set(option, value)?;
        }
        config.validate()?;
        Ok(config)
    }

    fn set(&mut self, option: &str, value: &Value) -> Result<(), ConfigError> {
        let fail = |message: String| ConfigError { option: option.to_owned(), message };
        let text =
            || value.as_text().map(str::to_owned).ok_or_else(|| fail(format!("must be text, got {}", value.kind())));
        let boolean = || value.as_bool().ok_or_else(|| fail(format!("must be a boolean, got {}", value.kind())));
        let number = || value.as_float().ok_or_else(|| fail(format!("must be a number, got {}", value.kind())));
        let size = || {
            let size = value.as_int().and_then(|size| u32::try_from(size).ok()).filter(|size| *size > 0);
            size.ok_or_else(|| fail("must be an integer from 1 to 4294967295".to_owned()))
        };
        let optional = || if value.is_null() { Ok(None) } else { number().map(Some) };
        match option {
            "paths" => self.paths = Some(text()?.into()),
            "store_dir" => {}
            "return_semantics" => self.return_semantics = text()?,
            "discount_gamma" => self.discount_gamma = number()?,
            "target_protocol_version" => {
                let name = text()?;
                self.target_protocol_version = TargetInputProtocol::from_name(&name)
                    .ok_or_else(|| fail(format!("must be v0_gt_input or v1_observed, got {name}")))?;
            }
            "reason_code_version" => self.reason_code_version = text()?,
            "field_retention_policy" => self.field_retention_policy = text()?,
            "source_offline_store_version" => self.source_offline_store_version = text()?,
            "split_manifest_hash" => self.split_manifest_hash = text()?,
            "manifest_context" => self.manifest_context = ManifestContext::read(value)?,
            "selected_depth_enabled" => self.selected_depth_enabled = boolean()?,
            "selected_depth_width_px" => self.selected_depth_width_px = size()?,
            "selected_depth_height_px" => self.selected_depth_height_px = size()?,
            "selected_depth_chunk_steps" => self.selected_depth_chunk_steps = size()?,
            "selected_depth_renderer" => self.selected_depth_renderer = text()?,
            "selected_depth_znear_m" => self.selected_depth_znear_m = optional()?,
            "selected_depth_zfar_m" => self.selected_depth_zfar_m = optional()?,
            "selected_depth_source_resolution" => self.selected_depth_source_resolution = text()?,
            "q_h_chunk_states" => self.q_h_chunk_states = size()?,
            "target_eval_crop_max_points" => self.target_eval_crop_max_points = size()?,
            "target_eval_crops_enabled" => self.target_eval_crops_enabled = boolean()?,
            "oracle_query_mode" => self.oracle_query_mode = text()?,
            "label_support_semantics" => self.label_support_semantics = text()?,
            "created_at_utc" => self.created_at_utc = text()?,
            "source_offline_store_dir" => {
                self.source_offline_store_dir = if value.is_null() { None } else { Some(text()?.into()) };
            }
            "selected_depth_encoder" => {
                let name = text()?;
                let found = Encoder::ALL.into_iter().find(|encoder| encoder.name() == name);
                self.selected_depth_encoder =
                    found.ok_or_else(|| fail(format!("must be fast or c-blosc, got {name}")))?;
            }
            "memory_bytes" => {
                let bytes = value.as_int().and_then(|bytes| u64::try_from(bytes).ok());
                self.memory_bytes = bytes.ok_or_else(|| fail("must be a number of bytes".to_owned()))?;
            }
            _ => {
                return Err(fail(format!("is not an option; {}", suggest::hint(option, "known are", OPTIONS))));
            }
        }
        Ok(())
    }

    /// Checks what the options say together.
    ///
    /// # Errors
    /// The first option that does not hold.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let fail =
            |option: &str, message: &str| Err(ConfigError { option: option.to_owned(), message: message.to_owned() });
        if !(self.discount_gamma.is_finite() && self.discount_gamma >= 0.0) {
            return fail("discount_gamma", "must be finite and not negative");
        }
        if !profile_is_known(&self.oracle_query_mode, &self.label_support_semantics) {
            return fail(
                "oracle_query_mode",
                "with label_support_semantics must be legacy_unspecified/subset_of_action_v1 or dense_valid/equals_action_on_realized_steps_v1",
            );
        }
        if self.return_semantics != RETURN_SEMANTICS {
            return fail("return_semantics", "must be cumulative_target_root_gain, the one family readers know");
        }
        for (option, text) in [
            ("source_offline_store_version", &self.source_offline_store_version),
            ("split_manifest_hash", &self.split_manifest_hash),
            ("reason_code_version", &self.reason_code_version),
        ] {
            if text.is_empty() {
                return fail(option, "must not be empty");
            }
        }
        let form = self.created_at_utc.bytes().map(|byte| if byte.is_ascii_digit() { b'0' } else { byte });
        if !form.eq(b"0000-00-00T00:00:00Z".iter().copied()) {
            return fail("created_at_utc", "must be written YYYY-MM-DDTHH:MM:SSZ");
        }
        if self.memory_bytes < 64 << 20 {
            return fail("memory_bytes", "must be at least 67108864, 64 MiB");
        }
        let size = |size: u32| usize::try_from(size).unwrap_or(usize::MAX);
        let raster = size(self.selected_depth_height_px).saturating_mul(size(self.selected_depth_width_px));
        if raster.saturating_mul(2 * size(self.selected_depth_chunk_steps)) > LARGEST_FRAME {
            return fail("selected_depth_chunk_steps", "times a raster is more than the 2 GiB of a compressed chunk");
        }
        if size(self.target_eval_crop_max_points).saturating_mul(12) > LARGEST_CROP {
            return fail("target_eval_crop_max_points", "must be at most 89478485: a crop takes 1 GiB then");
        }
        match (self.selected_depth_znear_m, self.selected_depth_zfar_m) {
            (Some(near), Some(far)) if !(0.0 < near && near < far && far.is_finite()) => {
                fail("selected_depth_znear_m", "must be greater than 0 and less than selected_depth_zfar_m")
            }
            (None, _) | (_, None) if self.selected_depth_enabled => {
                fail("selected_depth_znear_m", "and selected_depth_zfar_m are needed with depth enabled")
            }
            _ => Ok(()),
        }
    }

    /// The options that decide a store's content, each with its value: all but where it goes, when it
    /// is made, and what is told of it.
    #[must_use]
    pub fn resolved(&self) -> Map {
        let entries: [(&str, Value); 20] = [
            ("return_semantics", self.return_semantics.as_str().into()),
            ("discount_gamma", self.discount_gamma.into()),
            ("target_protocol_version", self.target_protocol_version.name().into()),
            ("reason_code_version", self.reason_code_version.as_str().into()),
            ("field_retention_policy", self.field_retention_policy.as_str().into()),
            ("source_offline_store_version", self.source_offline_store_version.as_str().into()),
            ("selected_depth_enabled", self.selected_depth_enabled.into()),
            ("selected_depth_width_px", self.selected_depth_width_px.into()),
            ("selected_depth_height_px", self.selected_depth_height_px.into()),
            ("selected_depth_chunk_steps", self.selected_depth_chunk_steps.into()),
            ("selected_depth_renderer", self.selected_depth_renderer.as_str().into()),
            ("selected_depth_znear_m", self.selected_depth_znear_m.into()),
            ("selected_depth_zfar_m", self.selected_depth_zfar_m.into()),
            ("selected_depth_source_resolution", self.selected_depth_source_resolution.as_str().into()),
            ("selected_depth_encoder", self.selected_depth_encoder.name().into()),
            ("q_h_chunk_states", self.q_h_chunk_states.into()),
            ("target_eval_crop_max_points", self.target_eval_crop_max_points.into()),
            ("target_eval_crops_enabled", self.target_eval_crops_enabled.into()),
            ("oracle_query_mode", self.oracle_query_mode.as_str().into()),
            ("label_support_semantics", self.label_support_semantics.as_str().into()),
        ];
        entries.into_iter().map(|(option, value)| (option.to_owned(), value)).collect()
    }

    /// Whether every valid action must be labelled.
    #[must_use]
    pub fn is_dense(&self) -> bool {
        self.oracle_query_mode == "dense_valid"
    }

    /// Where the store goes.
    #[must_use]
    pub fn destination(&self) -> PathBuf {
        self.resolve(&self.store_dir)
    }

    /// Where the source store is.
    #[must_use]
    pub fn source(&self) -> Option<PathBuf> {
        self.source_offline_store_dir.as_deref().map(|path| self.resolve(path))
    }

    fn resolve(&self, path: &Path) -> PathBuf {
        self.paths.as_deref().map_or_else(|| path.to_owned(), |base| base.join(path))
    }
}

/// Whether the two halves of a supervision profile belong together.
pub(super) fn profile_is_known(oracle_query_mode: &str, label_support_semantics: &str) -> bool {
    matches!(
        (oracle_query_mode, label_support_semantics),
        ("legacy_unspecified", "subset_of_action_v1") | ("dense_valid", "equals_action_on_realized_steps_v1")
    )
}

/// Every option, for suggestions.
const OPTIONS: [&str; 27] = [
    "paths",
    "store_dir",
    "return_semantics",
    "discount_gamma",
    "target_protocol_version",
    "reason_code_version",
    "field_retention_policy",
    "source_offline_store_version",
    "split_manifest_hash",
    "manifest_context",
    "selected_depth_enabled",
    "selected_depth_width_px",
    "selected_depth_height_px",
    "selected_depth_chunk_steps",
    "selected_depth_renderer",
    "selected_depth_znear_m",
    "selected_depth_zfar_m",
    "selected_depth_source_resolution",
    "q_h_chunk_states",
    "target_eval_crop_max_points",
    "target_eval_crops_enabled",
    "oracle_query_mode",
    "label_support_semantics",
    "created_at_utc",
    "source_offline_store_dir",
    "selected_depth_encoder",
    "memory_bytes",
];

impl ManifestContext {
    fn read(value: &Value) -> Result<Self, ConfigError> {
        let fail = |message: String| ConfigError { option: "manifest_context".to_owned(), message };
        let map = value.as_map().ok_or_else(|| fail(format!("must be a map, got {}", value.kind())))?;
        let mut context = Self::default();
        for (key, value) in map {
            let slot = match key.as_str() {
                "writer_config" => &mut context.writer_config,
                "invocation" => &mut context.invocation,
                "runtime" => &mut context.runtime,
                "shard" => &mut context.shard,
                _ => {
                    return Err(fail(format!(
                        "unknown key `{key}`; it takes writer_config, invocation, runtime, shard"
                    )));
                }
            };
            *slot = value.clone();
        }
        Ok(context)
    }
}
