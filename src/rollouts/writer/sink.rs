//! Where the columns of the streamed tables go.
//!
//! Most go straight to their arrays. A column of dictionary ids waits in a file of its own until
//! the dictionaries are complete, for only then are the ids final.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::PathBuf;

use rayon::prelude::*;

use crate::rollouts::column::Column;
use crate::rollouts::config::RolloutZarrStoreConfig;
use crate::rollouts::dictionary::Dictionaries;
use crate::rollouts::schema::{Crops, Depths};
use crate::rollouts::zarr::{ArrayStream, Encoder, Layout, StoreError, StoreWriter};

/// Provisional ids that are settled at a time.
const AT_A_TIME: usize = 1 << 20;

/// How the columns of a store are cut.
#[derive(Clone, Copy)]
pub(super) struct Cuts {
    depth_chunk_steps: u32,
    depth_encoder: Encoder,
}

impl Cuts {
    pub(super) fn of(config: &RolloutZarrStoreConfig) -> Self {
        Self { depth_chunk_steps: config.selected_depth_chunk_steps, depth_encoder: config.selected_depth_encoder }
    }

    fn layout(self, column: &Column<'_>) -> Layout {
        match (column.group, column.name) {
            (Depths::GROUP, "depth_m" | "valid_mask") => Layout::depth(self.depth_chunk_steps, self.depth_encoder),
            (Crops::GROUP, "points_world" | "mask") => Layout::CROPS,
            _ => Layout::COLUMN,
        }
    }
}

/// One column on its way to disk.
struct Sink {
    stream: ArrayStream,
    waiting: Option<Waiting>,
}

/// Provisional ids of one dictionary.
struct Waiting {
    dictionary: usize,
    path: PathBuf,
    file: BufWriter<File>,
}

/// All columns of the streamed tables.
pub(super) struct Sinks(Vec<Sink>);

impl Sinks {
    /// Opens a sink for every one of `columns`; ids wait in `directory`.
    pub(super) fn open(
        store: &StoreWriter,
        columns: &[Column<'_>],
        cuts: Cuts,
        directory: PathBuf,
    ) -> Result<Self, StoreError> {
        fs::create_dir_all(&directory).map_err(|source| StoreError::Files { path: directory.clone(), source })?;
        let open = |column: &Column<'_>| {
            let stream = store.stream(&column.path(), column.dtype, &column.tail, cuts.layout(column));
            let wait = |dictionary| {
                let path = directory.join(format!("{}.{}", column.group, column.name));
                match File::create_new(&path) {
                    Ok(file) => Ok(Waiting { dictionary, path, file: BufWriter::new(file) }),
                    Err(source) => Err(StoreError::Files { path, source }),
                }
            };
            Ok(Sink { stream, waiting: column.dictionary.map(wait).transpose()? })
        };
        Ok(Self(columns.iter().map(open).collect::<Result<_, StoreError>>()?))
    }

    /// Appends rows of the columns there were at the opening, every column by a thread of its own.
    pub(super) fn push(&mut self, columns: &[Column<'_>]) -> Result<(), StoreError> {
        self.0.par_iter_mut().zip(columns).try_for_each(|(sink, column)| match &mut sink.waiting {
            None => sink.stream.push(&column.bytes),
            Some(waiting) => waiting.failed(|file| file.write_all(&column.bytes)),
        })
    }

    /// Settles the ids that wait and closes every array.
    pub(super) fn finish(self, dictionaries: &Dictionaries) -> Result<(), StoreError> {
        self.0.into_par_iter().try_for_each(|mut sink| {
            if let Some(waiting) = sink.waiting {
                waiting.settle(dictionaries, &mut sink.stream)?;
            }
            sink.stream.finish()
        })
    }
}

impl Waiting {
    fn failed<T>(&mut self, action: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<T>) -> Result<T, StoreError> {
        action(&mut self.file).map_err(|source| StoreError::Files { path: self.path.clone(), source })
    }

    fn settle(mut self, dictionaries: &Dictionaries, stream: &mut ArrayStream) -> Result<(), StoreError> {
        self.failed(Write::flush)?;
        let failed = |source| StoreError::Files { path: self.path.clone(), source };
        let mut file = BufReader::new(File::open(&self.path).map_err(failed)?);
        let mut cells = Vec::new();
        loop {
            cells.clear();
            let limit = 4 * AT_A_TIME as u64;
            file.by_ref().take(limit).read_to_end(&mut cells).map_err(failed)?;
            if cells.is_empty() {
                return fs::remove_file(&self.path).map_err(failed);
            }
            stream.push(&dictionaries.settle(self.dictionary, &cells))?;
        }
    }
}

/// Writes a table that is complete in memory.
pub(super) fn write<'a>(
    store: &StoreWriter,
    columns: impl Iterator<Item = Column<'a>>,
    dictionaries: &Dictionaries,
) -> Result<(), StoreError> {
    columns.collect::<Vec<_>>().into_par_iter().try_for_each(|column| {
        let mut stream = store.stream(&column.path(), column.dtype, &column.tail, Layout::COLUMN);
        match column.dictionary {
            None => stream.push(&column.bytes)?,
            Some(dictionary) => stream.push(&dictionaries.settle(dictionary, &column.bytes))?,
        }
        stream.finish()
    })
}
