//! What every record owes, whoever made it: vectors of one element a candidate, steps in order,
//! finite poses, a selection that can be taken.

use super::{Candidates, RecordError, RolloutRecord, Step};
use crate::rollouts::datum::mistake;

type Checked = Result<(), RecordError>;

impl RolloutRecord {
    /// Checks the record by itself; what a store demands beyond this is the writer's to check.
    ///
    /// # Errors
    /// The record, the way to the field at fault, what was expected and what is there.
    pub fn check(&self) -> Checked {
        let at = |field: &str| format!("{}: {field}", self.rollout_id_prefix);
        if !self.root_pose_world.iter().all(|number| number.is_finite()) {
            return mistake(at("root_pose_world"), "must be finite");
        }
        if self.horizon < 1 {
            return mistake(at("horizon"), format!("must be at least 1, got {}", self.horizon));
        }
        if self.branch_factor < 1 || self.beam_width.is_some_and(|width| width < 1) {
            return mistake(at("branch_factor"), "must be at least 1, and so must beam_width");
        }
        for (chain, trajectory) in self.trajectories.iter().enumerate() {
            for (index, step) in trajectory.steps.iter().enumerate() {
                let path = at(&format!("trajectories[{chain}].steps[{index}]"));
                if usize::try_from(step.step_index) != Ok(index) {
                    return mistake(
                        format!("{path}.step_index"),
                        format!("must be {index}, its place in the chain, got {}", step.step_index),
                    );
                }
                step.check(&path)?;
            }
        }
        Ok(())
    }
}

impl Step {
    fn check(&self, path: &str) -> Checked {
        let n = self.candidates.len();
        self.candidates.check(&format!("{path}.candidates"))?;
        let selected = self.selected_shell_index;
        match self.candidates.mask_valid.get(selected) {
            Some(true) => {}
            Some(false) => {
                let message = format!("candidate {selected} is not valid, so it cannot be selected");
                return mistake(format!("{path}.selected_shell_index"), message);
            }
            None => {
                let message = format!("{selected} is outside the shell of {n}");
                return mistake(format!("{path}.selected_shell_index"), message);
            }
        }
        for (name, values) in &self.labels {
            sized(Some(values.len()), n, || format!("{path}.labels.{name}"))?;
        }
        for (name, values) in [
            ("selection_logits", &self.selection_logits),
            ("selection_probabilities", &self.selection_probabilities),
            ("selection_log_probabilities", &self.selection_log_probabilities),
        ] {
            sized(values.as_ref().map(Vec::len), n, || format!("{path}.{name}"))?;
        }
        Ok(())
    }
}

impl Candidates {
    fn check(&self, path: &str) -> Checked {
        let n = self.len();
        if n == 0 {
            return mistake(format!("{path}.shell_poses"), "a shell needs at least one candidate");
        }
        sized(Some(self.mask_valid.len()), n, || format!("{path}.mask_valid"))?;
        for (index, (pose, valid)) in self.shell_poses.iter().zip(&self.mask_valid).enumerate() {
            if *valid && !pose.iter().all(|number| number.is_finite()) {
                return mistake(format!("{path}.shell_poses[{index}]"), "a valid candidate's pose must be finite");
            }
        }
        for (index, (_, mask)) in self.masks.iter().enumerate() {
            sized(Some(mask.len()), n, || format!("{path}.masks[{index}]"))?;
        }
        let extras = &self.extras;
        for (name, length) in [
            ("strategy_id", self.strategy_id.as_ref().map(Vec::len)),
            ("position_id", self.position_id.as_ref().map(Vec::len)),
            ("mixture_id", self.mixture_id.as_ref().map(Vec::len)),
            ("position_pair_id", self.position_pair_id.as_ref().map(Vec::len)),
            ("gaze_variant_id", self.gaze_variant_id.as_ref().map(Vec::len)),
            ("sampler_probability", self.sampler_probability.as_ref().map(Vec::len)),
            ("extras.path_collision_mask", Some(extras.path_collision_mask.len())),
            ("extras.path_collision_applicable_mask", Some(extras.path_collision_applicable_mask.len())),
            ("extras.path_collision_evaluated_mask", Some(extras.path_collision_evaluated_mask.len())),
        ] {
            sized(length, n, || format!("{path}.{name}"))?;
        }
        let floats = extras.floats.iter().map(|(name, values)| (name, values.len()));
        let booleans = extras.booleans.iter().map(|(name, values)| (name, values.len()));
        for (name, length) in floats.chain(booleans) {
            sized(Some(length), n, || format!("{path}.extras.{name}"))?;
        }
        Ok(())
    }
}

/// A vector that is there has one element a candidate.
fn sized(length: Option<usize>, n: usize, path: impl Fn() -> String) -> Checked {
    match length {
        Some(length) if length != n => {
            mistake(path(), format!("must have one element a candidate ({n}), got {length}"))
        }
        _ => Ok(()),
    }
}
