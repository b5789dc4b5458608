//! `require`: the embedded library first, then files beside the script. The working directory
//! plays no part, and every chunk's text is kept for reports and for recording functions.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use mlua::chunk::ChunkMode;
use mlua::{Lua, Table, Value};

use crate::script::error::{LIBRARY_CHUNK, fail};
use crate::script::host::{Access, Host};
use crate::script::locked;

/// The embedded library: module name and text.
pub(super) const LIBRARY: &[(&str, &str)] = &[
    ("skyfall", include_str!("../../stdlib/skyfall/init.lua")),
    ("skyfall.algorithm", include_str!("../../stdlib/skyfall/algorithm.lua")),
    ("skyfall.array", include_str!("../../stdlib/skyfall/array.lua")),
    ("skyfall.bundle", include_str!("../../stdlib/skyfall/bundle.lua")),
    ("skyfall.env", include_str!("../../stdlib/skyfall/env.lua")),
    ("skyfall.eval", include_str!("../../stdlib/skyfall/eval.lua")),
    ("skyfall.fs", include_str!("../../stdlib/skyfall/fs.lua")),
    ("skyfall.json", include_str!("../../stdlib/skyfall/json.lua")),
    ("skyfall.log", include_str!("../../stdlib/skyfall/log.lua")),
    ("skyfall.policy", include_str!("../../stdlib/skyfall/policy.lua")),
    ("skyfall.pretty", include_str!("../../stdlib/skyfall/pretty.lua")),
    ("skyfall.random", include_str!("../../stdlib/skyfall/random.lua")),
    ("skyfall.regime", include_str!("../../stdlib/skyfall/regime.lua")),
    ("skyfall.regimes", include_str!("../../stdlib/skyfall/regimes.lua")),
    ("skyfall.reward", include_str!("../../stdlib/skyfall/reward.lua")),
    ("skyfall.rollouts", include_str!("../../stdlib/skyfall/rollouts.lua")),
    ("skyfall.shaping", include_str!("../../stdlib/skyfall/shaping.lua")),
    ("skyfall.space", include_str!("../../stdlib/skyfall/space.lua")),
    ("skyfall.stats", include_str!("../../stdlib/skyfall/stats.lua")),
    ("skyfall.sweep", include_str!("../../stdlib/skyfall/sweep.lua")),
    ("skyfall.tables", include_str!("../../stdlib/skyfall/tables.lua")),
    ("skyfall.test", include_str!("../../stdlib/skyfall/test.lua")),
    ("skyfall.trace", include_str!("../../stdlib/skyfall/trace.lua")),
    ("skyfall.yaml", include_str!("../../stdlib/skyfall/yaml.lua")),
];

/// The texts of all chunks loaded so far, by chunk name.
#[derive(Debug, Default)]
pub(super) struct Sources {
    chunks: RefCell<BTreeMap<String, Rc<str>>>,
}

impl Sources {
    /// Remembers the text of the chunk called `name`.
    pub(super) fn keep(&self, name: &str, text: &str) {
        self.chunks.borrow_mut().insert(name.to_owned(), text.into());
    }

    /// The text of the chunk called `name`.
    pub(super) fn text(&self, name: &str) -> Option<Rc<str>> {
        self.chunks.borrow().get(name).cloned()
    }

    /// The names of all chunks, longest first, so that no name hides one that ends like it.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.chunks.borrow().keys().cloned().collect();
        names.sort_by_key(|name| std::cmp::Reverse(name.len()));
        names
    }
}

/// Compiles `text` as the chunk `name`: text only, a first line beginning with `#` and a byte
/// order mark are passed over.
pub(super) fn compile(lua: &Lua, sources: &Sources, name: &str, text: &str) -> mlua::Result<mlua::Function> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    sources.keep(name, text);
    // The line stays, as a comment, so that line numbers hold.
    let code = if text.starts_with('#') { format!("--{text}") } else { text.to_owned() };
    lua.load(code).set_name(format!("@{name}")).set_mode(ChunkMode::Text).into_function()
}

/// Installs `require` and `package.loaded`.
pub(super) fn install(lua: &Lua, host: &Rc<Host>) -> mlua::Result<()> {
    let loaded = lua.create_table()?;
    let package = lua.create_table()?;
    let own = lua.create_function({
        let loaded = loaded.clone();
        move |lua, (_, name, value): (Table, Value, Value)| match &name {
            Value::String(text) if is_library(&text.to_string_lossy()) => {
                Err(fail(lua, format!("`{}` is a module of the library, which stays as it is", text.to_string_lossy())))
            }
            _ => loaded.raw_set(name, value),
        }
    })?;
    package.set("loaded", locked::watch(lua, "package.loaded", &loaded, own)?)?;
    let host = Rc::clone(host);
    let require = lua.create_function(move |lua, name: Value| {
        let Value::String(name) = &name else {
            return Err(fail(lua, format!("require: the module's name must be text, got {}", name.type_name())));
        };
        require(lua, &host, &loaded, &name.to_string_lossy())
    })?;
    lua.globals().set("package", package)?;
    lua.globals().set("require", require)
}

