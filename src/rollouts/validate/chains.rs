//! Chains, states and shells: dense ids, order, counts, running sums, relative poses.

use super::findings::Findings;
use super::tables::{Columns, Tables};
use crate::rollouts::shell;

/// How far a stored relative pose may be from the one computed here, relative to the largest
/// number that goes into it: float32 and another order of the same sums.
const POSE_TOLERANCE: f32 = 1e-5;

pub(super) fn check(tables: &Tables, findings: &mut Findings) {
    let Tables { rollouts, steps, candidates, targets, .. } = tables;
    for (path, columns) in [
        ("rollouts/rollout_row_id", rollouts),
        ("steps/step_row_id", steps),
        ("candidates/candidate_row_id", candidates),
        ("targets/target_row_id", targets),
    ] {
        let ids = columns.get::<i64>(path.split('/').next_back().unwrap_or_default());
        let dense = ids.iter().enumerate().map(|(row, id)| usize::try_from(*id) != Ok(row));
        findings.flagged(path, dense, "ids do not count up from 0");
    }
    states(rollouts, steps, findings);
    shells(steps, candidates, findings);
    sums(tables, findings);
    poses(tables, findings);
}

/// A row by its id, ids being row numbers.
fn at<T: Copy>(column: &[T], id: i64) -> Option<T> {
    column.get(usize::try_from(id).ok()?).copied()
}

/// Every chain's states stand together and count up from 0, at most as many as its horizon.
fn states(rollouts: &Columns, steps: &Columns, findings: &mut Findings) {
    let owner = steps.get::<i64>("rollout_row_id");
    let known = owner.iter().map(|id| usize::try_from(*id).map_or(true, |row| row >= rollouts.rows));
    findings.flagged("steps/rollout_row_id", known, "there is no such rollout");
    let unordered = owner.windows(2).map(|pair| matches!(pair, [one, two] if two < one));
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
    let beyond = owner.iter().zip(index).map(|(id, index)| at(horizon, *id).is_some_and(|horizon| *index >= horizon));
    findings.flagged("steps/step_index", beyond, "is beyond the rollout's horizon");
    let mut lengths = vec![0_usize; rollouts.rows];
    for id in owner {
        if let Some(length) = usize::try_from(*id).ok().and_then(|row| lengths.get_mut(row)) {
            *length += 1;
        }
    }
    findings.flagged("rollouts/rollout_row_id", lengths.iter().map(|length| *length == 0), "the rollout has no step");
}

/// Every shell stands together, in the order of its indices, and is as its state says.
fn shells(steps: &Columns, candidates: &Columns, findings: &mut Findings) {
    let owner = candidates.get::<i64>("step_row_id");
    let shell_index = candidates.get::<i32>("shell_index");
    let compact = candidates.get::<i32>("compact_valid_index");
    let valid = candidates.get::<bool>("actor_action_mask");
    let unknown = owner.iter().map(|id| usize::try_from(*id).map_or(true, |row| row >= steps.rows));
    findings.flagged("candidates/step_row_id", unknown, "there is no such step");
    let unordered = owner.windows(2).map(|pair| matches!(pair, [one, two] if two < one));
    findings.flagged("candidates/step_row_id", unordered, "the next row belongs to an earlier step");
    let (parents, indices) = (steps.get::<i64>("rollout_row_id"), steps.get::<i16>("step_index"));
    let other = |parent: Option<bool>| parent == Some(false);
    let rollout = candidates.get::<i64>("rollout_row_id");
    let wrong = owner.iter().zip(rollout).map(|(id, own)| other(at(parents, *id).map(|parent| parent == *own)));
    findings.flagged("candidates/rollout_row_id", wrong, "is not its step's");
    let wrong = owner
        .iter()
        .zip(candidates.get::<i16>("step_index"))
        .map(|(id, own)| other(at(indices, *id).map(|index| index == *own)));
    findings.flagged("candidates/step_index", wrong, "is not its step's");

    let mut first = vec![None; steps.rows];
    let mut counted = vec![(0_i32, 0_i32); steps.rows];
    let (mut bad_shell, mut bad_compact) = (Vec::new(), Vec::new());
    for (row, (((id, index), rank), valid)) in owner.iter().zip(shell_index).zip(compact).zip(valid).enumerate() {
        let Ok(step) = usize::try_from(*id) else { continue };
        let (Some(start), Some((width, valids))) = (first.get_mut(step), counted.get_mut(step)) else { continue };
        start.get_or_insert(row);
        if *index != *width {
            bad_shell.push(row);
        }
        if *rank != if *valid { *valids } else { -1 } {
            bad_compact.push(row);
        }
        *width += 1;
        *valids += i32::from(*valid);
    }
    findings.rows("candidates/shell_index", bad_shell, "a shell's indices do not count up from 0 in table order");
    findings.rows("candidates/compact_valid_index", bad_compact, "is not the rank among the shell's valid candidates");

    let widths = steps.get::<i32>("num_candidates").iter().zip(&counted).map(|(said, (width, _))| said != width);
    findings.flagged("steps/num_candidates", widths, "is not the shell's width");
    let empty = counted.iter().map(|(width, _)| *width == 0);
    findings.flagged("steps/step_row_id", empty, "the step has no candidates");
    let valids =
        steps.get::<i32>("num_valid_candidates").iter().zip(&counted).map(|(said, (_, valids))| said != valids);
    findings.flagged("steps/num_valid_candidates", valids, "is not the count of the shell's valid candidates");
    selection(steps, candidates, findings);
}

