//! `skyfall types`, `skyfall doc` and `skyfall completions`.

use std::path::Path;

use clap::CommandFactory;

use crate::atomic;
use crate::diagnostic::{Diagnostic, Exit};
use crate::script::Console;
use crate::script::reference::{self, Module};
use crate::value::Value;

use super::Ending;
use super::args::{Arguments, CompletionsArguments, DocArguments, TypesArguments};
use super::console::Terminal;

/// Writes the definitions.
pub(super) fn types(arguments: &TypesArguments, terminal: &Terminal) -> Ending {
    let count = write_types(&arguments.directory)?;
    let beside = arguments.directory.parent().unwrap_or(Path::new("")).join(".luarc.json");
    let name = arguments.directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if !beside.exists() {
        write(&beside, &reference::editor_settings(&name))?;
        terminal.info(&format!("{}: the editor's settings", beside.display()));
    }
    terminal.info(&format!("{}: {count} modules", arguments.directory.display()));
    Ok(Exit::Success)
}

/// Writes the definitions below `directory`; how many modules there are.
pub(super) fn write_types(directory: &Path) -> Result<usize, Box<Diagnostic>> {
    let modules = reference::reference();
    for module in &modules {
        let (path, text) = reference::definitions(module);
        write(&directory.join(path), &text)?;
    }
    Ok(modules.len())
}

/// Writes one file, complete or not at all.
pub(super) fn write(path: &Path, text: &str) -> Result<(), Box<Diagnostic>> {
    atomic::write_file(path, text.as_bytes())
        .map_err(|error| Box::new(Diagnostic::new("output/unwritable", error.to_string(), Exit::Failure)))
}

/// Prints one entry, or all.
pub(super) fn doc(arguments: &DocArguments, terminal: &Terminal) -> Ending {
    let modules = reference::reference();
    if arguments.all {
        if arguments.json {
            terminal.print_json(modules.iter().map(Module::to_value).collect::<Vec<_>>());
        } else {
            terminal.print(&reference::page(&modules));
        }
        return Ok(Exit::Success);
    }
    let Some(name) = &arguments.name else {
        if arguments.json {
            let first = |module: &Module| module.doc.lines().next().unwrap_or_default().to_owned();
            let listed = modules
                .iter()
                .map(|module| Value::map([("name", module.name.as_str().into()), ("doc", first(module).into())]));
            terminal.print_json(listed.collect::<Vec<_>>());
            return Ok(Exit::Success);
        }
        for module in &modules {
            let first = module.doc.lines().next().unwrap_or_default();
            terminal.print(&format!("{:20}  {first}\n", module.name));
        }
        return Ok(Exit::Success);
    };
    match reference::entry(&modules, name) {
        Ok(named) => {
            if arguments.json {
                terminal.print_json(named.to_value());
            } else {
                terminal.print(&named.text());
            }
            Ok(Exit::Success)
        }
        Err(hint) => {
            let line = format!("the library has no `{name}`");
            Err(Box::new(Diagnostic::new("doc/unknown", line, Exit::Usage).with_hint(hint)))
        }
    }
}

/// Prints a shell's completions.
pub(super) fn completions(arguments: &CompletionsArguments, terminal: &Terminal) -> Ending {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "skyfall", &mut text);
    terminal.print(&String::from_utf8_lossy(&text));
    Ok(Exit::Success)
}
