//! `skyfall rollouts`.

mod write;

use crate::diagnostic::{Diagnostic, Exit};
use crate::rollouts::{self, Store};
use crate::text::json;
use crate::value::{Map, Value};

use super::Ending;
use super::args::{RolloutsCommand, StoreArguments};
use super::console::Terminal;

/// Looks at or checks a store.
pub(super) fn rollouts(command: &RolloutsCommand, terminal: &Terminal) -> Ending {
    match command {
        RolloutsCommand::Info(arguments) => info(arguments, terminal),
        RolloutsCommand::Validate(arguments) => validate(arguments, terminal),
        RolloutsCommand::Write(arguments) => write::write(arguments, terminal),
    }
}

fn info(arguments: &StoreArguments, terminal: &Terminal) -> Ending {
    let store = Store::open(&arguments.directory).map_err(Diagnostic::from)?;
    let attributes = store.attributes();
    if arguments.json {
        let mut tree = Map::new();
        tree.insert("root_attrs".to_owned(), Value::Map(attributes));
        tree.insert("manifest".to_owned(), store.manifest().map_err(Diagnostic::from)?);
        terminal.print(&format!("{}\n", json::to_canonical(&Value::Map(tree))));
        return Ok(Exit::Success);
    }
    let mut text = String::new();
    for (label, key) in [
        ("schema", "schema_version"),
        ("created", "created_at_utc"),
        ("split", "source_split"),
        ("sources", "num_sources"),
        ("targets", "num_targets"),
        ("rollouts", "num_rollouts"),
        ("steps", "num_steps"),
        ("candidates", "num_candidates"),
        ("widest shell", "q_h_max_candidates"),
        ("discount", "discount_gamma"),
        ("manifest", "manifest_sha256"),
    ] {
        let value = match attributes.get(key) {
            Some(Value::Text(text)) => text.clone(),
            Some(other) => json::to_string(other),
            None => "missing".to_owned(),
        };
        text.push_str(&format!("{label:<13} {value}\n"));
    }
    terminal.print(&text);
    Ok(Exit::Success)
}

fn validate(arguments: &StoreArguments, terminal: &Terminal) -> Ending {
    let validation = rollouts::validate(&arguments.directory).map_err(Diagnostic::from)?;
    let text = if arguments.json {
        let count = |count: usize| Value::Int(i64::try_from(count).unwrap_or(i64::MAX));
        let mut tree = Map::new();
        tree.insert("ok".to_owned(), validation.ok().into());
        tree.insert("num_rollouts".to_owned(), count(validation.num_rollouts));
        tree.insert("num_steps".to_owned(), count(validation.num_steps));
        tree.insert("num_candidates".to_owned(), count(validation.num_candidates));
        let errors = validation.errors.iter().map(|error| error.as_str().into()).collect();
        tree.insert("errors".to_owned(), Value::List(errors));
        format!("{}\n", json::to_string(&Value::Map(tree)))
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
