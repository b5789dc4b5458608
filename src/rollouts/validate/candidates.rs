//! Candidates and their diagnostics.

use std::collections::BTreeSet;

use super::findings::Findings;
use super::tables::Tables;
use crate::rollouts::dictionary::Dictionary;
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

pub(super) fn check(tables: &Tables, findings: &mut Findings) {
    masks(tables, findings);
    provenance(tables, findings);
    reasons(tables, findings);
    diagnostics(tables, findings);
}

fn masks(tables: &Tables, findings: &mut Findings) {
    let columns = &tables.candidates;
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
}

fn provenance(tables: &Tables, findings: &mut Findings) {
    let columns = &tables.candidates;
    let actor = columns.get::<bool>("actor_action_mask");
    for name in ["strategy_id", "position_id", "mixture_id"] {
        let wrong = columns.get::<i32>(name).iter().zip(actor).map(|(id, actor)| *actor && *id < 0);
        findings.flagged(&format!("candidates/{name}"), wrong, "is negative for a valid action");
    }
    let wrong = columns.get::<f32>("sampler_probability").iter().zip(actor).map(|(p, actor)| *actor && !p.is_finite());
    findings.flagged("candidates/sampler_probability", wrong, "is not finite for a valid action");
    let gaze = columns.get::<i8>("gaze_variant_id");
    let wrong = gaze.iter().map(|gaze| !(-1..=1).contains(gaze));
    findings.flagged("candidates/gaze_variant_id", wrong, "is none of -1, 0, 1");
    let pairs = columns.get::<i64>("position_pair_id").iter().zip(gaze);
    let wrong = pairs.map(|(pair, gaze)| (*pair < 0) != (*gaze < 0));
    findings.flagged("candidates/gaze_variant_id", wrong, "is -1 where position_pair_id is not, or the reverse");
    let splits: BTreeSet<i32> = tables.rollouts.get::<i32>("split_id").iter().copied().collect();
    if splits.len() > 1 {
        let names: Vec<String> = splits
            .iter()
            .map(|id| tables.text(Dictionary::Split, *id).map_or_else(|| id.to_string(), str::to_owned))
            .collect();
        findings.add(format!("rollouts/split_id: a store has one split, but this one has {}", names.join(", ")));
    }
}

fn reasons(tables: &Tables, findings: &mut Findings) {
    let columns = &tables.candidates;
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
}

fn diagnostics(tables: &Tables, findings: &mut Findings) {
    let (columns, of) = (&tables.diagnostics, &tables.candidates);
    if columns.rows != of.rows {
        findings.add(format!("candidate_diagnostics: has {} rows, but there are {} candidates", columns.rows, of.rows));
        return;
    }
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
}
