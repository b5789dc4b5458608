//! A column that some rows have no entry in, at a cost in proportion to its entries.

/// Entries by row, in order. As long as no row is left out, the rows need no record.
#[derive(Clone, Debug)]
pub(super) struct Sparse<T> {
    values: Vec<T>,
    rows: Option<Vec<u32>>,
}

impl<T> Default for Sparse<T> {
    fn default() -> Self {
        Self { values: Vec::new(), rows: None }
    }
}

impl<T> Sparse<T> {
    /// Adds the entry of `row`, which is later than any before.
    #[inline]
    pub(super) fn push(&mut self, row: usize, value: T) {
        if self.rows.is_some() || self.values.len() != row {
            self.recorded_rows().push(u32::try_from(row).unwrap_or(u32::MAX));
        }
        self.values.push(value);
    }

    fn recorded_rows(&mut self) -> &mut Vec<u32> {
        let filled = u32::try_from(self.values.len()).unwrap_or(u32::MAX);
        self.rows.get_or_insert_with(|| (0..filled).collect())
    }

    /// Adds the entries of a column whose first row is `offset` in this one.
    pub(super) fn append(&mut self, later: Self, offset: usize) {
        if self.rows.is_some() || later.rows.is_some() || self.values.len() != offset {
            if later.values.is_empty() {
                return;
            }
            let shift = u32::try_from(offset).unwrap_or(u32::MAX);
            let filled = u32::try_from(later.values.len()).unwrap_or(u32::MAX);
            let rows = self.recorded_rows();
            match later.rows {
                Some(later) => rows.extend(later.into_iter().map(|row| row.saturating_add(shift))),
                None => rows.extend((0..filled).map(|row| row.saturating_add(shift))),
            }
        }
        self.values.extend(later.values);
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    pub(super) fn values(&self) -> &[T] {
        &self.values
    }

    /// The row of the first entry.
    pub(super) fn first_row(&self) -> Option<usize> {
        match &self.rows {
            Some(rows) => rows.first().map(|row| *row as usize),
            None => (!self.values.is_empty()).then_some(0),
        }
    }

    /// Keeps the entries of the rows that `keep` has `true` for; later rows move up.
    pub(super) fn retain(&mut self, keep: &[bool]) {
        let moved: Vec<u32> = keep
            .iter()
            .scan(0, |kept, keep| {
                let row = *kept;
                *kept += u32::from(*keep);
                Some(row)
            })
            .collect();
        let mut old = std::mem::take(self);
        let rows = std::mem::take(old.recorded_rows());
        for (row, value) in rows.into_iter().zip(old.values) {
            if keep.get(row as usize).copied().unwrap_or(true) {
                self.push(moved.get(row as usize).copied().unwrap_or(row) as usize, value);
            }
        }
    }

    /// All `rows`, `gap` where there is no entry.
    pub(super) fn dense(self, rows: usize, gap: &T) -> Vec<T>
    where
        T: Clone,
    {
        let Some(recorded) = self.rows else {
            let mut values = self.values;
            values.resize(rows, gap.clone());
            return values;
        };
        let mut dense = Vec::with_capacity(rows);
        for (row, value) in recorded.into_iter().zip(self.values) {
            dense.resize(row as usize, gap.clone());
            dense.push(value);
        }
        dense.resize(rows, gap.clone());
        dense
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

    use proptest::prelude::*;

    use super::*;

    fn sparse(column: &[Option<i32>]) -> Sparse<i32> {
        let mut sparse = Sparse::default();
        column
            .iter()
            .enumerate()
            .filter_map(|(row, value)| value.map(|value| (row, value)))
            .for_each(|(row, value)| sparse.push(row, value));
        sparse
    }

    proptest! {
        #[test]
        fn joining_is_reading_in_one_go(column: Vec<Option<i32>>, cut: usize, keep: Vec<bool>) {
            let cut = cut % (column.len() + 1);
            let mut joined = sparse(&column[..cut]);
            joined.append(sparse(&column[cut..]), cut);
            let expected: Vec<i32> = column.iter().map(|value| value.unwrap_or(-1)).collect();
            prop_assert_eq!(joined.clone().dense(column.len(), &-1), expected);
            prop_assert_eq!(joined.first_row(), column.iter().position(Option::is_some));
            let keep: Vec<bool> = (0..column.len()).map(|row| keep.get(row).copied().unwrap_or(true)).collect();
            joined.retain(&keep);
            let kept: Vec<i32> = column.iter().zip(&keep).filter(|(_, keep)| **keep).map(|(value, _)| value.unwrap_or(-1)).collect();
            prop_assert_eq!(joined.dense(kept.len(), &-1), kept);
        }
    }
}
