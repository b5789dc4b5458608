//! Looking at a script without running it: does it compile, and are the names that it uses there?
//!
//! Globals are read off the compiled code, so that scopes are Lua's own; names of the library are
//! read off the text, for locals that hold a module and nothing else.

mod bounded;
mod bytecode;

use std::collections::BTreeMap;

pub(super) use bounded::ends;

use super::reference::{Entry, Module};
use super::source::{Token, required_here, tokens};
use crate::diagnostic::{Diagnostic, Exit};
use crate::suggest;

/// A name that is not there.
struct Unknown {
    line: usize,
    name: String,
    code: &'static str,
    message: String,
    hint: Option<String>,
}

/// What is wrong with the script `text`, in the order of its lines; `file` is how messages call it.
pub(super) fn check(
    lua: &mlua::Lua,
    globals: &[String],
    modules: &[Module],
    file: &str,
    text: &str,
) -> Vec<Diagnostic> {
    let code = if text.starts_with('#') { format!("--{text}") } else { text.to_owned() };
    let chunk = lua.load(&code).set_name(format!("@{file}")).set_mode(mlua::chunk::ChunkMode::Text);
    let function = match chunk.into_function() {
        Ok(function) => function,
        Err(error) => return vec![syntax(file, text, &super::error::message(&error))],
    };
    let mut found = Vec::new();
    for access in bytecode::globals(&function.dump(false)) {
        if globals.contains(&access.name) {
            continue;
        }
        let (code, message) = if access.set {
            ("check/new-global", format!("`{0}` would be a new global; declare it with `local {0}`", access.name))
        } else {
            ("check/unknown-name", format!("unknown name `{}`", access.name))
        };
        let hint = suggest::nearest(&access.name, globals.iter().map(String::as_str)).map(suggest::question);
        found.push(Unknown { line: access.line, name: access.name, code, message, hint: hint.filter(|_| !access.set) });
    }
    found.extend(library_names(text, modules));
    found.sort_by(|one, other| (one.line, &one.name).cmp(&(other.line, &other.name)));
    found.dedup_by(|one, other| (one.line, &one.name) == (other.line, &other.name));
    found.into_iter().map(|unknown| diagnostic(unknown, file, text)).collect()
}

fn diagnostic(unknown: Unknown, file: &str, text: &str) -> Diagnostic {
    let mut diagnostic = Diagnostic::new(unknown.code, &*unknown.message, Exit::Failure);
    diagnostic.hints.extend(unknown.hint);
    diagnostic.location =
        Some(super::mark::location(file.to_owned(), unknown.line, Some(text), &format!("`{}`", unknown.name)));
    diagnostic
}

/// What the compiler says, with its line.
fn syntax(file: &str, text: &str, message: &str) -> Diagnostic {
    let rest = message.strip_prefix(file).and_then(|rest| rest.strip_prefix(':')).unwrap_or(message);
    let (line, words) = match rest.split_once(": ") {
        Some((line, words)) => (line.parse().unwrap_or(1), words),
        None => (1, rest),
    };
    let mut diagnostic = Diagnostic::new("check/syntax", words, Exit::Failure);
    diagnostic.location = Some(super::mark::location(file.to_owned(), line, Some(text), words));
    diagnostic
}

/// What is said of a module that is nowhere, required on `line`.
pub(super) fn missing_module(file: &str, line: usize, module: &str, text: &str) -> Diagnostic {
    let message = format!("module `{module}` not found: neither in the library nor beside the script");
    let library = super::loader::LIBRARY.iter().map(|(known, _)| *known);
    let hint = suggest::nearest(module, library).map(suggest::question);
    diagnostic(Unknown { line, name: module.to_owned(), code: "check/unknown-module", message, hint }, file, text)
}

/// Uses of library modules' fields that are none.
fn library_names(text: &str, modules: &[Module]) -> Vec<Unknown> {
    let tokens = tokens(text);
    let held = held_modules(text, &tokens, modules);
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| tokens.get(at)).map(|token| token.text);
        let Some(module) = held.get(token.text).filter(|_| !matches!(before, Some("." | ":"))) else { continue };
        let mut module = module.clone();
        let mut next = at + 1;
        while let (Some(dot), Some(name)) = (tokens.get(next), tokens.get(next + 1)) {
            let is_name = name.text.starts_with(|first: char| first.is_alphabetic() || first == '_');
            if dot.text != "." || !is_name {
                break;
            }
            let inner = format!("{module}.{}", name.text);
            if modules.iter().any(|known| known.name == inner) {
                (module, next) = (inner, next + 2);
                continue;
            }
            if !has(modules, &module, name.text) {
                let known = fields(modules, &module);
                let hint = suggest::hint(name.text, "it has", known.iter().map(String::as_str));
                let message = format!("`{module}` has no `{}`", name.text);
                let code = "check/unknown-field";
                found.push(Unknown { line: name.line, name: name.text.to_owned(), code, message, hint: Some(hint) });
            }
            break;
        }
    }
    found
}

