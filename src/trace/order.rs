//! The order of steps within a run (G5): kept as it is in the file, unless rows of a resumed run
//! are to supersede those they repeat.

use crate::trace::fault::Faults;
use crate::trace::part::Part;

/// What a step that goes back means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Restart {
    /// Nothing: all rows are kept, in file order.
    #[default]
    Keep,
    /// The run was resumed from a checkpoint: earlier rows from that step on are dropped.
    Supersede,
}

/// Watches the steps of one run in one file for ones that go back or repeat.
#[derive(Debug, Default)]
pub(super) struct StepWatch {
    last: Option<i64>,
}

impl StepWatch {
    /// Notes what is odd about `step`, which follows those seen before.
    #[inline]
    pub(super) fn see(&mut self, step: i64, on_restart: Restart, faults: &mut Faults) {
        if let Some(before) = self.last.replace(step)
            && step <= before
        {
            note_order(before, step, on_restart, faults);
        }
    }
}

#[cold]
fn note_order(before: i64, step: i64, on_restart: Restart, faults: &mut Faults) {
    if step == before {
        faults
            .note("repeated_steps", "", None, Some(step), || format!("step {step} is repeated; all its rows are kept"));
    } else {
        let outcome = match on_restart {
            Restart::Keep => "rows are kept in file order",
            Restart::Supersede => "earlier rows from there on are dropped",
        };
        faults.note("non_monotonic", "", None, Some(step), || format!("step {step} follows step {before}; {outcome}"));
    }
}

/// Notes steps that go back or repeat, and drops what is superseded.
pub(super) fn check(part: &mut Part, on_restart: Restart, faults: &mut Faults) {
    let mut watch = StepWatch::default();
    for step in &part.step {
        watch.see(*step, on_restart, faults);
    }
    if on_restart == Restart::Supersede {
        let keep = not_superseded(&part.step);
        let dropped = keep.iter().filter(|keep| !**keep).count();
        if dropped > 0 {
            part.retain(&keep);
            faults.note("superseded", "", None, None, || format!("{dropped} rows were superseded after a restart"));
        }
    }
}

/// Which rows no later row goes back to or behind. Repeated steps in a row supersede nothing.
fn not_superseded(steps: &[i64]) -> Vec<bool> {
    let mut keep = vec![true; steps.len()];
    // The kept rows so far, whose steps never decrease.
    let mut kept: Vec<(usize, i64)> = Vec::new();
    for (row, step) in steps.iter().enumerate() {
        if kept.last().is_some_and(|(_, last)| last > step) {
            while let Some((superseded, _)) = kept.pop_if(|(_, last)| *last >= *step) {
                if let Some(flag) = keep.get_mut(superseded) {
                    *flag = false;
                }
            }
        }
        kept.push((row, *step));
    }
    keep
}
