//! The columns of a part, as the schema has them, and what becomes of their cells.

use std::ops::Range;

use crate::array::DType;
use crate::rollouts::StoreError;
use crate::rollouts::column::Column;
use crate::rollouts::zarr::{self, StoreReader};

/// Rows that are decoded at a time where a few of many are wanted, in bytes.
const AT_A_TIME: usize = 16 << 20;

/// What becomes of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// They stay as they are.
    None,
    /// They are texts of a dictionary.
    Code(usize),
    /// They are ids of chains, states or candidates, or -1.
    Chains,
    States,
    Candidates,
    /// They count the rows of their table.
    Count,
}

/// One column of a part.
pub(super) struct Known {
    pub(super) group: &'static str,
    pub(super) name: &'static str,
    pub(super) change: Change,
    dtype: DType,
    tail: Vec<usize>,
    dictionary: Option<usize>,
    /// None for a column that older stores lack.
    column: Option<zarr::Column>,
}

impl Known {
    /// The part's columns for `wanted` ones of the schema, in that order.
    ///
    /// # Errors
    /// The first that is there in another form, or is there beside them: it would be lost.
    pub(super) fn all(reader: &StoreReader, wanted: Vec<Column<'_>>) -> Result<Vec<Self>, String> {
        let mut groups: Vec<&str> = wanted.iter().map(|column| column.group).collect();
        groups.dedup();
        for group in groups {
            // Beside the crops stand dictionaries, which are written anew.
            const BESIDE: [&str; 2] = ["source_role_names", "crop_policy_dictionary"];
            let ours = |name: &str| wanted.iter().any(|column| column.group == group && column.name == name);
            let strange = reader.arrays(group).into_iter().find(|name| !ours(name) && !BESIDE.contains(&name.as_str()));
            if let Some(name) = strange {
                return Err(format!("{group}/{name} is no column of the schema, and would be lost"));
            }
        }
        wanted.into_iter().map(|column| Self::of(reader, column)).collect()
    }

    fn of(reader: &StoreReader, wanted: Column<'_>) -> Result<Self, String> {
        let path = wanted.path();
        let column = match reader.is_there(&path) {
            true => Some(reader.column(&path).map_err(|error| error.to_string())?),
            false => None,
        };
        if let Some(column) = column.as_ref().filter(|column| column.shape().first() != Some(&0)) {
            let tail = column.shape().get(1..).unwrap_or_default();
            if column.dtype() != wanted.dtype || tail != wanted.tail {
                return Err(format!(
                    "{path} has the shape {:?}, but its rows should be {:?}",
                    column.shape(),
                    wanted.tail
                ));
            }
        }
        let change = match (wanted.dictionary, wanted.name) {
            (Some(dictionary), _) => Change::Code(dictionary),
            (_, "rollout_row_id") => Change::Chains,
            (_, "step_row_id") => Change::States,
            (_, "candidate_row_id" | "selected_candidate_row_id") => Change::Candidates,
            (_, "crop_row_id") => Change::Count,
            _ => Change::None,
        };
        let Column { group, name, dtype, tail, dictionary, .. } = wanted;
        Ok(Self { group, name, change, dtype, tail, dictionary, column })
    }

    /// How many rows there are; none of a column that is not there.
    pub(super) fn rows(&self) -> usize {
        self.column.as_ref().and_then(|column| column.shape().first().copied()).unwrap_or(0)
    }

    /// Bytes a row.
    pub(super) fn row(&self) -> usize {
        self.tail.iter().product::<usize>().saturating_mul(self.dtype.size())
    }

    /// The bytes of some rows, one range after the other; ranges do not fall.
    pub(super) fn read(&self, ranges: &[Range<usize>]) -> Result<Vec<u8>, StoreError> {
        let (row, wanted) = (self.row(), ranges.iter().map(ExactSizeIterator::len).sum::<usize>());
        let Some(column) = &self.column else { return Ok(self.absent(wanted)) };
        if let [range] = ranges {
            return column.bytes(range.clone());
        }
        let chunk = column.chunk().first().copied().unwrap_or(1).max(1);
        let most = (AT_A_TIME / row.max(1)).max(chunk);
        let mut bytes = Vec::with_capacity(wanted * row);
        let mut rest = ranges.iter().filter(|range| !range.is_empty()).peekable();
        while let Some(first) = rest.next() {
            // Those that share a chunk, or nearly, are read as one.
            let (start, mut span) = (first.start, vec![first.clone()]);
            while let Some(next) = rest.next_if(|next| {
                let end = span.last().map_or(start, |last| last.end);
                next.start.saturating_sub(end) < chunk && next.end - start <= most
            }) {
                span.push(next.clone());
            }
            let end = span.last().map_or(start, |last| last.end);
            let read = column.bytes(start..end)?;
            for range in span {
                bytes.extend_from_slice(
                    read.get((range.start - start) * row..(range.end - start) * row).unwrap_or_default(),
                );
            }
        }
        Ok(bytes)
    }

    /// What a column that a store lacks stands for: -1, NaN or false.
    fn absent(&self, rows: usize) -> Vec<u8> {
        match self.dtype {
            DType::F32 => f32::NAN.to_le_bytes().repeat(rows),
            DType::Bool => vec![0; rows],
            dtype => vec![0xff; rows * dtype.size()],
        }
    }

    /// The column with these bytes as its cells.
    pub(super) fn column(&self, bytes: Vec<u8>) -> Column<'static> {
        let Self { group, name, dtype, dictionary, .. } = *self;
        Column { group, name, dtype, tail: self.tail.clone(), dictionary, bytes: bytes.into() }
    }
}
