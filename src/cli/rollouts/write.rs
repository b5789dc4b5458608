//! `skyfall rollouts write`.

use super::options;
use crate::cli::Ending;
use crate::cli::args::RolloutsWriteArguments;
use crate::cli::console::Terminal;
use crate::diagnostic::{Diagnostic, Exit};
use crate::rollouts::{RecordsFile, RolloutZarrStoreConfig, WriteError, Writer};
use crate::text::json;
use crate::value::{Map, Value};

/// Writes a store from a file of records.
pub(super) fn write(arguments: &RolloutsWriteArguments, terminal: &Terminal) -> Ending {
    let config = configuration(arguments)?;
    let mut records = RecordsFile::open(&arguments.records).map_err(Diagnostic::from)?;
    let mut writer = Writer::new(config).map_err(Diagnostic::from)?;
    loop {
        let some = records.next_records().map_err(Diagnostic::from)?;
        if some.is_empty() {
            break;
        }
        for (line, record) in some {
            writer.add(&record).map_err(|error| match error {
                WriteError::Record(error) => Diagnostic::from(records.refuse(line, error.to_string())),
                other => Diagnostic::from(other),
            })?;
        }
        if let (done, Some(size)) = records.progress() {
            terminal.bytes(&format!("{} steps", writer.steps()), done, size);
        }
    }
    terminal.bytes("completing the store", 0, 1);
    let result = writer.finish().map_err(Diagnostic::from)?;
    terminal.bytes("", 1, 1);
    let count = |count: usize| Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
    let entries = [
        ("store_dir", result.store_dir.display().to_string().into()),
        ("num_rollouts", count(result.num_rollouts)),
        ("num_steps", count(result.num_steps)),
        ("num_candidates", count(result.num_candidates)),
        ("manifest_path", result.manifest_path.display().to_string().into()),
        ("manifest_sha256", result.manifest_sha256.as_str().into()),
    ];
    if arguments.json {
        let map: Map = entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        terminal.print(&format!("{}\n", json::to_string(&Value::Map(map))));
    } else if !terminal.is_quiet() {
        terminal.print(&format!(
            "{}: {} rollouts, {} steps, {} candidates, manifest {}\n",
            result.store_dir.display(),
            result.num_rollouts,
            result.num_steps,
            result.num_candidates,
            result.manifest_sha256
        ));
    }
    Ok(Exit::Success)
}

/// The writer's options: those of the file, then those of the command line.
fn configuration(arguments: &RolloutsWriteArguments) -> Result<RolloutZarrStoreConfig, Box<Diagnostic>> {
    let mut options = options::over(Map::new(), arguments.options.as_deref(), &arguments.overrides)?;
    if arguments.overrides.iter().any(|assignment| assignment.trim_start().starts_with("store_dir=")) {
        return Err(options::usage("the store's directory is told by --store".to_owned()));
    }
    options.insert("store_dir".to_owned(), arguments.store.display().to_string().into());
    let mut config = RolloutZarrStoreConfig::from_options(&options, options::created_at_utc()?)
        .map_err(|error| options::usage(error.to_string()))?;
    if config.manifest_context.invocation.is_null() {
        config.manifest_context.invocation = options::invocation("write", &arguments.overrides);
    }
    Ok(config)
}
