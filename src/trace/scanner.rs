//! One line read into cells.
//!
//! Rows of one producer are alike, so a line is first read by what differs from the row before
//! ([`Layout`]); a line that is laid out otherwise is read key by key, and becomes the layout to
//! compare the next one with. Either way gives the same cells.

use std::collections::HashSet;

use crate::trace::cells::Cells;
use crate::trace::columns::NO_REGIME;
use crate::trace::fault::LineFault;
use crate::trace::field::{self, Field, Odd, unescape};
use crate::trace::intern::Interner;
use crate::trace::layout::{Layout, Spot};
use crate::trace::scan::Cursor;

/// Reads lines, and numbers the texts that recur in them.
#[derive(Debug, Default)]
pub(super) struct RowScanner {
    pub(super) labels: Interner,
    pub(super) components: Interner,
    pub(super) others: Interner,
}

/// The keys that a row had so far.
#[derive(Default)]
struct Seen {
    fields: u32,
    others: HashSet<u32>,
    duplicate: bool,
}

impl Seen {
    fn field(&mut self, bit: u32) {
        self.duplicate |= self.fields & (1 << bit) != 0;
        self.fields |= 1 << bit;
    }

    fn other(&mut self, number: u32, known: &[(u32, &[u8])]) {
        const FEW: usize = 16;
        let before = if known.len() < FEW {
            known.iter().any(|(other, _)| *other == number)
        } else {
            if self.others.is_empty() {
                self.others.extend(known.iter().map(|(other, _)| *other));
            }
            !self.others.insert(number)
        };
        self.duplicate |= before;
    }
}

impl RowScanner {
    /// Reads the row that `text` begins with into `cells`, which hold the row that `layout` is of,
    /// and returns it and what follows its newline. `None` if it must be read as a line by
    /// itself ([`RowScanner::read_line`]).
    #[inline]
    pub(super) fn read_alike<'a>(
        &mut self,
        text: &'a [u8],
        layout: &mut Layout<'a>,
        cells: &mut Cells<'a>,
    ) -> Option<(&'a [u8], &'a [u8])> {
        // No value of a row goes beyond its line, so the line ends where the row does, or the row was misread.
        let row = layout.read_alike(text, cells, &mut self.labels)?;
        match text.get(row.len()..)? {
            [b'\n', rest @ ..] | [b'\r', b'\n', rest @ ..] => Some((row, rest)),
            _ => None,
        }
    }

    /// Reads `line` into `cells`, for the next ones to be compared with.
    pub(super) fn read_line<'a>(
        &mut self,
        line: &'a [u8],
        layout: &mut Layout<'a>,
        cells: &mut Cells<'a>,
    ) -> Result<(), LineFault> {
        layout.start(line);
        cells.clear();
        let read = self.read_anew(line, layout, cells);
        if read.is_err() || cells.duplicate_key || !cells.odd.is_empty() {
            // What is odd is told row by row, and of two equal keys the last holds: read anew each time.
            layout.forget();
        }
        read
    }

    /// Reads `line`, of which nothing is known, into empty cells.
    fn read_anew<'a>(
        &mut self,
        line: &'a [u8],
        layout: &mut Layout<'a>,
        cells: &mut Cells<'a>,
    ) -> Result<(), LineFault> {
        let mut cursor = Cursor::new(line);
        if !matches!(cursor.peek(), Some(b'{')) {
            cursor.value()?;
            return Err(LineFault::NotAnObject);
        }
        cursor.open_object()?;
        let mut seen = Seen::default();
        let mut step = None;
        let mut reward = None;
        let mut first = true;
        while let Some(key) = cursor.next_key(first)? {
            first = false;
            let field = Field::of_key(&unescape(key));
            if field != Field::Other {
                seen.field(field.place());
            }
            let start = cursor.rest;
            let spot = match field {
                Field::Step => {
                    step = Some(field::step(&mut cursor)?);
                    Spot::Field(field)
                }
                Field::Reward => {
                    reward = Some(field::reward(&mut cursor)?);
                    Spot::Field(field)
                }
                Field::Components => {
                    if self.read_components(&mut cursor, layout, cells)? {
                        continue;
                    }
                    Spot::Field(field)
                }
                Field::Other => {
                    let number = self.others.number(key);
                    let value = cursor.value()?;
                    seen.other(number, &cells.others);
                    cells.others.push((number, value));
                    Spot::Other(cells.others.len() - 1)
                }
                Field::Action | Field::Detail | Field::Ticket | Field::Verifier => {
                    outline(&mut cursor, layout)?;
                    continue;
                }
                field => {
                    let read = read_field(field, &mut cursor, cells, &mut self.labels)?;
                    if let Err(odd) = read {
                        cells.odd.push(odd);
                    }
                    Spot::Field(field)
                }
            };
            layout.push(start, cursor.rest, spot);
        }
        cursor.space();
        if !cursor.rest.is_empty() {
            return Err(cursor.error("the end of the line").into());
        }
        if cursor.beyond_ascii && std::str::from_utf8(line).is_err() {
            return Err(LineFault::NotUtf8);
        }
        cells.duplicate_key |= seen.duplicate;
        let (Some(step), Some(reward)) = (step, reward) else {
            return Err(LineFault::missing(step.is_some(), reward.is_some()));
        };
        cells.step = step.map_err(|odd| LineFault::WrongType { field: "step", found: odd.0 })?;
        let reward = reward.map_err(|odd| LineFault::WrongType { field: "reward", found: odd.0 })?;
        cells.reward = if reward.is_finite() { reward } else { f64::NAN };
        Ok(())
    }

    /// Reads the reward components; tells whether the layout knows the place of each.
    fn read_components<'a>(
        &mut self,
        cursor: &mut Cursor<'a>,
        layout: &mut Layout<'a>,
        cells: &mut Cells<'a>,
    ) -> Result<bool, LineFault> {
        cells.components.clear();
        if cursor.peek() != Some(b'{') {
            // Lua's empty table is written as an empty list by many.
            let value = cursor.value()?;
            if value != b"null" && !is_empty_list(value) {
                cells.odd.push(("reward_components", Odd("not a map")));
            }
            return Ok(false);
        }
        cursor.open_object()?;
        let mut first = true;
        while let Some(name) = cursor.next_key(first)? {
            first = false;
            let start = cursor.rest;
            let number = self.components.number(name);
            match field::optional_number(cursor)? {
                Ok(Some(value)) if value.is_finite() => {
                    layout.push(start, cursor.rest, Spot::Component(cells.components.len()));
                    cells.components.push((number, value));
                }
                Ok(_) => cells.odd.push(("reward_components", Odd("not a finite number"))),
                Err(odd) => cells.odd.push(("reward_components", odd)),
            }
        }
        cells.duplicate_key |= drop_earlier_duplicates(&mut cells.components);
        Ok(!first)
    }
}

