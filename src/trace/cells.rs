//! One line read into typed cells, by guessing that it looks like the line before it.
//!
//! Rows of one producer have the same keys in the same order, and most of their texts recur. So
//! each key, with the punctuation around it, is compared with the one that stood there in the
//! last row, and a text with the last one in its place; only what differs is scanned. The guess
//! changes the speed alone: what it skips was read in full once.

use std::collections::HashSet;

use crate::trace::columns::NO_REGIME;
use crate::trace::fault::LineFault;
use crate::trace::field::{self, Field, Odd, unescape};
use crate::trace::intern::Interner;
use crate::trace::scan::Cursor;

/// What one row holds, as far as columns need it. Texts are numbers of the scanner's interners.
#[derive(Debug, Default)]
pub(super) struct Cells<'a> {
    pub(super) step: i64,
    /// NaN where not finite.
    pub(super) reward: f64,
    /// [`NO_REGIME`] where null or absent.
    pub(super) regime: u32,
    pub(super) origin: u32,
    pub(super) observed_at: Option<&'a [u8]>,
    pub(super) invalid_action: bool,
    pub(super) null_invalid_action: bool,
    /// NaN where not measured.
    pub(super) effective_rank: f64,
    pub(super) components: Vec<(u32, f64)>,
    /// The identity values' JSON text; empty where absent.
    pub(super) identity: [&'a [u8]; 5],
    /// Whether the identity is surely that of the row before.
    pub(super) same_identity: bool,
    /// Other keys with their values' JSON text.
    pub(super) others: Vec<(u32, &'a [u8])>,
    /// Fields whose value is of no use.
    pub(super) odd: Vec<(&'static str, Odd)>,
    pub(super) duplicate_key: bool,
}

impl Cells<'_> {
    fn clear(&mut self) {
        self.regime = NO_REGIME;
        self.origin = NO_REGIME;
        self.observed_at = None;
        self.invalid_action = false;
        self.null_invalid_action = false;
        self.effective_rank = f64::NAN;
        self.components.clear();
        self.identity = [&[]; 5];
        self.others.clear();
        self.odd.clear();
        self.duplicate_key = false;
    }
}

/// A key as the last row had it in this place.
#[derive(Debug)]
struct Slot {
    /// The key with all punctuation before and after it, up to its value.
    lead: Vec<u8>,
    key: String,
    field: Field,
    /// The key's number, if it is no field.
    number: u32,
    /// The JSON text of the last value, where it is worth remembering.
    last: Vec<u8>,
    /// The number of the last value.
    last_number: u32,
}

/// Values longer than this are not remembered.
const LONGEST_REMEMBERED: usize = 256;

impl Slot {
    /// Steps over the value if it is the last one again.
    #[inline]
    fn repeats(&self, cursor: &mut Cursor<'_>) -> bool {
        if self.last.is_empty() {
            return false;
        }
        match cursor.rest.strip_prefix(self.last.as_slice()) {
            Some(rest @ [b',' | b'}', ..]) => {
                cursor.rest = rest;
                true
            }
            _ => false,
        }
    }

    fn remember(&mut self, value: &[u8]) {
        self.last.clear();
        if value.len() <= LONGEST_REMEMBERED {
            self.last.extend_from_slice(value);
        }
    }
}

/// Reads lines into cells.
#[derive(Debug, Default)]
pub(super) struct RowScanner {
    slots: Vec<Slot>,
    /// How many keys the last row had, and whether one twice.
    last_keys: usize,
    last_duplicate: bool,
    component_slots: Vec<(Vec<u8>, u32)>,
    pub(super) labels: Interner,
    pub(super) components: Interner,
    pub(super) others: Interner,
}

impl RowScanner {
    /// Reads `line` into `cells`.
    pub(super) fn read<'a>(&mut self, line: &'a [u8], cells: &mut Cells<'a>) -> Result<(), LineFault> {
        let read = self.read_guessing(line, cells);
        if read.is_err() {
            // What a refused line left behind was never checked as a whole.
            self.slots.clear();
            self.component_slots.clear();
            self.last_keys = usize::MAX;
        }
        read
    }

    fn read_guessing<'a>(&mut self, line: &'a [u8], cells: &mut Cells<'a>) -> Result<(), LineFault> {
        cells.clear();
        let mut cursor = Cursor::new(line);
        if !matches!(cursor.peek(), Some(b'{')) {
            cursor.value()?;
            return Err(LineFault::NotAnObject);
        }
        let mut step = None;
        let mut reward = None;
        let mut keys = 0;
        let mut guessed = true;
        let mut same_identity = true;
        loop {
            let hit = self.slots.get(keys).is_some_and(|slot| cursor.take(&slot.lead));
            if !hit {
                let start = cursor.rest;
                if keys == 0 {
                    cursor.open_object()?;
                }
                let Some(key) = cursor.next_key(keys == 0)? else { break };
                guessed = false;
                let slot = self.new_slot(key, cursor.since(start));
                match self.slots.get_mut(keys) {
                    Some(place) => *place = slot,
                    None => self.slots.push(slot),
                }
            }
            let Some(slot) = self.slots.get_mut(keys) else { break };
            keys += 1;
            match slot.field {
                Field::Step => step = Some(field::step(&mut cursor)?),
                Field::Reward => reward = Some(field::reward(&mut cursor)?),
                Field::RegimeId | Field::RegimeOrigin => {
                    if !slot.repeats(&mut cursor) {
                        let start = cursor.rest;
                        slot.last_number = match field::optional_text(&mut cursor)? {
                            Ok(None) => NO_REGIME,
                            Ok(Some(text)) => self.labels.number(text),
                            Err(odd) => {
                                let name = if slot.field == Field::RegimeId { "regime_id" } else { "regime_origin" };
                                cells.odd.push((name, odd));
                                NO_REGIME
                            }
                        };
                        let value = if cells.odd.is_empty() { cursor.since(start) } else { &[] };
                        slot.remember(value);
                    }
                    let cell = if slot.field == Field::RegimeId { &mut cells.regime } else { &mut cells.origin };
                    *cell = slot.last_number;
                }
                Field::ObservedAt => match field::optional_text(&mut cursor)? {
                    Ok(text) => cells.observed_at = text,
                    Err(odd) => cells.odd.push(("observed_at", odd)),
                },
                Field::InvalidAction => {
                    let (value, null, odd) = match field::flag(&mut cursor)? {
                        Ok(value) => (value.unwrap_or(false), value.is_none(), None),
                        Err(odd) => (false, false, Some(("invalid_action", odd))),
                    };
                    (cells.invalid_action, cells.null_invalid_action) = (value, null);
                    cells.odd.extend(odd);
                }
                Field::EffectiveRank => match field::optional_number(&mut cursor)? {
                    Ok(None) => cells.effective_rank = f64::NAN,
                    Ok(Some(rank)) if rank > 0.0 && rank.is_finite() => cells.effective_rank = rank,
                    Ok(Some(_)) => cells.odd.push(("effective_rank", Odd("not a positive number"))),
                    Err(odd) => cells.odd.push(("effective_rank", odd)),
                },
                Field::Components => {
                    cells.duplicate_key |= read_components(
                        &mut cursor,
                        &mut self.component_slots,
                        &mut self.components,
                        &mut cells.components,
                        &mut cells.odd,
                    )?;
                }
                Field::Action | Field::Detail | Field::Ticket | Field::Verifier => {
                    cursor.value()?;
                }
                Field::Identity(place) => {
                    let start = cursor.rest;
                    if !slot.repeats(&mut cursor) {
                        same_identity = false;
                        let value = cursor.value()?;
                        slot.remember(value);
                    }
                    if let Some(cell) = cells.identity.get_mut(place) {
                        *cell = cursor.since(start);
                    }
                }
                Field::Other => {
                    let start = cursor.rest;
                    if !slot.repeats(&mut cursor) {
                        let value = cursor.value()?;
                        slot.remember(value);
                    }
                    cells.others.push((slot.number, cursor.since(start)));
                }
            }
        }
        cursor.space();
        if !cursor.rest.is_empty() {
            return Err(cursor.error("the end of the line").into());
        }
        if cursor.beyond_ascii && std::str::from_utf8(line).is_err() {
            return Err(LineFault::NotUtf8);
        }
        if !guessed {
            self.last_duplicate = self.has_duplicate(keys);
        }
        cells.duplicate_key |= self.last_duplicate;
        cells.same_identity = guessed && same_identity && keys == self.last_keys;
        self.last_keys = keys;
        let (Some(step), Some(reward)) = (step, reward) else {
            return Err(LineFault::missing(step.is_some(), reward.is_some()));
        };
        cells.step = step.map_err(|odd| LineFault::WrongType { field: "step", found: odd.0 })?;
        let reward = reward.map_err(|odd| LineFault::WrongType { field: "reward", found: odd.0 })?;
        cells.reward = if reward.is_finite() { reward } else { f64::NAN };
        Ok(())
    }

    fn new_slot(&mut self, escaped: &[u8], lead: &[u8]) -> Slot {
        let key = unescape(escaped).into_owned();
        let field = Field::of_key(&key);
        let number = if field == Field::Other { self.others.number(escaped) } else { 0 };
        Slot { lead: lead.to_vec(), key, field, number, last: Vec::new(), last_number: NO_REGIME }
    }

    fn has_duplicate(&self, keys: usize) -> bool {
        let mut seen = HashSet::with_capacity(keys);
        !self.slots.iter().take(keys).all(|slot| seen.insert(slot.key.as_str()))
    }
}

