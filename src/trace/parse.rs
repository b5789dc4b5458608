//! One line read into a whole [`Row`], nothing left out.

use crate::trace::about::parse;
use crate::trace::fault::LineFault;
use crate::trace::field::{self, Field, unescape};
use crate::trace::row::Row;
use crate::trace::scan::Cursor;
use crate::value::{Map, Value};

/// A line's content.
#[derive(Debug, Default)]
pub(super) struct ParsedLine<'a> {
    /// The identity values' JSON text; empty where absent.
    pub(super) identity: [&'a [u8]; 5],
    /// Keys that are no fields and stand before the first that is: where a writer puts metadata.
    pub(super) meta: Map,
    pub(super) row: Row,
}

/// Reads `line` by the same rules as columns are read (P1, P3-P6).
pub(super) fn parse_line(line: &[u8]) -> Result<ParsedLine<'_>, LineFault> {
    let mut cursor = Cursor::new(line);
    if cursor.peek() != Some(b'{') {
        cursor.value()?;
        return Err(LineFault::NotAnObject);
    }
    if std::str::from_utf8(line).is_err() {
        // Like any other fault of the text, this one counts only where the line is whole.
        cursor.value()?;
        return Err(LineFault::NotUtf8);
    }
    let mut parsed = ParsedLine::default();
    let mut step = None;
    let mut reward = None;
    let mut in_fields = false;
    let mut first = true;
    cursor.open_object()?;
    while let Some(key) = cursor.next_key(first)? {
        first = false;
        let key = unescape(key);
        let field = Field::of_key(&key);
        let row = &mut parsed.row;
        in_fields |= !matches!(field, Field::Identity(_) | Field::Other);
        match field {
            Field::Step => step = Some(field::step(&mut cursor)?),
            Field::Reward => reward = Some(field::reward(&mut cursor)?),
            Field::RegimeId => row.regime_id = optional_text(&mut cursor)?,
            Field::RegimeOrigin => row.regime_origin = optional_text(&mut cursor)?,
            Field::ObservedAt => row.observed_at = optional_text(&mut cursor)?,
            Field::Action => row.action = Some(parse(cursor.value()?)).filter(|action| !action.is_null()),
            Field::Components => read_components(&mut cursor, row)?,
            Field::Detail => row.reward_detail = map(&mut cursor)?,
            Field::InvalidAction => row.invalid_action = field::flag(&mut cursor)?.ok().flatten().unwrap_or(false),
            Field::EffectiveRank => row.effective_rank = field::optional_number(&mut cursor)?.ok().flatten(),
            Field::Ticket => row.ticket_snapshot = map(&mut cursor)?,
            Field::Verifier => row.verifier_snapshot = map(&mut cursor)?,
            Field::Identity(place) => {
                let value = cursor.value()?;
                if let Some(cell) = parsed.identity.get_mut(place) {
                    *cell = value;
                }
            }
            Field::Other => {
                let value = parse(cursor.value()?);
                let known = parsed.meta.contains_key(key.as_ref());
                let keys = if in_fields && !known { &mut row.extra } else { &mut parsed.meta };
                keys.insert(key.into_owned(), value);
            }
        }
    }
    cursor.space();
    if !cursor.rest.is_empty() {
        return Err(cursor.error("the end of the line").into());
    }
    let (Some(step), Some(reward)) = (step, reward) else {
        return Err(LineFault::missing(step.is_some(), reward.is_some()));
    };
    parsed.row.step = step.map_err(|odd| LineFault::WrongType { field: "step", found: odd.0 })?;
    parsed.row.reward = reward.map_err(|odd| LineFault::WrongType { field: "reward", found: odd.0 })?;
    Ok(parsed)
}

fn optional_text(cursor: &mut Cursor<'_>) -> Result<Option<String>, LineFault> {
    Ok(field::optional_text(cursor)?.ok().flatten().map(|text| unescape(text).into_owned()))
}

fn map(cursor: &mut Cursor<'_>) -> Result<Map, LineFault> {
    let json = cursor.value()?;
    if json == b"{}" {
        return Ok(Map::new());
    }
    Ok(match parse(json) {
        Value::Map(map) => map,
        _ => Map::new(),
    })
}

fn read_components(cursor: &mut Cursor<'_>, row: &mut Row) -> Result<(), LineFault> {
    row.reward_components.clear();
    if cursor.peek() != Some(b'{') {
        cursor.value()?;
        return Ok(());
    }
    cursor.open_object()?;
    let mut first = true;
    while let Some(name) = cursor.next_key(first)? {
        first = false;
        if let Ok(Some(value)) = field::optional_number(cursor)? {
            row.reward_components.insert(unescape(name).into_owned(), value);
        }
    }
    Ok(())
}
