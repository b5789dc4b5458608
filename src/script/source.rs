//! Functions by value: a Lua function as a self-contained chunk of text that needs nothing but
//! the bare sandbox to run again.
//!
//! The chunk declares every variable the function captures (shared ones once, so that functions
//! which share a variable still do), gives each its present value, and returns the function. Of
//! the library it names what the sandbox has ([`super::known`]); modules of the script's own that
//! the code requires travel inside it. What cannot be written down - other objects, native
//! functions, tables with metatables - is refused by name.

mod lexer;
mod looks;
mod modules;
mod stateless;

pub(super) use lexer::{Token, required, required_here, tokens};
pub(super) use looks::fields_looked_at;
pub(super) use stateless::check_stateless;

use indexmap::IndexMap;
use mlua::{Function, MultiValue, Table, Value};

use crate::script::convert;
use crate::script::host::Host;
use crate::script::known::BARE_MODULES;
use crate::value::Value as Plain;

/// More captured variables than this do not fit one Lua function's locals.
const MOST_LOCALS: usize = 180;
/// Deeper tables are taken for ones that contain themselves.
const DEPTH: usize = 32;

/// The text of a chunk that returns a value equal to `value`: a function, or a table of functions
/// and plain data.
///
/// # Errors
/// One line that names the captured variable that cannot be recorded.
pub(super) fn record(host: &Host, value: &Value) -> Result<String, String> {
    let mut recorder = Recorder { host, locals: IndexMap::new(), modules: IndexMap::new() };
    let body = recorder.value(value, "it", 0)?;
    let mut text = modules::prelude(&recorder.modules);
    if !recorder.locals.is_empty() {
        let names: Vec<&str> = recorder.locals.values().map(|local| local.name.as_str()).collect();
        text.push_str(&format!("local {}\n", names.join(", ")));
    }
    // Data before functions: only functions refer to other variables.
    for functions in [false, true] {
        for local in recorder.locals.values().filter(|local| local.function == functions) {
            text.push_str(&format!("{} = {}\n", local.name, local.text));
        }
    }
    text.push_str("return ");
    text.push_str(&body);
    text.push('\n');
    Ok(text)
}

/// One captured variable.
struct Local {
    name: String,
    text: String,
    function: bool,
}

struct Recorder<'a> {
    host: &'a Host,
    /// By the variable's identity.
    locals: IndexMap<usize, Local>,
    /// The texts of the script's own modules that the code requires, by name.
    modules: IndexMap<String, String>,
}

