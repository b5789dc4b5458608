//! The standard library as scripts see it: text-only `load`, `io` and `os` within the script's
//! permissions, errors of the library as text, seeded `math.random`, and globals that must be
//! known.

use std::path::Path;
use std::rc::Rc;

use mlua::chunk::ChunkMode;
use mlua::{Function, IntoLuaMulti, Lua, MultiValue, Table, Value, Variadic};

use crate::script::convert;
use crate::script::error::{LIBRARY_CHUNK, fail, message, without_host};
use crate::script::host::{Access, Host};
use crate::script::limits::Stop;
use crate::script::{locked, output};

/// The registry name of a protected call whose handler sees the error, and returns it as it is.
pub(super) const SEEN: &str = "skyfall.seen";

/// Replaces what a script must not have, or must have in another form.
pub(super) fn install(lua: &Lua, host: &Rc<Host>) -> mlua::Result<()> {
    let globals = lua.globals();
    let traceback: Function = globals.get::<Table>("debug")?.get("traceback")?;
    for name in ["debug", "dofile", "loadfile", "collectgarbage"] {
        globals.raw_set(name, Value::Nil)?;
    }
    let string: Table = globals.get("string")?;
    string.raw_set("dump", Value::Nil)?;
    let math: Table = globals.get("math")?;
    // Lua seeds itself from addresses and the clock; a script must not differ from run to run.
    math.get::<Function>("randomseed")?.call::<()>(0)?;
    install_load(lua)?;
    install_protected_calls(lua, host, traceback)?;
    install_io(lua, host)?;
    install_os(lua, host)?;
    locked::install(lua)?;
    lock_strings(lua)
}

/// `load` takes text only.
fn install_load(lua: &Lua) -> mlua::Result<()> {
    let load = lua.create_function(
        |lua, (code, name, _mode, environment): (Value, Option<mlua::LuaString>, Value, Option<Table>)| {
            let text = match code {
                Value::String(text) => text.to_string_lossy(),
                Value::Function(pieces) => {
                    let mut text = String::new();
                    while let Value::String(piece) = pieces.call::<Value>(())? {
                        if piece.as_bytes().is_empty() {
                            break;
                        }
                        text.push_str(&piece.to_string_lossy());
                    }
                    text
                }
                other => {
                    return Err(fail(lua, format!("load: expected text or a function, got {}", other.type_name())));
                }
            };
            let name = name
                .map_or_else(|| format!("={}", text.lines().next().unwrap_or_default()), |name| name.to_string_lossy());
            let chunk = lua.load(text).set_name(name).set_mode(ChunkMode::Text);
            let chunk = match environment {
                Some(environment) => chunk.set_environment(environment),
                None => chunk,
            };
            match chunk.into_function() {
                Ok(function) => function.into_lua_multi(lua),
                Err(error) => (Value::Nil, message(&error)).into_lua_multi(lua),
            }
        },
    )?;
    lua.globals().raw_set("load", load)
}