/// Each state's selected candidate is one of its shell, and the shell's only selected one.
fn selection(steps: &Columns, candidates: &Columns, findings: &mut Findings) {
    let owner = candidates.get::<i64>("step_row_id");
    let shell_index = candidates.get::<i32>("shell_index");
    let compact = candidates.get::<i32>("compact_valid_index");
    let chosen = steps.get::<i64>("selected_candidate_row_id");
    let ids = steps.get::<i64>("step_row_id");
    let foreign = ids.iter().zip(chosen).map(|(step, row)| at(owner, *row) != Some(*step));
    findings.flagged("steps/selected_candidate_row_id", foreign, "is not a candidate of the step");
    let wrong = |column: &[i32], said: &[i32]| -> Vec<usize> {
        let pairs = chosen.iter().zip(said).enumerate();
        pairs.filter(|(_, (row, said))| at(column, **row) != Some(**said)).map(|(row, _)| row).collect()
    };
    let said = wrong(shell_index, steps.get("selected_shell_index"));
    findings.rows("steps/selected_shell_index", said, "is not the selected candidate's");
    let said = wrong(compact, steps.get("selected_compact_valid_index"));
    findings.rows("steps/selected_compact_valid_index", said, "is not the selected candidate's");
    let marked = candidates.get::<bool>("selected_mask").iter().zip(owner).enumerate();
    let wrong = marked.filter(|(row, (marked, step))| {
        let selected = at(chosen, **step).and_then(|chosen| usize::try_from(chosen).ok()) == Some(*row);
        **marked != selected
    });
    let wrong: Vec<usize> = wrong.map(|(row, _)| row).collect();
    findings.rows("candidates/selected_mask", wrong, "disagrees with the step's selected candidate");
}

/// Running sums grow by the selected candidate's gain where that is a number; a chain's final sum
/// is the last one.
fn sums(tables: &Tables, findings: &mut Findings) {
    let Tables { rollouts, steps, candidates, .. } = tables;
    let owner = steps.get::<i64>("rollout_row_id");
    let chosen = steps.get::<i64>("selected_candidate_row_id");
    for metric in ["target_rri", "scene_rri", "target_root_gain", "scene_root_gain"] {
        let (gains, name) = (candidates.get::<f32>(metric), format!("cumulative_{metric}"));
        // An oracle's own rri fills the candidates' column, but is not summed.
        let always = metric.ends_with("root_gain");
        let mut last = vec![f32::NAN; rollouts.rows];
        let mut wrong = Vec::new();
        let (mut sum_before, mut chain) = (f32::NAN, None);
        for (row, ((id, candidate), sum)) in owner.iter().zip(chosen).zip(steps.get::<f32>(&name)).enumerate() {
            let before = if chain == Some(id) && !sum_before.is_nan() { sum_before } else { 0.0 };
            (sum_before, chain) = (*sum, Some(id));
            let gain = at(gains, *candidate).filter(|gain| gain.is_finite() && (always || !sum.is_nan()));
            if gain.is_some_and(|gain| !close(*sum, before + gain, before.abs() + gain.abs())) {
                wrong.push(row);
            }
            if let Some(slot) = usize::try_from(*id).ok().and_then(|row| last.get_mut(row)) {
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

/// Relative poses are the candidates' poses as their roots see them.
fn poses(tables: &Tables, findings: &mut Findings) {
    let Tables { rollouts, candidates, .. } = tables;
    let roots = rollouts.vectors::<12>("root_pose_world");
    let owner = candidates.get::<i64>("rollout_row_id");
    let world = candidates.vectors::<12>("pose_world_cam");
    let stored = candidates.vectors::<12>("pose_relative_root");
    let wrong = owner.iter().zip(world).zip(stored).map(|((id, world), stored)| {
        let Some(root) = at(roots, *id) else { return false };
        let expected = shell::relative(&root, world);
        let scale =
            1.0 + expected.iter().chain(&root).chain(world).fold(0.0_f32, |most, number| most.max(number.abs()));
        let near = |(stored, expected): (&f32, &f32)| {
            !stored.is_finite() && !expected.is_finite() || (stored - expected).abs() <= POSE_TOLERANCE * scale
        };
        !stored.iter().zip(&expected).all(near)
    });
    findings.flagged(
        "candidates/pose_relative_root",
        wrong,
        "is not the candidate's pose relative to the rollout's root",
    );
}
