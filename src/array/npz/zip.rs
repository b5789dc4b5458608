//! As much of the ZIP format as `.npz` archives use: the central directory (with its 64-bit
//! extension), members stored or deflated, CRC-32 checked.
//!
//! Reading trusts nothing: offsets and lengths are checked before they are followed, and a
//! member gives no more bytes than the directory says.

mod directory;

use std::io::{self, Read, Seek, Write};

use flate2::bufread::DeflateDecoder;
use flate2::write::DeflateEncoder;
use flate2::{Compression, CrcReader, CrcWriter};
use indexmap::IndexMap;

use super::super::Array;
use super::super::npy::{self, NpyError};
use directory::{DEFLATED, Member, STORED};

/// An archive and what its directory says.
pub(super) struct Archive<R> {
    reader: R,
    members: IndexMap<String, Member>,
}

impl<R: io::BufRead + Seek> Archive<R> {
    /// Reads the directory.
    pub(super) fn open(mut reader: R) -> Result<Self, NpyError> {
        let members = directory::read(&mut reader)?;
        Ok(Self { reader, members })
    }

    /// The names of the arrays, in order.
    pub(super) fn keys(&self) -> Vec<String> {
        self.members.keys().cloned().collect()
    }

    /// The array `key`, of no more than `most` bytes.
    pub(super) fn read(&mut self, key: &str, most: usize) -> Result<Array, NpyError> {
        let member = self.members.get(key).ok_or_else(|| malformed("it has no such member"))?;
        member.seek(&mut self.reader)?;
        let packed = self.reader.by_ref().take(member.packed);
        let (array, sum) = match member.method {
            STORED => unpack(packed, member.size, most)?,
            DEFLATED => unpack(DeflateDecoder::new(packed), member.size, most)?,
            other => {
                return Err(malformed(format!("compression method {other} is not known; save it with numpy.savez")));
            }
        };
        if sum == member.crc { Ok(array) } else { Err(malformed("its checksum does not match: it was damaged")) }
    }
}

/// The array in `reader`, and the checksum of all its bytes.
fn unpack(reader: impl Read, size: u64, most: usize) -> Result<(Array, u32), NpyError> {
    let mut reader = CrcReader::new(reader.take(size));
    let array = npy::read_at_most(&mut reader, most)?;
    io::copy(&mut reader, &mut io::sink())?;
    Ok((array, reader.crc().sum()))
}

fn malformed(what: impl Into<String>) -> NpyError {
    NpyError::Archive(what.into())
}

/// Writes `arrays` as an archive.
pub(super) fn write(out: &mut impl Write, arrays: &IndexMap<String, Array>, compressed: bool) -> io::Result<()> {
    let mut offset = 0_u64;
    let mut central = Vec::new();
    for (key, array) in arrays {
        let mut summed = CrcWriter::new(Counter(0));
        npy::write(&mut summed, array)?;
        let (size, crc) = (summed.get_ref().0, summed.crc().sum());
        let deflated = if compressed { Some(deflate(array)?) } else { None };
        let packed = deflated.as_ref().map_or(size, |bytes| bytes.len() as u64);
        let method = if compressed { DEFLATED } else { STORED };
        let member = Member { method, crc, packed, size, offset };
        let name = format!("{key}.npy");
        let local = member.local_header(&name)?;
        out.write_all(&local)?;
        match deflated {
            Some(bytes) => out.write_all(&bytes)?,
            None => npy::write(out, array)?,
        }
        central.extend(member.central_header(&name)?);
        offset += local.len() as u64 + packed;
    }
    out.write_all(&central)?;
    out.write_all(&directory::end(arrays.len(), central.len(), offset)?)
}

fn deflate(array: &Array) -> io::Result<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    npy::write(&mut encoder, array)?;
    encoder.finish()
}

/// Takes bytes and counts them.
struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
