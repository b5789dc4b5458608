//! `skyfall rollouts info`.

use crate::cli::Ending;
use crate::cli::args::{InfoArguments, ProfileArgument};
use crate::cli::console::Terminal;
use crate::cli::findings;
use crate::diagnostic::{Diagnostic, Exit};
use crate::rollouts::{self, InfoSections, Profile, Store};
use crate::text::json;
use crate::value::Value;

pub(super) fn info(arguments: &InfoArguments, terminal: &Terminal) -> Ending {
    let store = Store::open(&arguments.directory).map_err(Diagnostic::from)?;
    if arguments.random_index {
        let drawn = rollouts::random_index(&store, arguments.min_horizon, arguments.seed).map_err(Diagnostic::from)?;
        let text = match arguments.json {
            true => json::to_canonical(&Value::Map(drawn)),
            false => drawn.get("index").map(json::to_string).unwrap_or_default(),
        };
        terminal.print(&format!("{text}\n"));
        return Ok(Exit::Success);
    }
    if let Some(out) = &arguments.plot {
        let files = rollouts::plot(&store, arguments.step, out).map_err(Diagnostic::from)?;
        files.iter().for_each(|file| terminal.print(&format!("{}\n", file.display())));
        return Ok(Exit::Success);
    }
    let profile = match arguments.profile {
        ProfileArgument::Smoke => Profile::Smoke,
        ProfileArgument::Production => Profile::Production,
    };
    let sections = InfoSections {
        validate: arguments.validate,
        stats: arguments.stats,
        preflight: arguments.preflight.then_some(profile),
    };
    let working = terminal.working("reading the store");
    let info = rollouts::info(&store, sections).map_err(Diagnostic::from)?;
    drop(working);
    let text = match arguments.json {
        true => format!("{}\n", json::to_canonical(&info.tree)),
        false => findings::harmless(&rollouts::panel(&info)),
    };
    terminal.print(&text);
    Ok(if info.go && info.ok { Exit::Success } else { Exit::Failure })
}
