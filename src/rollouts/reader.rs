//! Reading a store: arrays by path, attributes, the sidecar, the derived view.

use std::path::{Path, PathBuf};

use indexmap::IndexMap;

use super::schema::{MANIFEST_FILE, SCHEMA_ID};
use super::zarr::{StoreError, StoreReader};
use crate::array::{Array, DType};
use crate::text::json;
use crate::value::{Map, Value};

/// The arrays of the derived view.
pub(super) const VIEW: [&str; 17] = [
    "state_step_row_id",
    "source_row_id",
    "target_row_id",
    "candidate_row_id",
    "valid_action_mask",
    "q_train_mask",
    "position_id",
    "one_step_target_rri",
    "one_step_target_root_gain",
    "invalid_reason_bitset",
    "selected_candidate_index",
    "td_selected_candidate_row_id",
    "td_reward",
    "td_reward_target_rri",
    "td_next_step_row_id",
    "td_terminal_mask",
    "td_discount",
];

/// A store open for reading. Nothing is ever repaired or written.
pub struct Store {
    directory: PathBuf,
    reader: StoreReader,
    attributes: Map,
}

impl Store {
    /// Opens the store at `directory`.
    ///
    /// # Errors
    /// When there is no rollout store there.
    pub fn open(directory: &Path) -> Result<Self, StoreError> {
        let reader = StoreReader::open(directory)?;
        let attributes = reader.attributes("")?;
        if attributes.get("schema_id").and_then(Value::as_text) != Some(SCHEMA_ID) {
            let what = format!("its schema_id is not {SCHEMA_ID}");
            return Err(StoreError::NotAStore { path: directory.to_owned(), what });
        }
        Ok(Self { directory: directory.to_owned(), reader, attributes })
    }

    /// The root's attributes.
    #[must_use]
    pub fn attributes(&self) -> Map {
        self.attributes.clone()
    }

    /// A whole array by its path, such as `candidates/pose_world_cam`. Of the two columns that
    /// older stores lack, -1 for every row.
    ///
    /// # Errors
    /// When there is no such array, or a chunk of it is missing or damaged.
    pub fn array(&self, path: &str) -> Result<Array, StoreError> {
        let optional = match path {
            "candidates/position_pair_id" => Some(DType::I64),
            "candidates/gaze_variant_id" => Some(DType::I8),
            _ => None,
        };
        match optional {
            Some(dtype) if !self.reader.has_array(path) => {
                let rows = self.reader.array("candidates/candidate_row_id")?.len();
                Ok(match dtype {
                    DType::I8 => Array::I8(ndarray::ArrayD::from_elem(ndarray::IxDyn(&[rows]), -1)),
                    _ => Array::I64(ndarray::ArrayD::from_elem(ndarray::IxDyn(&[rows]), -1)),
                })
            }
            _ => self.reader.array(path),
        }
    }

    /// The sidecar.
    ///
    /// # Errors
    /// When it is missing or not JSON.
    pub fn manifest(&self) -> Result<Value, StoreError> {
        let path = self.directory.join(MANIFEST_FILE);
        let text = std::fs::read_to_string(&path).map_err(|source| StoreError::Files { path: path.clone(), source })?;
        json::parse(&text).map_err(|problem| StoreError::NotAStore { path, what: problem.to_string() })
    }

    /// The derived view's arrays by name: the persisted ones, or with another discount.
    ///
    /// # Errors
    /// When an array is missing or damaged.
    pub fn q_h_view(&self, discount_gamma: Option<f64>) -> Result<IndexMap<String, Array>, StoreError> {
        let mut view = IndexMap::new();
        for name in VIEW {
            view.insert(name.to_owned(), self.array(&format!("q_h/{name}"))?);
        }
        if let Some(gamma) = discount_gamma {
            if !(gamma.is_finite() && gamma >= 0.0) {
                let what = format!("discount_gamma must be finite and not negative, got {gamma}");
                return Err(StoreError::Node { path: self.directory.clone(), node: "q_h".to_owned(), what });
            }
            let next = view.get("td_next_step_row_id").and_then(Array::as_i64).unwrap_or_default();
            let discount = next.iter().map(|next| if *next < 0 { 0.0 } else { super::datum::narrow(gamma) });
            let discount: ndarray::Array1<f32> = discount.collect();
            view.insert("td_discount".to_owned(), Array::F32(discount.into_dyn()));
        }
        Ok(view)
    }
}
