//! What a script writes to standard output, and whether it got there.
//!
//! The C library tells of a write that failed once, to the call that made it, and drops what it
//! held: `print` does not even look. So each such call is watched, and a script whose output was
//! lost does not end as if all were well.

use std::cell::RefCell;
use std::rc::Rc;

use mlua::{Function, Lua, Table};

use crate::diagnostic::{Diagnostic, Exit};
use crate::script::host::Host;

/// The system's number for a pipe that nobody reads.
const BROKEN_PIPE: i32 = 32;

/// Why output was lost, if it was.
#[derive(Default)]
pub(super) struct Lost(RefCell<Option<String>>);

impl Lost {
    /// A write failed. Who reads no further has what they wanted.
    fn note(&self, why: Option<String>, number: Option<i32>) {
        if number != Some(BROKEN_PIPE) {
            self.0.borrow_mut().get_or_insert(why.unwrap_or_default());
        }
    }

    /// What the user is told, once.
    pub(super) fn take(&self) -> Option<Diagnostic> {
        let why = self.0.take()?;
        Some(Diagnostic::new("output", format!("cannot write to standard output: {why}"), Exit::Failure))
    }
}

/// Watches `print` and whatever of `io` writes.
pub(super) fn install(lua: &Lua, host: &Rc<Host>) -> mlua::Result<()> {
    let note = {
        let host = Rc::clone(host);
        lua.create_function(move |_, (why, number): (Option<String>, Option<i32>)| {
            host.lost.note(why, number);
            Ok(())
        })?
    };
    // The arguments are looked at first: to the library's own check they are one further on. What
    // writes is called as the last thing, so that the level of an error is the caller's.
    let code = r##"
        local note, files = ...
        local io, output, stdout = io, io.output, io.stdout
        local concat, error, select, tostring, type = table.concat, error, select, tostring, type
        local write, flush = files.write, files.flush
        local function watched(file, done, why, number, ...)
          if not done and file == stdout then note(why, number) end
          return done, why, number, ...
        end
        local function written(file, ...)
          for at = 1, select("#", ...) do
            local kind = type((select(at, ...)))
            if kind ~= "string" and kind ~= "number" then
              error(("bad argument #%d to 'write' (string expected, got %s)"):format(at, kind), 2)
            end
          end
          return watched(file, write(file, ...))
        end
        files.write = function(file, ...) return written(file, ...) end
        files.flush = function(file) return watched(file, flush(file)) end
        io.write = function(...) return written(output(), ...) end
        io.flush = function() return watched(output(), flush(output())) end
        print = function(...)
          local count, texts = select("#", ...), { ... }
          for at = 1, count do texts[at] = tostring(texts[at]) end
          watched(stdout, write(stdout, concat(texts, "\t", 1, count), "\n"))
          watched(stdout, flush(stdout))
        end
    "##;
    let stdout: mlua::Value = lua.globals().get::<Table>("io")?.raw_get("stdout")?;
    let metatable: Function = lua.globals().raw_get("getmetatable")?;
    let files: Table = metatable.call::<Table>(stdout)?.raw_get("__index")?;
    lua.load(code).set_name("=[skyfall]").call((note, files))
}

/// Sends out what is held back, and says whether anything was lost.
pub(super) fn settle(lua: &Lua, host: &Host) -> Option<Diagnostic> {
    // A failure has been noted where it happened.
    let _ = lua.load("return io.stdout:flush()").set_name("=[skyfall]").exec();
    host.lost.take()
}
