//! How an array lies on disk: its chunks, their files and their codecs.
//!
//! Every number here comes from a document that anyone may have written: what it says is held
//! against the sizes of files before memory is taken for it.

use crate::array::DType;
use crate::value::{Map, Value};

/// The bytes of the largest array that is taken to be meant: 256 GiB.
const LARGEST: usize = 1 << 38;

/// What turns a stored chunk's bytes into elements' bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compressor {
    None,
    Zstd,
    Blosc,
    Gzip,
}

/// Several chunks in one file, found by an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shard {
    /// Whether the index is at the file's end, and not at its start.
    pub(super) index_at_end: bool,
    /// Whether the index ends with its CRC-32C.
    pub(super) index_checksum: bool,
}

/// An array's document, understood.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) dtype: DType,
    pub(super) shape: Vec<usize>,
    /// The part of the array in one file.
    pub(super) file: Vec<usize>,
    /// The part that is compressed as one.
    pub(super) chunk: Vec<usize>,
    pub(super) shard: Option<Shard>,
    pub(super) compressor: Compressor,
    /// How many CRC-32C follow a compressed chunk.
    pub(super) checksums: usize,
    /// Whether the elements' bytes are in the order that this machine does not use.
    pub(super) swapped: bool,
    /// One element of what absent chunks hold.
    pub(super) fill: Vec<u8>,
    prefix: &'static str,
    separator: &'static str,
}

type Read<T> = Result<T, String>;

impl Layout {
    /// Understands an array's document.
    pub(super) fn of(document: &Map) -> Read<Self> {
        let name = document.get("data_type").and_then(Value::as_text).unwrap_or_default();
        let dtype: DType = name.parse().map_err(|error| format!("{error}"))?;
        let shape = lengths(document.get("shape"), dtype).ok_or("its shape is not one of an array")?;
        let irregular = "its chunks are not regular";
        let grid = named(document.get("chunk_grid"));
        let grid = grid.filter(|(name, _)| *name == "regular").and_then(|(_, grid)| grid?.get("chunk_shape"));
        let file = lengths(grid, dtype).filter(|file| regular(file, &shape)).ok_or(irregular)?;
        let (prefix, separator) = keys(document.get("chunk_key_encoding"))?;
        let codecs = document.get("codecs").and_then(Value::as_list).ok_or("it has no codecs")?;
        let mut layout = Self {
            dtype,
            chunk: file.clone(),
            file,
            shard: None,
            compressor: Compressor::None,
            checksums: 0,
            swapped: false,
            fill: fill(document.get("fill_value"), dtype).ok_or("its fill value is none of its type")?,
            shape,
            prefix,
            separator,
        };
        match codecs {
            [only] if named(Some(only)).is_some_and(|(name, _)| name == "sharding_indexed") => {
                let sharding =
                    named(Some(only)).and_then(|(_, sharding)| sharding).ok_or("its shards are not described")?;
                let inner = lengths(sharding.get("chunk_shape"), dtype).filter(|chunk| divides(chunk, &layout.file));
                layout.chunk = inner.ok_or("its inner chunks do not divide its shards")?;
                layout.shard = Some(shard(sharding)?);
                layout.codecs(sharding.get("codecs").and_then(Value::as_list).ok_or("its shards have no codecs")?)?;
            }
            codecs => layout.codecs(codecs)?,
        }
        Ok(layout)
    }

    /// `bytes`, then a compressor or none, then any checksums.
    fn codecs(&mut self, codecs: &[Value]) -> Read<()> {
        let mut codecs = codecs.iter();
        match named(codecs.next()) {
            Some(("bytes", configuration)) => {
                let endian = configuration.and_then(|map| map.get("endian")).and_then(Value::as_text);
                let big = match endian {
                    None | Some("little") => false,
                    Some("big") => true,
                    Some(other) => return Err(format!("the byte order `{other}` is not known")),
                };
                self.swapped = big != cfg!(target_endian = "big") && self.dtype.size() > 1;
            }
            other => return Err(unknown(other)),
        }
        for codec in codecs {
            let compressor = match named(Some(codec)) {
                Some(("crc32c", _)) => {
                    self.checksums += 1;
                    continue;
                }
                Some(("zstd", _)) => Compressor::Zstd,
                Some(("blosc", _)) => Compressor::Blosc,
                Some(("gzip", _)) => Compressor::Gzip,
                other => return Err(unknown(other)),
            };
            if self.compressor != Compressor::None || self.checksums > 0 {
                return Err("its chunks are compressed more than once".to_owned());
            }
            self.compressor = compressor;
        }
        Ok(())
    }

    /// The file of the chunk or shard at `index` of the grid, below the array's own directory.
    pub(super) fn key(&self, index: &[usize]) -> String {
        let mut key = self.prefix.to_owned();
        for part in index {
            if !key.is_empty() {
                key.push_str(self.separator);
            }
            key.push_str(&part.to_string());
        }
        key
    }

    /// Whether `key` is the file of a chunk or shard of the grid.
    pub(super) fn has_key(&self, key: &str) -> bool {
        let numbers = key.strip_prefix(self.prefix).unwrap_or_default().split(self.separator);
        let index: Vec<usize> = numbers.filter_map(|number| number.parse().ok()).collect();
        let within = |(index, (length, file)): (&usize, (&usize, &usize))| *index < length.div_ceil(*file);
        index.len() == self.shape.len()
            && index.iter().zip(self.shape.iter().zip(&self.file)).all(within)
            && self.key(&index) == key
    }

    /// How many elements one row of the first axis has.
    pub(super) fn row_elements(&self) -> usize {
        self.shape.iter().skip(1).product()
    }

    /// How many bytes a decoded chunk has.
    pub(super) fn chunk_bytes(&self) -> usize {
        self.chunk.iter().product::<usize>() * self.dtype.size()
    }

