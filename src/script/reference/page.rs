//! The reference for people: one entry, or all of it as one page of Markdown.

use super::{Entry, Kind, Module, Part};
use crate::suggest;

/// What a name of the library stands for.
#[derive(Clone, Debug)]
pub(crate) enum Named<'a> {
    /// A module.
    Module(&'a Module),
    /// A function, a class or an alias.
    Entry(&'a Entry),
    /// A field or a method of the class with that name.
    Part(&'a str, &'a Part),
}

impl Named<'_> {
    /// Its text.
    #[must_use]
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Module(module) => overview(module),
            Self::Entry(entry) => whole(entry),
            Self::Part(class, part) => {
                let class = class.strip_prefix("skyfall.").unwrap_or(class);
                format!("{class}.{}: {}\n\n{}\n", part.name, part.kind, part.doc)
            }
        }
    }
}

/// What is called `name`: a module, a function, a class, a method (`skyfall.Array:sum`).
/// `skyfall.` in front may be left out.
///
/// # Errors
/// What may be meant, when there is no such thing.
pub(crate) fn entry<'a>(modules: &'a [Module], name: &str) -> Result<Named<'a>, String> {
    let name = name.strip_prefix("skyfall.").unwrap_or(name);
    let is = |full: &str| full.strip_prefix("skyfall.").unwrap_or(full) == name;
    if let Some(module) = modules.iter().find(|module| is(&module.name)) {
        return Ok(Named::Module(module));
    }
    if let Some(entry) = modules.iter().flat_map(|module| &module.entries).find(|entry| is(&entry.name)) {
        return Ok(Named::Entry(entry));
    }
    if let Some((class, method)) = name.split_once([':', '.'])
        && let Some((class, part)) = modules
            .iter()
            .flat_map(|module| &module.entries)
            .filter(|entry| matches!(entry.kind, Kind::Class(_)) && entry.name.strip_prefix("skyfall.") == Some(class))
            .flat_map(|entry| entry.parts.iter().map(|part| (entry.name.as_str(), part)))
            .find(|(_, part)| part.name == method)
    {
        return Ok(Named::Part(class, part));
    }
    let entries = modules.iter().flat_map(|module| module.entries.iter().map(|entry| entry.name.as_str()));
    let known: Vec<&str> = modules.iter().map(|module| module.name.as_str()).chain(entries).collect();
    let short = known.iter().map(|known| known.strip_prefix("skyfall.").unwrap_or(known));
    // A function may be asked for by its own name alone.
    let last = |known: &&&str| known.rsplit('.').next() == Some(name);
    let found: Vec<&str> = known.iter().filter(last).copied().collect();
    Err(if found.is_empty() {
        match suggest::nearest(name, short) {
            Some(near) => suggest::question(near),
            None => "`skyfall doc` without a name lists the modules".to_owned(),
        }
    } else {
        format!("there is {}", found.join(", "))
    })
}

fn overview(module: &Module) -> String {
    let mut text = format!("{}\n\n{}\n\n", module.name, module.doc);
    for entry in &module.entries {
        text.push_str(&format!("{}\n    {}\n", entry.signature(), first_sentence(&entry.doc)));
    }
    text
}

fn first_sentence(doc: &str) -> String {
    let paragraph: Vec<&str> =
        doc.lines().take_while(|line| !line.trim().is_empty() && !line.starts_with("```")).collect();
    let paragraph = paragraph.join(" ");
    paragraph.split_once(". ").map_or(paragraph.clone(), |(first, _)| format!("{first}."))
}

fn whole(entry: &Entry) -> String {
    let mut text = format!("{}\n\n{}\n", entry.signature(), entry.doc);
    let width = entry.parts.iter().map(|part| part.name.len()).max().unwrap_or(0);
    for (index, part) in entry.parts.iter().enumerate() {
        let gap = if index == 0 { "\n" } else { "" };
        let words = if part.doc.is_empty() { String::new() } else { format!("  {}", part.doc) };
        text.push_str(&format!("{gap}  {:width$}  {}{words}\n", part.name, part.kind));
    }
    for returned in &entry.returns {
        text.push_str(&format!("\nreturns {returned}\n"));
    }
    text
}

/// All of it.
#[must_use]
pub fn page(modules: &[Module]) -> String {
    let mut text = String::from(
        "# The library\n\nWritten by `skyfall doc --all`; a test fails when it is not up to date. \
         `skyfall doc NAME` prints one entry, `skyfall types DIR` writes the same as definitions for editors.\n\n",
    );
    for module in modules {
        text.push_str(&format!(
            "* [`{0}`](#{1}): {2}\n",
            module.name,
            anchor(&module.name),
            first_sentence(&module.doc)
        ));
    }
    for module in modules {
        text.push_str(&format!("\n## {}\n\n{}\n", module.name, module.doc));
        for entry in &module.entries {
            text.push_str(&format!("\n### {}\n\n`{}`\n", entry.name, entry.signature()));
            if !entry.doc.is_empty() {
                text.push_str(&format!("\n{}\n", entry.doc));
            }
            if !entry.parts.is_empty() {
                text.push('\n');
            }
            for part in &entry.parts {
                let words = if part.doc.is_empty() { String::new() } else { format!(": {}", part.doc) };
                text.push_str(&format!("* `{}` `{}`{words}\n", part.name, part.kind));
            }
            if !entry.returns.is_empty() {
                text.push_str(&format!("\nReturns `{}`.\n", entry.returns.join("`, `")));
            }
        }
    }
    text
}

/// What a heading is called in links.
fn anchor(heading: &str) -> String {
    heading.chars().filter(|character| character.is_alphanumeric() || "-_".contains(*character)).collect()
}
