//! `skyfall rollouts`.

mod info;
mod join;
mod result;
mod validate;
mod write;

use super::Ending;
use super::args::RolloutsCommand;
use super::console::Terminal;

/// Writes, joins, takes apart, looks at or checks stores.
pub(super) fn rollouts(command: &RolloutsCommand, terminal: &Terminal) -> Ending {
    match command {
        RolloutsCommand::Info(arguments) => info::info(arguments, terminal),
        RolloutsCommand::Validate(arguments) => validate::validate(arguments, terminal),
        RolloutsCommand::Write(arguments) => write::write(arguments, terminal),
        RolloutsCommand::Merge(arguments) => join::merge(arguments, terminal),
        RolloutsCommand::Select(arguments) => join::select(arguments, terminal),
        RolloutsCommand::Split(arguments) => join::split(arguments, terminal),
    }
}