/// Steps over a value whose scalars are likely all that changes from row to row.
fn outline<'a>(cursor: &mut Cursor<'a>, layout: &mut Layout<'a>) -> Result<(), LineFault> {
    /// Of longer values the layout would be longer than the text.
    const MOST: usize = 32;
    let start = cursor.rest;
    let mut scalars = [(start, start); MOST];
    let mut count = 0;
    cursor.value_with(&mut |before, after| {
        if let Some(scalar) = scalars.get_mut(count) {
            *scalar = (before, after);
        }
        count += 1;
    })?;
    match scalars.get(..count) {
        Some(scalars) if count > 0 => {
            scalars.iter().for_each(|(before, after)| layout.push(before, after, Spot::Unread));
        }
        // Nothing inside, or too much: the value as a whole.
        _ => layout.push(start, cursor.rest, Spot::Field(Field::Action)),
    }
    Ok(())
}

/// Reads the value of a field other than step, reward and components into its cell; `Err` of a
/// value that is of no use, whose cell is that of rows without the field.
#[inline]
pub(super) fn read_field<'a>(
    field: Field,
    cursor: &mut Cursor<'a>,
    cells: &mut Cells<'a>,
    labels: &mut Interner,
) -> Result<Result<(), (&'static str, Odd)>, LineFault> {
    let mut label = |cursor: &mut Cursor<'a>| {
        field::optional_text(cursor).map(|read| read.map(|text| text.map_or(NO_REGIME, |text| labels.number(text))))
    };
    let (name, odd) = match field {
        Field::RegimeId => {
            let read = label(cursor)?;
            cells.regime = read.unwrap_or(NO_REGIME);
            ("regime_id", read.err())
        }
        Field::RegimeOrigin => {
            let read = label(cursor)?;
            cells.origin = read.unwrap_or(NO_REGIME);
            ("regime_origin", read.err())
        }
        Field::ObservedAt => {
            let read = field::optional_text(cursor)?;
            cells.observed_at = read.unwrap_or(None);
            ("observed_at", read.err())
        }
        Field::InvalidAction => {
            let read = field::flag(cursor)?;
            cells.null_invalid_action = read == Ok(None);
            cells.invalid_action = read == Ok(Some(true));
            ("invalid_action", read.err())
        }
        Field::EffectiveRank => {
            let read = match field::optional_number(cursor)? {
                Ok(Some(rank)) if rank > 0.0 && rank.is_finite() => Ok(rank),
                Ok(Some(_)) => Err(Odd("not a positive number")),
                Ok(None) => Ok(f64::NAN),
                Err(odd) => Err(odd),
            };
            cells.effective_rank = read.unwrap_or(f64::NAN);
            ("effective_rank", read.err())
        }
        Field::Identity(place) => {
            let value = cursor.value()?;
            if let Some(cell) = cells.identity.get_mut(place) {
                *cell = value;
            }
            return Ok(Ok(()));
        }
        _ => {
            cursor.value()?;
            return Ok(Ok(()));
        }
    };
    Ok(odd.map_or(Ok(()), |odd| Err((name, odd))))
}

fn is_empty_list(value: &[u8]) -> bool {
    value.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]")).is_some_and(|inner| inner.trim_ascii().is_empty())
}

/// Keeps the last value of each name; tells whether one went.
fn drop_earlier_duplicates(cells: &mut Vec<(u32, f64)>) -> bool {
    const FEW: usize = 16;
    let distinct = if cells.len() <= FEW {
        cells.iter().enumerate().all(|(at, (name, _))| cells.iter().skip(at + 1).all(|(other, _)| other != name))
    } else {
        let mut seen = HashSet::with_capacity(cells.len());
        cells.iter().all(|(name, _)| seen.insert(*name))
    };
    if !distinct {
        let last: indexmap::IndexMap<u32, f64> = cells.iter().copied().collect();
        cells.clear();
        cells.extend(last);
    }
    !distinct
}
