//! What is wrong, one line a check.

/// The findings so far.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<String>);

impl Findings {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn into_errors(self) -> Vec<String> {
        self.0
    }

    /// Adds one line.
    pub(super) fn add(&mut self, message: impl Into<String>) {
        self.0.push(message.into());
    }

    /// Adds one line about all of `rows`, if there are any: the first one and how many more.
    pub(super) fn rows(&mut self, path: &str, rows: impl IntoIterator<Item = usize>, what: &str) {
        let mut rows = rows.into_iter();
        let Some(first) = rows.next() else { return };
        let more = match rows.count() {
            0 => String::new(),
            count => format!(" (and {count} more)"),
        };
        self.add(format!("{path}: row {first}{more}: {what}"));
    }

    /// The same about every position whose flag is set.
    pub(super) fn flagged(&mut self, path: &str, flags: impl IntoIterator<Item = bool>, what: &str) {
        self.rows(path, flags.into_iter().enumerate().filter_map(|(row, flag)| flag.then_some(row)), what);
    }
}
