//! What the rows of a run become while they are read: their columns, or what is counted of them.

use crate::trace::fault::Faults;
use crate::trace::group::Span;
use crate::trace::order;
use crate::trace::part::Part;
use crate::trace::read::ReadOptions;

/// Takes up the rows of one run, part by part, in the order of the file.
pub(super) trait Gather: Send {
    /// No rows yet.
    fn new(options: &ReadOptions) -> Self;

    /// Adds the rows that follow.
    fn add(&mut self, part: Part);

    /// The file has ended: tells what was odd about the order of its steps.
    fn end_file(&mut self, options: &ReadOptions, faults: &mut Faults);

    /// The least and the greatest step.
    fn span(&self) -> Span;

    /// Adds the rows of a later file.
    fn append(&mut self, later: Self);
}

impl Gather for Part {
    fn new(_options: &ReadOptions) -> Self {
        Self::default()
    }

    fn add(&mut self, part: Part) {
        Part::append(self, part);
    }

    fn end_file(&mut self, options: &ReadOptions, faults: &mut Faults) {
        order::check(self, options.on_restart, faults);
    }

    fn span(&self) -> Span {
        Span::of(self.step.iter().copied())
    }

    fn append(&mut self, later: Self) {
        Part::append(self, later);
    }
}
