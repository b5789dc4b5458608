//! The library as editors read it: definitions for LuaLS, a file a module.

use super::{Kind, Module};

/// A module's file of definitions: its path below the directory of definitions, and its text.
#[must_use]
pub(crate) fn definitions(module: &Module) -> (String, String) {
    let short = module.name.strip_prefix("skyfall.").unwrap_or("init");
    let mut text = format!("---@meta {}\n\n{}", module.name, commented(&module.doc));
    let table = if short == "init" { "skyfall".to_owned() } else { format!("skyfall.{short}lib") };
    let mut own = format!("---@class {table}\n");
    let mut rest = String::new();
    for entry in &module.entries {
        let comment: String = entry.comment.iter().map(|line| format!("---{line}\n")).collect();
        match entry.kind {
            Kind::Function => {
                let name = entry.name.strip_prefix(&module.name).unwrap_or_default();
                let parameters: Vec<&str> = entry.parts.iter().map(|part| part.name.trim_end_matches('?')).collect();
                rest.push_str(&format!("\n{comment}function M{name}({}) end\n", parameters.join(", ")));
            }
            // The table of the whole library is the class that its file declares.
            Kind::Class(_) if entry.name == table => own = comment,
            // A comment may declare several: it is written once.
            _ if rest.ends_with(&comment) || rest.contains(&format!("\n{comment}\n")) => {}
            _ => rest.push_str(&format!("\n{comment}\n")),
        }
    }
    text.push_str(&format!("\n{own}local M = {{}}\n{rest}\nreturn M\n"));
    (format!("skyfall/{short}.lua"), text)
}

fn commented(doc: &str) -> String {
    doc.lines().map(|line| format!("--- {line}").trim_end().to_owned() + "\n").collect()
}

/// What an editor's `.luarc.json` says beside a script: where the definitions are, below `library`.
#[must_use]
pub(crate) fn editor_settings(library: &str) -> String {
    let library = crate::text::json::to_string(&library.into());
    format!(
        "{{\n  \"runtime.version\": \"Lua 5.4\",\n  \"runtime.path\": [\"?.lua\", \"?/init.lua\"],\n  \
         \"runtime.builtin\": {{ \"debug\": \"disable\" }},\n  \"workspace.library\": [{library}]\n}}\n"
    )
}
