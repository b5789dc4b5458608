//! `skyfall rollouts`.

mod all;
mod gc;
mod info;
mod join;
mod launch;
mod options;
mod plan;
mod recipe;
mod result;
mod run;
mod status;
mod validate;
mod write;

use std::rc::Rc;

use super::args::RolloutsCommand;
use super::console::Terminal;
use super::{Ending, Process};

/// Writes, joins, takes apart, looks at or checks stores, and runs campaigns that make them.
pub(super) fn rollouts(command: &RolloutsCommand, own: &Process, terminal: &Rc<Terminal>) -> Ending {
    match command {
        RolloutsCommand::Info(arguments) => info::info(arguments, terminal),
        RolloutsCommand::Validate(arguments) => validate::validate(arguments, terminal),
        RolloutsCommand::Write(arguments) => write::write(arguments, terminal),
        RolloutsCommand::Plan(arguments) => plan::plan(arguments, terminal),
        RolloutsCommand::Run(arguments) => run::run(arguments, own, terminal),
        RolloutsCommand::Status(arguments) => status::status(arguments, terminal),
        RolloutsCommand::Task(arguments) => launch::task(arguments, terminal),
        RolloutsCommand::Gc(arguments) => gc::gc(arguments, terminal),
        RolloutsCommand::Merge(arguments) => join::merge(arguments, terminal),
        RolloutsCommand::Select(arguments) => join::select(arguments, terminal),
        RolloutsCommand::Split(arguments) => join::split(arguments, terminal),
    }
}
