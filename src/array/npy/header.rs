//! The header of a `.npy` file: a Python dictionary of three entries, of which only what NumPy
//! writes is understood.

use std::io::{self, Read};

use super::NpyError;
use crate::array::DType;

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Longer headers are no numbers' (NumPy itself refuses more than 10 000 bytes by default).
const MOST_BYTES: usize = 1 << 16;
/// NumPy's own limit on axes.
const MOST_AXES: usize = 64;
/// NumPy leaves room to grow the first axis in place.
const AXIS_DIGITS: usize = 21;
/// The array begins at a multiple of this.
const ALIGNMENT: usize = 64;

/// What the elements are in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    /// One of our own types.
    Item(DType),
    /// `uint64`, read as `i64` where nothing is lost.
    Unsigned64,
}

impl Element {
    pub(super) fn dtype(self) -> DType {
        match self {
            Self::Item(dtype) => dtype,
            Self::Unsigned64 => DType::I64,
        }
    }
}

/// What the header says.
pub(super) struct Header {
    pub(super) element: Element,
    pub(super) big_endian: bool,
    pub(super) fortran_order: bool,
    pub(super) shape: Vec<usize>,
}

impl Header {
    /// Reads one, up to where the elements begin.
    pub(super) fn read(reader: &mut impl Read) -> Result<Self, NpyError> {
        let mut start = [0; 8];
        reader.read_exact(&mut start).map_err(short)?;
        let [magic @ .., major, minor] = &start;
        if magic != MAGIC {
            return Err(NpyError::Foreign { what: ".npy" });
        }
        let length = match (major, minor) {
            (1, 0) => usize::from(u16::from_le_bytes(exactly(reader)?)),
            (2 | 3, 0) => u32::from_le_bytes(exactly(reader)?) as usize,
            _ => return Err(NpyError::Version { major: *major, minor: *minor }),
        };
        if length > MOST_BYTES {
            return Err(NpyError::Header(format!("it is {length} bytes long")));
        }
        let mut bytes = vec![0; length];
        reader.read_exact(&mut bytes).map_err(short)?;
        let text = std::str::from_utf8(&bytes).map_err(|_| NpyError::Header("it is not text".to_owned()))?;
        Parser { rest: text.trim_end() }.dictionary()
    }
}

/// An end before its time says what kind of file this is not.
fn short(error: io::Error) -> NpyError {
    if error.kind() == io::ErrorKind::UnexpectedEof { NpyError::Foreign { what: ".npy" } } else { error.into() }
}

