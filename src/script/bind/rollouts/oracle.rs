//! Oracles: scripts that the records of a campaign's shards come from.

use std::cell::RefCell;

use mlua::{Function, UserData, Value as LuaValue};

use super::datum;
use crate::campaign::RunError;
use crate::campaign::run::RecordSource;
use crate::diagnostic::{Diagnostic, Exit};
use crate::digest::sha256_hex;
use crate::rollouts::{RolloutRecord, ShardEntry, ShardRow, WriteError};
use crate::script::bind::{Fault, Module};
use crate::script::convert;
use crate::script::error::{LIBRARY_CHUNK, ScriptError, fail};
use crate::script::host::{Raised, ScriptHost};
use crate::script::limits::asked;
use crate::value::{Map, Value};

/// What `rollouts.oracle` returns.
struct LuaOracle {
    options: Map,
    records: Function,
}

impl UserData for LuaOracle {
    fn add_methods<M: mlua::UserDataMethods<Self>>(methods: &mut M) {
        crate::script::bind::named(methods, "skyfall.RolloutsOracle");
    }
}

/// A script that makes a shard's records of its rows.
pub struct ScriptedOracle {
    script: ScriptHost,
    options: Map,
    records: Function,
    sources: Vec<(String, String)>,
}

impl std::fmt::Debug for ScriptedOracle {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("ScriptedOracle").field("options", &self.options).finish_non_exhaustive()
    }
}

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    module.function("oracle", |_, _, given: LuaValue| {
        let LuaValue::Table(table) = &given else {
            return Err(Fault::Line(format!("`oracle` must be a table, got {}", convert::describe(&given))));
        };
        for (key, _) in convert::entries(table, "oracle")? {
            let key = convert::key_text(&key);
            if !["options", "records"].contains(&key.as_str()) {
                return Err(Fault::Line(format!("`oracle` takes `options` and `records`, got `{key}`")));
            }
        }
        let options = match table.raw_get("options")? {
            LuaValue::Nil => Map::new(),
            options => convert::read_map(&options, "options")?,
        };
        match table.raw_get("records")? {
            LuaValue::Function(records) => Ok(LuaOracle { options, records }),
            other => Err(Fault::Line(format!(
                "`records` must be a function of the shard's rows and the shard, got {}",
                convert::describe(&other)
            ))),
        }
    })
}

impl ScriptedOracle {
    /// Runs `script` to its end, for the oracle that it returns, or a function that is one with the
    /// writer's default options.
    ///
    /// # Errors
    /// As for [`ScriptHost::run`]; when it returns none.
    pub fn new(script: ScriptHost) -> Result<Self, ScriptError> {
        let none = |what: &str| {
            let hint =
                "end it with `return rollouts.oracle { options = {...}, records = function(rows, shard) ... end }`";
            let problem = Diagnostic::new("script/no-oracle", format!("the script returned {what}"), Exit::BadConfig);
            ScriptError::Raised(Box::new(problem.with_hint(hint)))
        };
        let (options, records) = match script.value()? {
            LuaValue::Function(records) => (Map::new(), records),
            LuaValue::UserData(data) => match data.take::<LuaOracle>() {
                Ok(oracle) => (oracle.options, oracle.records),
                Err(_) => return Err(none("an object that is no oracle")),
            },
            other => return Err(none(&format!("{}, which is no oracle", convert::describe(&other)))),
        };
        let sources = sources(&script);
        Ok(Self { script, options, records, sources })
    }

    /// The writer's options that it asks for.
    #[must_use]
    pub(crate) fn options(&self) -> &Map {
        &self.options
    }

    /// The script and the modules it required, with the SHA-256 of each: `script`, and paths
    /// relative to its directory.
    #[must_use]
    pub(crate) fn sources(&self) -> &[(String, String)] {
        &self.sources
    }

