//! Whether a finished trial still has the files that it was finished with: its marker lists them
//! with their sizes, and small ones with their SHA-256, so that a look costs next to nothing.

use std::path::Path;

use super::directory::Directory;
use super::error::SweepError;
use super::plan::Trial;
use crate::digest::sha256_hex;
use crate::text::json;
use crate::unit::{self, MARKER};
use crate::value::{Map, Value};

/// The marker's list of files.
const FILES: &str = "files";

/// Files up to this size are known by their content.
const SMALL: u64 = 1 << 16;

/// The files of a trial that is about to be finished, for its marker.
pub(super) fn entry(directory: &Path) -> Result<(String, Value), SweepError> {
    let mut files = Map::new();
    for name in unit::names(directory)? {
        let about = about(&directory.join(&name))?;
        files.insert(name, about);
    }
    Ok((FILES.to_owned(), Value::Map(files)))
}

fn about(path: &Path) -> Result<Value, SweepError> {
    let size = std::fs::metadata(path).map_err(SweepError::io(path))?.len();
    let mut about = Map::from_iter([("bytes".to_owned(), size.into())]);
    if size <= SMALL {
        let content = std::fs::read(path).map_err(SweepError::io(path))?;
        about.insert("sha256".to_owned(), sha256_hex(&content).into());
    }
    Ok(Value::Map(about))
}

impl Directory {
    /// Checks that the finished trial in the directory called `name` has its files. What was finished
    /// by a version that did not list them passes.
    ///
    /// # Errors
    /// The first file that is missing or another one.
    pub fn check_files(&self, name: &str) -> Result<(), SweepError> {
        let home = self.units().home().join(name);
        let path = home.join(MARKER);
        let text = std::fs::read(&path).map_err(SweepError::io(&path))?;
        let malformed = |path: &Path, message: &str| SweepError::Malformed {
            path: path.display().to_string(),
            line: None,
            message: message.to_owned(),
        };
        let marker = std::str::from_utf8(&text).ok().and_then(|text| json::parse(text).ok());
        let marker = marker.as_ref().and_then(Value::as_map);
        let marker = marker.ok_or_else(|| malformed(&path, "it is no marker of a finished trial"))?;
        for (name, then) in marker.get(FILES).and_then(Value::as_map).into_iter().flatten() {
            let path = home.join(name);
            if about(&path)? != *then {
                return Err(malformed(&path, "it is not what the trial was finished with"));
            }
        }
        Ok(())
    }

    /// Checks that nothing without a marker stands where `trial` belongs.
    pub(super) fn check_place(&self, trial: &Trial) -> Result<(), SweepError> {
        let place = self.units().home().join(trial.unit().name());
        if !place.is_dir() || place.join(MARKER).is_file() {
            return Ok(());
        }
        let message = format!("its {MARKER} is missing");
        Err(SweepError::Malformed { path: place.display().to_string(), line: None, message })
    }
}
