//! What is wrong, one line a kind: the first row and how many more.
//!
//! Checks that run side by side, or block after block, have findings of their own that are merged
//! in a fixed order, so that the lines never depend on threads or block sizes.

use indexmap::IndexMap;

/// Where a kind of violation was found.
#[derive(Clone, Copy, Debug, Default)]
struct Rows {
    /// The first row; `None` for what is not about rows.
    first: Option<usize>,
    /// How many rows in all.
    count: usize,
}

/// The findings so far: by what is said of which node.
#[derive(Debug, Default)]
pub(super) struct Findings {
    kinds: IndexMap<(String, String), Rows>,
    /// The row number of the first row that is looked at.
    base: usize,
}

impl Findings {
    /// Findings about rows that are counted from `base`.
    pub(super) fn from(base: usize) -> Self {
        Self { base, ..Self::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    /// One line a kind, in the order in which they were found.
    pub(super) fn into_errors(self) -> Vec<String> {
        let line = |((path, what), rows): ((String, String), Rows)| match rows {
            Rows { first: None, .. } => what,
            Rows { first: Some(first), count: 1 } => format!("{path}: row {first}: {what}"),
            Rows { first: Some(first), count } => format!("{path}: row {first} (and {} more): {what}", count - 1),
        };
        self.kinds.into_iter().map(line).collect()
    }

    /// Adds one line.
    pub(super) fn add(&mut self, message: impl Into<String>) {
        self.kinds.entry((String::new(), message.into())).or_default();
    }

    /// Adds lines.
    pub(super) fn extend(&mut self, messages: impl IntoIterator<Item = String>) {
        messages.into_iter().for_each(|message| self.add(message));
    }

    /// Adds what was found about later rows.
    pub(super) fn merge(&mut self, later: Self) {
        for (kind, rows) in later.kinds {
            let own = self.kinds.entry(kind).or_default();
            own.first = own.first.or(rows.first);
            own.count += rows.count;
        }
    }

    /// These findings and `later` ones.
    pub(super) fn with(mut self, later: Self) -> Self {
        self.merge(later);
        self
    }

    /// Adds `rows`, if there are any, to what is said of them.
    pub(super) fn rows(&mut self, path: &str, rows: impl IntoIterator<Item = usize>, what: &str) {
        let mut rows = rows.into_iter();
        let Some(first) = rows.next() else { return };
        let own = self.kinds.entry((path.to_owned(), what.to_owned())).or_default();
        own.first = own.first.or(Some(self.base + first));
        own.count += 1 + rows.count();
    }

    /// The same about every position whose flag is set.
    pub(super) fn flagged(&mut self, path: &str, flags: impl IntoIterator<Item = bool>, what: &str) {
        self.rows(path, flags.into_iter().enumerate().filter_map(|(row, flag)| flag.then_some(row)), what);
    }
}