/// The module called `name`, loaded once.
fn require(lua: &Lua, host: &Rc<Host>, loaded: &Table, name: &str) -> mlua::Result<Value> {
    match loaded.raw_get::<Value>(name)? {
        Value::Nil => {}
        Value::LightUserData(_) => {
            return Err(fail(lua, format!("module `{name}` requires itself, directly or through another module")));
        }
        found => return Ok(found),
    }
    loaded.raw_set(name, Value::LightUserData(mlua::LightUserData(std::ptr::null_mut())))?;
    let result = load(lua, host, name);
    let module = match result {
        Ok(Value::Nil) => Value::Boolean(true),
        Ok(module) => module,
        Err(error) => {
            loaded.raw_set(name, Value::Nil)?;
            return Err(error);
        }
    };
    loaded.raw_set(name, &module)?;
    Ok(module)
}

/// Whether `name` is a module of the library.
pub(super) fn is_library(name: &str) -> bool {
    LIBRARY.iter().any(|(known, _)| *known == name)
}

/// The library module called `name`, if there is one, with its native half.
pub(super) fn library_module(lua: &Lua, host: &Rc<Host>, name: &str) -> mlua::Result<Option<Value>> {
    let Some((_, text)) = LIBRARY.iter().find(|(known, _)| *known == name) else { return Ok(None) };
    let chunk = compile(lua, &host.sources, &format!("{LIBRARY_CHUNK}/{name}"), text)?;
    let short = name.strip_prefix("skyfall.").unwrap_or(name);
    let module: Value = chunk.call(super::bind::native(lua, host, short)?)?;
    let locked = match &module {
        Value::Table(table) => Value::Table(locked::lock(lua, name, table)?),
        other => other.clone(),
    };
    host.known.borrow_mut().add_module(name, &module, &locked);
    Ok(Some(locked))
}

/// The text of the script's own module `name`, without a first line beginning with `#`; `None`
/// when there is no such file.
///
/// # Errors
/// One line when it may not be read, or cannot be.
pub(super) fn module_text(host: &Host, name: &str) -> Result<Option<String>, String> {
    let Some((path, shown)) = find(host, name) else { return Ok(None) };
    let path = host.check(&path, Access::Read)?;
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    Ok(Some(if text.starts_with('#') { format!("--{text}") } else { text.to_owned() }))
}

/// The script's own module `name`: how messages call its file, and its text.
///
/// # Errors
/// As for [`module_text`].
pub(super) fn own_module(host: &Host, name: &str) -> Result<Option<(String, String)>, String> {
    let Some((_, shown)) = find(host, name).filter(|_| !is_library(name)) else { return Ok(None) };
    Ok(module_text(host, name)?.map(|text| (shown, text)))
}

/// Whether the script has a module called `name`, of its own or of the library.
pub(super) fn exists(host: &Host, name: &str) -> bool {
    is_library(name) || find(host, name).is_some()
}

fn load(lua: &Lua, host: &Rc<Host>, name: &str) -> mlua::Result<Value> {
    if let Some(module) = library_module(lua, host, name)? {
        return Ok(module);
    }
    let Some((path, shown)) = find(host, name) else {
        let library = LIBRARY.iter().map(|(known, _)| *known);
        let nearest = crate::suggest::nearest(name, library).map(|known| format!("; did you mean `{known}`?"));
        return Err(fail(
            lua,
            format!(
                "module `{name}` not found: neither in the library nor beside the script as {}{}",
                relative(name).with_extension("lua").display(),
                nearest.unwrap_or_default()
            ),
        ));
    };
    let path = host.check(&path, Access::Read).map_err(|refusal| fail(lua, refusal))?;
    let text = std::fs::read_to_string(&path).map_err(|error| fail(lua, format!("cannot read {shown}: {error}")))?;
    compile(lua, &host.sources, &shown, &text)?.call(name)
}

/// `a.b` as `a/b`.
fn relative(name: &str) -> PathBuf {
    name.split('.').collect()
}

/// The file of module `name` beside the script, and how messages call it.
fn find(host: &Host, name: &str) -> Option<(PathBuf, String)> {
    let plain = name.split('.').all(|part| !part.is_empty() && !part.contains(['/', '\\']));
    let candidates = [relative(name).with_extension("lua"), relative(name).join("init.lua")];
    candidates.into_iter().filter(|_| plain).find_map(|candidate| {
        let path = host.script_directory.join(&candidate);
        path.is_file().then(|| (path, shown(&host.script_directory, &candidate)))
    })
}

fn shown(directory: &Path, candidate: &Path) -> String {
    directory.join(candidate).strip_prefix("./").unwrap_or(&directory.join(candidate)).display().to_string()
}
