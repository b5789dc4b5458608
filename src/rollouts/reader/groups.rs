//! Rows by a key: one stable sort, then every key's rows stand together.

/// The rows of a table, grouped by a column of ids.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups {
    keys: Vec<i64>,
    starts: Vec<usize>,
    rows: Vec<usize>,
}

impl Groups {
    /// Groups the rows of `ids`; within a group they are ordered by `order` of the row, then as
    /// they stand.
    pub(super) fn new<K: Ord>(ids: &[i64], order: impl Fn(usize) -> K) -> Self {
        let mut rows: Vec<usize> = (0..ids.len()).collect();
        let id = |row: usize| ids.get(row).copied().unwrap_or_default();
        rows.sort_by_key(|row| (id(*row), order(*row)));
        let mut groups = Self { keys: Vec::new(), starts: Vec::new(), rows: Vec::new() };
        for (place, row) in rows.iter().enumerate() {
            if groups.keys.last() != Some(&id(*row)) {
                groups.keys.push(id(*row));
                groups.starts.push(place);
            }
        }
        groups.starts.push(rows.len());
        groups.rows = rows;
        groups
    }

    /// The keys, ascending.
    #[must_use]
    pub fn keys(&self) -> &[i64] {
        &self.keys
    }

    /// The rows of `key`, in order; none for an unknown key.
    #[must_use]
    pub fn rows(&self, key: i64) -> &[usize] {
        let of = |place: usize| self.rows.get(*self.starts.get(place)?..*self.starts.get(place + 1)?);
        self.keys.binary_search(&key).ok().and_then(of).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::Groups;

    #[test]
    fn rows_stand_by_key_and_in_order() {
        let groups = Groups::new(&[7, 3, 7, 7], |row| [2, 0, 1, 1].get(row).copied());
        assert_eq!(groups.keys(), [3, 7]);
        assert_eq!(groups.rows(7), [2, 3, 0]);
        assert_eq!(groups.rows(3), [1]);
        assert!(groups.rows(4).is_empty() && Groups::new(&[], |_| 0).rows(0).is_empty());
    }
}
