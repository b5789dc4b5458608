//! Chains and their states: dense ids, order, what follows what, running sums.

use std::collections::HashMap;

use super::findings::Findings;
use super::tables::{Columns, Index, Tables};
use crate::rollouts::zarr::Column;

/// How many candidates' step ids are read at once.
const ROWS: usize = 1 << 20;

/// Metrics that are summed along a chain, in the order of [`Selected`]'s columns.
pub(super) const SUMMED: [&str; 4] = ["target_rri", "scene_rri", "target_root_gain", "scene_root_gain"];

/// What the tables say of each state beside its own row.
pub(super) struct States {
    /// The row of its rollout, if exactly one has the id.
    pub(super) chain: Vec<Option<usize>>,
    /// The step row id that follows it in its chain, -1 for none.
    pub(super) next: Vec<i64>,
    /// Where each state's candidates begin, and at the end where the last one's end.
    pub(super) starts: Vec<usize>,
    /// Whether candidates stand together by state, in the states' order.
    pub(super) ordered: bool,
}

impl States {
    pub(super) fn of(tables: &Tables, findings: &mut Findings) -> Self {
        let steps = &tables.steps;
        let owners = steps.get::<i64>("rollout_row_id");
        let mut counts: HashMap<i64, usize> = HashMap::new();
        if let Index::Sparse(_) = tables.rollout_rows {
            for id in tables.rollouts.get::<i64>("rollout_row_id") {
                *counts.entry(*id).or_default() += 1;
            }
        }
        let single = |id: &i64| tables.rollout_rows.row(*id).filter(|_| counts.get(id).is_none_or(|count| *count == 1));
        let places =
            || owners.iter().zip(steps.get::<i16>("step_index")).map(|(owner, index)| (*owner, i32::from(*index)));
        let by_place: HashMap<(i64, i32), i64> =
            places().zip(steps.get::<i64>("step_row_id").iter().copied()).collect();
        let next = places().map(|(owner, index)| by_place.get(&(owner, index + 1)).copied().unwrap_or(-1));
        let (starts, ordered) = starts(tables, findings);
        Self { chain: owners.iter().map(single).collect(), next: next.collect(), starts, ordered }
    }

    /// The width of the widest shell.
    pub(super) fn width(&self) -> usize {
        self.starts
            .windows(2)
            .map(|pair| pair.iter().rev().copied().reduce(|end, start| end - start).unwrap_or(0))
            .max()
            .unwrap_or(0)
    }
}

/// Where each state's candidates begin, as far as they stand in the states' order.
fn starts(tables: &Tables, findings: &mut Findings) -> (Vec<usize>, bool) {
    let steps = tables.steps.get::<i64>("step_row_id");
    let total = tables.candidates.rows;
    let mut starts = Vec::with_capacity(steps.len() + 1);
    let mut sound = true;
    let mut row = 0;
    while row < total && sound {
        let part = row..total.min(row + ROWS);
        let read = tables.candidates.column("step_row_id").map(|column: &Column| column.rows(part.clone()));
        let Some(Ok(array)) = read else { return (Vec::new(), false) };
        for id in array.as_slice::<i64>().unwrap_or_default() {
            let current = starts.len().checked_sub(1).and_then(|state| steps.get(state));
            if current != Some(id) {
                // The next state with this id; those between have no candidates.
                let rest = steps.get(starts.len()..).unwrap_or_default();
                match rest.iter().position(|step| step == id) {
                    Some(skipped) => starts.extend(std::iter::repeat_n(row, skipped + 1)),
                    None => {
                        let what = match tables.step_rows.row(*id) {
                            Some(_) => "belongs to an earlier step than the row before",
                            None => "there is no such step",
                        };
                        findings.rows("candidates/step_row_id", [row], what);
                        sound = false;
                        break;
                    }
                }
            }
            row += 1;
        }
    }
    if sound {
        starts.resize(steps.len() + 1, total);
    }
    (starts, sound)
}

pub(super) fn check(tables: &Tables, findings: &mut Findings) {
    let Tables { rollouts, steps, targets, .. } = tables;
    for (path, columns) in
        [("rollouts/rollout_row_id", rollouts), ("steps/step_row_id", steps), ("targets/target_row_id", targets)]
    {
        let ids = columns.get::<i64>(path.split('/').next_back().unwrap_or_default());
        let dense = ids.iter().enumerate().map(|(row, id)| usize::try_from(*id) != Ok(row));
        findings.flagged(path, dense, "ids do not count up from 0");
    }
    chains(tables, rollouts, steps, findings);
}

