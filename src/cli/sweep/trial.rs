//! A sweep's trial, in a process of its own.

use std::path::Path;
use std::rc::Rc;

use crate::cli::console::Terminal;
use crate::diagnostic::{Diagnostic, Exit};
use crate::script::{Console, RunOptions, ScriptedSweep};
use crate::sweep::outcome::{Outcome, TRACE};
use crate::sweep::pool;

/// Runs the trial that works in `attempt`.
pub(super) fn run(sweep: &ScriptedSweep, attempt: &Path, terminal: &Rc<Terminal>) -> Exit {
    // The process does not outlive the sweep's, however that ends.
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    match outcome(sweep, attempt) {
        Ok(Some(outcome)) => match outcome.write(attempt) {
            Ok(()) => Exit::Success,
            Err(problem) => failed(&problem.into(), terminal),
        },
        Ok(None) => Exit::Interrupted,
        Err(diagnostic) => failed(&diagnostic, terminal),
    }
}

fn failed(diagnostic: &Diagnostic, terminal: &Terminal) -> Exit {
    terminal.report(diagnostic);
    if terminal.interrupted() { Exit::Interrupted } else { diagnostic.exit }
}

/// How the trial came out; `None` if it was interrupted.
fn outcome(sweep: &ScriptedSweep, attempt: &Path) -> Result<Option<Outcome>, Box<Diagnostic>> {
    let trial = pool::read_order(attempt).map_err(Diagnostic::from)?;
    let bad = |message: String| Box::new(Diagnostic::new("sweep/config", message, Exit::BadConfig));
    let resolved = sweep.resolve(&trial.point).map_err(bad)?;
    if trial.resolved.as_ref().is_ok_and(|planned| *planned != resolved) {
        let message = "the script makes another configuration of this point than when the sweep was planned";
        let hint =
            "it was edited meanwhile, or depends on something besides the point (the time, a file, `math.random`)";
        return Err(Box::new(Diagnostic::new("sweep/changed", message, Exit::BadConfig).with_hint(hint)));
    }
    let experiment = sweep.experiment(&trial.point).map_err(bad)?;
    let options = RunOptions::new(Some(attempt.join(TRACE)), None);
    let failed = |message: String| Box::new(Diagnostic::new("run/failed", message, Exit::Failure));
    let result = experiment.run(&options).map_err(failed)?;
    Ok((!result.interrupted).then(|| Outcome::of_run(trial.point, &result)))
}
