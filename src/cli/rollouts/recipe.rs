//! What a campaign's records come from: an oracle, or a file.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::options;
use crate::campaign::run::RecordSource;
use crate::campaign::{Recipe, RunError};
use crate::cli::args::RecipeArguments;
use crate::cli::console::Terminal;
use crate::diagnostic::{Diagnostic, Exit};
use crate::digest::sha256_of_file;
use crate::rollouts::{RecordsFile, RolloutRecord, ShardEntry, WriteError};
use crate::script::{Console, Limits, Script, ScriptError, ScriptHost, ScriptedOracle};
use crate::value::Map;

/// What decides the stores, and what the records come from.
pub(super) struct Source {
    pub(super) recipe: Recipe,
    records: Records,
}

enum Records {
    Script(ScriptedOracle),
    File { path: PathBuf, terminal: Rc<Terminal> },
}

/// Reads what was typed; a script is run to its end.
pub(super) fn source(
    arguments: &RecipeArguments,
    limits: Limits,
    terminal: &Rc<Terminal>,
) -> Result<Source, Box<Diagnostic>> {
    let (records, sources, own) = match (&arguments.script, &arguments.records) {
        (Some(script), _) => {
            let mut settings = crate::cli::script::settings(&arguments.permissions)?;
            settings.limits = limits;
            let console = Rc::clone(terminal) as Rc<dyn Console>;
            let host = ScriptHost::new(Script::File(script.clone()), settings, console)?;
            let oracle = ScriptedOracle::new(host).map_err(|error| match error {
                ScriptError::Raised(diagnostic) => diagnostic,
                ScriptError::Exit(code) => {
                    let line = format!("{} ended with exit code {code}", script.display());
                    Box::new(Diagnostic::new("script/exit", line, Exit::Failure))
                }
            })?;
            let (sources, own) = (oracle.sources().to_vec(), oracle.options().clone());
            (Records::Script(oracle), sources, own)
        }
        (None, path) => {
            let path = path.clone().unwrap_or_default();
            let sources = vec![("records".to_owned(), sha256_of(&path)?)];
            (Records::File { path, terminal: Rc::clone(terminal) }, sources, Map::new())
        }
    };
    let options = options::over(own, arguments.options.as_deref(), &arguments.overrides)?;
    let invocation = options::invocation("run", &arguments.overrides);
    let recipe = Recipe::new(&options, &sources, options::created_at_utc()?, invocation)
        .map_err(|error| options::usage(error.to_string()))?;
    Ok(Source { recipe, records })
}

/// The SHA-256 of a file, however large.
fn sha256_of(path: &Path) -> Result<String, Box<Diagnostic>> {
    sha256_of_file(path).map_err(|cause| {
        let line = format!("cannot read {}: {cause}", path.display());
        Box::new(Diagnostic::new("rollouts/records", line, Exit::Input))
    })
}

impl RecordSource for Source {
    fn records(
        &mut self,
        entry: &ShardEntry,
        add: &mut dyn FnMut(RolloutRecord) -> Result<(), RunError>,
    ) -> Result<(), RunError> {
        match &mut self.records {
            Records::Script(oracle) => oracle.records(entry, add),
            Records::File { path, terminal } => of_file(path, entry, terminal, add),
        }
    }
}

/// The records of a file that are of the shard's rows.
fn of_file(
    path: &Path,
    entry: &ShardEntry,
    terminal: &Terminal,
    add: &mut dyn FnMut(RolloutRecord) -> Result<(), RunError>,
) -> Result<(), RunError> {
    let failed = |problem: Diagnostic| RunError::Source(Box::new(problem));
    let mut records = RecordsFile::open(path).map_err(|error| failed(error.into()))?;
    let keys: std::collections::HashSet<&str> = entry.rows.iter().map(|row| row.sample_key.as_str()).collect();
    loop {
        if let Some(limit) = terminal.limit() {
            return Err(RunError::TimedOut(Box::new(limit)));
        }
        if terminal.interrupted() {
            let stop = Diagnostic::new("script/interrupted", "interrupted", Exit::Interrupted);
            return Err(RunError::Interrupted(Box::new(stop)));
        }
        let some = records.next_records().map_err(|error| failed(error.into()))?;
        if some.is_empty() {
            return Ok(());
        }
        for (line, record) in some {
            if !record.source.source_sample_key.as_deref().is_some_and(|key| keys.contains(key)) {
                continue;
            }
            add(record).map_err(|error| match error {
                error @ (RunError::Record { .. } | RunError::Write(WriteError::Record(_))) => {
                    failed(records.refuse(line, error.to_string()).into())
                }
                other => other,
            })?;
        }
    }
}
