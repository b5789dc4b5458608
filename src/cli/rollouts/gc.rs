//! `skyfall rollouts gc`.

use std::time::Duration;

use super::options;
use crate::campaign::gc::{self, Kind};
use crate::cli::Ending;
use crate::cli::args::GcArguments;
use crate::cli::console::Terminal;
use crate::cli::findings;
use crate::diagnostic::{Diagnostic, Exit};
use crate::object::Address;
use crate::script::Console;
use crate::value::Value;

/// Lists what dead attempts left, and removes it if asked to.
pub(super) fn gc(arguments: &GcArguments, terminal: &Terminal) -> Ending {
    let root = &arguments.final_root;
    if !Address::is(root) && !root.is_dir() {
        let line = format!("{} is no directory", root.display());
        return Err(Box::new(Diagnostic::new("campaign/unreadable", line, Exit::Input)));
    }
    let idle = Duration::from_secs(arguments.idle.saturating_mul(3600));
    let found = gc::leftovers(root, idle, options::now()).map_err(Diagnostic::from)?;
    let (mut stayed, mut removable, mut listed) = (0, 0, Vec::new());
    for leftover in &found {
        let (kind, path) = (leftover.kind.name(), leftover.path.display().to_string());
        let mut removed = false;
        let what = match (arguments.remove, leftover.kind) {
            (_, Kind::Live) => "in use".to_owned(),
            (_, Kind::Recent) => "may be in use".to_owned(),
            (_, Kind::Foreign(why)) => format!("left alone: {why}"),
            (false, _) => {
                removable += 1;
                String::new()
            }
            (true, _) if gc::remove(leftover) => {
                removed = true;
                "removed".to_owned()
            }
            (true, _) => {
                stayed += 1;
                "cannot be removed".to_owned()
            }
        };
        if arguments.json {
            let entries: [(&str, Value); 5] = [
                ("path", path.into()),
                ("kind", kind.into()),
                ("bytes", leftover.bytes.into()),
                ("removed", removed.into()),
                ("note", (!what.is_empty()).then_some(what).into()),
            ];
            listed.push(Value::map(entries));
        } else {
            let line = format!("{kind:<11}  {:>12} bytes  {}  {what}", leftover.bytes, findings::name(&path));
            terminal.print(&format!("{}\n", line.trim_end()));
        }
    }
    if arguments.json {
        terminal.print_json(listed);
    }
    if removable > 0 {
        terminal.info("--remove removes what is not in use");
    }
    Ok(if stayed == 0 { Exit::Success } else { Exit::Failure })
}
