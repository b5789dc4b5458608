//! `skyfall rollouts`.

mod info;
mod validate;
mod write;

use super::Ending;
use super::args::RolloutsCommand;
use super::console::Terminal;

/// Writes, looks at or checks a store.
pub(super) fn rollouts(command: &RolloutsCommand, terminal: &Terminal) -> Ending {
    match command {
        RolloutsCommand::Info(arguments) => info::info(arguments, terminal),
        RolloutsCommand::Validate(arguments) => validate::validate(arguments, terminal),
        RolloutsCommand::Write(arguments) => write::write(arguments, terminal),
    }
}
