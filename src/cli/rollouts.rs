//! `skyfall rollouts`.

mod info;
mod validate;

use super::Ending;
use super::args::RolloutsCommand;
use super::console::Terminal;

/// Looks at or checks a store.
pub(super) fn rollouts(command: &RolloutsCommand, terminal: &Terminal) -> Ending {
    match command {
        RolloutsCommand::Info(arguments) => info::info(arguments, terminal),
        RolloutsCommand::Validate(arguments) => validate::validate(arguments, terminal),
    }
}
