//! Errors of scripts: messages that begin with the script's `file:line:`, and the report of an
//! error nobody caught.

mod traceback;

use std::fmt::Display;
use std::rc::Rc;

use mlua::Lua;

use crate::diagnostic::{Diagnostic, Exit};
use crate::script::host::Host;
use crate::script::loader::Sources;
use crate::script::mark;

pub(super) use traceback::{Failed, whole_way};

/// Why a script could not be run to its end.
#[derive(Debug)]
pub enum ScriptError {
    /// It raised an error (or could not be compiled, or read).
    Raised(Box<Diagnostic>),
    /// It asked to end the process with this exit code (`os.exit`).
    Exit(u8),
}

/// Chunks of the embedded library are named so; their frames are not the user's.
pub(super) const LIBRARY_CHUNK: &str = "[skyfall]";

/// How many frames a report shows.
const TRACE_LENGTH: usize = 8;
/// How many frames are looked at: each is sought from the top of the stack anew, and a recursion
/// without an end leaves hundreds of thousands.
const MOST_LEVELS: usize = 200;

/// An error whose message begins with the position in the script that called the library.
pub(super) fn fail(lua: &Lua, message: impl Display) -> mlua::Error {
    mlua::Error::RuntimeError(format!("{}{message}", position(lua)))
}

/// `file:line: ` of the innermost frame that is the user's own.
fn position(lua: &Lua) -> String {
    frames(lua).into_iter().next().map(|frame| format!("{}:{}: ", frame.file, frame.line)).unwrap_or_default()
}

/// One frame of the user's own code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    file: String,
    line: usize,
    function: String,
}

/// Whether a chunk is the host's, or of the bindings beneath it.
fn is_own(chunk: &str) -> bool {
    chunk.starts_with(LIBRARY_CHUNK) || chunk.starts_with("__mlua")
}

/// The user's frames, innermost first.
pub(super) fn frames(lua: &Lua) -> Vec<Frame> {
    let mut found = Vec::new();
    let mut level = 0;
    while let Some(frame) = lua.inspect_stack(level, |debug| {
        let source = debug.source();
        let names = debug.names();
        let file = source.short_src.as_deref().unwrap_or("?").to_owned();
        let line = debug.current_line()?;
        let function = match (source.what, names.name) {
            ("main", _) => "main chunk".to_owned(),
            (_, Some(name)) => format!("function `{name}`"),
            _ => format!("function <line {}>", source.line_defined.unwrap_or_default()),
        };
        (!is_own(&file)).then_some(Frame { file, line, function })
    }) {
        found.extend(frame);
        level += 1;
        if level >= MOST_LEVELS {
            break;
        }
    }
    found
}

/// The one-line message inside an error, without tracebacks.
pub(super) fn message(error: &mlua::Error) -> String {
    let text = match error {
        mlua::Error::CallbackError { cause, .. } => return message(cause),
        mlua::Error::WithContext { context, cause } => return format!("{context}: {}", message(cause)),
        mlua::Error::BadArgument { to, pos, name, cause } => {
            let function = to.as_deref().unwrap_or("?");
            let unmade = matches!(**cause, mlua::Error::FromLuaConversionError { .. });
            if unmade && name.as_deref() == Some("self") {
                let method = function.rsplit('.').next().unwrap_or(function);
                return format!("`{method}` is a method: call it with `:`");
            }
            let argument = name.as_deref().map_or_else(|| pos.to_string(), |name| format!("`{name}`"));
            return format!("bad argument {argument} to `{function}`: {}", message(cause));
        }
        mlua::Error::RuntimeError(text) | mlua::Error::SyntaxError { message: text, .. } => text.clone(),
        other => other.to_string(),
    };
    let text = text.split("\nstack traceback:").next().unwrap_or_default().trim_end();
    match text.split_once(": 0x") {
        // An address says nothing and differs from run to run.
        Some((kind, _)) if !kind.contains(' ') => format!("the error raised is a {kind} value, not text"),
        _ => text.replace('\n', " "),
    }
}

/// The message of an error that native code caught on its way out of Lua: what it says goes on as
/// text, and the frames that it came through are kept for the report.
pub(super) fn caught(lua: &Lua, error: &mlua::Error) -> String {
    if let Some(host) = lua.app_data_ref::<Rc<Host>>() {
        host.failed.borrow_mut().note_caught(error);
    }
    message(error)
}

