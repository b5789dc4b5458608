//! Reading a store: arrays by path and rows, tables, dictionaries, attributes, the sidecar, the
//! derived view, shells, the candidate codec.

pub(super) mod chains;
mod codec;
mod groups;

use std::io::ErrorKind;
use std::ops::Range;
use std::path::{Path, PathBuf};

pub use codec::{CodecTables, Columns};
pub use groups::Groups;

use super::schema::{MANIFEST_FILE, SCHEMA_ID, VIEW};
use super::zarr::{Held, StoreError, StoreReader};
use crate::array::{Array, DType};
use crate::text::json;
use crate::value::{Map, Value};

/// Columns that older stores lack.
const OPTIONAL: [&str; 2] = ["candidates/position_pair_id", "candidates/gaze_variant_id"];

/// A store open for reading. Nothing is ever repaired or written.
pub struct Store {
    directory: PathBuf,
    reader: StoreReader,
    attributes: Map,
}

impl Store {
    /// Opens the store at `directory`, which may be an address on object storage.
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
        if let Err(what) = super::validate::codec_presence(&reader, &attributes) {
            return Err(StoreError::NotAStore { path: directory.to_owned(), what });
        }
        Ok(Self { directory: directory.to_owned(), reader, attributes })
    }

    /// One of the root's attributes.
    pub(super) fn attribute(&self, key: &str) -> Option<&Value> {
        self.attributes.get(key)
    }

    /// The attributes of a group or array.
    ///
    /// # Errors
    /// When there is none, or its document is damaged.
    pub fn group_attributes(&self, path: &str) -> Result<Map, StoreError> {
        self.reader.attributes(path)
    }

    /// The marker called `name`, or what is wrong with it.
    pub(super) fn marker(&self, name: &str) -> Result<Map, String> {
        super::validate::read_beside(&self.reader, name)
    }

    /// What the whole store takes.
    pub(super) fn held(&self) -> Held {
        self.reader.held()
    }

    /// The store's directory, or its address.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
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
        self.rows(path, 0..usize::MAX)
    }

    /// The rows `rows` (counted from 0, as far as there are any) of an array's first axis; only
    /// the chunks they lie in are read.
    ///
    /// # Errors
    /// As [`Store::array`].
    pub fn rows(&self, path: &str, rows: Range<usize>) -> Result<Array, StoreError> {
        if !OPTIONAL.contains(&path) || self.reader.is_there(path) {
            return self.reader.rows(path, rows);
        }
        let (_, shape) = self.reader.shape("candidates/candidate_row_id")?;
        let length = shape.first().copied().unwrap_or(0);
        let count = rows.end.min(length).saturating_sub(rows.start);
        let filled = match path {
            "candidates/gaze_variant_id" => Array::filled(&[count], -1_i8),
            _ => Array::filled(&[count], -1_i64),
        };
        filled.map_err(|error| self.refuse(path, &error.to_string()))
    }

    /// An array's element type and lengths, without reading its chunks.
    ///
    /// # Errors
    /// When there is no such array, or its document is damaged.
    pub fn shape(&self, path: &str) -> Result<(DType, Vec<usize>), StoreError> {
        self.reader.shape(path)
    }

    /// The names of the arrays in a group, sorted.
    #[must_use]
    pub fn columns(&self, group: &str) -> Vec<String> {
        self.reader.arrays(group)
    }

    /// Rows of some columns of a group, or of all of them for none; read on every core.
    ///
    /// # Errors
    /// As [`Store::array`].
    pub fn table(&self, group: &str, columns: &[&str], rows: Range<usize>) -> Result<Columns, StoreError> {
        use rayon::prelude::*;
        let all = self.columns(group);
        let names: Vec<&str> =
            if columns.is_empty() { all.iter().map(String::as_str).collect() } else { columns.to_vec() };
        let read = names.into_par_iter().map(|name| {
            let array = self.rows(&format!("{group}/{name}"), rows.clone())?;
            Ok((name.to_owned(), array))
        });
        let read: Vec<(String, Array)> = read.collect::<Result<_, StoreError>>()?;
        Ok(read.into_iter().collect())
    }

    /// The texts of a dictionary, by their ids.
    ///
    /// # Errors
    /// When there is no such dictionary, or it holds no list of texts.
    pub fn dictionary(&self, name: &str) -> Result<Vec<String>, StoreError> {
        let path = format!("dictionaries/{name}");
        let array = self.array(&path)?;
        let list = || -> Option<Vec<String>> {
            let value = json::parse(std::str::from_utf8(array.as_u8()?).ok()?).ok()?;
            value.as_list()?.iter().map(|item| item.as_text().map(str::to_owned)).collect()
        };
        list().ok_or_else(|| self.refuse(&path, "does not hold a JSON list of texts in uint8"))
    }

    /// The rows of `candidates` by step row id, each shell by shell index, then by candidate id.
    ///
    /// # Errors
    /// When a column is missing, or they differ in length.
    pub fn candidate_shell_index(&self) -> Result<Groups, StoreError> {
        let columns = self.table("candidates", &["step_row_id", "shell_index", "candidate_row_id"], 0..usize::MAX)?;
        let column = |name: &str| columns.get(name).and_then(Array::as_i64).unwrap_or_default();
        let (steps, ids) = (column("step_row_id"), column("candidate_row_id"));
        let index = columns.get("shell_index").and_then(Array::as_i32).unwrap_or_default();
        if steps.len() != ids.len() || steps.len() != index.len() {
            return Err(self.refuse("candidates", "step_row_id, shell_index and candidate_row_id differ in length"));
        }
        Ok(Groups::new(steps, |row| (index.get(row).copied(), ids.get(row).copied())))
    }

    /// The candidate codec, where the store carries one.
    ///
    /// # Errors
    /// When a part is damaged, or does not have one row for each step or candidate.
    pub fn candidate_codec_tables(&self) -> Result<Option<CodecTables>, StoreError> {
        if self.attributes.contains_key("candidate_trace_codec_version") {
            CodecTables::read(self).map(Some)
        } else {
            Ok(None)
        }
    }

    fn refuse(&self, node: &str, what: &str) -> StoreError {
        StoreError::Node { path: self.directory.clone(), node: node.to_owned(), what: what.to_owned() }
    }

    /// The sidecar.
    ///
    /// # Errors
    /// When it is missing or not JSON.
    pub fn manifest(&self) -> Result<Value, StoreError> {
        let path = self.directory.join(MANIFEST_FILE);
        let bytes = self.reader.file(MANIFEST_FILE).and_then(|bytes| bytes.ok_or_else(|| ErrorKind::NotFound.into()));
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).map_err(std::io::Error::other));
        let text = text.map_err(|source| StoreError::Files { path: path.clone(), source })?;
        json::parse(&text).map_err(|problem| StoreError::NotAStore { path, what: problem.to_string() })
    }

    /// The derived view's arrays by name: the persisted ones, or with another discount.
    ///
    /// # Errors
    /// When an array is missing or damaged.
    pub fn q_h_view(&self, discount_gamma: Option<f64>) -> Result<Columns, StoreError> {
        let mut view = self.table("q_h", &VIEW.map(|(name, ..)| name), 0..usize::MAX)?;
        if let Some(gamma) = discount_gamma {
            if !(gamma.is_finite() && gamma >= 0.0) {
                return Err(self.refuse("q_h", &format!("discount_gamma must be finite and not negative, got {gamma}")));
            }
            let next = view.get("td_next_step_row_id").and_then(Array::as_i64).unwrap_or_default();
            let discount = next.iter().map(|next| if *next < 0 { 0.0 } else { super::datum::narrow(gamma) });
            let discount: ndarray::Array1<f32> = discount.collect();
            view.insert("td_discount".to_owned(), Array::F32(discount.into_dyn()));
        }
        Ok(view)
    }
}
