//! What to keep in mind when reading a report: warnings about the numbers, not about the files.

use super::condition::Verdict;
use super::group::Group;
use super::report::RunReport;
use crate::trace::columns::Warning;

/// Fewer runs than this make a rough interval.
const FEW_RUNS: usize = 5;
/// More groups than this are counted, not named.
const MOST_NAMED: usize = 4;
/// Longest over shortest run of a group, up to which lengths count as equal.
const EQUAL_LENGTHS: f64 = 1.05;

/// The cautions about `runs` and `groups`, one a kind.
pub(super) fn cautions(runs: &[RunReport], groups: &[Group], verdicts: &[Verdict]) -> Vec<Warning> {
    let cautions = [few_runs(groups), unequal_lengths(groups), residuals(runs), undecided(verdicts)];
    cautions.into_iter().flatten().collect()
}

/// `warnings` with those that say the same of the same file told once, with their number.
pub(super) fn folded(warnings: impl IntoIterator<Item = Warning>) -> Vec<Warning> {
    let mut folded: Vec<Warning> = Vec::new();
    for warning in warnings {
        let same = |known: &&mut Warning| known.message == warning.message && known.file == warning.file;
        match folded.iter_mut().find(same) {
            Some(known) => known.count += warning.count,
            None => folded.push(warning),
        }
    }
    folded
}

fn few_runs(groups: &[Group]) -> Option<Warning> {
    let few: Vec<&Group> = groups.iter().filter(|group| (2..FEW_RUNS).contains(&group.n_runs())).collect();
    few.first()?;
    let mut names: Vec<String> =
        few.iter().take(MOST_NAMED).map(|group| format!("{} has {} runs", group.label(), group.n_runs())).collect();
    if few.len() > MOST_NAMED {
        names.push(format!("{} more have few", few.len() - MOST_NAMED));
    }
    let message = format!("{}: an interval from fewer than {FEW_RUNS} runs is rough", names.join(", "));
    Some(caution("few_runs", message, 1))
}

fn unequal_lengths(groups: &[Group]) -> Option<Warning> {
    let lengths = groups.iter().filter_map(|group| {
        let steps = group.metrics.get("n_steps")?;
        Some((group, steps.min?, steps.max?))
    });
    let unequal: Vec<_> = lengths.filter(|(_, least, most)| *most > EQUAL_LENGTHS * least).collect();
    let (group, least, most) = unequal.first()?;
    let message = format!("the runs of {} have {least} to {most} rows: each is judged on its own rows", group.label());
    Some(caution("unequal_lengths", message, unequal.len()))
}

fn residuals(runs: &[RunReport]) -> Option<Warning> {
    let off: Vec<(&RunReport, f64)> =
        runs.iter().filter_map(|run| Some((run, run.value("residual_frac").filter(|share| *share > 0.0)?))).collect();
    let (run, share) = off.first()?;
    let message =
        format!("in {:.2} % of the rows of {} the components do not add up to the reward", share * 100.0, run.label());
    Some(caution("components_do_not_add_up", message, off.len()))
}

fn undecided(verdicts: &[Verdict]) -> Option<Warning> {
    let open: Vec<&Verdict> = verdicts.iter().filter(|verdict| verdict.holds.is_none()).collect();
    let first = open.first()?;
    let message = format!("condition `{}` was not decided: {} has no value", first.condition, first.group);
    Some(caution("fail_if_undefined", message, open.len()))
}

fn caution(code: &'static str, message: String, count: usize) -> Warning {
    Warning { code, message, file: None, line: None, step: None, count: count as u64 }
}
