//! Candidates and their diagnostics, row by row.

use super::block::Block;
use super::findings::Findings;
use super::tables::Tables;
use crate::rollouts::dictionary::Dictionary;
use crate::rollouts::quantity::{is_probability, is_rigid};
use crate::rollouts::schema::REASONS;
use crate::rollouts::shell::{self, PATH_SEGMENT_COLLISION, VALID};

/// What is measured of valid actions only.
const METRICS: [&str; 12] = [
    "scene_rri",
    "target_rri",
    "scene_root_gain",
    "target_root_gain",
    "scene_log_error_gain",
    "target_log_error_gain",
    "scene_pm_dist_before",
    "scene_pm_dist_after",
    "target_pm_dist_before",
    "target_pm_dist_after",
    "target_current_support",
    "target_candidate_support",
];

/// Labels where there are valid actions, and nowhere else.
pub(super) fn masks(block: &Block) -> Findings {
    let mut findings = Findings::from(block.rows.start);
    let columns = &block.candidates;
    let actor = columns.get::<bool>("actor_action_mask");
    let selected = columns.get::<bool>("selected_mask");
    let both = selected.iter().zip(actor).map(|(selected, actor)| *selected && !actor);
    findings.flagged("candidates/selected_mask", both, "selects what is not a valid action");
    let gains = columns.get::<f32>("target_root_gain").iter().map(|gain| gain.is_finite());
    let labelled = columns.get::<bool>("oracle_label_mask");
    let wrong = labelled.iter().zip(actor).zip(gains).map(|((labelled, actor), gain)| *labelled != (*actor && gain));
    let what = "is not: a valid action with a finite target_root_gain";
    findings.flagged("candidates/oracle_label_mask", wrong, what);
    for name in METRICS {
        let wrong = columns.get::<f32>(name).iter().zip(actor).map(|(label, actor)| !actor && !label.is_nan());
        findings.flagged(&format!("candidates/{name}"), wrong, "is given for what is not a valid action");
    }
    findings
}

/// Where candidates come from.
pub(super) fn provenance(tables: &Tables, block: &Block) -> Findings {
    let mut findings = Findings::from(block.rows.start);
    let columns = &block.candidates;
    let actor = columns.get::<bool>("actor_action_mask");
    for name in ["strategy_id", "position_id", "mixture_id"] {
        let wrong = columns.get::<i32>(name).iter().zip(actor).map(|(id, actor)| *actor && *id < 0);
        findings.flagged(&format!("candidates/{name}"), wrong, "is negative for a valid action");
    }
    let sampled = columns.get::<f32>("sampler_probability").iter().zip(actor);
    let wrong = sampled.map(|(probability, actor)| *actor && !is_probability(*probability));
    findings.flagged("candidates/sampler_probability", wrong, "is no probability, of a valid action");
    let wrong = columns.get::<f32>("selection_probabilities").iter().map(|probability| !is_probability(*probability));
    findings.flagged("candidates/selection_probabilities", wrong, "is no probability");
    let wrong =
        columns.vectors::<12>("pose_world_cam").iter().zip(actor).map(|(pose, actor)| *actor && !is_rigid(pose));
    findings.flagged("candidates/pose_world_cam", wrong, "is no rotation and shift, of a valid action");
    let gaze = columns.get::<i8>("gaze_variant_id");
    let wrong = gaze.iter().map(|gaze| !(-1..=1).contains(gaze));
    findings.flagged("candidates/gaze_variant_id", wrong, "is none of -1, 0, 1");
    let pairs = columns.get::<i64>("position_pair_id").iter().zip(gaze);
    let wrong = pairs.map(|(pair, gaze)| (*pair < 0) != (*gaze < 0));
    findings.flagged("candidates/gaze_variant_id", wrong, "is -1 where position_pair_id is not, or the reverse");
    let missing = |id: i32| tables.text(Dictionary::ScoreSource, id).is_none() && id != -1;
    let wrong = columns.get::<i32>("score_source_id").iter().map(|id| missing(*id));
    findings.flagged("candidates/score_source_id", wrong, "is out of its dictionary's range");
    findings
}

/// Why candidates are no valid actions.
pub(super) fn reasons(block: &Block) -> Findings {
    let mut findings = Findings::from(block.rows.start);
    let columns = &block.candidates;
    let bits = columns.get::<u32>("invalid_reason_bitset");
    let actor = columns.get::<bool>("actor_action_mask");
    let path = "candidates/invalid_reason_bitset";
    findings.flagged(path, bits.iter().map(|bits| *bits == 0), "has no bit set");
    let unknown = !0_u32 << REASONS.len();
    findings.flagged(path, bits.iter().map(|bits| bits & unknown != 0), "has a bit that is no reason");
    let wrong = bits.iter().zip(actor).map(|(bits, actor)| (bits & VALID != 0) != *actor);
    findings.flagged(path, wrong, "disagrees with actor_action_mask about VALID");
    let primary = columns.get::<u16>("primary_invalid_reason").iter().zip(bits).zip(actor);
    let wrong = primary.map(|((primary, bits), actor)| *primary != if *actor { 0 } else { shell::primary(*bits) });
    findings.flagged("candidates/primary_invalid_reason", wrong, "is not the main one of the candidate's reasons");
    findings
}

/// Diagnostics stand beside their candidates and do not contradict them.
pub(super) fn diagnostics(block: &Block) -> Findings {
    let mut findings = Findings::from(block.rows.start);
    let (columns, of) = (&block.diagnostics, &block.candidates);
    let ids = columns.get::<i64>("candidate_row_id").iter().zip(of.get::<i64>("candidate_row_id"));
    findings.flagged(
        "candidate_diagnostics/candidate_row_id",
        ids.map(|(own, id)| own != id),
        "is not the candidate's",
    );
    let positions = columns.get::<i32>("position_id").iter().zip(of.get::<i32>("position_id"));
    findings.flagged(
        "candidate_diagnostics/position_id",
        positions.map(|(own, id)| own != id),
        "is not the candidate's",
    );
    let colliding = columns.get::<bool>("path_collision_mask");
    let applicable = columns.get::<bool>("path_collision_applicable_mask");
    let evaluated = columns.get::<bool>("path_collision_evaluated_mask");
    let wrong = evaluated.iter().zip(applicable).map(|(evaluated, applicable)| *evaluated && !applicable);
    findings.flagged("candidate_diagnostics/path_collision_evaluated_mask", wrong, "is set where it is not applicable");
    let path = "candidate_diagnostics/path_collision_mask";
    let wrong = colliding.iter().zip(evaluated).map(|(colliding, evaluated)| *colliding && !evaluated);
    findings.flagged(path, wrong, "is set where it was not evaluated");
    let wrong =
        colliding.iter().zip(of.get::<bool>("actor_action_mask")).map(|(colliding, actor)| *colliding && *actor);
    findings.flagged(path, wrong, "a valid action collides");
    let bit = 1_u32 << PATH_SEGMENT_COLLISION;
    let wrong = colliding.iter().zip(of.get::<u32>("invalid_reason_bitset")).map(|(hit, bits)| *hit && bits & bit == 0);
    findings.flagged(path, wrong, "is set, but the candidate's reasons lack PATH_SEGMENT_COLLISION");
    findings
}
