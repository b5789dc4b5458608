//! Encoding beside the producer: rows are handed to a thread that compresses them on every core
//! and writes them, while the next are taken in.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};

use super::sink::{Cuts, Sinks};
use crate::rollouts::column::Column;
use crate::rollouts::rows::Rows;
use crate::rollouts::zarr::{StoreError, StoreWriter};

/// Rows to be written.
pub(super) enum Batch {
    /// Those of records.
    Rows(Rows),
    /// Those of other stores, always of the same columns in the same order.
    Columns(Vec<Column<'static>>),
}

/// A thread that writes rows in the order they are sent.
pub(super) struct Pipeline {
    directory: PathBuf,
    to: Option<SyncSender<Batch>>,
    /// Batches that were written, for the room they have.
    written: Receiver<Rows>,
    thread: Option<JoinHandle<Result<Option<Sinks>, StoreError>>>,
}

impl Pipeline {
    /// Starts the thread; ids that are not final wait in `directory`.
    pub(super) fn start(store: Arc<StoreWriter>, cuts: Cuts, directory: PathBuf) -> Result<Self, StoreError> {
        // One batch is being written while another waits and a third is filled.
        let (to, from) = sync_channel::<Batch>(1);
        let (back, written) = channel();
        let place = directory.clone();
        let work = move || {
            let mut sinks = None;
            for batch in from {
                let columns = match &batch {
                    Batch::Rows(rows) => &rows.columns(),
                    Batch::Columns(columns) => columns,
                };
                let sinks = match &mut sinks {
                    Some(sinks) => sinks,
                    None => sinks.insert(Sinks::open(&store, columns, cuts, place.clone())?),
                };
                sinks.push(columns)?;
                if let Batch::Rows(rows) = batch {
                    // No one takes it back once the last batch was sent.
                    let _ = back.send(rows);
                }
            }
            Ok(sinks)
        };
        let thread = Builder::new().name("rollouts writer".to_owned()).spawn(work);
        let thread = thread.map_err(|source| StoreError::Files { path: directory.clone(), source })?;
        Ok(Self { directory, to: Some(to), written, thread: Some(thread) })
    }

    /// Hands rows over; waits while there are two batches before them.
    ///
    /// # Errors
    /// What earlier rows could not be written for.
    pub(super) fn send(&mut self, batch: Batch) -> Result<(), StoreError> {
        match self.to.as_ref().map(|to| to.send(batch)) {
            Some(Ok(())) => Ok(()),
            _ => self.finish().and(Err(self.broken())),
        }
    }

    /// A batch that was written, if there is one.
    pub(super) fn written(&self) -> Option<Rows> {
        self.written.try_recv().ok()
    }

    /// Waits until everything is written.
    pub(super) fn finish(&mut self) -> Result<Option<Sinks>, StoreError> {
        self.to = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            _ => Err(self.broken()),
        }
    }

    /// The thread ended before: its error was told already, or it panicked.
    fn broken(&self) -> StoreError {
        let source = std::io::Error::other("the store's writer stopped after an earlier failure");
        StoreError::Files { path: self.directory.clone(), source }
    }
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        // What is being written must not outlive the directory it is written to.
        let _ = self.finish();
    }
}
