//! Shells: each is as its state says, in order, and seen from its chain's root.

use super::block::Block;
use super::findings::Findings;
use super::tables::Tables;
use crate::array::Item;
use crate::rollouts::shell;

/// How far a stored relative pose may be from the one computed here, relative to the largest
/// number that goes into it: float32 and another order of the same sums.
const POSE_TOLERANCE: f32 = 1e-5;

/// What is said of a block's candidates.
pub(super) fn rows(tables: &Tables, block: &Block) -> Findings {
    let mut findings = Findings::from(block.rows.start);
    let columns = &block.candidates;
    let ids = columns.get::<i64>("candidate_row_id").iter().enumerate();
    let wrong = ids.map(|(row, id)| usize::try_from(*id) != Ok(block.rows.start + row));
    findings.flagged("candidates/candidate_row_id", wrong, "ids do not count up from 0");
    parents::<i64>(tables, block, "rollout_row_id", &mut findings);
    parents::<i16>(tables, block, "step_index", &mut findings);

    let index = columns.get::<i32>("shell_index");
    let ranks = columns.get::<i32>("compact_valid_index");
    let valid = columns.get::<bool>("actor_action_mask");
    let marked = columns.get::<bool>("selected_mask");
    let (mut bad_shell, mut bad_rank, mut bad_mark) = (Vec::new(), Vec::new(), Vec::new());
    for (shell, selected) in block.shells.iter().zip(&block.selected) {
        let mut valids = 0;
        let cells = shell
            .clone()
            .zip(index.get(shell.clone()).unwrap_or_default())
            .zip(ranks.get(shell.clone()).unwrap_or_default());
        let masks =
            valid.get(shell.clone()).unwrap_or_default().iter().zip(marked.get(shell.clone()).unwrap_or_default());
        for (((row, index), rank), (valid, marked)) in cells.zip(masks) {
            if usize::try_from(*index) != Ok(row - shell.start) {
                bad_shell.push(row);
            }
            if *rank != if *valid { valids } else { -1 } {
                bad_rank.push(row);
            }
            valids += i32::from(*valid);
            if *marked != (*selected == Some(row)) {
                bad_mark.push(row);
            }
        }
    }
    findings.rows("candidates/shell_index", bad_shell, "a shell's indices do not count up from 0 in table order");
    findings.rows("candidates/compact_valid_index", bad_rank, "is not the rank among the shell's valid candidates");
    findings.rows("candidates/selected_mask", bad_mark, "disagrees with the step's selected candidate");
    findings
}

/// A column that repeats the state's.
fn parents<T: Item>(tables: &Tables, block: &Block, name: &str, findings: &mut Findings) {
    let own = block.candidates.get::<T>(name);
    let mut wrong = Vec::new();
    for (shell, said) in block.shells.iter().zip(block.steps::<T>(tables, name)) {
        let cells = own.get(shell.clone()).unwrap_or_default();
        wrong.extend(cells.iter().enumerate().filter(|(_, cell)| *cell != said).map(|(slot, _)| shell.start + slot));
    }
    findings.rows(&format!("candidates/{name}"), wrong, "is not its step's");
}

/// What is said of a block's states.
pub(super) fn states(tables: &Tables, block: &Block) -> Findings {
    let mut findings = Findings::from(block.states.start);
    let valid = block.candidates.get::<bool>("actor_action_mask");
    let widths = block.steps::<i32>(tables, "num_candidates").iter().zip(&block.shells);
    let wrong = widths.map(|(said, shell)| usize::try_from(*said) != Ok(shell.len()));
    findings.flagged("steps/num_candidates", wrong, "is not the shell's width");
    findings.flagged(
        "steps/step_row_id",
        block.shells.iter().map(std::ops::Range::is_empty),
        "the step has no candidates",
    );
    let count = |shell: &std::ops::Range<usize>| {
        valid.get(shell.clone()).unwrap_or_default().iter().filter(|valid| **valid).count()
    };
    let counts = block.steps::<i32>(tables, "num_valid_candidates").iter().zip(&block.shells);
    let wrong = counts.map(|(said, shell)| usize::try_from(*said) != Ok(count(shell)));
    findings.flagged("steps/num_valid_candidates", wrong, "is not the count of the shell's valid candidates");

    let foreign = block.selected.iter().map(Option::is_none);
    findings.flagged("steps/selected_candidate_row_id", foreign, "is not a candidate of the step");
    for (name, column) in
        [("selected_shell_index", "shell_index"), ("selected_compact_valid_index", "compact_valid_index")]
    {
        let column = block.candidates.get::<i32>(column);
        let said = block.steps::<i32>(tables, name).iter().zip(&block.selected);
        let wrong = said.map(|(said, row)| row.and_then(|row| column.get(row)) != Some(said));
        findings.flagged(&format!("steps/{name}"), wrong, "is not the selected candidate's");
    }
    findings
}

/// Relative poses are the candidates' poses as their roots see them.
pub(super) fn poses(tables: &Tables, block: &Block) -> Findings {
    let mut findings = Findings::from(block.rows.start);
    let roots = tables.rollouts.vectors::<12>("root_pose_world");
    let owner = block.candidates.get::<i64>("rollout_row_id");
    let world = block.candidates.vectors::<12>("pose_world_cam");
    let stored = block.candidates.vectors::<12>("pose_relative_root");
    let wrong = owner.iter().zip(world).zip(stored).map(|((id, world), stored)| {
        let Some(root) = tables.rollout_rows.row(*id).and_then(|row| roots.get(row)) else { return false };
        let expected = shell::relative(root, world);
        let most = |numbers: &[f32; 12]| numbers.iter().fold(0.0_f32, |most, number| most.max(number.abs()));
        let tolerance = POSE_TOLERANCE * (1.0 + most(&expected).max(most(root)).max(most(world)));
        let near = |(stored, expected): (&f32, &f32)| {
            (stored - expected).abs() <= tolerance || !stored.is_finite() && !expected.is_finite()
        };
        !stored.iter().zip(&expected).all(near)
    });
    let what = "is not the candidate's pose relative to the rollout's root";
    findings.flagged("candidates/pose_relative_root", wrong, what);
    findings
}
