//! The tables as they are on disk, held against the schema's columns.
//!
//! The tables of chains, states, sources and targets are read whole; candidates and what stands
//! row for row beside them are only described here, and read block by block.

use std::collections::HashMap;

use indexmap::IndexMap;

use super::findings::Findings;
use crate::array::{Array, DType, Item};
use crate::rollouts::column::Column as Described;
use crate::rollouts::dictionary::{Dictionary, NAMES};
use crate::rollouts::schema::{Candidates, Diagnostics, Lineage, Rollouts, Sources, Steps, Targets};
use crate::rollouts::zarr::{Column, StoreReader};
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

/// What a column must be: its name, dtype and the length of a row's vector (0 for a scalar).
pub(super) type Expected = (&'static str, DType, usize);

/// Some rows of a table's columns, by name.
#[derive(Debug, Default)]
pub(super) struct Columns {
    /// How many rows there are.
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
}

/// Where ids stand in a table.
#[derive(Debug)]
pub(super) enum Index {
    /// Ids are row numbers below this.
    Dense(usize),
    /// The last row of each id.
    Sparse(HashMap<i64, usize>),
}

impl Index {
    pub(super) fn of(ids: &[i64]) -> Self {
        if ids.iter().enumerate().all(|(row, id)| usize::try_from(*id) == Ok(row)) {
            Self::Dense(ids.len())
        } else {
            Self::Sparse(ids.iter().enumerate().map(|(row, id)| (*id, row)).collect())
        }
    }

    pub(super) fn row(&self, id: i64) -> Option<usize> {
        match self {
            Self::Dense(rows) => usize::try_from(id).ok().filter(|row| row < rows),
            Self::Sparse(rows) => rows.get(&id).copied(),
        }
    }
}

/// A table as its documents describe it.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// The length of its first column.
    pub(super) rows: usize,
    columns: Vec<(&'static str, Column)>,
}

impl Table {
    /// Describes the columns of `group`; what is not as expected is left out and told.
    pub(super) fn describe(reader: &StoreReader, group: &str, schema: &[Expected], findings: &mut Findings) -> Self {
        let present = reader.arrays(group);
        let has = |name: &str| present.iter().any(|other| other == name);
        let bundle = VIEW_BUNDLE.iter().filter(|name| has(name)).count();
        let mut table = Self::default();
        for (position, (name, dtype, width)) in schema.iter().enumerate() {
            let path = format!("{group}/{name}");
            if !has(name) {
                let bundled = group == Diagnostics::GROUP && VIEW_BUNDLE.contains(name);
                let optional = group == Candidates::GROUP && OPTIONAL.contains(name);
                if reader.is_there(&path) || !(optional || bundled && bundle == 0) {
                    findings.extend(reader.column(&path).err().map(|error| error.to_string()));
                }
                continue;
            }
            if position == 0 {
                table.rows = reader.shape(&path).ok().and_then(|(_, shape)| shape.first().copied()).unwrap_or(0);
            }
            let shape: Vec<usize> = std::iter::once(table.rows).chain((*width > 0).then_some(*width)).collect();
            table.expect(reader, group, (*name, *dtype), &shape, findings);
        }
        table
    }

    /// A table of so many rows, without columns yet.
    pub(super) fn of_rows(rows: usize) -> Self {
        Self { rows, columns: Vec::new() }
    }

    /// Describes one column; one of another dtype or shape is told and left out.
    pub(super) fn expect(
        &mut self,
        reader: &StoreReader,
        group: &str,
        (name, dtype): (&'static str, DType),
        shape: &[usize],
        findings: &mut Findings,
    ) {
        let path = format!("{group}/{name}");
        let column = match reader.column(&path) {
            Ok(column) => column,
            Err(error) => return findings.add(error.to_string()),
        };
        let (found, wanted) = (column.dtype().numpy_name(), dtype.numpy_name());
        if found != wanted {
            findings.add(format!("{path}: dtype is {found}, not {wanted}"));
        // Without rows, the reference writes vectors as plain columns.
        } else if column.shape() == shape || shape.first() == Some(&0) && column.shape() == [0] {
            self.columns.push((name, column));
        } else {
            findings.add(format!("{path}: shape is {:?}, not {shape:?}", column.shape()));
        }
    }

    /// Columns of others are left alone, as long as they stand row for row beside ours.
    fn extras(&self, reader: &StoreReader, group: &str, schema: &[Expected], findings: &mut Findings) {
        for name in reader.arrays(group).iter().filter(|name| !schema.iter().any(|(own, ..)| own == name)) {
            let path = format!("{group}/{name}");
            match reader.shape(&path) {
                Ok((_, shape)) if shape.first() == Some(&self.rows) => {}
                Ok((_, shape)) => findings.add(format!("{path}: shape is {shape:?}, but there are {} rows", self.rows)),
                Err(error) => findings.add(error.to_string()),
            }
        }
    }

    /// Reads rows of every column.
    pub(super) fn read(&self, rows: std::ops::Range<usize>, findings: &mut Findings) -> Columns {
        use rayon::prelude::*;
        let read: Vec<_> = self.columns.par_iter().map(|(name, column)| (*name, column.rows(rows.clone()))).collect();
        let mut columns = Columns { rows: rows.len(), arrays: IndexMap::with_capacity(read.len()) };
        for (name, array) in read {
            match array {
                Ok(array) => {
                    columns.arrays.insert(name, array);
                }
                Err(error) => findings.add(error.to_string()),
            }
        }
        columns
    }

    /// Whether fewer than `count` columns are as expected.
    pub(super) fn is_missing(&self, count: usize) -> bool {
        self.columns.len() < count
    }

    /// One of its columns.
    pub(super) fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|(own, _)| *own == name).map(|(_, column)| column)
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
    pub(super) candidates: Table,
    pub(super) diagnostics: Table,
    pub(super) rollout_rows: Index,
    pub(super) target_rows: Index,
    pub(super) source_rows: Index,
    pub(super) step_rows: Index,
    dictionaries: [Vec<String>; NAMES.len()],
}

/// A table's columns as the schema has them.
fn schema<'a>(columns: impl Iterator<Item = Described<'a>>) -> Vec<Expected> {
    columns.map(|column| (column.name, column.dtype, column.tail.first().copied().unwrap_or(0))).collect()
}

