//! The `observed_at` of a run's rows: as numbers, whatever the texts' length, and the first and
//! the last of the texts.

use crate::trace::columns::Moment;
use crate::trace::instant::instant;
use crate::trace::sparse::Sparse;

/// Times by row.
#[derive(Clone, Debug, Default)]
pub(super) struct Times {
    moments: Sparse<Moment>,
    ends: Option<(String, String)>,
}

impl Times {
    /// Adds the time of `row`, which is later than any before.
    pub(super) fn push(&mut self, row: usize, text: &str) {
        let read = instant(text).map(|instant| Moment::new(instant.nanoseconds, !instant.aware));
        self.moments.push(row, read.unwrap_or(Moment::NONE));
        match &mut self.ends {
            Some((_, last)) => {
                last.clear();
                last.push_str(text);
            }
            None => self.ends = Some((text.to_owned(), text.to_owned())),
        }
    }

    /// Adds the times of rows that follow, the first of which is `offset` in this column.
    pub(super) fn append(&mut self, later: Self, offset: usize) {
        self.moments.append(later.moments, offset);
        self.ends = match (self.ends.take(), later.ends) {
            (Some((first, _)), Some((_, last))) => Some((first, last)),
            (own, later) => own.or(later),
        };
    }

    pub(super) fn len(&self) -> usize {
        self.moments.len()
    }

    /// The text of the first row that has one, and of the last.
    pub(super) fn ends(&self) -> Option<(&String, &String)> {
        self.ends.as_ref().map(|(first, last)| (first, last))
    }

    /// Keeps the rows that `keep` has `true` for.
    pub(super) fn retain(&mut self, keep: &[bool]) {
        self.moments.retain(keep);
    }

    /// A moment a row, of `rows`; none at all where no row has a time.
    pub(super) fn dense(self, rows: usize) -> Vec<Moment> {
        if self.moments.len() == 0 { Vec::new() } else { self.moments.dense(rows, &Moment::NONE) }
    }
}
