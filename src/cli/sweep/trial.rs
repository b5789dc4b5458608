//! A sweep's trial, in a process of its own.

use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;

use crate::algorithm::Window;
use crate::cli::console::Terminal;
use crate::diagnostic::{Diagnostic, Exit};
use crate::script::{Console, RunOptions, ScriptedSweep};
use crate::sweep::directory::Directory;
use crate::sweep::outcome::{METRICS, Outcome, TRACE, evaluated};
use crate::sweep::plan::Trial;
use crate::sweep::pool;
use crate::sweep::progress::Note;
use crate::sweep::stopping::{Hearing, Watched};

/// Runs the trial that works in `attempt`.
pub(super) fn run(sweep: &Rc<ScriptedSweep>, attempt: &Path, terminal: &Rc<Terminal>) -> Exit {
    terminal.note_progress(Note::new(attempt));
    let ending = outcome(sweep, attempt);
    terminal.end_progress();
    match ending {
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
fn outcome(sweep: &Rc<ScriptedSweep>, attempt: &Path) -> Result<Option<Outcome>, Box<Diagnostic>> {
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
    let mut options = RunOptions::new(Some(attempt.join(TRACE)), None);
    let (hearing, over) = (Rc::new(RefCell::new(hearing(sweep, attempt, &trial))), Rc::new(Cell::new(None)));
    if hearing.borrow().is_some() {
        let (sweep, hearing, over) = (Rc::clone(sweep), Rc::clone(&hearing), Rc::clone(&over));
        let so_far = Cell::new(0.0);
        options.watch = Some(Box::new(move |window| {
            so_far.set(so_far.get() + window.total_reward);
            let value = value_of(&sweep, window, so_far.get())?;
            // The last window has nothing after it to save.
            let ends = match &mut *hearing.borrow_mut() {
                Some(hearing) if window.done < resolved.steps => {
                    hearing.window(value).map_err(|error| error.to_string())?
                }
                _ => false,
            };
            if ends {
                over.set(Some(window.done));
            }
            Ok(ends)
        }));
    }
    let failed = |message: String| Box::new(Diagnostic::new("run/failed", message, Exit::Failure));
    let result = experiment.run(&options)?;
    if result.interrupted && over.get().is_none() {
        return Ok(None);
    }
    let mut outcome = Outcome::of_run(trial.point, &result);
    outcome.stopped = over.get();
    outcome.decisions = hearing.take().map(|hearing| hearing.decisions).unwrap_or_default();
    let metric = &sweep.definition.metric;
    if !METRICS.contains(&metric.as_str()) {
        let value = evaluated(attempt, metric).map_err(failed)?;
        outcome.metrics.insert(metric.clone(), value.into());
    }
    Ok(Some(outcome))
}

/// The trial before the sweep's rule, if it has one.
fn hearing(sweep: &ScriptedSweep, attempt: &Path, trial: &Trial) -> Option<Hearing> {
    let stopping = sweep.definition.stopping?;
    let rungs = Directory::of_attempt(attempt)?.rungs_path();
    Some(Hearing::new(stopping.rule, sweep.definition.goal, &rungs, &trial.unit().name()))
}

/// What the rule looks at after `window`; `so_far` is the run's reward up to its end.
fn value_of(sweep: &ScriptedSweep, window: &Window, so_far: f64) -> Result<f64, String> {
    #[expect(clippy::cast_precision_loss, reason = "a count of steps")]
    let per_step = |reward: f64, steps: u64| reward / steps as f64;
    Ok(match (sweep.watched(window)?, sweep.definition.stopping.map(|stopping| stopping.watched)) {
        (Some(value), _) => value,
        (None, Some(Watched::MeanReward)) => per_step(so_far, window.done),
        (None, _) => per_step(window.total_reward, window.steps),
    })
}
