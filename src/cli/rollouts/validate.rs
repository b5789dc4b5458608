//! `skyfall rollouts validate`.

use crate::cli::Ending;
use crate::cli::args::StoreArguments;
use crate::cli::console::Terminal;
use crate::diagnostic::{Diagnostic, Exit};
use crate::rollouts;
use crate::text::json;

pub(super) fn validate(arguments: &StoreArguments, terminal: &Terminal) -> Ending {
    let working = terminal.working("checking the store");
    let validation = rollouts::validate(&arguments.directory).map_err(Diagnostic::from)?;
    drop(working);
    let text = if arguments.json {
        format!("{}\n", json::to_string(&rollouts::validation(&validation)))
    } else if validation.ok() {
        format!(
            "ok: {} rollouts, {} steps, {} candidates\n",
            validation.num_rollouts, validation.num_steps, validation.num_candidates
        )
    } else {
        validation.errors.iter().map(|error| format!("{error}\n")).collect()
    };
    terminal.print(&text);
    Ok(if validation.ok() { Exit::Success } else { Exit::Failure })
}
