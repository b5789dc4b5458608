//! `skyfall new`: a project that runs as it stands.

use crate::diagnostic::{Diagnostic, Exit};
use crate::script::{Console, reference};

use super::Ending;
use super::args::NewArguments;
use super::console::Terminal;
use super::reference::{write, write_types};

/// The project's files.
const FILES: &[(&str, &str)] = &[
    ("experiment.lua", include_str!("../../scripts/new/experiment.lua")),
    ("rewards.lua", include_str!("../../scripts/new/rewards.lua")),
    ("rewards_test.lua", include_str!("../../scripts/new/rewards_test.lua")),
    ("README.md", include_str!("../../scripts/new/README.md")),
    (".gitignore", "steady/\n"),
];

/// Where the definitions for editors go.
const TYPES: &str = ".skyfall/types";

/// Starts a project.
pub(super) fn new(arguments: &NewArguments, terminal: &Terminal) -> Ending {
    let directory = &arguments.directory;
    let taken = match std::fs::read_dir(directory) {
        Ok(mut entries) => entries.next().is_some(),
        Err(_) => directory.symlink_metadata().is_ok(),
    };
    if taken {
        let line = format!("{} is there already, and not empty", directory.display());
        return Err(Box::new(Diagnostic::new("new/taken", line, Exit::Usage).with_hint("name a directory of its own")));
    }
    for (name, text) in FILES {
        write(&directory.join(name), text)?;
    }
    write(&directory.join(".luarc.json"), &reference::editor_settings(TYPES))?;
    write_types(&directory.join(TYPES))?;
    let shown = directory.display();
    terminal.info(&format!("{shown} is ready:\n  cd {shown}\n  skyfall test .\n  skyfall script experiment.lua"));
    Ok(Exit::Success)
}
