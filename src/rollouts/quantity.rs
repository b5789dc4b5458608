//! What numbers can be: probabilities, rigid motions, side lengths.

use super::record::Pose;

/// How far a rotation's rows may be from unit length, and from right angles.
const SLACK: f32 = 1e-3;

/// Whether `number` is a probability, but for rounding.
pub(super) fn is_probability(number: f32) -> bool {
    (0.0..=1.0 + 1e-5).contains(&number)
}

/// Whether a box can have these side lengths.
pub(super) fn are_lengths(sides: &[f32; 3]) -> bool {
    sides.iter().all(|side| side.is_finite() && *side >= 0.0)
}

/// Whether `pose` is a rotation and a shift, all of it finite.
pub(super) fn is_rigid(pose: &Pose) -> bool {
    let [a, b, c, d, e, f, g, h, i, x, y, z] = *pose;
    let (first, second, third) = ([a, b, c], [d, e, f], [g, h, i]);
    let dot = |one: [f32; 3], two: [f32; 3]| one.iter().zip(two).map(|(one, two)| one * two).sum::<f32>();
    let is = |number: f32, expected: f32| (number - expected).abs() <= SLACK;
    // The third row is the cross product of the others; against it, it is a mirror's.
    let cross = [b * f - c * e, c * d - a * f, a * e - b * d];
    [x, y, z].iter().all(|number| number.is_finite())
        && is(dot(first, first), 1.0)
        && is(dot(second, second), 1.0)
        && is(dot(third, third), 1.0)
        && is(dot(first, second), 0.0)
        && is(dot(third, cross), 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mirror_a_scale_and_a_shear_are_no_rotations() {
        let turned = |rows: [f32; 9]| {
            let mut pose = [0.0; 12];
            pose[..9].copy_from_slice(&rows);
            is_rigid(&pose)
        };
        assert!(turned([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]));
        assert!(turned([0.6, -0.8, 0.0, 0.8, 0.6, 0.0, 0.0, 0.0, 1.0]));
        assert!(!turned([1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -1.0]));
        assert!(!turned([2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0]));
        assert!(!turned([1.0, 0.1, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]));
        assert!(!turned([0.0; 9]));
        assert!(!turned([f32::NAN; 9]));
    }
}