/// `pcall` and its kin hand errors of the library on as text, and never catch what ends the script
/// from outside: `os.exit`, a limit, Ctrl-C. Nor a panic: it goes on as it is handed to `as_text`.
fn install_protected_calls(lua: &Lua, host: &Rc<Host>, traceback: Function) -> mlua::Result<()> {
    let as_text = {
        let host = Rc::clone(host);
        lua.create_function(move |lua, value: Value| {
            let value = match &value {
                Value::Error(error) => Value::String(lua.create_string(message(error))?),
                Value::String(text) if text.as_bytes().starts_with(LIBRARY_CHUNK.as_bytes()) => {
                    Value::String(lua.create_string(without_host(&text.to_string_lossy()))?)
                }
                _ => value,
            };
            Ok((value, host.stop.get().is_some()))
        })?
    };
    // What failed in a coroutine still stands on the coroutine's own stack, until it is closed.
    let note = {
        let host = Rc::clone(host);
        lua.create_function(move |_, (value, traceback): (Value, String)| {
            host.failed.borrow_mut().note(&value, &traceback);
            Ok(())
        })?
    };
    // A handler runs where the error was raised, in the midst of a hook perhaps, where no other
    // hook would stop it: once the script is to end none is called.
    let code = r#"
        local as_text, note, traceback = ...
        local error, type = error, type
        local pcall_, xpcall_, resume_, close_ = pcall, xpcall, coroutine.resume, coroutine.close
        local function settle(ok, value, ...)
          if ok then return ok, value, ... end
          local text, ends = as_text(value)
          if ends then error(text, 0) end
          return false, text
        end
        pcall = function(...) return settle(pcall_(...)) end
        xpcall = function(f, handler, ...)
          return settle(xpcall_(f, function(e)
            local ok, text, ends = pcall_(as_text, e)
            if not ok then return text end -- a panic, which went over from `e` as it was read
            if ends then return e end
            return handler(text)
          end, ...))
        end
        local create_ = coroutine.create
        local function noted(co, ok, value, ...)
          if not ok and type(co) == "thread" then note(value, traceback(co)) end
          return ok, value, ...
        end
        coroutine.resume = function(co, ...) return settle(noted(co, resume_(co, ...))) end
        local function unwrapped(co, ok, value, ...)
          if ok then return value, ... end
          close_(co)
          error(value, type(value) == "string" and 3 or 0)
        end
        coroutine.wrap = function(f)
          local co = create_(f)
          return function(...) return unwrapped(co, noted(co, resume_(co, ...))) end
        end
        coroutine.close = function(...) return settle(close_(...)) end
        return function(f, handler, ...)
          return xpcall_(f, function(e)
            local ok, panic = pcall_(handler, e)
            if not ok then return panic end
            return e
          end, ...)
        end
    "#;
    let seen: Function = lua.load(code).set_name("=[skyfall]").call((as_text, note, traceback))?;
    lua.set_named_registry_value(SEEN, seen)
}

/// `io` within the script's permissions.
fn install_io(lua: &Lua, host: &Rc<Host>) -> mlua::Result<()> {
    let io: Table = lua.globals().get("io")?;
    for name in ["open", "lines", "input", "output"] {
        let stock: Function = io.get(name)?;
        let host = Rc::clone(host);
        let confined = lua.create_function(move |lua, arguments: Variadic<Value>| {
            let reads = name == "lines" || name == "input" || (name == "open" && !writes(arguments.get(1)));
            let access = if reads { Access::Read } else { Access::Write };
            // `io.lines()` and `io.input()` are of standard input; `io.output(file)` takes an open one.
            match arguments.first() {
                None | Some(Value::Nil | Value::UserData(_)) => {}
                Some(path) => check(&host, path, access).map_err(|refusal| fail(lua, refusal))?,
            }
            stock.call::<MultiValue>(arguments).map_err(|error| fail(lua, message(&error)))
        })?;
        io.raw_set(name, confined)?;
    }
    if !host.permissions.processes {
        io.raw_set("popen", Value::Nil)?;
    }
    output::install(lua, host)?;
    // What all files share is not a script's to change.
    let metatable: Function = lua.globals().raw_get("getmetatable")?;
    metatable.call::<Table>(io.raw_get::<Value>("stdout")?)?.raw_set("__metatable", "locked")?;
    io.raw_set("tmpfile", Value::Nil)
}

/// Whether the script may touch `path`. Only what is text is a path: anything else would be opened
/// under another name than the one that was checked.
fn check(host: &Host, path: &Value, access: Access) -> Result<(), String> {
    let path = convert::text(path, "path").map_err(|problem| format!("{problem} (not a path)"))?;
    host.check(Path::new(&path), access).map(drop)
}

/// Whether `mode`, the second argument of `io.open`, lets the file be changed.
fn writes(mode: Option<&Value>) -> bool {
    matches!(mode, Some(Value::String(mode)) if mode.as_bytes().iter().any(|byte| b"wa+".contains(byte)))
}

