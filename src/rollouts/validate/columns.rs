//! The tables as typed columns. A column that is missing, of the wrong type or of another length
//! than its table is a violation; readers then see it as empty.

use std::collections::BTreeMap;

use crate::array::{Array, DType, Item};
use crate::rollouts::reader::Store;
use crate::text::json;
use crate::value::Value;

/// A store's columns and what is wrong with it so far.
pub(super) struct Columns<'a> {
    pub(super) store: &'a Store,
    arrays: BTreeMap<String, Array>,
    dictionaries: BTreeMap<&'static str, Vec<String>>,
    /// The violations so far.
    pub(super) errors: Vec<String>,
}

/// The columns that are matrices, and their width.
fn width(column: &str) -> Option<usize> {
    match column {
        "root_pose_world"
        | "pose_world_cam"
        | "pose_relative_root"
        | "target_pose_world_object"
        | "target_relative_pose_reference_object" => Some(12),
        "target_center_world" | "target_extents" => Some(3),
        _ => None,
    }
}

impl<'a> Columns<'a> {
    pub(super) fn new(store: &'a Store) -> Self {
        Self { store, arrays: BTreeMap::new(), dictionaries: BTreeMap::new(), errors: Vec::new() }
    }

    /// Reads a table; its first column says how many rows it has.
    pub(super) fn load(&mut self, group: &'static str, names: &[&'static str]) {
        let mut rows = None;
        for name in names {
            let path = format!("{group}/{name}");
            match self.store.array(&path) {
                Err(problem) => self.errors.push(format!("{path}: {problem}")),
                Ok(array) => {
                    let rows = *rows.get_or_insert_with(|| array.shape().first().copied().unwrap_or(0));
                    let shape: Vec<usize> = std::iter::once(rows).chain(width(name)).collect();
                    if array.shape() == shape {
                        self.arrays.insert(path, array);
                    } else {
                        self.errors.push(format!("{path}: shape {:?} instead of {shape:?}", array.shape()));
                    }
                }
            }
        }
    }

    /// How many rows a table has.
    pub(super) fn rows(&self, group: &str) -> usize {
        let first =
            self.arrays.iter().find(|(path, _)| path.strip_prefix(group).is_some_and(|rest| rest.starts_with('/')));
        first.and_then(|(_, array)| array.shape().first().copied()).unwrap_or(0)
    }

    /// A column's cells in C order; of another type than `T`, a violation and nothing.
    pub(super) fn get<T: Item>(&mut self, path: &str) -> Vec<T> {
        match self.arrays.get(path).map(|array| (array.as_slice::<T>().map(<[T]>::to_vec), array.dtype())) {
            Some((Some(cells), _)) => cells,
            Some((None, dtype)) => {
                self.wrong_type(path, dtype);
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    fn wrong_type(&mut self, path: &str, dtype: DType) {
        let line = format!("{path}: has dtype {}, which the format does not give it", dtype.numpy_name());
        if !self.errors.contains(&line) {
            self.errors.push(line);
        }
    }

    /// A dictionary's texts.
    pub(super) fn dictionary(&mut self, name: &'static str) -> Vec<String> {
        if let Some(texts) = self.dictionaries.get(name) {
            return texts.clone();
        }
        let read = self.store.array(&format!("dictionaries/{name}")).ok();
        let bytes = read.as_ref().and_then(Array::as_slice::<u8>).map(<[u8]>::to_vec);
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        let list = text.and_then(|text| json::parse(&text).ok());
        let texts = list
            .as_ref()
            .and_then(Value::as_list)
            .map(|items| items.iter().map(|item| item.as_text().unwrap_or_default().to_owned()).collect::<Vec<_>>());
        if texts.is_none() {
            self.errors.push(format!("dictionaries/{name}: is not a JSON list of texts"));
        }
        let texts = texts.unwrap_or_default();
        self.dictionaries.insert(name, texts.clone());
        texts
    }

    /// The texts of a coded column; ids out of range are empty.
    pub(super) fn texts(&mut self, path: &str, dictionary: &'static str) -> Vec<String> {
        let texts = self.dictionary(dictionary);
        let decode = |id: &i32| usize::try_from(*id).ok().and_then(|id| texts.get(id)).cloned().unwrap_or_default();
        self.get::<i32>(path).iter().map(decode).collect()
    }

    /// Tells of the first row for which `wrong` holds, and of how many there are.
    pub(super) fn rule(&mut self, what: &str, rows: usize, wrong: impl Fn(usize) -> bool) {
        let offenders: Vec<usize> = (0..rows).filter(|row| wrong(*row)).collect();
        if let Some(first) = offenders.first() {
            self.errors.push(format!("{what} ({} rows, first {first})", offenders.len()));
        }
    }
}

/// The cell at `row`, or the type's zero beyond the end.
pub(super) fn at<T: Copy + Default>(cells: &[T], row: usize) -> T {
    cells.get(row).copied().unwrap_or_default()
}
