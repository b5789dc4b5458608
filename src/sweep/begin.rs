//! Beginning a sweep, or going on with one: its plan, what it is, and whose it is meanwhile.
//!
//! The process that begins a sweep holds its directory's lock while it makes the plan, and shares
//! it while it runs the trials: others may run the same plan then, and none may change it. The
//! system lets go of the lock when the process ends, however it does.

use std::fs::{File, TryLockError};

use super::Definition;
use super::directory::{Directory, HEADER, Header};
use super::error::SweepError;
use super::numbers::Numbers;
use super::plan::{self, Resolved, Totals};
use super::space::Space;
use crate::text::json;
use crate::unit::Unit;
use crate::value::{Map, Value};

/// A sweep that was begun.
#[derive(Debug)]
pub(crate) struct Begun {
    /// What it is.
    pub header: Header,
    /// The numbers that its trials have.
    pub numbers: Numbers,
    /// How many finished trials are not part of the plan any more.
    pub set_aside: u64,
    /// The directory, locked against other plans for as long as this is there.
    pub lock: File,
}

impl Directory {
    /// Begins or goes on with the sweep: writes the plan of `space` and what the sweep is, and sets
    /// aside what belongs to neither. Where a process is killed meanwhile, what was there before
    /// stays, and what it left is cleared later. A search for `searched` points has an empty space;
    /// its plan grows as it goes.
    ///
    /// # Errors
    /// When the space cannot be gone through, or a file cannot be written; when another process
    /// runs another plan of the sweep.
    pub(crate) fn begin(
        &self,
        definition: Definition,
        provenance: Map,
        space: &Space,
        resolve: &mut dyn FnMut(&Map) -> Result<Resolved, String>,
        searched: Option<u64>,
    ) -> Result<Begun, SweepError> {
        space.check()?;
        std::fs::create_dir_all(self.path()).map_err(SweepError::io(self.path()))?;
        let lock = File::open(self.path()).map_err(SweepError::io(self.path()))?;
        // A file system without locks has every process take itself for the only one.
        let alone = !matches!(lock.try_lock(), Err(TryLockError::WouldBlock));
        if !alone {
            lock.lock_shared().map_err(SweepError::io(self.path()))?;
        }
        let mut numbers = Numbers::of(self)?;
        // Put together in an attempt's directory, for that belongs to this process alone.
        let desk = self.units().begin(&Unit::new("plan", &Value::Null))?;
        let (plan, header_file) = (desk.path().join("plan"), desk.path().join(HEADER));
        let mut totals = plan::write(&plan, space, &mut numbers, resolve)?;
        totals.trials = searched.unwrap_or(totals.trials);
        let header = Header { definition, totals, provenance };
        if !alone {
            self.check_same(&header, searched)?;
            return Ok(Begun { header, numbers, set_aside: 0, lock });
        }
        let text = json::to_canonical(&header.to_value()) + "\n";
        std::fs::write(&header_file, text).map_err(SweepError::io(&header_file))?;
        for (from, to) in [(plan, self.plan_path()), (header_file, self.path().join(HEADER))] {
            File::open(&from).and_then(|file| file.sync_all()).map_err(SweepError::io(&from))?;
            std::fs::rename(&from, &to).map_err(SweepError::io(&to))?;
        }
        // A search takes back what it asks for.
        let set_aside = self.set_aside(&numbers)?;
        let _ = lock.lock_shared();
        Ok(Begun { header, numbers, set_aside, lock })
    }

    /// Another process runs the sweep at the moment; it must be the same one.
    fn check_same(&self, header: &Header, searched: Option<u64>) -> Result<(), SweepError> {
        let about = |header: &Header| {
            let totals = Totals { idle: Vec::new(), ..header.totals.clone() };
            (header.definition.clone(), totals)
        };
        let busy = |what| Err(SweepError::Busy { path: self.path().display().to_string(), what });
        match self.header() {
            _ if searched.is_some() => busy("a search is one process's"),
            Ok(other) if about(&other) == about(header) => Ok(()),
            _ => busy("its plan is another one"),
        }
    }
}

impl Totals {
    /// Whether the plan was not known when the sweep began: it is a search's.
    #[must_use]
    pub fn is_search(&self) -> bool {
        self.sha256.is_empty()
    }
}
