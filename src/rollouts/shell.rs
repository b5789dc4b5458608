//! What is derived candidate by candidate: invalidity reasons and relative poses.

use super::record::{Candidates, Pose};

pub(super) const VALID: u32 = 1;
pub(super) const POSE_NONFINITE: u16 = 1;
pub(super) const CLEARANCE_TOO_SMALL: u16 = 5;
pub(super) const PATH_SEGMENT_COLLISION: u16 = 6;
pub(super) const SAMPLER_RULE_REJECTED: u16 = 12;

/// Which of several reasons counts as the main one, first come first.
const PRIORITY: [u16; 12] = [1, 6, 5, 2, 3, 7, 8, 9, 10, 16, 17, 12];

/// Each candidate's reasons as a bit set, and its main reason's bit (0 for valid ones).
///
/// The rules' masks are cumulative: who falls at a rule is who was left before it and is not
/// after it.
pub(super) fn reasons(candidates: &Candidates) -> Vec<(u32, u16)> {
    (0..candidates.len())
        .map(|index| {
            let at = |mask: &[bool]| mask.get(index).copied().unwrap_or(false);
            let valid = at(&candidates.mask_valid);
            let mut bits = if valid { VALID } else { 0 };
            let mut left = true;
            for (rule, mask) in &candidates.masks {
                if left && !at(mask) {
                    bits |= 1 << rule_reason(rule);
                }
                left = at(mask);
            }
            if at(&candidates.extras.path_collision_mask) {
                bits |= 1 << PATH_SEGMENT_COLLISION;
            }
            if candidates.shell_poses.get(index).is_some_and(|pose| !pose.iter().all(|number| number.is_finite())) {
                bits |= 1 << POSE_NONFINITE;
            }
            if !valid && bits == 0 {
                bits = 1 << SAMPLER_RULE_REJECTED;
            }
            (bits, if valid { 0 } else { primary(bits) })
        })
        .collect()
}

/// The main reason of an invalid candidate.
pub(super) fn primary(bits: u32) -> u16 {
    PRIORITY.into_iter().find(|bit| bits & (1 << bit) != 0).unwrap_or(SAMPLER_RULE_REJECTED)
}

fn rule_reason(rule: &str) -> u16 {
    match rule {
        "FreeSpaceRule" => 2,
        "MinDistanceToMeshRule" => CLEARANCE_TOO_SMALL,
        "PathCollisionRule" => PATH_SEGMENT_COLLISION,
        _ => SAMPLER_RULE_REJECTED,
    }
}

/// `inverse(root) . candidate`: rotation `Rr^T Rc`, translation `Rr^T (tc - tr)`, in float32.
pub(super) fn relative(root: &Pose, candidate: &Pose) -> Pose {
    let [a, b, c, d, e, f, g, h, i, x, y, z] = *root;
    let columns = [[a, d, g], [b, e, h], [c, f, i]];
    let [ca, cb, cc, cd, ce, cf, cg, ch, ci, cx, cy, cz] = *candidate;
    let dot = |[p, q, r]: [f32; 3], [u, v, w]: [f32; 3]| p * u + q * v + r * w;
    let rotation =
        columns.map(|column| [dot(column, [ca, cd, cg]), dot(column, [cb, ce, ch]), dot(column, [cc, cf, ci])]);
    let [tx, ty, tz] = columns.map(|column| dot(column, [cx - x, cy - y, cz - z]));
    let [[r0, r1, r2], [r3, r4, r5], [r6, r7, r8]] = rotation;
    [r0, r1, r2, r3, r4, r5, r6, r7, r8, tx, ty, tz]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_pose_undoes_the_root() {
        // A quarter turn about z, then a shift.
        let root = [0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 2.0, 3.0];
        let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
        assert_eq!(relative(&root, &root), identity);
        let moved = [0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 4.0, 3.0];
        assert_eq!(relative(&root, &moved), [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 0.0]);
    }

    #[test]
    fn the_main_reason_follows_the_order_of_priority() {
        assert_eq!(primary((1 << 5) | (1 << 6)), 6);
        assert_eq!(primary(1 << 20), SAMPLER_RULE_REJECTED);
    }
}