fn has(modules: &[Module], module: &str, name: &str) -> bool {
    fields(modules, module).iter().any(|known| known == name)
}

/// What a module has; the whole library has its modules, too.
fn fields(modules: &[Module], module: &str) -> Vec<String> {
    let of = |entry: &Entry| entry.name.strip_prefix(module).and_then(|rest| rest.strip_prefix('.')).map(str::to_owned);
    let own = modules.iter().filter(|known| known.name == module).flat_map(|known| &known.entries).filter_map(of);
    let root = modules.iter().filter(|_| module == "skyfall").filter_map(|known| known.name.strip_prefix("skyfall."));
    let more = if module == "skyfall" { vec!["version".to_owned()] } else { Vec::new() };
    own.chain(root.map(str::to_owned)).chain(more).collect()
}

/// The locals that hold a module of the library: declared once, and never anything else.
fn held_modules(text: &str, tokens: &[Token<'_>], modules: &[Module]) -> BTreeMap<String, String> {
    let word = |at: usize| tokens.get(at).map_or("", |token| token.text);
    let mut held: BTreeMap<String, String> = BTreeMap::new();
    let mut declared: BTreeMap<&str, usize> = BTreeMap::new();
    for at in 0..tokens.len() {
        match word(at) {
            "local" if word(at + 1) != "function" => {
                let (names, values) = declaration(tokens, at + 1);
                for (index, name) in names.iter().enumerate() {
                    *declared.entry(word(*name)).or_default() += 1;
                    let value = values.get(index).copied().unwrap_or(usize::MAX);
                    let module = module_of(text, tokens, &held, modules, value);
                    if let Some(module) = module {
                        held.insert(word(*name).to_owned(), module);
                    }
                }
            }
            // Parameters and loop variables are declarations as well.
            "for" => *declared.entry(word(at + 1)).or_default() += 1,
            "function" => {
                let open = (at..).take(8).find(|at| word(*at) == "(").unwrap_or(at);
                for name in (open + 1..).map_while(|at| Some(word(at)).filter(|word| !matches!(*word, ")" | ""))) {
                    *declared.entry(name).or_default() += 1;
                }
            }
            "=" if at > 0
                && word(at.wrapping_sub(2)) != "local"
                && held.contains_key(word(at - 1))
                && word(at.wrapping_sub(2)) != ","
                && !matches!(word(at.wrapping_sub(2)), "." | "{") =>
            {
                *declared.entry(word(at - 1)).or_default() += 1;
            }
            _ => {}
        }
    }
    held.retain(|name, _| declared.get(name.as_str()) == Some(&1));
    held
}

/// The module that the value at `from` is: a required one or a local that holds one, or a part of
/// it that is a module too, and nothing more. What a call returns is none.
fn module_of(
    text: &str,
    tokens: &[Token<'_>],
    held: &BTreeMap<String, String>,
    modules: &[Module],
    from: usize,
) -> Option<String> {
    let word = |at: usize| tokens.get(at).map_or("", |token| token.text);
    let (mut module, mut next) = match required_here(text, tokens, from) {
        // The name itself is text, so no token.
        Some(name) => (name.to_owned(), from + if word(from + 1) == "(" { 3 } else { 1 }),
        None => (held.get(word(from))?.clone(), from + 1),
    };
    while word(next) == "." {
        module = format!("{module}.{}", word(next + 1));
        next += 2;
    }
    let known = modules.iter().any(|known| known.name == module);
    let after = word(next);
    let ends = matches!(after, "" | "," | ";")
        || after.starts_with(|first: char| first.is_alphabetic() || first == '_') && !matches!(after, "and" | "or");
    (known && ends).then_some(module)
}

/// The places of the names after `local`, and of the first word of each value.
fn declaration(tokens: &[Token<'_>], from: usize) -> (Vec<usize>, Vec<usize>) {
    let word = |at: usize| tokens.get(at).map_or("", |token| token.text);
    let (mut names, mut at) = (vec![from], from + 1);
    loop {
        match word(at) {
            // An attribute, such as `<close>`.
            "<" => at += 3,
            "," => {
                names.push(at + 1);
                at += 2;
            }
            _ => break,
        }
    }
    let mut values = Vec::new();
    if word(at) == "=" {
        values.push(at + 1);
        let (mut depth, mut next) = (0_usize, at + 1);
        while values.len() < names.len() && next < tokens.len() {
            match word(next) {
                "(" | "{" | "[" => depth += 1,
                ")" | "}" | "]" => depth = depth.saturating_sub(1),
                "," if depth == 0 => values.push(next + 1),
                "function" | "local" | "return" | "if" | "for" | "while" => break,
                _ => {}
            }
            next += 1;
        }
    }
    (names, values)
}
