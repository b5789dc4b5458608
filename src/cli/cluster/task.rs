//! What a task of a submission is told: the command that its units' processes are started with.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use crate::cli::Process;
use crate::cli::args::{LauncherArguments, TaskArguments};
use crate::diagnostic::{Diagnostic, Exit};
use crate::launcher::Submitted;
use crate::value::{Map, Value};

/// What every task of a submission by this command needs to know: what was typed, and where.
pub(in crate::cli) fn about(own: &Process, asked: &LauncherArguments) -> Result<Map, Box<Diagnostic>> {
    let bad = |line: String| Box::new(Diagnostic::new("launcher/command", line, Exit::Usage));
    let words: Option<Vec<Value>> = own.words.iter().map(|word| Some(word.to_str()?.into())).collect();
    let words = words.ok_or_else(|| bad("the command is not in UTF-8, so it cannot be written down".to_owned()))?;
    let here = std::env::current_dir().map_err(|cause| bad(format!("the working directory: {cause}")))?;
    let here = here.to_str().ok_or_else(|| bad("the working directory's name is not in UTF-8".to_owned()))?;
    Ok(Map::from_iter([
        ("arguments".to_owned(), words.into()),
        ("directory".to_owned(), here.into()),
        ("cpus".to_owned(), (asked.slurm_cpus.get() as u64).into()),
    ]))
}

/// A task under way.
pub(in crate::cli) struct Task {
    /// Its submission's directory.
    pub(in crate::cli) submission: PathBuf,
    /// Its units, a line each.
    pub(in crate::cli) units: Vec<String>,
    /// What was typed after the program's name when it was submitted.
    pub(in crate::cli) arguments: Vec<OsString>,
    /// How many processors it has.
    pub(in crate::cli) cpus: NonZeroUsize,
    /// What else the submission says.
    pub(in crate::cli) about: Map,
}

impl Task {
    /// Reads a task, and goes to the directory that its submission was typed in, where relative
    /// paths lead.
    pub(in crate::cli) fn begin(arguments: &TaskArguments) -> Result<Self, Box<Diagnostic>> {
        let path = &arguments.submission;
        let submission = path.canonicalize().map_err(|cause| malformed(path, &cause.to_string()))?;
        let submitted = Submitted::open(&submission).map_err(Diagnostic::from)?;
        let units = submitted.units_of(arguments.task).map_err(Diagnostic::from)?;
        let about = submitted.about().map_err(Diagnostic::from)?;
        let read = || {
            let words = about.get("arguments")?.as_list()?.iter();
            let words = words.map(|word| Some(word.as_text()?.into())).collect::<Option<_>>()?;
            let cpus = NonZeroUsize::new(about.get("cpus")?.as_count()?.try_into().ok()?)?;
            Some((words, about.get("directory")?.as_text()?, cpus))
        };
        let (arguments, directory, cpus) =
            read().ok_or_else(|| malformed(&submission, "it does not say how its units are worked on"))?;
        std::env::set_current_dir(directory).map_err(|cause| {
            let hint = "a cluster's machines must have the directory that work is submitted from";
            Box::new(malformed(Path::new(directory), &cause.to_string()).with_hint(hint))
        })?;
        Ok(Self { submission, units, arguments, cpus, about })
    }
}

/// A submission is not what it should be.
pub(in crate::cli) fn malformed(path: &Path, message: &str) -> Diagnostic {
    Diagnostic::new("launcher/malformed", format!("{}: {message}", path.display()), Exit::Input)
}
