//! Thrift's compact protocol, as far as Parquet's metadata needs it: structs, lists, integers and
//! text are written in order, fields by ascending number.

/// What a field or a list entry is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    I32 = 5,
    I64 = 6,
    Text = 8,
    List = 9,
    Struct = 12,
}

/// A struct being written.
#[derive(Debug, Default)]
pub(super) struct Struct {
    bytes: Vec<u8>,
    last: u8,
}

impl Struct {
    /// The field's number is written as what it adds to that of the field before: at most 15.
    fn header(&mut self, number: u8, kind: Kind) {
        self.bytes.push((number - self.last) << 4 | kind as u8);
        self.last = number;
    }

    pub(super) fn i32(mut self, number: u8, value: i32) -> Self {
        self.header(number, Kind::I32);
        write_int(&mut self.bytes, value.into());
        self
    }

    pub(super) fn i64(mut self, number: u8, value: i64) -> Self {
        self.header(number, Kind::I64);
        write_int(&mut self.bytes, value);
        self
    }

    pub(super) fn text(mut self, number: u8, text: &str) -> Self {
        self.header(number, Kind::Text);
        write_text(&mut self.bytes, text);
        self
    }

    pub(super) fn structure(mut self, number: u8, inner: Self) -> Self {
        self.header(number, Kind::Struct);
        self.bytes.extend(inner.finish());
        self
    }

    /// A list of `entries`, each already written as a `kind`.
    pub(super) fn list(mut self, number: u8, kind: Kind, entries: impl ExactSizeIterator<Item = Vec<u8>>) -> Self {
        self.header(number, Kind::List);
        match u8::try_from(entries.len()) {
            Ok(count @ 0..15) => self.bytes.push(count << 4 | kind as u8),
            _ => {
                self.bytes.push(0xf0 | kind as u8);
                write_count(&mut self.bytes, entries.len() as u64);
            }
        }
        self.bytes.extend(entries.flatten());
        self
    }

    /// The struct's bytes.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

/// An integer as an entry of a list.
pub(super) fn int(value: i64) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_int(&mut bytes, value);
    bytes
}

/// Text as an entry of a list.
pub(super) fn text(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_text(&mut bytes, text);
    bytes
}

/// Small magnitudes are short, whatever their sign.
fn write_int(out: &mut Vec<u8>, value: i64) {
    write_count(out, (value << 1 ^ value >> 63).cast_unsigned());
}

fn write_text(out: &mut Vec<u8>, text: &str) {
    write_count(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Seven bits a byte, the lowest first; the first bit says that more follow.
#[expect(clippy::cast_possible_truncation, reason = "the lowest bits are what is written")]
pub(super) fn write_count(out: &mut Vec<u8>, mut count: u64) {
    while count >= 0x80 {
        out.push(count as u8 | 0x80);
        count >>= 7;
    }
    out.push(count as u8);
}
