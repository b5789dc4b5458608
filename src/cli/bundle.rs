//! `skyfall bundle`.

use crate::bundle::{self, Bundle};
use crate::diagnostic::{Diagnostic, Exit};
use crate::experiment::Catalog;
use crate::script::BareScripts;

use super::Ending;
use super::args::BundleCommand;
use super::console::Terminal;

/// Prints or checks a bundle.
pub(super) fn bundle(command: &BundleCommand, terminal: &Terminal) -> Ending {
    match command {
        BundleCommand::Show(arguments) => {
            let bundle = Bundle::open(&arguments.directory).map_err(Diagnostic::from)?;
            terminal.print(&bundle.manifest().to_yaml());
        }
        BundleCommand::Check(arguments) => {
            let catalog = Catalog::native().with_scripts(BareScripts::new()?);
            bundle::check(&arguments.directory, &catalog).map_err(Diagnostic::from)?;
            terminal.print(&format!("{}: ok\n", arguments.directory.display()));
        }
    }
    Ok(Exit::Success)
}
