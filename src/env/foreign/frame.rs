//! Frames: what goes over the pipe, each a JSON object with bytes after it.
//!
//! `u32` length of the JSON, `u32` length of the bytes (both little-endian), the JSON in UTF-8,
//! the bytes. Arrays may lie in the bytes instead of the JSON; see [`super::element`].

use super::process::Broken;
use crate::text::json;
use crate::value::{Map, Value};

/// The two lengths.
const PREFIX: usize = 8;
/// The longest frame; text that is no frame at all always claims more.
const LIMIT: usize = 256 << 20;

/// A frame that was received.
#[derive(Debug, Default)]
pub(super) struct Frame {
    pub(super) head: Map,
    pub(super) bytes: Vec<u8>,
}

/// Appends the frame of `head`, a JSON object, and `bytes`.
///
/// # Errors
/// When it is longer than any receiver takes.
pub(super) fn write(out: &mut Vec<u8>, head: &[u8], bytes: &[u8]) -> Result<(), Broken> {
    if head.len() + bytes.len() > LIMIT {
        return Err(Broken::TooLong { bytes: head.len() + bytes.len(), limit: LIMIT });
    }
    for length in [head.len(), bytes.len()] {
        // Within `LIMIT`, which is within 32 bits.
        out.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
    }
    out.extend_from_slice(head);
    out.extend_from_slice(bytes);
    Ok(())
}

/// Takes the first frame off `inbox`; `None` while it is incomplete.
///
/// # Errors
/// When what lies there is no frame, or too long a one.
pub(super) fn take(inbox: &mut Vec<u8>) -> Result<Option<Frame>, Broken> {
    let Some(([head, bytes], rest)) = lengths(inbox) else { return Ok(None) };
    if head.saturating_add(bytes) > LIMIT {
        return Err(match printable(inbox) {
            Some(start) => Broken::Garbage(format!("it begins with {start:?}")),
            None => Broken::TooLong { bytes: head.saturating_add(bytes), limit: LIMIT },
        });
    }
    let (Some(head), Some(bytes)) = (rest.get(..head), rest.get(head..head + bytes)) else { return Ok(None) };
    let text = std::str::from_utf8(head).map_err(|_| Broken::Garbage("its JSON is not UTF-8".to_owned()))?;
    let parsed = json::parse(text).map_err(|problem| Broken::Garbage(format!("its JSON is malformed: {problem}")))?;
    let Value::Map(head) = parsed else {
        return Err(Broken::Garbage(format!("its JSON is {}, not an object", parsed.kind())));
    };
    let frame = Frame { head, bytes: bytes.to_vec() };
    inbox.drain(..PREFIX + text.len() + frame.bytes.len());
    Ok(Some(frame))
}

/// How many bytes are missing from the frame that begins `inbox`, as far as can be told.
pub(super) fn missing(inbox: &[u8]) -> usize {
    match lengths(inbox) {
        Some(([head, bytes], rest)) => head.saturating_add(bytes).min(LIMIT).saturating_sub(rest.len()),
        None => PREFIX.saturating_sub(inbox.len()),
    }
}

/// The two lengths at the beginning, and what follows them.
fn lengths(inbox: &[u8]) -> Option<([usize; 2], &[u8])> {
    let (prefix, rest) = inbox.split_first_chunk::<PREFIX>()?;
    let [a, b, c, d, e, f, g, h] = *prefix;
    let length = |bytes| usize::try_from(u32::from_le_bytes(bytes)).unwrap_or(usize::MAX);
    Some(([length([a, b, c, d]), length([e, f, g, h])], rest))
}

/// The first line of `inbox`, if it begins like text.
fn printable(inbox: &[u8]) -> Option<String> {
    let line = inbox.split(|byte| *byte == b'\n').next()?;
    let line = line.get(..line.len().min(60))?;
    let text = std::str::from_utf8(line).ok()?;
    (!text.is_empty() && text.chars().all(|letter| !letter.is_control())).then(|| text.to_owned())
}