    /// Whether chunks split the first axis only.
    pub(super) fn whole_rows(&self) -> bool {
        let inner = |lengths: &[usize]| lengths.get(1..).map(<[usize]>::to_vec);
        inner(&self.chunk) == inner(&self.shape) && inner(&self.file) == inner(&self.shape)
    }
}

/// A codec or grid: its name and configuration; a name alone is one without configuration.
fn named(value: Option<&Value>) -> Option<(&str, Option<&Map>)> {
    match value? {
        Value::Text(name) => Some((name, None)),
        Value::Map(map) => {
            let name = map.get("name").and_then(Value::as_text)?;
            Some((name, map.get("configuration").and_then(Value::as_map)))
        }
        _ => None,
    }
}

fn unknown(codec: Option<(&str, Option<&Map>)>) -> String {
    match codec {
        Some((name, _)) => format!("its codec `{name}` is not known here"),
        None => "its codecs are not described".to_owned(),
    }
}

/// Lengths whose elements make no more bytes than an array may have.
fn lengths(list: Option<&Value>, dtype: DType) -> Option<Vec<usize>> {
    let lengths = list?.as_list()?.iter().map(|item| usize::try_from(item.as_int()?).ok());
    let lengths: Vec<usize> = lengths.collect::<Option<_>>()?;
    let bytes = lengths.iter().try_fold(dtype.size(), |bytes, length| bytes.checked_mul((*length).max(1)))?;
    (bytes <= LARGEST).then_some(lengths)
}

fn regular(file: &[usize], shape: &[usize]) -> bool {
    file.len() == shape.len() && !file.contains(&0)
}

fn divides(chunk: &[usize], file: &[usize]) -> bool {
    regular(chunk, file) && chunk.iter().zip(file).all(|(chunk, file)| file.is_multiple_of(*chunk))
}

fn shard(sharding: &Map) -> Read<Shard> {
    let index_at_end = match sharding.get("index_location").map(Value::as_text) {
        None | Some(Some("end")) => true,
        Some(Some("start")) => false,
        Some(_) => return Err("its shards have their index nowhere".to_owned()),
    };
    let codecs = sharding.get("index_codecs").and_then(Value::as_list).unwrap_or_default();
    let little = |codec: Option<&Value>| match named(codec) {
        Some(("bytes", configuration)) => {
            configuration.and_then(|map| map.get("endian")).is_none_or(|endian| endian.as_text() == Some("little"))
        }
        _ => false,
    };
    let index_checksum = match codecs {
        [bytes] if little(Some(bytes)) => false,
        [bytes, check] if little(Some(bytes)) && named(Some(check)).is_some_and(|(name, _)| name == "crc32c") => true,
        _ => return Err("the index of its shards is in a form that is not known here".to_owned()),
    };
    Ok(Shard { index_at_end, index_checksum })
}

/// What a chunk's file is called: a prefix and what separates the numbers.
fn keys(encoding: Option<&Value>) -> Read<(&'static str, &'static str)> {
    let (name, configuration) = named(encoding).unwrap_or(("default", None));
    let separator = configuration.and_then(|map| map.get("separator")).and_then(Value::as_text);
    match (name, separator) {
        ("default", None | Some("/")) => Ok(("c", "/")),
        ("default", Some(".")) => Ok(("c", ".")),
        ("v2", None | Some(".")) => Ok(("", ".")),
        ("v2", Some("/")) => Ok(("", "/")),
        _ => Err("the names of its chunks are in a form that is not known here".to_owned()),
    }
}

/// The bytes of one element of the fill value, in this machine's order.
fn fill(value: Option<&Value>, dtype: DType) -> Option<Vec<u8>> {
    let value = value?;
    if let Some(hex) = value.as_text().and_then(|text| text.strip_prefix("0x")) {
        let bits = u64::from_str_radix(hex, 16).ok()?;
        let mut bytes = bits.to_le_bytes().get(..dtype.size())?.to_vec();
        if cfg!(target_endian = "big") {
            bytes.reverse();
        }
        return (hex.len() == 2 * dtype.size()).then_some(bytes);
    }
    let number = match value {
        Value::Text(text) => match text.as_str() {
            "NaN" => f64::NAN,
            "Infinity" => f64::INFINITY,
            "-Infinity" => f64::NEG_INFINITY,
            _ => return None,
        },
        Value::Bool(flag) => f64::from(u8::from(*flag)),
        other => other.as_float()?,
    };
    let whole = || {
        value.as_int().or(match value {
            Value::Bool(flag) => Some(i64::from(*flag)),
            _ => None,
        })
    };
    #[expect(clippy::cast_possible_truncation, reason = "a fill value as its column holds it")]
    Some(match dtype {
        DType::Bool => vec![u8::from(number != 0.0)],
        DType::I8 => i8::try_from(whole()?).ok()?.to_ne_bytes().to_vec(),
        DType::I16 => i16::try_from(whole()?).ok()?.to_ne_bytes().to_vec(),
        DType::I32 => i32::try_from(whole()?).ok()?.to_ne_bytes().to_vec(),
        DType::I64 => whole()?.to_ne_bytes().to_vec(),
        DType::U8 => u8::try_from(whole()?).ok()?.to_ne_bytes().to_vec(),
        DType::U16 => u16::try_from(whole()?).ok()?.to_ne_bytes().to_vec(),
        DType::U32 => u32::try_from(whole()?).ok()?.to_ne_bytes().to_vec(),
        DType::F16 => half::f16::from_f64(number).to_ne_bytes().to_vec(),
        DType::F32 => (number as f32).to_ne_bytes().to_vec(),
        DType::F64 => number.to_ne_bytes().to_vec(),
    })
}
