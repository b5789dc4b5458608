//! Reading the annotations of a library file: LuaLS comments, each block before what it is about.

use super::{Entry, Kind, Module, Part};

/// The module called `name`, whose file is `text`.
pub(super) fn module(name: &str, text: &str) -> Module {
    let mut module = Module { name: name.to_owned(), doc: String::new(), entries: Vec::new() };
    let mut comment: Vec<String> = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("---") {
            comment.push(rest.to_owned());
            continue;
        }
        if comment.is_empty() {
            continue;
        }
        let comment = unfolded(&std::mem::take(&mut comment));
        match function_name(line) {
            Some(function) => module.entries.push(entry(format!("{name}.{function}"), Kind::Function, comment)),
            None => {
                let (classes, words) = (declared(&comment), doc(&comment));
                if classes.is_empty() && module.doc.is_empty() {
                    module.doc = words;
                }
                module.entries.extend(classes.into_iter().map(|(name, kind)| entry(name, kind, comment.clone())));
            }
        }
    }
    module
}

/// The name that a line gives a function of the module.
fn function_name(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("function M.").or_else(|| line.strip_prefix("M."))?;
    let end = rest.find(|next: char| !next.is_alphanumeric() && next != '_')?;
    rest.get(..end)
}

/// The classes and aliases that a comment declares.
fn declared(comment: &[String]) -> Vec<(String, Kind)> {
    let mut found = Vec::new();
    for line in comment {
        if let Some(rest) = line.strip_prefix("@class ") {
            let end = rest.find([' ', ':']).unwrap_or(rest.len());
            let (name, rest) = rest.split_at(end);
            // The table of a module's own functions is that module.
            if !name.ends_with("lib") {
                let parent = rest.strip_prefix(':').map(|rest| rest.trim_start().split(' ').next().unwrap_or_default());
                let parent = parent.map(|parent| format!(": {parent}")).unwrap_or_default();
                found.push((name.to_owned(), Kind::Class(parent)));
            }
        } else if let Some((name, kind)) = line.strip_prefix("@alias ").and_then(|rest| rest.split_once(' ')) {
            found.push((name.to_owned(), Kind::Alias(kind.to_owned())));
        }
    }
    found
}

fn entry(name: String, kind: Kind, comment: Vec<String>) -> Entry {
    let mut entry = Entry { name, kind, doc: doc(&comment), parts: Vec::new(), returns: Vec::new(), comment };
    let tag = if entry.kind == Kind::Function { "@param " } else { "@field " };
    for line in &entry.comment {
        if let Some(rest) = line.strip_prefix(tag) {
            // `[integer]` is a name with a bracket, of the elements.
            let (name, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            let (kind, words) = type_and_rest(rest);
            entry.parts.push(Part { name: name.to_owned(), kind: kind.to_owned(), doc: words.to_owned() });
        } else if let Some(rest) = line.strip_prefix("@return ") {
            entry.returns.push(rest.to_owned());
        } else if let Some(rest) = line.strip_prefix("@operator ") {
            let (name, kind) = rest.split_once(": ").unwrap_or((rest, ""));
            let (name, kind) = (format!("operator {name}"), kind.to_owned());
            entry.parts.push(Part { name, kind, doc: String::new() });
        }
    }
    entry
}

/// The words of a comment, and those behind a class's name.
fn doc(comment: &[String]) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in comment {
        if let Some(rest) = line.strip_prefix("@class ") {
            // After a class's parent come its words.
            let words = rest.split_once(": ").map_or(rest, |(_, parent)| parent);
            lines.extend(words.split_once(' ').map(|(_, words)| words));
        } else if !line.starts_with('@') {
            lines.push(line.strip_prefix(' ').unwrap_or(line));
        }
    }
    lines.join("\n").trim().to_owned()
}

/// The lines of a comment, each tag with the lines that go on with its words.
fn unfolded(comment: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in comment {
        match lines.last_mut() {
            Some(tag) if tag.starts_with('@') && line.starts_with("  ") => {
                tag.push(' ');
                tag.push_str(line.trim_start());
            }
            _ => lines.push(line.clone()),
        }
    }
    lines
}

/// The type at the beginning of `text`, and what follows it: brackets hold spaces, and so do
/// unions, functions and lists of types.
pub(super) fn type_and_rest(text: &str) -> (&str, &str) {
    let mut depth = 0_usize;
    let mut previous = ' ';
    for (at, character) in text.char_indices() {
        match character {
            '(' | '{' | '[' | '<' => depth += 1,
            ')' | '}' | ']' => depth = depth.saturating_sub(1),
            '>' if previous != '-' => depth = depth.saturating_sub(1),
            ' ' if depth == 0 && !matches!(previous, ':' | ',' | '|') => {
                let rest = text.get(at..).unwrap_or_default().trim_start();
                if !rest.starts_with('|') {
                    return (text.get(..at).unwrap_or_default(), rest);
                }
            }
            _ => {}
        }
        previous = if character == ' ' { previous } else { character };
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::indexing_slicing, reason = "tests")]
    use super::{Kind, module, type_and_rest};

    const FILE: &str = "--- What it is.\n\nlocal native = ...\n\n---@class skyfall.xlib\nlocal M = {}\n\n\
        --- Words.\n---@class skyfall.Thing: skyfall.Other of a kind\n---@field n integer how many\n---@field f fun(a: any, b: { c: integer? }): any, string what it does\n\n\
        --- Makes one.\n---\n--- ```lua\n--- local x = 1\n--- ```\n---@param n integer? how\n---  many\n---@return skyfall.Thing\nM.make = native.make\n\nreturn M\n";

    #[test]
    fn a_file_is_understood() {
        let module = module("skyfall.x", FILE);
        assert_eq!((module.doc.as_str(), module.entries.len()), ("What it is.", 2));
        let [thing, make] = &module.entries[..] else { unreachable!() };
        assert_eq!(thing.kind, Kind::Class(": skyfall.Other".to_owned()));
        assert_eq!(thing.doc, "Words.\nof a kind");
        assert_eq!(thing.parts[1].kind, "fun(a: any, b: { c: integer? }): any, string");
        assert_eq!(thing.parts[1].doc, "what it does");
        assert_eq!(make.signature(), "skyfall.x.make(n: integer?) -> skyfall.Thing");
        assert_eq!(make.parts[0].doc, "how many");
        assert_eq!(make.examples(), ["local x = 1\n"]);
    }

    #[test]
    fn types_end_where_words_begin() {
        for (text, kind) in [
            ("integer|string the", "integer|string"),
            ("(string | string[])? of", "(string | string[])?"),
            ("string | nil of", "string | nil"),
            ("fun(): integer?, table of", "fun(): integer?, table"),
            ("\"a\"|\"b\"", "\"a\"|\"b\""),
        ] {
            assert_eq!(type_and_rest(text).0, kind);
        }
    }
}
