//! One file's account while it is read: how many rows and lines, what was odd, and the judgement
//! on its end, where a torn row is no surprise.

use crate::trace::fault::{Faults, LineFault};
use crate::trace::input::{Ending, Source};

/// A line that is no row, as long as it may be the last of its file.
#[derive(Debug)]
pub(super) struct Refused {
    line: usize,
    kind: &'static str,
    message: String,
    /// The line ends before the row does.
    torn: bool,
    /// The line is no JSON at all.
    not_json: bool,
    /// The line has its newline.
    terminated: bool,
}

impl Refused {
    pub(super) fn new(fault: LineFault, text: &[u8], line: usize, terminated: bool) -> Self {
        Self {
            line,
            kind: fault.kind(text),
            message: fault.message(text),
            torn: fault.is_torn(),
            not_json: fault.is_not_json(),
            terminated,
        }
    }

    /// Notes the line as one that others follow.
    pub(super) fn note(self, faults: &mut Faults) {
        faults.note("bad_line", self.kind, Some(self.line), None, || self.message);
    }

    /// Moves the line down by as many as come before its chunk.
    pub(super) fn after(mut self, lines: usize) -> Self {
        self.line += lines;
        self
    }
}

/// What was met so far.
#[derive(Debug)]
pub(super) struct Account {
    pub(super) faults: Faults,
    /// Lines, blank ones included.
    pub(super) lines: usize,
    pub(super) rows: u64,
    pub(super) skipped: u64,
    /// The last line that is not blank, if it is no row.
    pub(super) refused: Option<Refused>,
}

impl Account {
    pub(super) fn new(every: bool) -> Self {
        Self { faults: Faults::new(every), lines: 0, rows: 0, skipped: 0, refused: None }
    }

    /// A line that is not blank follows: a refused one before it was not the last.
    pub(super) fn go_on(&mut self) {
        if let Some(refused) = self.refused.take() {
            refused.note(&mut self.faults);
        }
    }

    /// Judges the last line, and the file as a whole.
    pub(super) fn end(&mut self, source: &Source) {
        let ending = source.ending.as_ref();
        match self.refused.take() {
            // The end of the compressed stream tells of it already.
            Some(refused) if ending == Some(&Ending::Truncated) && !refused.terminated => {}
            Some(refused) if refused.torn || (refused.not_json && !refused.terminated) => {
                self.faults.note("truncated_tail", "", Some(refused.line), None, || {
                    "the last row is cut off; everything before it counts".to_owned()
                });
            }
            Some(refused) => refused.note(&mut self.faults),
            None => {}
        }
        if self.rows == 0 {
            self.tell_no_rows();
        }
        if let Some(ending) = ending {
            self.tell_ending(ending, source.compression == Some("gzip"));
        }
    }

    fn tell_no_rows(&mut self) {
        let why = self.faults.first("bad_line").map(|(line, why)| format!(" (line {line}: {why})"));
        self.faults.forget("bad_line");
        self.faults.forget("truncated_tail");
        let skipped = self.skipped;
        if skipped > 0 {
            self.faults.note("not_a_trace", "", None, None, || {
                format!(
                    "not a trace: none of {skipped} lines is an object with `step` and `reward`{}",
                    why.unwrap_or_default()
                )
            });
        } else {
            self.faults.note("empty", "", None, None, || "the file holds no rows".to_owned());
        }
    }

    fn tell_ending(&mut self, ending: &Ending, gzip: bool) {
        let (code, message) = match ending {
            Ending::Truncated => (
                if gzip { "truncated_gzip" } else { "truncated_zstd" },
                "the compressed file is cut off; its whole rows count".to_owned(),
            ),
            Ending::Corrupt(cause) => (
                if gzip { "corrupt_gzip" } else { "corrupt_zstd" },
                format!("the compressed file is damaged ({cause}); the rows before the damage count"),
            ),
            Ending::Garbage => {
                ("trailing_garbage", "bytes after the end of the compressed data are ignored".to_owned())
            }
        };
        self.faults.note(code, "", None, None, || message);
    }
}
