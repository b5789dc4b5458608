//! A file's rows, one after another, each with its text: what streaming readers are built on.

use crate::trace::account::{Account, Refused};
use crate::trace::columns::Warning;
use crate::trace::error::TraceError;
use crate::trace::input::{InputFile, Source};
use crate::trace::parse::{ParsedLine, parse_line};
use crate::trace::read::ReadOptions;

/// The lines of a file, of which a block is in memory at a time.
pub(super) struct Lines {
    source: Source,
    name: String,
    block: Vec<u8>,
    at: usize,
    account: Account,
    text_bytes: u64,
    ended: bool,
}

/// A line that is a row.
pub(super) struct RowLine<'a> {
    /// Its text, without space around it.
    pub(super) text: &'a [u8],
    pub(super) parsed: ParsedLine<'a>,
    /// Its line, from 1.
    pub(super) line: usize,
}

impl Lines {
    pub(super) fn open(input: &InputFile, options: &ReadOptions) -> Result<Self, TraceError> {
        Ok(Self {
            source: Source::open(input, options.block_bytes, false)?,
            name: input.name.clone(),
            block: Vec::new(),
            at: 0,
            account: Account::new(options.every_fault),
            text_bytes: 0,
            ended: false,
        })
    }

    /// What `make` makes of the next row; `None` after the last. Lines that are no rows are noted.
    pub(super) fn next_with<R>(&mut self, mut make: impl FnMut(RowLine<'_>) -> R) -> Result<Option<R>, TraceError> {
        while !self.ended {
            if let Some(made) = self.next_in_block(&mut make) {
                return Ok(Some(made));
            }
            let next = self.source.next_block();
            self.ended = !matches!(next, Ok(Some(_)));
            match next? {
                Some(block) => {
                    self.text_bytes += block.len() as u64;
                    self.source.recycle(std::mem::replace(&mut self.block, block));
                    self.at = 0;
                }
                None => self.account.end(&self.source),
            }
        }
        Ok(None)
    }

    fn next_in_block<R>(&mut self, make: &mut impl FnMut(RowLine<'_>) -> R) -> Option<R> {
        loop {
            let rest = self.block.get(self.at..).filter(|rest| !rest.is_empty())?;
            let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |newline| newline + 1);
            let whole = rest.get(..end).unwrap_or_default();
            self.at += end;
            self.account.lines += 1;
            let text = whole.trim_ascii();
            if text.is_empty() {
                continue;
            }
            self.account.go_on();
            let line = self.account.lines;
            match parse_line(text) {
                Ok(parsed) => {
                    self.account.rows += 1;
                    return Some(make(RowLine { text, parsed, line }));
                }
                Err(fault) => {
                    self.account.skipped += 1;
                    self.account.refused = Some(Refused::new(fault, text, line, whole.ends_with(b"\n")));
                }
            }
        }
    }

    /// What was odd about the lines so far; complete once there are no more.
    pub(super) fn warnings(&self) -> Vec<Warning> {
        self.account.faults.clone().into_warnings(&self.name).collect()
    }

    /// The rows so far.
    pub(super) fn rows(&self) -> u64 {
        self.account.rows
    }

    /// Bytes of text so far, uncompressed.
    pub(super) fn text_bytes(&self) -> u64 {
        self.text_bytes
    }

    /// The line that was read last.
    pub(super) fn line(&self) -> usize {
        self.account.lines
    }
}
