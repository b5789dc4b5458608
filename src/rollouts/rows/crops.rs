//! Audit crops: the points a step was evaluated with.

use super::Rows;
use crate::rollouts::dictionary::Dictionaries;
use crate::rollouts::record::{Point, TargetEval};
use crate::rollouts::schema::CropRow;
use crate::rollouts::tables::{id, small};

/// The crop before a step, and the one after a candidate.
pub(in crate::rollouts) const ROLES: [&str; 2] = ["current_eval", "candidate_eval"];

impl Rows {
    /// Appends the crops of a step and returns how many there were.
    pub(super) fn add_crops(
        &mut self,
        eval: &TargetEval,
        valid: &[bool],
        (step_row_id, first): (i64, i64),
        total: usize,
        codes: &mut Dictionaries,
    ) -> usize {
        let crop_policy_id = codes.code_if(eval.crop_policy.as_deref());
        let mut added = 0;
        let mut add = |candidate_row_id: i64, points: &[Point]| {
            let kept = points.iter().filter(|point| point.iter().all(|place| place.is_finite()));
            let (before, width) = (self.crop_points.len(), self.crop_width);
            self.crop_points.extend(kept.take(width));
            let length = self.crop_points.len() - before;
            self.crop_points.resize(before + width, [0.0; 3]);
            self.crop_mask.extend((0..width).map(|place| place < length));
            self.crops.push(CropRow {
                crop_row_id: id(total + added),
                step_row_id,
                candidate_row_id,
                source_role_id: i32::from(candidate_row_id >= 0),
                crop_policy_id,
                voxel_size_m: eval.voxel_size_m.unwrap_or(f32::NAN),
                max_points: eval.max_points.unwrap_or(small(width)),
                lengths: small(length),
            });
            added += 1;
        };
        if let Some(points) = &eval.current_points_world {
            add(-1, points);
        }
        let valid = (first..).zip(valid).filter_map(|(row, valid)| valid.then_some(row));
        for (candidate_row_id, points) in valid.zip(&eval.candidate_points_world) {
            add(candidate_row_id, points);
        }
        added
    }
}
