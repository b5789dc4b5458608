//! Stores from stores: merged, selected, split.

use std::path::{Path, PathBuf};

use mlua::Value as LuaValue;

use super::{now, result_table};
use crate::rollouts::{self, By, Filter, JoinOptions};
use crate::script::bind::{Host, Module, line, readable};
use crate::script::convert;
use crate::script::host::Access;
use crate::suggest;
use crate::value::{Map, Value};

pub(super) fn module(module: Module<'_>) -> mlua::Result<Module<'_>> {
    module
        .function("merge", |lua, host, (parts, store_dir, given): (LuaValue, LuaValue, LuaValue)| {
            let parts = convert::read(&parts, "parts")?;
            let listed: Option<Vec<&str>> =
                parts.as_list().and_then(|parts| parts.iter().map(Value::as_text).collect());
            let listed = listed.ok_or_else(|| "merge: `parts` must be a list of stores".to_owned())?;
            let parts = listed.into_iter().map(|part| readable(host, part)).collect::<Result<Vec<_>, _>>()?;
            let destination = writable(host, &store_dir, "store_dir")?;
            let options = options(host, &given, "merge")?;
            let made = rollouts::merge(&parts, &destination, &options, &mut |_, _, _| ()).map_err(line)?;
            Ok(result_table(lua, &made)?)
        })?
        .function(
            "select",
            |lua, host, (store, wanted, store_dir, given): (LuaValue, LuaValue, LuaValue, LuaValue)| {
                let store = readable(host, &convert::text(&store, "store")?)?;
                let filter = filter(&wanted)?;
                let destination = writable(host, &store_dir, "store_dir")?;
                let options = options(host, &given, "select")?;
                let made = rollouts::select(&store, &filter, &destination, &options, &mut |_, _, _| ());
                Ok(result_table(lua, &made.map_err(line)?)?)
            },
        )?
        .function("split", |lua, host, (store, by, directory, given): (LuaValue, LuaValue, LuaValue, LuaValue)| {
            let store = readable(host, &convert::text(&store, "store")?)?;
            let name = convert::text(&by, "by")?;
            let known = By::ALL.map(By::name);
            let by = By::ALL.into_iter().find(|by| by.name() == name);
            let by = by.ok_or_else(|| {
                format!("split: no `{name}` to split by; {}", suggest::hint(&name, "there is", known))
            })?;
            let directory = writable(host, &directory, "directory")?;
            let options = options(host, &given, "split")?;
            let made = rollouts::split(&store, by, &directory, &options, &mut |_, _, _| ()).map_err(line)?;
            let list = lua.create_table()?;
            for (value, made) in made {
                let entry = result_table(lua, &made)?;
                entry.raw_set(by.name(), value)?;
                list.raw_push(entry)?;
            }
            Ok(list)
        })
}

/// A place that the script may write to.
fn writable(host: &Host, path: &LuaValue, name: &str) -> Result<PathBuf, String> {
    host.check(Path::new(&convert::text(path, name)?), Access::Write)
}

fn options(host: &Host, given: &LuaValue, method: &str) -> Result<JoinOptions, String> {
    let given = super::store::options(given, method, &["created_at_utc", "memory_bytes"])?;
    let mut options = JoinOptions::new(now(host));
    if let Some(time) = given.get("created_at_utc").filter(|time| !time.is_null()) {
        options.created_at_utc =
            time.as_text().ok_or_else(|| format!("{method}: `created_at_utc` must be text"))?.to_owned();
    }
    if let Some(bytes) = super::store::integer(&given, "memory_bytes")? {
        options.memory_bytes =
            u64::try_from(bytes).map_err(|_| format!("{method}: `memory_bytes` must not be negative"))?;
    }
    Ok(options)
}

/// What is wanted: of each key one value, or a list of them.
fn filter(given: &LuaValue) -> Result<Filter, String> {
    const KEYS: [&str; 6] = ["scene", "snippet", "split", "target", "rollout", "sample_key"];
    let given = convert::read_map(given, "filter")?;
    if let Some(key) = given.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(format!("select: nothing is chosen by `{key}`; {}", suggest::hint(key, "there is", KEYS)));
    }
    let list = |key: &str| texts(&given, key);
    let filter = Filter {
        scenes: list("scene")?,
        snippets: list("snippet")?,
        splits: list("split")?,
        targets: list("target")?,
        rollouts: list("rollout")?,
        sample_keys: list("sample_key")?,
    };
    if filter.is_empty() {
        return Err(format!("select: say which chains, by {}", KEYS.join(", ")));
    }
    Ok(filter)
}

fn texts(given: &Map, key: &str) -> Result<Vec<String>, String> {
    let wrong = || format!("select: `{key}` must be text or a list of texts");
    match given.get(key) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Text(text)) => Ok(vec![text.clone()]),
        Some(Value::List(items)) => {
            items.iter().map(|item| item.as_text().map(str::to_owned).ok_or_else(wrong)).collect()
        }
        Some(_) => Err(wrong()),
    }
}