    fn call(&self, entry: &ShardEntry, add: &mut Add<'_>) -> Result<(), RunError> {
        let lua = &self.script.lua;
        let raised = Raised::default();
        // What `add` refuses reaches the script as an error, and the caller as it is.
        let refused: RefCell<Option<RunError>> = RefCell::default();
        let called = lua.scope(|scope| {
            let add = scope.create_function_mut(|lua, (_, record): (LuaValue, LuaValue)| {
                if let Some(stop) = asked(&self.script.host) {
                    let problem = run_error(ScriptError::Raised(Box::new(stop.diagnostic())));
                    let line = problem.to_string();
                    refused.replace(Some(problem));
                    return Err(fail(lua, line));
                }
                let datum = datum(&record, "record", 0).map_err(|line| fail(lua, line))?;
                let record = RolloutRecord::from_datum(&datum).map_err(|problem| fail(lua, problem))?;
                add(record).map_err(|problem| {
                    let line = problem.to_string();
                    refused.replace(Some(problem));
                    fail(lua, line)
                })
            })?;
            let insufficient = scope.create_function(|lua, (_, why): (LuaValue, LuaValue)| {
                let why = convert::text(&why, "why").map_err(|line| fail(lua, line))?;
                let problem = RunError::InsufficientSupport { shard_id: entry.shard_id.clone(), why };
                let line = problem.to_string();
                refused.replace(Some(problem));
                Err::<(), _>(fail(lua, line))
            })?;
            let rows = entry.rows.iter().map(|row| convert::write(lua, &row_value(entry, row)));
            let rows = lua.create_sequence_from(rows.collect::<mlua::Result<Vec<_>>>()?)?;
            let shard = convert::write_map(lua, &shard_map(entry))?;
            shard.raw_set("add", add)?;
            shard.raw_set("insufficient_support", insufficient)?;
            let arguments = vec![LuaValue::Table(rows), LuaValue::Table(shard)];
            self.script.guarded(self.records.clone(), arguments, &raised)
        });
        let ended = self.script.settled(called.map(|_| ()), &raised);
        match (refused.into_inner(), ended) {
            // The script's own report says where.
            (Some(RunError::Record { .. } | RunError::Write(WriteError::Record(_))), Err(error)) => {
                Err(run_error(error))
            }
            (Some(refused), _) => Err(refused),
            (None, ended) => ended.map_err(run_error),
        }
    }
}

type Add<'a> = dyn FnMut(RolloutRecord) -> Result<(), RunError> + 'a;

impl RecordSource for ScriptedOracle {
    fn records(&mut self, entry: &ShardEntry, add: &mut Add<'_>) -> Result<(), RunError> {
        self.call(entry, add)?;
        match sources(&self.script).into_iter().find(|source| !self.sources.contains(source)) {
            None => Ok(()),
            Some((name, _)) => {
                let line = format!("{name} was required while records were made, so the plan's hash does not cover it");
                let problem = Diagnostic::new("campaign/late-module", line, Exit::BadConfig);
                Err(RunError::Source(Box::new(problem.with_hint("require it at the top of the script"))))
            }
        }
    }
}

fn run_error(error: ScriptError) -> RunError {
    match error {
        ScriptError::Raised(diagnostic) => match diagnostic.code.as_str() {
            "limit/time" => RunError::TimedOut(diagnostic),
            "script/interrupted" => RunError::Interrupted(diagnostic),
            _ => RunError::Source(diagnostic),
        },
        ScriptError::Exit(code) => {
            let line = format!("the oracle ended with exit code {code} while records were made");
            RunError::Source(Box::new(Diagnostic::new("script/exit", line, Exit::Failure)))
        }
    }
}

/// The texts that the script's machine has loaded, but for the library.
fn sources(script: &ScriptHost) -> Vec<(String, String)> {
    let (sources, directory) = (&script.host.sources, &script.host.script_directory);
    let own = script.name();
    let mut names = sources.names();
    names.retain(|name| !name.starts_with(LIBRARY_CHUNK));
    let digest = |name: String| {
        let text = sources.text(&name)?;
        let path = std::path::Path::new(&name);
        let directory = directory.strip_prefix(".").unwrap_or(directory);
        let short = path.strip_prefix(directory).unwrap_or(path).display().to_string();
        Some((if name == own { "script".to_owned() } else { short }, sha256_hex(text.as_bytes())))
    };
    let mut digests: Vec<_> = names.into_iter().filter_map(digest).collect();
    digests.sort();
    digests
}

/// A row as scripts see it, with what a record of it has for its `source`.
fn row_value(entry: &ShardEntry, row: &ShardRow) -> Value {
    let source = [
        ("source_sample_key", row.sample_key.as_str().into()),
        ("source_sample_index", row.sample_index.into()),
        ("scene_id", row.scene_id.as_str().into()),
        ("snippet_id", row.snippet_id.as_str().into()),
        ("split", row.split.as_str().into()),
        ("campaign_split", row.campaign_split.clone().into()),
        ("source_shard_id", row.source_shard_id.as_str().into()),
        ("source_shard_row", row.source_shard_row.into()),
        ("source_cache_version", entry.source_cache_version.as_str().into()),
        ("source_offline_store_manifest_hash", entry.source_manifest_hash.as_str().into()),
        ("split_manifest_hash", entry.split_manifest_hash.as_str().into()),
    ];
    let Value::Map(mut map) = row.to_value() else { return Value::Null };
    map.insert("source".to_owned(), Value::Map(known(source.map(|(key, value)| (key.to_owned(), value)))));
    Value::Map(known(map))
}

/// A shard as scripts see it.
fn shard_map(entry: &ShardEntry) -> Map {
    match entry.to_value() {
        Value::Map(map) => known(map.into_iter().filter(|(key, _)| key != "rows")),
        _ => Map::new(),
    }
}

/// What is not null; in Lua the rest is nil.
fn known(entries: impl IntoIterator<Item = (String, Value)>) -> Map {
    entries.into_iter().filter(|(_, value)| !value.is_null()).collect()
}