/// Every chain's states stand together and count up from 0, at most as many as its horizon.
fn chains(tables: &Tables, rollouts: &Columns, steps: &Columns, findings: &mut Findings) {
    let owner = steps.get::<i64>("rollout_row_id");
    let place = |id: &i64| tables.rollout_rows.row(*id);
    let unknown = owner.iter().map(|id| place(id).is_none());
    findings.flagged("steps/rollout_row_id", unknown, "there is no such rollout");
    let unordered = owner.windows(2).map(|pair| match pair {
        [one, two] => place(two) < place(one),
        _ => false,
    });
    findings.flagged("steps/rollout_row_id", unordered, "the next row belongs to an earlier rollout");

    let index = steps.get::<i16>("step_index");
    let mut expected = 0_i64;
    let wrong = owner.iter().zip(index).enumerate().map(|(row, (id, index))| {
        let same = row.checked_sub(1).and_then(|before| owner.get(before)) == Some(id);
        expected = if same { expected + 1 } else { 0 };
        i64::from(*index) != expected
    });
    findings.flagged("steps/step_index", wrong, "a rollout's steps do not count up from 0");

    let horizon = rollouts.get::<i16>("horizon");
    let of = |id: &i64| horizon.get(place(id)?).copied();
    let beyond = owner.iter().zip(index).map(|(id, index)| of(id).is_some_and(|horizon| *index >= horizon));
    findings.flagged("steps/step_index", beyond, "is beyond the rollout's horizon");
    let mut lengths = vec![0_usize; rollouts.rows];
    for id in owner {
        if let Some(length) = place(id).and_then(|row| lengths.get_mut(row)) {
            *length += 1;
        }
    }
    findings.flagged("rollouts/rollout_row_id", lengths.iter().map(|length| *length == 0), "the rollout has no step");
}

/// Running sums grow by the selected candidate's gain where that is a number; a chain's final sum
/// is the last one. `gains` are the selected candidates', NaN for none, metric by metric.
pub(super) fn sums(tables: &Tables, gains: &[Vec<f32>; 4], findings: &mut Findings) {
    let Tables { rollouts, steps, .. } = tables;
    let owner = steps.get::<i64>("rollout_row_id");
    for (metric, gains) in SUMMED.iter().zip(gains) {
        let name = format!("cumulative_{metric}");
        // An oracle's own rri fills the candidates' column, but is not summed.
        let always = metric.ends_with("root_gain");
        let mut last = vec![f32::NAN; rollouts.rows];
        let mut wrong = Vec::new();
        let (mut sum_before, mut chain) = (f32::NAN, None);
        for (row, ((id, gain), sum)) in owner.iter().zip(gains).zip(steps.get::<f32>(&name)).enumerate() {
            let known = chain == Some(id) && !sum_before.is_nan();
            let before = if known { sum_before } else { 0.0 };
            let adds = gain.is_finite() && (always || !sum.is_nan());
            // The target's gains go by other names too, which stand in no column.
            let kept = *metric == "scene_root_gain"
                && !gain.is_finite()
                && !if known { close(*sum, before, before.abs()) } else { sum.is_nan() };
            if kept || adds && !close(*sum, before + gain, before.abs() + gain.abs()) {
                wrong.push(row);
            }
            (sum_before, chain) = (*sum, Some(id));
            if let Some(slot) = tables.rollout_rows.row(*id).and_then(|row| last.get_mut(row)) {
                *slot = *sum;
            }
        }
        findings.rows(&format!("steps/{name}"), wrong, "is not the sum of the selected candidates' gains");
        let finals = rollouts.get::<f32>(&format!("final_{name}"));
        let wrong = finals.iter().zip(&last).map(|(stored, last)| !close(*stored, *last, last.abs()));
        findings.flagged(&format!("rollouts/final_{name}"), wrong, "is not the last step's running sum");
    }
}

/// Whether two float32 numbers are the same but for rounding at `scale`.
fn close(one: f32, two: f32, scale: f32) -> bool {
    one.is_nan() && two.is_nan() || one == two || (one - two).abs() <= 1e-6 * (1.0 + scale)
}
