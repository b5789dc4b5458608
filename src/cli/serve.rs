//! `skyfall serve`.

use std::rc::Rc;

use crate::bundle::{Actor, Bundle, ServeOptions, Server, serve as serve_bundle};
use crate::config;
use crate::diagnostic::{Diagnostic, Exit};
use crate::experiment::Catalog;
use crate::regime::RegimeRecord;
use crate::script::{BareScripts, Console, RunOptions, programs};
use crate::text::json;
use crate::value::Value;

use super::Ending;
use super::args::ServeArguments;
use super::console::Terminal;
use super::run::{Progress, told};

/// Runs a bundle's policy, frozen, in its world and under its regimes.
pub(super) fn serve(arguments: &ServeArguments, terminal: &Rc<Terminal>) -> Ending {
    let usage = |what: &str, message: String| Diagnostic::new("serve/usage", format!("{what}: {message}"), Exit::Usage);
    terminal.bound(arguments.limits.limits());
    let bundle = Bundle::open(&arguments.bundle).map_err(Diagnostic::from)?;
    if let Some(address) = &arguments.listen {
        return listen(&bundle, address, terminal);
    }
    super::check_output(arguments.traces.as_deref(), std::slice::from_ref(&arguments.bundle))?;
    let mut options = ServeOptions {
        steps: arguments.steps,
        seed: arguments.seed,
        checkpoint_step: arguments.checkpoint_step,
        env_id: arguments.env.clone(),
        ..ServeOptions::default()
    };
    if let Some(text) = &arguments.env_kwargs {
        options.env_kwargs = match json::parse(text) {
            Ok(Value::Map(kwargs)) => Some(kwargs),
            Ok(other) => {
                return Err(Box::new(usage("--env-kwargs", format!("must be a JSON object, got {}", other.kind()))));
            }
            Err(problem) => return Err(Box::new(usage("--env-kwargs", problem.to_string()))),
        };
    }
    if let Some(path) = &arguments.regime {
        let document = config::document(path).map_err(config::LoadError::into_diagnostic)?;
        let record = RegimeRecord::from_value(&document).map_err(|problem| {
            Diagnostic::new("serve/regime", format!("{}: {problem}", path.display()), Exit::Failure)
        })?;
        options.regime = Some(record);
    }
    let mut catalog = Catalog::native().with_scripts(BareScripts::new()?);
    if arguments.allow_run {
        catalog = catalog.with_programs(programs(Rc::clone(terminal) as Rc<dyn Console>).map_err(Diagnostic::from)?);
    }
    let mut observer = Progress { terminal, total: arguments.steps.unwrap_or(0) };
    let result = serve_bundle(&bundle, &catalog, &options, arguments.traces.as_deref(), &mut observer)
        .map_err(Diagnostic::from)?;
    for warning in &result.warnings {
        terminal.warn(warning);
    }
    Ok(told(&result, &RunOptions::new(arguments.traces.clone(), None), arguments.json, terminal))
}

/// Answers observations until Ctrl-C, which is how a server ends well.
fn listen(bundle: &Bundle, address: &str, terminal: &Terminal) -> Ending {
    let catalog = Catalog::native().with_scripts(BareScripts::new()?);
    let actor = Actor::new(bundle, &catalog).map_err(Diagnostic::from)?;
    let server = Server::bind(address).map_err(Diagnostic::from)?;
    if !server.address().ip().is_loopback() {
        terminal.warn(&format!("{} can be reached from other machines", server.address()));
    }
    terminal.print(&format!("listening on http://{}\n", server.address()));
    server.run(actor, &|| terminal.interrupted()).map_err(Diagnostic::from)?;
    Ok(Exit::Success)
}
