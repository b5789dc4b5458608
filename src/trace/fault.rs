//! What is odd about lines and rows, and its account: one entry a kind, with the first place and
//! a count.

use std::collections::HashMap;

use crate::trace::columns::Warning;
use crate::trace::scan::{ScanError, ScanFault};

/// Why a line is not a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineFault {
    NotJson(ScanError),
    NotUtf8,
    NotAnObject,
    MissingStep,
    MissingReward,
    MissingBoth,
    WrongType { field: &'static str, found: &'static str },
}

impl From<ScanError> for LineFault {
    fn from(error: ScanError) -> Self {
        Self::NotJson(error)
    }
}

impl LineFault {
    pub(super) fn missing(has_step: bool, has_reward: bool) -> Self {
        match (has_step, has_reward) {
            (false, true) => Self::MissingStep,
            (true, _) => Self::MissingReward,
            (false, false) => Self::MissingBoth,
        }
    }

    /// Whether the line ends before the row does.
    pub(super) fn is_torn(self) -> bool {
        matches!(self, Self::NotJson(ScanError { kind: ScanFault::Torn, .. }))
    }

    /// Whether the text itself is at fault, not what it says.
    pub(super) fn is_not_json(self) -> bool {
        matches!(self, Self::NotJson(_) | Self::NotUtf8)
    }

    /// What tells it from other faults of lines, in an account.
    pub(super) fn kind(self, line: &[u8]) -> &'static str {
        match self {
            Self::NotJson(_) if is_fused(line) => "fused",
            Self::NotJson(ScanError { kind: ScanFault::Torn, .. }) => "torn",
            Self::NotJson(ScanError { kind: ScanFault::Expected(_), .. }) => "json",
            Self::NotJson(ScanError { kind: ScanFault::TooDeep, .. }) => "deep",
            Self::NotUtf8 => "utf8",
            Self::NotAnObject => "object",
            Self::MissingStep | Self::MissingReward | Self::MissingBoth => "missing",
            Self::WrongType { field, .. } => field,
        }
    }

    /// What is wrong with `line`, in one line that says how to mend it.
    pub(super) fn message(self, line: &[u8]) -> String {
        match self {
            Self::NotJson(_) if is_fused(line) => "two rows fused (append after a crash, or two writers)".to_owned(),
            Self::NotJson(ScanError { kind, left }) => {
                let column = line.len().saturating_sub(left) + 1;
                match kind {
                    ScanFault::Torn => "the row is cut off".to_owned(),
                    ScanFault::Expected(what) => format!("not JSON: expected {what} at column {column}"),
                    ScanFault::TooDeep => {
                        format!("nested deeper than {} levels at column {column}", crate::text::json::MAX_DEPTH)
                    }
                }
            }
            Self::NotUtf8 => "not UTF-8 text".to_owned(),
            Self::NotAnObject => "not a JSON object".to_owned(),
            Self::MissingStep => "a row without `step`".to_owned(),
            Self::MissingReward => "a row without `reward`".to_owned(),
            Self::MissingBoth => "an object with neither `step` nor `reward`".to_owned(),
            Self::WrongType { field: field @ "step", found } => {
                format!("`{field}` is {found}; write an integer, such as 3")
            }
            Self::WrongType { field, found } => format!("`{field}` is {found}; write a number, such as 0.5"),
        }
    }
}

/// Whether a second row begins within the line: after a closing brace, or like the first.
fn is_fused(line: &[u8]) -> bool {
    if memchr::memmem::find(line, b"}{").is_some() {
        return true;
    }
    let Some(rest) = line.strip_prefix(b"{\"") else { return false };
    let Some(end) = memchr::memchr(b'"', rest) else { return false };
    let start = line.get(..end + 3).unwrap_or(line);
    memchr::memmem::find(line.get(1..).unwrap_or_default(), start).is_some()
}

/// Whether a warning tells of rows or values that are lost: what a strict reader stops at.
pub(super) fn is_loss(code: &str) -> bool {
    const LOSSES: [&str; 12] = [
        "bad_line",
        "truncated_tail",
        "truncated_gzip",
        "truncated_zstd",
        "corrupt_gzip",
        "corrupt_zstd",
        "trailing_garbage",
        "not_a_trace",
        "bad_field",
        "bad_rank",
        "bad_component",
        "too_many_components",
    ];
    LOSSES.contains(&code)
}

/// So many faults of a kind are kept apart at most; the last stands for all that follow.
const MOST_APART: usize = 10_000;

/// Warnings of one file or a part of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Faults {
    /// Each with what tells it from others of the same code.
    entries: Vec<(&'static str, Warning)>,
    /// The last entry of each kind, and how many there are.
    last: HashMap<(&'static str, &'static str), (usize, usize)>,
    every: bool,
}

impl Faults {
    /// An empty account; `every` keeps each occurrence apart, as far as that goes.
    pub(super) fn new(every: bool) -> Self {
        Self { every, ..Self::default() }
    }

    /// Notes one occurrence; `message` is asked for the first of a kind only.
    pub(super) fn note(
        &mut self,
        code: &'static str,
        kind: &'static str,
        line: Option<usize>,
        step: Option<i64>,
        message: impl FnOnce() -> String,
    ) {
        if let Some(warning) = self.known(code, kind) {
            warning.count += 1;
        } else {
            self.add(kind, Warning { code, message: message(), file: None, line, step, count: 1 });
        }
    }

    /// The entry that a further occurrence is counted in.
    fn known(&mut self, code: &'static str, kind: &'static str) -> Option<&mut Warning> {
        let (last, count) = self.last.get(&(code, kind)).copied()?;
        let most = if self.every { MOST_APART } else { 1 };
        self.entries.get_mut(last).filter(|_| count >= most).map(|(_, known)| known)
    }

    fn add(&mut self, kind: &'static str, warning: Warning) {
        let (last, count) = self.last.entry((warning.code, kind)).or_default();
        (*last, *count) = (self.entries.len(), *count + 1);
        self.entries.push((kind, warning));
    }

    /// Adds the faults of the lines that follow; their line numbers start after `lines`.
    pub(super) fn append(&mut self, later: Self, lines: usize) {
        for (kind, mut warning) in later.entries {
            warning.line = warning.line.map(|line| line + lines);
            if let Some(known) = self.known(warning.code, kind) {
                known.count += warning.count;
            } else {
                self.add(kind, warning);
            }
        }
    }

    /// The first warning of a code by its line, and what it says.
    pub(super) fn first(&self, code: &str) -> Option<(usize, &str)> {
        let of_code = self.entries.iter().filter(|(_, warning)| warning.code == code);
        of_code.filter_map(|(_, warning)| Some((warning.line?, &*warning.message))).min_by_key(|(line, _)| *line)
    }

    /// Forgets the warnings of a code.
    pub(super) fn forget(&mut self, code: &str) {
        self.entries.retain(|(_, warning)| warning.code != code);
        self.last.clear();
        for (place, (kind, warning)) in self.entries.iter().enumerate() {
            let (last, count) = self.last.entry((warning.code, kind)).or_default();
            (*last, *count) = (place, *count + 1);
        }
    }

    /// The warnings, all about `file`, in the order of lines; those about no line come last.
    ///
    /// The order of noting would depend on blocks: a row is compared with the one before its
    /// block only after the block was read.
    pub(super) fn into_warnings(mut self, file: &str) -> impl Iterator<Item = Warning> {
        self.entries.sort_by_key(|(_, warning)| (warning.line.is_none(), warning.line));
        self.entries.into_iter().map(move |(_, warning)| Warning { file: Some(file.to_owned()), ..warning })
    }
}
