//! How the last row was laid out, so that the next one is read by what differs.
//!
//! A row is a sequence of values with fixed text between them. A line is compared with the row
//! before; where the two part within a value, that value is read, and the comparison goes on
//! behind it. What agrees needs no reading: the cells hold it already. Where they part outside of
//! a value, the line is laid out otherwise and must be read key by key.

use crate::trace::cells::Cells;
use crate::trace::field::{self, Field};
use crate::trace::intern::Interner;
use crate::trace::scan::Cursor;
use crate::trace::scanner::read_field;

/// What a value of the row is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spot {
    /// The value of a field; of components only where the row has none.
    Field(Field),
    /// The value of the component at this place among the cells'.
    Component(usize),
    /// The value of the other key at this place among the cells'.
    Other(usize),
    /// A scalar that no cell holds, inside a value that is stepped over.
    Unread,
}

/// A value's place.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Bytes from the end of the value before.
    gap: usize,
    length: usize,
    spot: Spot,
}

/// The last row and the places of its values.
#[derive(Debug, Default)]
pub(super) struct Layout<'a> {
    row: &'a [u8],
    slots: Vec<Slot>,
    /// What follows the last value so far.
    rest: &'a [u8],
}

impl<'a> Layout<'a> {
    /// Starts anew with `row`, whose values are to be pushed in order.
    pub(super) fn start(&mut self, row: &'a [u8]) {
        self.slots.clear();
        (self.row, self.rest) = (row, row);
    }

    /// Adds the value between what was left of the row before it and what is left after it.
    pub(super) fn push(&mut self, before: &[u8], after: &'a [u8], spot: Spot) {
        let gap = self.rest.len().saturating_sub(before.len());
        self.slots.push(Slot { gap, length: before.len().saturating_sub(after.len()), spot });
        self.rest = after;
    }

    /// Lets the next line be read anew.
    pub(super) fn forget(&mut self) {
        self.start(&[]);
    }

    /// Reads the row that `text` begins with into `cells`, which hold the last row, and returns its
    /// length. `None` if it is laid out otherwise, or something about it needs telling; the cells
    /// are then of no use. Whether the row is all of its line is for the caller to see.
    pub(super) fn read_alike(
        &mut self,
        text: &'a [u8],
        cells: &mut Cells<'a>,
        labels: &mut Interner,
    ) -> Option<&'a [u8]> {
        if self.slots.is_empty() {
            return None;
        }
        cells.same_identity = true;
        // Where the last value ended in the last row and here, and up to where, in the last row,
        // the two agree from there on.
        let (mut old, mut new) = (0, 0);
        let mut agreed = common_prefix(self.row, text);
        let mut beyond_ascii = false;
        for slot in &mut self.slots {
            let end = slot.gap + slot.length;
            // Beyond the value's end: what stands behind it is the same, so it is no longer, either.
            if agreed > old + end {
                (old, new) = (old + end, new + end);
                continue;
            }
            if agreed < old + slot.gap {
                return None;
            }
            let start = tail(text, new + slot.gap);
            let mut cursor = Cursor::new(start);
            if !read_value(slot.spot, &mut cursor, cells, labels) {
                return None;
            }
            beyond_ascii |= cursor.beyond_ascii;
            old += end;
            slot.length = start.len() - cursor.rest.len();
            new += slot.gap + slot.length;
            agreed = old + common_prefix(tail(self.row, old), cursor.rest);
        }
        if agreed != self.row.len() {
            return None;
        }
        let line = text.get(..new + agreed - old)?;
        if beyond_ascii && std::str::from_utf8(line).is_err() {
            return None;
        }
        self.row = line;
        Some(line)
    }
}

/// Reads a value into its cell; `false` if there is more to say of it than the cell holds.
#[inline]
fn read_value<'a>(spot: Spot, cursor: &mut Cursor<'a>, cells: &mut Cells<'a>, labels: &mut Interner) -> bool {
    match spot {
        Spot::Component(place) => match (cursor.float(), cells.components.get_mut(place)) {
            (Ok(value), Some(cell)) if value.is_finite() => {
                cell.1 = value;
                true
            }
            _ => false,
        },
        Spot::Field(Field::Step) => match field::step(cursor) {
            Ok(Ok(step)) => {
                cells.step = step;
                true
            }
            _ => false,
        },
        Spot::Field(Field::Reward) => match field::reward(cursor) {
            Ok(Ok(reward)) => {
                cells.reward = if reward.is_finite() { reward } else { f64::NAN };
                true
            }
            _ => false,
        },
        Spot::Field(Field::Components) => false,
        Spot::Unread => cursor.skip_scalar().is_ok(),
        Spot::Field(field) => {
            cells.same_identity &= !matches!(field, Field::Identity(_));
            matches!(read_field(field, cursor, cells, labels), Ok(Ok(())))
        }
        Spot::Other(place) => match (cursor.value(), cells.others.get_mut(place)) {
            (Ok(value), Some(cell)) => {
                cell.1 = value;
                true
            }
            _ => false,
        },
    }
}

#[inline]
fn tail(text: &[u8], at: usize) -> &[u8] {
    text.get(at..).unwrap_or_default()
}

/// How many bytes both begin with.
#[inline]
fn common_prefix(one: &[u8], other: &[u8]) -> usize {
    let mut same = 0;
    let (blocks, _) = one.as_chunks::<32>();
    let (others, _) = other.as_chunks::<32>();
    for (block, other) in blocks.iter().zip(others) {
        if block != other {
            break;
        }
        same += 32;
    }
    let (words, _) = tail(one, same).as_chunks::<8>();
    let (others, _) = tail(other, same).as_chunks::<8>();
    for (word, other) in words.iter().zip(others) {
        let differing = u64::from_le_bytes(*word) ^ u64::from_le_bytes(*other);
        if differing != 0 {
            return same + (differing.trailing_zeros() / 8) as usize;
        }
        same += 8;
    }
    same + tail(one, same).iter().zip(tail(other, same)).take_while(|(byte, other)| byte == other).count()
}
