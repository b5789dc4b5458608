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

impl<'a> Cells<'a> {
    fn clear(&mut self) {
        self.regime = NO_REGIME;
        self.origin = NO_REGIME;
        self.reset(Field::ObservedAt);
        self.reset(Field::InvalidAction);
        self.reset(Field::EffectiveRank);
        self.components.clear();
        self.identity = [&[]; 5];
        self.others.clear();
        self.odd.clear();
        self.duplicate_key = false;
    }

    /// Gives a field the value of rows that lack it.
    #[inline]
    fn reset(&mut self, field: Field) {
        match field {
            Field::ObservedAt => self.observed_at = None,
            Field::InvalidAction => (self.invalid_action, self.null_invalid_action) = (false, false),
            Field::EffectiveRank => self.effective_rank = f64::NAN,
            _ => {}
        }
    }

    /// Reads a field that was reset; tells whether it keeps that value, and nothing is odd.
    #[inline]
    fn read(&mut self, field: Field, cursor: &mut Cursor<'a>) -> Result<bool, LineFault> {
        let odd = match field {
            Field::ObservedAt => match field::optional_text(cursor)? {
                Ok(text) => {
                    self.observed_at = text;
                    return Ok(text.is_none());
                }
                Err(odd) => ("observed_at", odd),
            },
            Field::InvalidAction => match field::flag(cursor)? {
                Ok(Some(value)) => {
                    self.invalid_action = value;
                    return Ok(!value);
                }
                Ok(None) => {
                    self.null_invalid_action = true;
                    return Ok(false);
                }
                Err(odd) => ("invalid_action", odd),
            },
            _ => match field::optional_number(cursor)? {
                Ok(None) => return Ok(true),
                Ok(Some(rank)) if rank > 0.0 && rank.is_finite() => {
                    self.effective_rank = rank;
                    return Ok(false);
                }
                Ok(Some(_)) => ("effective_rank", Odd("not a positive number")),
                Err(odd) => ("effective_rank", odd),
            },
        };
        self.odd.push(odd);
        Ok(false)
    }
}

/// A key as the last row had it in this place.
#[derive(Debug)]
struct Slot {
    /// The key with all punctuation before and after it, then the JSON text of the last value
    /// where that is worth remembering.
    text: Vec<u8>,
    /// Where in `text` the value begins.
    value_at: usize,
    key: String,
    field: Field,
    /// The key's number, if it is no field.
    number: u32,
    /// The number of the last value.
    last_number: u32,
}

/// Values longer than this are not remembered.
const LONGEST_REMEMBERED: usize = 256;

/// How a slot compares with what comes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Guess {
    /// Another key comes.
    Wrong,
    /// The key comes; the value is still to be read.
    Key,
    /// The key and the last value come again.
    All,
}

impl Slot {
    /// Steps over the key, and over the value if it is the last one again.
    #[inline]
    fn guess(&self, cursor: &mut Cursor<'_>) -> Guess {
        let remembers = self.text.len() > self.value_at;
        match cursor.rest.strip_prefix(self.text.as_slice()) {
            Some(rest) if !remembers => {
                cursor.rest = rest;
                return Guess::Key;
            }
            Some(rest @ [b',' | b'}', ..]) => {
                cursor.rest = rest;
                return Guess::All;
            }
            _ => {}
        }
        if remembers && cursor.take(self.text.get(..self.value_at).unwrap_or_default()) {
            return Guess::Key;
        }
        Guess::Wrong
    }

    #[inline]
    fn remember(&mut self, value: &[u8]) {
        self.text.truncate(self.value_at);
        if value.len() <= LONGEST_REMEMBERED {
            self.text.extend_from_slice(value);
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
            let before = cursor.rest;
            let mut guess = self.slots.get(keys).map_or(Guess::Wrong, |slot| slot.guess(&mut cursor));
            if guess == Guess::Wrong {
                if keys == 0 {
                    cursor.open_object()?;
                }
                let Some(key) = cursor.next_key(keys == 0)? else { break };
                guessed = false;
                guess = Guess::Key;
                let slot = self.new_slot(key, cursor.since(before));
                match self.slots.get_mut(keys) {
                    Some(place) => *place = slot,
                    None => self.slots.push(slot),
                }
            }
            let Some(slot) = self.slots.get_mut(keys) else { break };
            keys += 1;
            let repeats = guess == Guess::All;
            if !repeats {
                // There may be more space before the value than the last row had.
                cursor.space();
            }
            let value_at = if repeats { before.get(slot.value_at..).unwrap_or_default() } else { cursor.rest };
            match slot.field {
                Field::Step => step = Some(field::step(&mut cursor)?),
                Field::Reward => reward = Some(field::reward(&mut cursor)?),
                Field::RegimeId | Field::RegimeOrigin => {
                    let is_label = slot.field == Field::RegimeId;
                    if !repeats {
                        let read = field::optional_text(&mut cursor)?;
                        slot.remember(if read.is_ok() { cursor.since(value_at) } else { &[] });
                        slot.last_number = match read {
                            Ok(None) => NO_REGIME,
                            Ok(Some(text)) => self.labels.number(text),
                            Err(odd) => {
                                cells.odd.push((if is_label { "regime_id" } else { "regime_origin" }, odd));
                                NO_REGIME
                            }
                        };
                    }
                    *(if is_label { &mut cells.regime } else { &mut cells.origin }) = slot.last_number;
                }
                // What repeats of these is the value that a row without the key has, too.
                Field::ObservedAt | Field::InvalidAction | Field::EffectiveRank if repeats => cells.reset(slot.field),
                Field::ObservedAt | Field::InvalidAction | Field::EffectiveRank => {
                    cells.reset(slot.field);
                    let plain = cells.read(slot.field, &mut cursor)?;
                    slot.remember(if plain { cursor.since(value_at) } else { &[] });
                }
                Field::Components => {
                    cells.duplicate_key |= read_components(
                        &mut cursor,
                        &mut self.component_slots,
                        &mut self.components,
                        &mut cells.components,
                        &mut cells.odd,
                    )?;
                }
                Field::Action | Field::Detail | Field::Ticket | Field::Verifier | Field::Identity(_) | Field::Other => {
                    if !repeats {
                        slot.remember(cursor.value()?);
                    }
                    match slot.field {
                        Field::Identity(place) => {
                            same_identity &= repeats;
                            if let Some(cell) = cells.identity.get_mut(place) {
                                *cell = cursor.since(value_at);
                            }
                        }
                        Field::Other => cells.others.push((slot.number, cursor.since(value_at))),
                        _ => {}
                    }
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
        // A row of fewer keys may be all guessed and yet lack the key that came twice.
        if !guessed || keys != self.last_keys {
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
        Slot { text: lead.to_vec(), value_at: lead.len(), key, field, number, last_number: NO_REGIME }
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
            cursor.space();
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
