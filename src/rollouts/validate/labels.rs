//! Labels: candidates are trained on exactly where action, oracle and target allow it.

use super::findings::Findings;
use super::tables::Tables;

/// Checks the training mask; `trainable` says it of each row of `targets`.
pub(super) fn check(tables: &Tables, trainable: &[bool], findings: &mut Findings) {
    let candidates = &tables.candidates;
    let by_id = tables.targets.index("target_row_id");
    let targets = tables.rollouts.get::<i64>("target_row_id");
    let owner = candidates.get::<i64>("rollout_row_id");
    let allowed = |rollout: i64| {
        let target = usize::try_from(rollout).ok().and_then(|row| targets.get(row));
        target.and_then(|target| trainable.get(*by_id.get(target)?)).copied().unwrap_or(false)
    };
    let actor = candidates.get::<bool>("actor_action_mask");
    let oracle = candidates.get::<bool>("oracle_label_mask");
    let trained = candidates.get::<bool>("q_train_mask");
    let wrong = trained.iter().zip(owner).map(|(trained, rollout)| *trained && !allowed(*rollout));
    findings.flagged("candidates/q_train_mask", wrong, "trains on a target that is not valid and matched");
    let rows = trained.iter().zip(owner).zip(actor).zip(oracle);
    let wrong = rows.map(|(((trained, rollout), actor), oracle)| *trained != (*actor && *oracle && allowed(*rollout)));
    let what = "is not actor_action_mask and oracle_label_mask and a trainable target";
    findings.flagged("candidates/q_train_mask", wrong, what);
}