/// `text` without the position in the host's own Lua that the machine put in front.
pub(super) fn without_host(text: &str) -> &str {
    let own = text.strip_prefix(LIBRARY_CHUNK).and_then(|rest| rest.split_once(": "));
    own.filter(|(place, _)| place.starts_with(':')).map_or(text, |(_, rest)| rest)
}

/// What the machine says when it has no more memory, and what ends a line about an array too many.
pub(super) const OUT_OF_MEMORY: &str = "not enough memory";

/// Whether `message` is what the machine says when it has no more memory.
pub(super) fn is_memory(message: &str) -> bool {
    message.ends_with(OUT_OF_MEMORY) || message.starts_with("memory error")
}

/// What was raised: its words, and what a table says beside them.
#[derive(Clone, Debug, Default)]
pub(super) struct Raise {
    pub(super) text: String,
    /// The field `code` of a table, such as `lab/empty`.
    code: Option<String>,
    /// The field `hint` of a table.
    hint: Option<String>,
}

impl Raise {
    /// What an error says.
    pub(super) fn of(error: &mlua::Error) -> Self {
        Self::said(message(error))
    }

    /// Words alone.
    pub(super) fn said(text: String) -> Self {
        Self { text, ..Self::default() }
    }

    /// What a raised value says: text, a table with a `message` (and a `code` and a `hint`), or
    /// whatever has a `__tostring`.
    pub(super) fn of_value(value: &mlua::Value) -> Self {
        let mlua::Value::Table(table) = value else {
            let text = match value {
                mlua::Value::Error(error) => message(error),
                mlua::Value::String(text) => without_host(&text.to_string_lossy()).to_owned(),
                other => format!("the error raised is a {} value, not text", other.type_name()),
            };
            return Self { text, ..Self::default() };
        };
        let field = |name: &str| match table.raw_get::<mlua::Value>(name) {
            Ok(mlua::Value::String(text)) => Some(text.to_string_lossy()),
            _ => None,
        };
        let speaks = || table.metatable()?.raw_get::<mlua::Function>("__tostring").ok();
        let spoken = || speaks()?.call::<mlua::LuaString>(table).ok().map(|text| text.to_string_lossy());
        let text = field("message").or_else(spoken);
        let text = text.unwrap_or_else(|| "the error raised is a table without a `message`".to_owned());
        Self { text, code: field("code"), hint: field("hint") }
    }
}

/// The message of a raised Lua value.
pub(super) fn message_of_value(value: &mlua::Value) -> String {
    Raise::of_value(value).text
}

/// The report of an error nobody caught: the innermost position inside its message becomes the
/// location, with its source line, and is taken out of the message.
pub(super) fn report(raise: &Raise, frames: Vec<Frame>, sources: &Sources) -> Diagnostic {
    let (text, place) = split_position(&raise.text, sources);
    let code = raise.code.as_deref().filter(|code| code.contains('/')).unwrap_or("script/error");
    let mut diagnostic = Diagnostic::new(code, text, Exit::Failure);
    diagnostic.hints.extend(raise.hint.clone());
    let place = place.or_else(|| frames.first().map(|frame| (frame.file.clone(), frame.line)));
    diagnostic.location = place.map(|(file, line)| {
        let text = sources.text(&file);
        mark::location(file, line, text.as_deref(), &diagnostic.message)
    });
    diagnostic.trace = frames
        .into_iter()
        .take(TRACE_LENGTH)
        .map(|frame| format!("{}:{}: in {}", frame.file, frame.line, frame.function))
        .collect();
    diagnostic
}

/// Takes every `file:line: ` of a known chunk out of `message`; the last one is the innermost.
fn split_position(message: &str, sources: &Sources) -> (String, Option<(String, usize)>) {
    let mut text = message.to_owned();
    let mut place: Option<(usize, String, usize)> = None;
    for file in sources.names() {
        let mark = format!("{file}:");
        let mut from = 0;
        while let Some(found) = text.get(from..).and_then(|rest| rest.find(&mark)) {
            let start = from + found;
            let rest = text.get(start + mark.len()..).unwrap_or_default();
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            let tail = rest.get(digits.len()..).unwrap_or_default();
            match (digits.parse(), tail.strip_prefix(": ")) {
                (Ok(line), Some(after)) => {
                    let after = after.to_owned();
                    text.truncate(start);
                    text.push_str(&after);
                    if place.as_ref().is_none_or(|(position, ..)| *position <= start) {
                        place = Some((start, file.clone(), line));
                    }
                    from = start;
                }
                _ => from = start + mark.len(),
            }
        }
    }
    (text, place.map(|(_, file, line)| (file, line)))
}
