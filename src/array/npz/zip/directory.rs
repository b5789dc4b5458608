//! The records of a ZIP file that say what its members are and where they lie.

use std::io::{self, Read, Seek, SeekFrom};

use indexmap::IndexMap;

use super::malformed;
use crate::array::npy::NpyError;

/// Member data as it is.
pub(super) const STORED: u16 = 0;
/// Member data in DEFLATE.
pub(super) const DEFLATED: u16 = 8;

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const END_64: u32 = 0x0606_4b50;
const LOCATOR_64: u32 = 0x0706_4b50;
const END_LENGTH: u64 = 22;
const LOCATOR_LENGTH: u64 = 20;
/// The longest comment that may follow the end record.
const MOST_COMMENT: u64 = 0xffff;
/// A directory beyond this is none of arrays.
const MOST_DIRECTORY: u64 = 64 << 20;
/// `1980-01-01`, the format's first day.
const DATE: u16 = 0x21;

/// One array of an archive.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) method: u16,
    pub(super) crc: u32,
    /// Its bytes in the file.
    pub(super) packed: u64,
    /// Its bytes once unpacked.
    pub(super) size: u64,
    pub(super) offset: u64,
}

/// A record's fields, one after the other.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], NpyError> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(|| malformed("a record is cut off"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self, count: usize) -> Result<u64, NpyError> {
        Ok(self.take(count)?.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn u16(&mut self) -> Result<u16, NpyError> {
        Ok(self.take(2)?.try_into().map_or(0, u16::from_le_bytes))
    }

    fn u32(&mut self) -> Result<u32, NpyError> {
        Ok(self.take(4)?.try_into().map_or(0, u32::from_le_bytes))
    }
}

/// The members that are arrays, by name without `.npy`, in order.
pub(super) fn read(reader: &mut (impl Read + Seek)) -> Result<IndexMap<String, Member>, NpyError> {
    let (offset, length) = locate(reader)?;
    if length > MOST_DIRECTORY {
        return Err(malformed("its directory is too long"));
    }
    let bytes = read_at(reader, offset, length)?;
    let mut fields = Fields(&bytes);
    let mut members = IndexMap::new();
    while !fields.0.is_empty() {
        if fields.u32()? != CENTRAL {
            return Err(malformed("its directory holds something else than members"));
        }
        fields.take(4)?;
        let (flags, method) = (fields.u16()?, fields.u16()?);
        fields.take(4)?;
        let crc = fields.u32()?;
        let (mut packed, mut size) = (fields.number(4)?, fields.number(4)?);
        let [name, extra, comment] = [fields.u16()?, fields.u16()?, fields.u16()?].map(usize::from);
        fields.take(8)?;
        let mut offset = fields.number(4)?;
        let name = std::str::from_utf8(fields.take(name)?).map_err(|_| malformed("a name is not UTF-8 text"))?;
        widen(fields.take(extra)?, [&mut size, &mut packed, &mut offset])?;
        fields.take(comment)?;
        let Some(key) = name.strip_suffix(".npy") else { continue };
        if flags & 1 != 0 {
            return Err(malformed(format!("`{key}` is encrypted")));
        }
        if members.insert(key.to_owned(), Member { method, crc, packed, size, offset }).is_some() {
            return Err(malformed(format!("`{key}` is there twice")));
        }
    }
    Ok(members)
}

/// Replaces the `numbers` that did not fit 32 bits by those of the 64-bit extension in `extra`.
fn widen(extra: &[u8], numbers: [&mut u64; 3]) -> Result<(), NpyError> {
    const SATURATED: u64 = u32::MAX as u64;
    let mut fields = Fields(extra);
    while fields.0.len() >= 4 {
        let (id, length) = (fields.u16()?, fields.u16()?);
        let mut body = Fields(fields.take(usize::from(length))?);
        if id == 1 {
            for number in numbers {
                if *number == SATURATED {
                    *number = body.number(8)?;
                }
            }
            return Ok(());
        }
    }
    Ok(())
}

