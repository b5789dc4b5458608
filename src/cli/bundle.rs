//! `skyfall bundle`.

use crate::bundle::{self, Bundle};
use crate::diagnostic::{Diagnostic, Exit};
use crate::experiment::Catalog;
use crate::script::BareScripts;
use crate::value::{self, Value};

use super::Ending;
use super::args::BundleCommand;
use super::console::Terminal;

/// Prints or checks a bundle.
pub(super) fn bundle(command: &BundleCommand, terminal: &Terminal) -> Ending {
    match command {
        BundleCommand::Show(arguments) => {
            let bundle = Bundle::open(&arguments.directory).map_err(Diagnostic::from)?;
            let manifest = bundle.manifest();
            if arguments.json {
                terminal.print_json(manifest.to_value());
            } else {
                terminal.print(&manifest.to_yaml());
            }
        }
        BundleCommand::Check(arguments) => {
            let catalog = Catalog::native().with_scripts(BareScripts::new()?);
            let fault = bundle::check(&arguments.directory, &catalog).map_err(Diagnostic::from).err();
            let directory = arguments.directory.display().to_string();
            if arguments.json {
                let errors: Vec<Value> = fault.iter().map(|fault| fault.message.as_str().into()).collect();
                let found =
                    [("directory", directory.into()), ("ok", fault.is_none().into()), ("errors", errors.into())];
                terminal.print_json(value::map(found));
            } else if fault.is_none() {
                terminal.print(&format!("{directory}: ok\n"));
            }
            if let Some(fault) = fault {
                return Err(Box::new(fault));
            }
        }
    }
    Ok(Exit::Success)
}