/// Reads the reward components, guessing their names likewise; tells whether one came twice.
fn read_components(
    cursor: &mut Cursor<'_>,
    slots: &mut Vec<(Vec<u8>, u32)>,
    names: &mut Interner,
    cells: &mut Vec<(u32, f64)>,
    odd: &mut Vec<(&'static str, Odd)>,
) -> Result<bool, LineFault> {
    cells.clear();
    if cursor.peek() != Some(b'{') {
        // Lua's empty table is written as an empty list by many.
        let value = cursor.value()?;
        if value != b"null" && !is_empty_list(value) {
            odd.push(("reward_components", Odd("not a map")));
        }
        return Ok(false);
    }
    let mut keys = 0;
    loop {
        let hit = slots.get(keys).filter(|(lead, _)| cursor.take(lead)).map(|(_, number)| *number);
        let number = if let Some(number) = hit {
            number
        } else {
            let start = cursor.rest;
            if keys == 0 {
                cursor.open_object()?;
            }
            let Some(key) = cursor.next_key(keys == 0)? else { break };
            let number = names.number(key);
            slots.truncate(keys);
            slots.push((cursor.since(start).to_vec(), number));
            number
        };
        keys += 1;
        match field::optional_number(cursor)? {
            Ok(Some(value)) if value.is_finite() => cells.push((number, value)),
            Ok(_) => odd.push(("reward_components", Odd("not a finite number"))),
            Err(kind) => odd.push(("reward_components", kind)),
        }
    }
    Ok(drop_earlier_duplicates(cells))
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