fn exactly<const N: usize>(reader: &mut impl Read) -> Result<[u8; N], NpyError> {
    let mut bytes = [0; N];
    reader.read_exact(&mut bytes).map_err(short)?;
    Ok(bytes)
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    fn dictionary(mut self) -> Result<Header, NpyError> {
        let (mut element, mut order, mut shape) = (None, None, None);
        self.expect("{")?;
        while !self.take("}") {
            let key = self.quoted()?;
            self.expect(":")?;
            match key {
                "descr" if element.is_none() => element = Some(self.descr()?),
                "fortran_order" if order.is_none() => order = Some(self.boolean()?),
                "shape" if shape.is_none() => shape = Some(self.shape()?),
                _ => return Err(NpyError::Header(format!("unexpected key `{}`", shown(key)))),
            }
            if !self.take(",") {
                self.expect("}")?;
                break;
            }
        }
        if !self.rest.trim_start().is_empty() {
            return Err(self.unexpected("the end"));
        }
        match (element, order, shape) {
            (Some((element, big_endian)), Some(fortran_order), Some(shape)) => {
                Ok(Header { element, big_endian, fortran_order, shape })
            }
            _ => Err(NpyError::Header("it lacks `descr`, `fortran_order` or `shape`".to_owned())),
        }
    }

    fn take(&mut self, mark: &str) -> bool {
        self.rest = self.rest.trim_start();
        match self.rest.strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, mark: &str) -> Result<(), NpyError> {
        if self.take(mark) { Ok(()) } else { Err(self.unexpected(&format!("`{mark}`"))) }
    }

    fn unexpected(&self, wanted: &str) -> NpyError {
        NpyError::Header(format!("expected {wanted}, found `{}`", shown(self.rest)))
    }

    fn quoted(&mut self) -> Result<&'a str, NpyError> {
        let quote = if self.take("'") { '\'' } else { self.expect("\"").map(|()| '"')? };
        let (text, rest) = self.rest.split_once(quote).ok_or_else(|| self.unexpected("a closing quote"))?;
        self.rest = rest;
        Ok(text)
    }

    fn boolean(&mut self) -> Result<bool, NpyError> {
        if self.take("True") { Ok(true) } else { self.expect("False").map(|()| false) }
    }

    fn shape(&mut self) -> Result<Vec<usize>, NpyError> {
        let mut shape = Vec::new();
        self.expect("(")?;
        while !self.take(")") {
            self.rest = self.rest.trim_start();
            let digits = self.rest.bytes().take_while(u8::is_ascii_digit).count();
            let (number, rest) = self.rest.split_at(digits);
            shape.push(number.parse().map_err(|_| self.unexpected("a length"))?);
            self.rest = rest;
            // Python 2 wrote long integers so.
            self.take("L");
            if shape.len() > MOST_AXES {
                return Err(NpyError::Header(format!("more than {MOST_AXES} axes")));
            }
            if !self.take(",") {
                self.expect(")")?;
                break;
            }
        }
        Ok(shape)
    }

    /// The elements' type, and whether their first byte is the highest.
    fn descr(&mut self) -> Result<(Element, bool), NpyError> {
        if self.rest.trim_start().starts_with('[') {
            let descr = shown(self.rest.trim_start());
            return Err(NpyError::Dtype { descr, why: "a structure; save each of its fields as an array" });
        }
        let descr = self.quoted()?;
        let (order, code) = match descr.split_at_checked(1) {
            Some((order @ ("<" | ">" | "|" | "="), code)) => (order, code),
            _ => ("=", descr),
        };
        let element = match code {
            "b1" => Element::Item(DType::Bool),
            "i1" => Element::Item(DType::I8),
            "i2" => Element::Item(DType::I16),
            "i4" => Element::Item(DType::I32),
            "i8" => Element::Item(DType::I64),
            "u1" => Element::Item(DType::U8),
            "u2" => Element::Item(DType::U16),
            "u4" => Element::Item(DType::U32),
            "u8" => Element::Unsigned64,
            "f2" => Element::Item(DType::F16),
            "f4" => Element::Item(DType::F32),
            "f8" => Element::Item(DType::F64),
            _ => {
                let why = match code.bytes().next() {
                    Some(b'O') => "Python objects, which are code to run and are never loaded",
                    Some(b'c') => "complex numbers; save their real and imaginary parts",
                    Some(b'S' | b'U' | b'a') => "text, not numbers",
                    Some(b'M' | b'm') => "times; save them as integers",
                    _ => "which is none of bool, int8 to int64, uint8 to uint64, float16 to float64",
                };
                return Err(NpyError::Dtype { descr: shown(descr), why });
            }
        };
        Ok((element, order == ">"))
    }
}

/// What a message shows of text from the file.
fn shown(text: &str) -> String {
    text.chars().take(40).flat_map(char::escape_default).collect()
}

/// The magic, the version and the header of an array in C order.
pub(super) fn bytes(dtype: DType, shape: &[usize]) -> Vec<u8> {
    let code = match dtype {
        DType::Bool => "|b1",
        DType::I8 => "|i1",
        DType::U8 => "|u1",
        DType::I16 => "<i2",
        DType::I32 => "<i4",
        DType::I64 => "<i8",
        DType::U16 => "<u2",
        DType::U32 => "<u4",
        DType::F16 => "<f2",
        DType::F32 => "<f4",
        DType::F64 => "<f8",
    };
    let lengths: Vec<String> = shape.iter().map(usize::to_string).collect();
    let tuple =
        if lengths.len() == 1 { format!("({},)", lengths.concat()) } else { format!("({})", lengths.join(", ")) };
    let mut text = format!("{{'descr': '{code}', 'fortran_order': False, 'shape': {tuple}, }}");
    if let Some(first) = lengths.first() {
        text.push_str(&" ".repeat(AXIS_DIGITS.saturating_sub(first.len())));
    }
    let begin = MAGIC.len() + 2 + 2;
    let end = (begin + text.len() + 1).next_multiple_of(ALIGNMENT);
    text.push_str(&" ".repeat(end - begin - text.len() - 1));
    text.push('\n');
    // No shape of 64 axes fills a header of version 1.0.
    let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
    [&MAGIC[..], &[1, 0], &length.to_le_bytes(), text.as_bytes()].concat()
}
