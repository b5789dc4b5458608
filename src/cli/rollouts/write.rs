//! `skyfall rollouts write`.

use std::collections::HashSet;

use super::{options, result};
use crate::cli::Ending;
use crate::cli::args::RolloutsWriteArguments;
use crate::cli::console::Terminal;
use crate::cli::findings;
use crate::diagnostic::{Diagnostic, Exit};
use crate::digest::sha256_hex;
use crate::rollouts::{RecordsFile, RolloutZarrStoreConfig, WriteError, Writer};
use crate::script::Console;
use crate::value::Map;

/// Writes a store from a file of records.
pub(super) fn write(arguments: &RolloutsWriteArguments, terminal: &Terminal) -> Ending {
    let config = configuration(arguments)?;
    let mut records = RecordsFile::open(&arguments.records).map_err(Diagnostic::from)?;
    let mut writer = Writer::new(config).map_err(Diagnostic::from)?;
    // Digests, for there may be millions of ids.
    let (mut ids, mut warned) = (HashSet::new(), false);
    loop {
        let some = records.next_records().map_err(Diagnostic::from)?;
        if some.is_empty() {
            break;
        }
        for (line, record) in some {
            let id = &record.rollout_id_prefix;
            if !ids.insert(short(id)) && !warned {
                warned = true;
                terminal.warn(&format!("line {line}: the rollout id `{}` is there twice", findings::name(id)));
            }
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
    result::print(&result, arguments.json, terminal);
    Ok(Exit::Success)
}

/// Half of a text's SHA-256.
fn short(text: &str) -> Option<u128> {
    u128::from_str_radix(sha256_hex(text.as_bytes()).get(..32)?, 16).ok()
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
