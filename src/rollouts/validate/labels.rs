//! Labels: candidates are trained on exactly where action, oracle and target allow it.

use super::block::Block;
use super::findings::Findings;
use super::tables::Tables;

/// Which rows of `rollouts` lead to a target that can be trained on; `trainable` says it of each
/// row of `targets`.
pub(super) fn rollouts(tables: &Tables, trainable: &[bool]) -> Vec<bool> {
    let targets = tables.rollouts.get::<i64>("target_row_id").iter();
    let may = |target: &i64| tables.target_rows.row(*target).and_then(|row| trainable.get(row)).copied();
    targets.map(|target| may(target).unwrap_or(false)).collect()
}

/// Checks the training mask of a block.
pub(super) fn check(tables: &Tables, allowed: &[bool], block: &Block) -> Findings {
    let mut findings = Findings::from(block.rows.start);
    let candidates = &block.candidates;
    let may = |rollout: i64| tables.rollout_rows.row(rollout).and_then(|row| allowed.get(row)) == Some(&true);
    let trained = candidates.get::<bool>("q_train_mask");
    let owner = candidates.get::<i64>("rollout_row_id");
    let wrong = trained.iter().zip(owner).map(|(trained, rollout)| *trained && !may(*rollout));
    let path = "candidates/q_train_mask";
    findings.flagged(path, wrong, "trains on a target that is not valid and matched");
    let actor = candidates.get::<bool>("actor_action_mask");
    let oracle = candidates.get::<bool>("oracle_label_mask");
    let rows = trained.iter().zip(owner).zip(actor).zip(oracle);
    let wrong = rows.map(|(((trained, rollout), actor), oracle)| *trained != (*actor && *oracle && may(*rollout)));
    findings.flagged(path, wrong, "is not actor_action_mask and oracle_label_mask and a trainable target");
    for label in ["target_root_gain", "target_rri"] {
        let labels = candidates.get::<f32>(label).iter().zip(trained);
        let wrong = labels.map(|(label, trained)| *trained && !label.is_finite());
        findings.flagged(path, wrong, &format!("trains where {label} is not finite"));
    }
    findings
}
