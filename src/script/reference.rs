//! The library's reference: what its annotated Lua files (`stdlib/skyfall`) say of themselves.
//!
//! Those files are the one source: the machine runs them, [`entry`] and [`page`] show them, and
//! `definitions` gives editors the same text as definitions. Their examples are run as tests, and
//! a test holds what they document against what there is.

mod data;
mod definitions;
mod page;
mod parse;

pub(crate) use definitions::{definitions, editor_settings};
pub use page::page;
pub(crate) use page::{Named, entry};

use super::loader::LIBRARY;

/// One module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Module {
    /// Its name, such as `skyfall.array`.
    pub name: String,
    /// What it is for, as Markdown.
    pub doc: String,
    /// What it has, in its order.
    pub entries: Vec<Entry>,
}

/// A function, a class or an alias.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its full name, such as `skyfall.array.new` or `skyfall.Array`.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// What it does, as Markdown; fenced Lua in it is an example.
    pub doc: String,
    /// A function's parameters; a class's fields.
    pub parts: Vec<Part>,
    /// What a function returns, each a type and perhaps words on it.
    pub returns: Vec<String>,
    /// Its comment as it stands.
    pub comment: Vec<String>,
}

/// What an entry is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A function of the module.
    Function,
    /// A class of tables or objects; what follows its name.
    Class(String),
    /// Another name for a type: the type.
    Alias(String),
}

/// A parameter or a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its name, with `?` where it may be left out.
    pub name: String,
    /// Its type.
    pub kind: String,
    /// Words on it.
    pub doc: String,
}

impl Entry {
    /// The pieces of Lua in its comment, to be run with `skyfall` at hand.
    #[must_use]
    pub fn examples(&self) -> Vec<String> {
        let mut examples = Vec::new();
        let mut open: Option<String> = None;
        for line in self.doc.lines() {
            match (&mut open, line) {
                (None, "```lua") => open = Some(String::new()),
                (Some(_), "```") => examples.extend(open.take()),
                (Some(code), line) => {
                    code.push_str(line);
                    code.push('\n');
                }
                (None, _) => {}
            }
        }
        examples
    }

    /// How it is called, or what it is.
    #[must_use]
    pub fn signature(&self) -> String {
        match &self.kind {
            Kind::Class(rest) => format!("class {}{rest}", self.name),
            Kind::Alias(kind) => format!("alias {} = {kind}", self.name),
            Kind::Function => {
                let parameters: Vec<String> =
                    self.parts.iter().map(|part| format!("{}: {}", part.name, part.kind)).collect();
                let kinds: Vec<&str> = self.returns.iter().map(|text| parse::type_and_rest(text).0).collect();
                let arrow = if kinds.is_empty() { String::new() } else { format!(" -> {}", kinds.join(", ")) };
                format!("{}({}){arrow}", self.name, parameters.join(", "))
            }
        }
    }
}

/// Every module of the library.
#[must_use]
pub fn reference() -> Vec<Module> {
    LIBRARY.iter().map(|(name, text)| parse::module(name, text)).collect()
}