impl Recorder<'_> {
    /// The text of `function`, its captures registered.
    fn function(&mut self, function: &Function, path: &str) -> Result<String, String> {
        let info = function.info();
        let (Some(first), Some(last), "Lua") = (info.line_defined, info.last_line_defined, info.what) else {
            return Err(format!("{path} is a native function, which cannot be recorded"));
        };
        let chunk = info.source.as_deref().and_then(|source| source.strip_prefix('@')).unwrap_or_default();
        let text = self.host.sources.text(chunk).ok_or_else(|| format!("{path} has no source text on record"))?;
        let code = lexer::function_text(&text, first, last)
            .map_err(|problem| format!("{path} ({chunk}:{first}) {problem}"))?;
        modules::collect(self.host, &code, &mut self.modules)?;
        self.captures(function)?;
        Ok(code)
    }

    fn captures(&mut self, function: &Function) -> Result<(), String> {
        let upvalues = self.host.upvalues.as_ref().ok_or("code from a bundle cannot be recorded again")?;
        for index in 1.. {
            let problem = |error: mlua::Error| crate::script::error::message(&error);
            let mut found = upvalues.value.call::<MultiValue>((function, index)).map_err(problem)?;
            let (Some(Value::String(name)), Some(value)) = (found.pop_front(), found.pop_front()) else { break };
            let name = name.to_string_lossy();
            if name == "_ENV" {
                continue;
            }
            let identity = upvalues.identity.call::<Value>((function, index)).map_err(problem)?.to_pointer() as usize;
            if self.locals.contains_key(&identity) {
                continue;
            }
            if self.locals.values().any(|local| local.name == name) {
                return Err(format!("it captures two different variables called `{name}`; rename one"));
            }
            if self.locals.len() >= MOST_LOCALS {
                return Err(format!("it captures more than {MOST_LOCALS} variables"));
            }
            // Registered before its value is looked at: a function may capture itself.
            self.locals.insert(identity, Local { name: name.clone(), text: "nil".to_owned(), function: false });
            let text = self.value(&value, &format!("the captured variable `{name}`"), 0)?;
            // What holds functions comes after the plain data they may refer to.
            let function = text.contains("function");
            self.locals.insert(identity, Local { name, text, function });
        }
        Ok(())
    }

    /// `value` as an expression.
    fn value(&mut self, value: &Value, path: &str, depth: usize) -> Result<String, String> {
        match self.host.known.borrow().expression(value) {
            Ok(None) => {}
            Ok(Some(expression)) => return Ok(expression.to_owned()),
            Err(module) => {
                return Err(format!(
                    "{path} holds `{module}`, which code in a bundle does not have; it has skyfall.{}",
                    BARE_MODULES.join(", skyfall.")
                ));
            }
        }
        Ok(match value {
            Value::Nil => "nil".to_owned(),
            Value::Boolean(value) => value.to_string(),
            Value::Integer(value) => integer(*value),
            Value::Number(value) => float(*value),
            Value::String(text) => quoted(&text.as_bytes()),
            Value::Function(function) => self.function(function, path)?,
            Value::Table(table) => self.table(table, path, depth)?,
            Value::UserData(data) => match super::bind::as_call(data) {
                Some((function, arguments)) => {
                    format!("{function}({})", arguments.iter().map(literal).collect::<Vec<_>>().join(", "))
                }
                None => return Err(format!("{path} holds an object, which cannot be recorded")),
            },
            _ => return Err(format!("{path} holds an object, which cannot be recorded")),
        })
    }

    fn table(&mut self, table: &Table, path: &str, depth: usize) -> Result<String, String> {
        if depth > DEPTH {
            return Err(format!("{path} is nested too deeply; does it contain itself?"));
        }
        if table.metatable().is_some() {
            return Err(format!("{path} is a table with a metatable, which cannot be recorded"));
        }
        let mut text = String::from("{");
        for (key, value) in convert::entries(table, path)? {
            let shown = convert::key_text(&key);
            if !matches!(key, Value::String(_) | Value::Integer(_) | Value::Boolean(_) | Value::Number(_)) {
                return Err(format!("{path} has a key that cannot be recorded: {shown}"));
            }
            let key = self.value(&key, path, depth + 1)?;
            let value = self.value(&value, &format!("{path} field `{shown}`"), depth + 1)?;
            text.push_str(&format!(" [{key}] = {value},"));
        }
        text.push_str(" }");
        Ok(text)
    }
}

/// Plain data as an expression.
fn literal(data: &Plain) -> String {
    match data {
        Plain::Null => "nil".to_owned(),
        Plain::Bool(value) => value.to_string(),
        Plain::Int(value) => integer(*value),
        Plain::Float(value) => float(*value),
        Plain::BigInt(text) | Plain::Text(text) => quoted(text.as_bytes()),
        Plain::List(items) => format!("{{ {} }}", items.iter().map(literal).collect::<Vec<_>>().join(", ")),
        Plain::Map(map) => {
            let entry = |(key, value): (&String, &Plain)| format!("[{}] = {}", quoted(key.as_bytes()), literal(value));
            format!("{{ {} }}", map.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}

fn integer(value: i64) -> String {
    // The least integer has no literal: its digits alone would be a float.
    if value == i64::MIN { "math.mininteger".to_owned() } else { value.to_string() }
}

fn float(value: f64) -> String {
    match value {
        _ if value.is_nan() => "(0/0)".to_owned(),
        f64::INFINITY => "(1/0)".to_owned(),
        f64::NEG_INFINITY => "(-1/0)".to_owned(),
        _ => crate::text::number::float_text(value),
    }
}

/// `bytes` as a Lua string literal of printable ASCII.
fn quoted(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for byte in bytes {
        match byte {
            b'"' | b'\\' => {
                text.push('\\');
                text.push(char::from(*byte));
            }
            b' '..=b'~' => text.push(char::from(*byte)),
            _ => text.push_str(&format!("\\{byte:03}")),
        }
    }
    text.push('"');
    text
}