/// `os` within the script's permissions; `os.exit` unwinds, so that every file is closed.
fn install_os(lua: &Lua, host: &Rc<Host>) -> mlua::Result<()> {
    let os: Table = lua.globals().get("os")?;
    for name in ["remove", "rename"] {
        let stock: Function = os.get(name)?;
        let host = Rc::clone(host);
        let confined = lua.create_function(move |lua, arguments: Variadic<Value>| {
            for path in arguments.iter() {
                check(&host, path, Access::Write).map_err(|refusal| fail(lua, refusal))?;
            }
            stock.call::<MultiValue>(arguments)
        })?;
        os.raw_set(name, confined)?;
    }
    if !host.permissions.environment {
        os.raw_set("getenv", lua.create_function(|_, _: Variadic<Value>| Ok(Value::Nil))?)?;
    }
    if !host.permissions.processes {
        os.raw_set("execute", Value::Nil)?;
    }
    for name in ["setlocale", "tmpname"] {
        os.raw_set(name, Value::Nil)?;
    }
    let host = Rc::clone(host);
    let exit = lua.create_function(move |lua, code: Value| {
        let code = match code {
            Value::Nil | Value::Boolean(true) => 0,
            Value::Boolean(false) => 1,
            Value::Integer(code) => u8::try_from(code).map_err(|_| fail(lua, "os.exit: the code must be 0 to 255"))?,
            other => return Err(fail(lua, format!("os.exit: expected an integer, got {}", other.type_name()))),
        };
        host.stop.set(Some(Stop::Exit(code)));
        Err::<(), _>(Stop::Exit(code).error())
    })?;
    os.raw_set("exit", exit)
}

/// The metatable all strings share is not a script's to change.
fn lock_strings(lua: &Lua) -> mlua::Result<()> {
    if let Some(metatable) = lua.type_metatable::<mlua::LuaString>() {
        metatable.raw_set("__metatable", "locked")?;
    }
    Ok(())
}

/// The standard tables that a script may read and not change.
const TABLES: [&str; 8] = ["coroutine", "io", "math", "os", "package", "string", "table", "utf8"];

/// From here on, reading a global nobody defined is an error that names the nearest, and so is
/// defining one, unless `open`: a script's own names are local, which is what makes its functions
/// recordable. What is there, and what the standard tables have, stays as it is.
pub(super) fn lock_globals(lua: &Lua, host: &Host, open: bool) -> mlua::Result<()> {
    let globals = lua.globals();
    globals.raw_set("arg", Value::Boolean(false))?;
    for name in TABLES {
        if let Value::Table(table) = globals.raw_get(name)? {
            let locked = locked::lock(lua, name, &table)?;
            host.known.borrow_mut().add_table(name, &locked);
            globals.raw_set(name, locked)?;
        }
    }
    let define = if open {
        lua.create_function(|_, (globals, name, value): (Table, Value, Value)| globals.raw_set(name, value))?
    } else {
        lua.create_function(|lua, (_, name, _): (Table, Value, Value)| {
            let name = convert::key_text(&name);
            Err::<(), _>(fail(lua, format!("`{name}` would be a new global; declare it with `local {name}`")))
        })?
    };
    let known = locked::lock_globals(lua, define)?;
    let metatable = lua.create_table()?;
    let unknown = lua.create_function(|lua, (known, name): (Table, Value)| {
        let name = convert::key_text(&name);
        let names = known.pairs::<Value, Value>().filter_map(|pair| pair.ok()).map(|(key, _)| convert::key_text(&key));
        let mut names: Vec<String> = names.collect();
        names.sort();
        let nearest = crate::suggest::nearest(&name, names.iter().map(String::as_str));
        let hint = nearest.map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default();
        Err::<Value, _>(fail(lua, format!("unknown name `{name}`{hint}")))
    })?;
    metatable.raw_set("__index", unknown)?;
    known.set_metatable(Some(metatable))
}