/// Where the directory begins and how long it is.
fn locate(reader: &mut (impl Read + Seek)) -> Result<(u64, u64), NpyError> {
    let length = reader.seek(SeekFrom::End(0))?;
    let foreign = || NpyError::Foreign { what: ".npz" };
    let tail = length.min(END_LENGTH + MOST_COMMENT);
    let bytes = read_at(reader, length - tail, tail)?;
    let mark = END.to_le_bytes();
    let at = bytes.windows(END_LENGTH as usize).rposition(|window| window.starts_with(&mark)).ok_or_else(foreign)?;
    let mut fields = Fields(bytes.get(at..).unwrap_or_default());
    fields.take(12)?;
    let (size, offset) = (fields.number(4)?, fields.number(4)?);
    if size != u64::from(u32::MAX) && offset != u64::from(u32::MAX) {
        return Ok((offset, size));
    }
    let locator = (length - tail + at as u64).checked_sub(LOCATOR_LENGTH).ok_or_else(foreign)?;
    let bytes = read_at(reader, locator, LOCATOR_LENGTH)?;
    let mut fields = Fields(&bytes);
    if fields.u32()? != LOCATOR_64 {
        return Err(malformed("it has no 64-bit end record"));
    }
    fields.take(4)?;
    let bytes = read_at(reader, fields.number(8)?, 56)?;
    let mut fields = Fields(&bytes);
    if fields.u32()? != END_64 {
        return Err(malformed("it has no 64-bit end record"));
    }
    fields.take(36)?;
    let (size, offset) = (fields.number(8)?, fields.number(8)?);
    Ok((offset, size))
}

/// `length` bytes from `offset` on, all of which must be there.
fn read_at(reader: &mut (impl Read + Seek), offset: u64, length: u64) -> Result<Vec<u8>, NpyError> {
    reader.seek(SeekFrom::Start(offset))?;
    let mut bytes = Vec::new();
    reader.take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length { Ok(bytes) } else { Err(malformed("it is cut off")) }
}

impl Member {
    /// Goes to where its data begins.
    pub(super) fn seek(&self, reader: &mut (impl Read + Seek)) -> Result<(), NpyError> {
        let bytes = read_at(reader, self.offset, 30)?;
        let mut fields = Fields(&bytes);
        if fields.u32()? != LOCAL {
            return Err(malformed("a member is not where the directory says"));
        }
        fields.take(22)?;
        let (name, extra) = (fields.u16()?, fields.u16()?);
        reader.seek_relative(i64::from(name) + i64::from(extra))?;
        Ok(())
    }

    /// What stands before its data.
    pub(super) fn local_header(&self, name: &str) -> io::Result<Vec<u8>> {
        let mut bytes = LOCAL.to_le_bytes().to_vec();
        self.put_common(&mut bytes, name)?;
        bytes.extend_from_slice(name.as_bytes());
        Ok(bytes)
    }

    /// Its record in the directory.
    pub(super) fn central_header(&self, name: &str) -> io::Result<Vec<u8>> {
        let mut bytes = CENTRAL.to_le_bytes().to_vec();
        bytes.extend_from_slice(&20_u16.to_le_bytes());
        self.put_common(&mut bytes, name)?;
        // No comment, the first disk, no attributes.
        bytes.extend_from_slice(&[0; 10]);
        bytes.extend_from_slice(&narrow(self.offset)?.to_le_bytes());
        bytes.extend_from_slice(name.as_bytes());
        Ok(bytes)
    }

    fn put_common(&self, bytes: &mut Vec<u8>, name: &str) -> io::Result<()> {
        // A name beyond ASCII is said to be UTF-8.
        let flags = if name.is_ascii() { 0 } else { 1_u16 << 11 };
        for field in [20, flags, self.method, 0, DATE] {
            bytes.extend_from_slice(&field.to_le_bytes());
        }
        for field in [self.crc, narrow(self.packed)?, narrow(self.size)?] {
            bytes.extend_from_slice(&field.to_le_bytes());
        }
        let length = u16::try_from(name.len()).map_err(|_| io::Error::other("an array's name is too long"))?;
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(&[0; 2]);
        Ok(())
    }
}

/// The record that ends an archive of `count` members.
pub(super) fn end(count: usize, length: usize, offset: u64) -> io::Result<Vec<u8>> {
    let count = u16::try_from(count).ok().filter(|count| *count < u16::MAX);
    let count = count.ok_or_else(|| io::Error::other("an .npz file holds no more than 65534 arrays"))?;
    let mut bytes = END.to_le_bytes().to_vec();
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(&count.to_le_bytes());
    bytes.extend_from_slice(&count.to_le_bytes());
    bytes.extend_from_slice(&narrow(length as u64)?.to_le_bytes());
    bytes.extend_from_slice(&narrow(offset)?.to_le_bytes());
    bytes.extend_from_slice(&[0; 2]);
    Ok(bytes)
}

fn narrow(number: u64) -> io::Result<u32> {
    let narrow = u32::try_from(number).ok().filter(|number| *number < u32::MAX);
    narrow.ok_or_else(|| io::Error::other("an .npz file holds less than 4 GiB here; save the arrays as .npy files"))
}