impl Tables {
    pub(super) fn load(reader: &StoreReader, findings: &mut Findings) -> Self {
        let mut describe = |group: &str, schema: Vec<Expected>| {
            let table = Table::describe(reader, group, &schema, findings);
            if group == Candidates::GROUP {
                table.extras(reader, group, &schema, findings);
            }
            table
        };
        let small = [
            describe(Sources::GROUP, schema(Sources::default().columns())),
            describe(Targets::GROUP, schema(Targets::default().columns())),
            describe(Rollouts::GROUP, schema(Rollouts::default().columns())),
            describe(Lineage::GROUP, schema(Lineage::default().columns())),
            describe(Steps::GROUP, schema(Steps::default().columns())),
        ];
        let candidates = describe(Candidates::GROUP, schema(Candidates::default().columns()));
        let diagnostics = describe(Diagnostics::GROUP, schema(Diagnostics::default().columns()));
        // A shape that does not go with the others' is no reason to read so many rows.
        let sound = findings.is_empty();
        let mut read = |table: &Table| {
            if sound { table.read(0..table.rows, findings) } else { Columns { rows: table.rows, ..Columns::default() } }
        };
        let [sources, targets, rollouts, lineage, steps] = small.each_ref().map(&mut read);
        let mut tables = Self {
            rollout_rows: Index::of(rollouts.get("rollout_row_id")),
            target_rows: Index::of(targets.get("target_row_id")),
            source_rows: Index::of(sources.get("source_row_id")),
            step_rows: Index::of(steps.get("step_row_id")),
            sources,
            targets,
            rollouts,
            lineage,
            steps,
            candidates,
            diagnostics,
            dictionaries: Default::default(),
        };
        // The codec's dictionary is checked with the codec.
        let always = NAMES.iter().zip(&mut tables.dictionaries).take(Dictionary::CandidateFact as usize);
        for (name, slot) in always {
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
