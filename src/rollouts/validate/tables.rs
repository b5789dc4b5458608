//! The tables as they are on disk, held against the schema's columns.

use std::collections::HashMap;

use indexmap::IndexMap;

use super::findings::Findings;
use crate::array::{Array, Item};
use crate::rollouts::column::Column;
use crate::rollouts::dictionary::{Dictionary, NAMES};
use crate::rollouts::schema::{Candidates, Diagnostics, Lineage, Rollouts, Sources, Steps, Targets};
use crate::rollouts::zarr::StoreReader;
use crate::text::json;
use crate::value::Value;

/// Columns that older stores lack; -1 for every row then.
const OPTIONAL: [&str; 2] = ["position_pair_id", "gaze_variant_id"];

/// The diagnostics that come together or not at all.
const VIEW_BUNDLE: [&str; 9] = [
    "view_jitter_yaw_deg",
    "view_jitter_pitch_deg",
    "view_jitter_azimuth_limit_deg",
    "view_jitter_elevation_limit_deg",
    "view_jitter_is_bounded",
    "target_view_angle_deg",
    "target_pixel_margin_px",
    "target_in_fov_mask",
    "target_view_evaluated_mask",
];

/// One table's columns by name.
#[derive(Debug, Default)]
pub(super) struct Columns {
    /// How many rows the table has: the length of its first column.
    pub(super) rows: usize,
    arrays: IndexMap<&'static str, Array>,
}

impl Columns {
    /// A column in C order, empty if there is none of that type.
    pub(super) fn get<T: Item>(&self, name: &str) -> &[T] {
        self.arrays.get(name).and_then(Array::as_slice).unwrap_or_default()
    }

    /// A column of vectors, row by row.
    pub(super) fn vectors<const W: usize>(&self, name: &str) -> &[[f32; W]] {
        self.get::<f32>(name).as_chunks().0
    }

    /// Where each id stands in a column; the last of equal ones.
    pub(super) fn index(&self, name: &str) -> HashMap<i64, usize> {
        self.get::<i64>(name).iter().enumerate().map(|(row, id)| (*id, row)).collect()
    }

    fn load(
        reader: &StoreReader,
        (group, schema): (&str, Vec<(&'static str, Array)>),
        findings: &mut Findings,
    ) -> Self {
        let present = reader.arrays(group);
        let bundle = VIEW_BUNDLE.iter().filter(|name| present.iter().any(|other| other == *name)).count();
        let mut columns = Self::default();
        let extras: Vec<&String> =
            present.iter().filter(|name| !schema.iter().any(|(column, _)| column == name)).collect();
        for (position, (name, empty)) in schema.into_iter().enumerate() {
            let path = format!("{group}/{name}");
            if !present.iter().any(|other| other == name) {
                let bundled = group == Diagnostics::GROUP && VIEW_BUNDLE.contains(&name);
                if !(OPTIONAL.contains(&name) || bundled && bundle == 0) {
                    findings.add(format!("{path}: the column is missing"));
                }
                continue;
            }
            let array = match reader.array(&path) {
                Ok(array) => array,
                Err(error) => {
                    findings.add(error.to_string());
                    continue;
                }
            };
            if array.dtype() != empty.dtype() {
                findings.add(format!(
                    "{path}: dtype is {}, not {}",
                    array.dtype().numpy_name(),
                    empty.dtype().numpy_name()
                ));
                continue;
            }
            if position == 0 {
                columns.rows = array.shape().first().copied().unwrap_or(0);
            }
            let mut shape = empty.shape().to_vec();
            if let Some(first) = shape.first_mut() {
                *first = columns.rows;
            }
            // Without rows, the reference writes vectors as plain columns.
            if array.shape() == shape || columns.rows == 0 && array.shape() == [0] {
                columns.arrays.insert(name, array);
            } else {
                findings.add(format!("{path}: shape is {:?}, not {shape:?}", array.shape()));
            }
        }
        // Columns of others are left alone, as long as they stand row for row beside ours.
        for name in extras.into_iter().filter(|_| group == Candidates::GROUP) {
            let path = format!("{group}/{name}");
            match reader.shape(&path) {
                Ok((_, shape)) if shape.first() == Some(&columns.rows) => {}
                Ok((_, shape)) => {
                    findings.add(format!("{path}: shape is {shape:?}, but there are {} rows", columns.rows))
                }
                Err(error) => findings.add(error.to_string()),
            }
        }
        columns
    }
}

/// All tables and dictionaries.
#[derive(Debug)]
pub(super) struct Tables {
    pub(super) sources: Columns,
    pub(super) targets: Columns,
    pub(super) rollouts: Columns,
    pub(super) lineage: Columns,
    pub(super) steps: Columns,
    pub(super) candidates: Columns,
    pub(super) diagnostics: Columns,
    dictionaries: [Vec<String>; NAMES.len()],
}

impl Tables {
    pub(super) fn load(reader: &StoreReader, findings: &mut Findings) -> Self {
        let mut load = |group, columns: Vec<Column<'_>>| {
            let empty = |column: &Column<'_>| {
                let shape: Vec<usize> = std::iter::once(0).chain(column.tail.iter().copied()).collect();
                (column.name, Array::zeros(column.dtype, &shape))
            };
            Columns::load(reader, (group, columns.iter().map(empty).collect()), findings)
        };
        let mut tables = Self {
            sources: load(Sources::GROUP, Sources::default().columns().collect()),
            targets: load(Targets::GROUP, Targets::default().columns().collect()),
            rollouts: load(Rollouts::GROUP, Rollouts::default().columns().collect()),
            lineage: load(Lineage::GROUP, Lineage::default().columns().collect()),
            steps: load(Steps::GROUP, Steps::default().columns().collect()),
            candidates: load(Candidates::GROUP, Candidates::default().columns().collect()),
            diagnostics: load(Diagnostics::GROUP, Diagnostics::default().columns().collect()),
            dictionaries: Default::default(),
        };
        for (name, slot) in NAMES.iter().zip(&mut tables.dictionaries) {
            if *name == "candidate_fact" && !reader.has_array("dictionaries/candidate_fact") {
                continue;
            }
            match texts(reader, &format!("dictionaries/{name}")) {
                Ok(list) => *slot = list,
                Err(what) => findings.add(what),
            }
        }
        tables
    }

    /// A dictionary's texts.
    pub(super) fn texts(&self, dictionary: Dictionary) -> &[String] {
        self.dictionaries.get(dictionary as usize).map_or(&[], Vec::as_slice)
    }

    /// The text of an id, or `None` out of range.
    pub(super) fn text(&self, dictionary: Dictionary, id: i32) -> Option<&str> {
        self.texts(dictionary).get(usize::try_from(id).ok()?).map(String::as_str)
    }
}

/// The texts that a byte array holds as a JSON list.
pub(super) fn texts(reader: &StoreReader, path: &str) -> Result<Vec<String>, String> {
    let array = reader.array(path).map_err(|error| error.to_string())?;
    let list = || -> Option<Vec<String>> {
        let text = std::str::from_utf8(array.as_u8()?).ok()?;
        let value = json::parse(text).ok()?;
        value.as_list()?.iter().map(|item| Value::as_text(item).map(str::to_owned)).collect()
    };
    list().ok_or_else(|| format!("{path}: does not hold a JSON list of texts in uint8"))
}
