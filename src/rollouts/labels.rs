//! A step's oracle labels: which fills which column, and their sums along a chain.

use super::datum::narrow;
use super::record::Step;
use crate::suggest;

/// Every name that a label is read by.
const KNOWN: [&str; 17] = [
    "target_root_gain",
    "target_rri",
    "target_log_error_gain",
    "target_pm_dist_before",
    "target_pm_dist_after",
    "scene_root_gain",
    "scene_rri",
    "scene_log_error_gain",
    "scene_pm_dist_before",
    "scene_pm_dist_after",
    "target_current_support",
    "target_candidate_support",
    "root_gain",
    "rri",
    "log_error_gain",
    "oracle_target_rri",
    "oracle_scene_rri",
];

/// What to say of a label that no column holds: it would be lost.
pub(super) fn unknown(step: &Step) -> Option<(&str, String)> {
    let (name, _) = step.labels.iter().find(|(name, _)| !KNOWN.contains(&name.as_str()))?;
    let hint = suggest::hint(name, "labels are", KNOWN);
    Some((name, format!("is a label that a store does not hold; {hint}")))
}

/// A step's labels by column: of several names, the first that is there.
pub(super) struct Metrics<'a> {
    pub(super) scene_rri: Option<&'a [f32]>,
    pub(super) target_rri: Option<&'a [f32]>,
    pub(super) scene_root_gain: Option<&'a [f32]>,
    pub(super) target_root_gain: Option<&'a [f32]>,
    pub(super) scene_log_error_gain: Option<&'a [f32]>,
    pub(super) target_log_error_gain: Option<&'a [f32]>,
    pub(super) scene_pm_dist_before: Option<&'a [f32]>,
    pub(super) scene_pm_dist_after: Option<&'a [f32]>,
    pub(super) target_pm_dist_before: Option<&'a [f32]>,
    pub(super) target_pm_dist_after: Option<&'a [f32]>,
    pub(super) target_current_support: Option<&'a [f32]>,
    pub(super) target_candidate_support: Option<&'a [f32]>,
}

impl<'a> Metrics<'a> {
    pub(super) fn of(step: &'a Step) -> Self {
        Self {
            scene_rri: step.label(&["scene_rri", "oracle_scene_rri"]),
            target_rri: step.label(&["target_rri", "oracle_target_rri"]),
            scene_root_gain: step.label(&["scene_root_gain"]),
            target_root_gain: step.label(&["target_root_gain", "root_gain"]),
            scene_log_error_gain: step.label(&["scene_log_error_gain"]),
            target_log_error_gain: step.label(&["target_log_error_gain", "log_error_gain"]),
            scene_pm_dist_before: step.label(&["scene_pm_dist_before"]),
            scene_pm_dist_after: step.label(&["scene_pm_dist_after"]),
            target_pm_dist_before: step.label(&["target_pm_dist_before"]),
            target_pm_dist_after: step.label(&["target_pm_dist_after"]),
            target_current_support: step.label(&["target_current_support"]),
            target_candidate_support: step.label(&["target_candidate_support"]),
        }
    }
}

/// Running sums along a chain: nothing until the first finite value.
#[derive(Default)]
pub(super) struct Cumulative([Option<f64>; 4]);

impl Cumulative {
    pub(super) fn add(&mut self, step: &Step) {
        // A generic `rri` is the target's, never the scene's.
        const NAMES: [&[&str]; 4] =
            [&["target_rri", "rri"], &["scene_rri"], &["target_root_gain", "root_gain"], &["scene_root_gain"]];
        for (sum, names) in self.0.iter_mut().zip(NAMES) {
            let selected = |name: &&str| {
                let value = step.label(&[name])?.get(step.selected_shell_index).copied()?;
                value.is_finite().then_some(f64::from(value))
            };
            if let Some(value) = names.iter().find_map(selected) {
                *sum = Some(sum.unwrap_or(0.0) + value);
            }
        }
    }

    pub(super) fn values(&self) -> [f32; 4] {
        self.0.map(|sum| sum.map_or(f32::NAN, narrow))
    }
}
