//! A step's oracle labels: which fills which column, and their sums along a chain.

use super::datum::narrow;
use super::record::Step;
use crate::suggest;

// What each column's label may be called: of several names, the first that is there counts.
pub(super) const TARGET_ROOT_GAIN: &[&str] = &["target_root_gain", "root_gain"];
pub(super) const TARGET_RRI: &[&str] = &["target_rri", "oracle_target_rri"];
const TARGET_LOG_ERROR_GAIN: &[&str] = &["target_log_error_gain", "log_error_gain"];
const TARGET_PM_DIST_BEFORE: &[&str] = &["target_pm_dist_before"];
const TARGET_PM_DIST_AFTER: &[&str] = &["target_pm_dist_after"];
const SCENE_ROOT_GAIN: &[&str] = &["scene_root_gain"];
const SCENE_RRI: &[&str] = &["scene_rri", "oracle_scene_rri"];
const SCENE_LOG_ERROR_GAIN: &[&str] = &["scene_log_error_gain"];
const SCENE_PM_DIST_BEFORE: &[&str] = &["scene_pm_dist_before"];
const SCENE_PM_DIST_AFTER: &[&str] = &["scene_pm_dist_after"];
const TARGET_CURRENT_SUPPORT: &[&str] = &["target_current_support"];
const TARGET_CANDIDATE_SUPPORT: &[&str] = &["target_candidate_support"];
/// Only summed along chains: a generic `rri` is the target's, never the scene's.
const RRI: &str = "rri";

/// The names of each column, in the order in which people are told of them.
const COLUMNS: [&[&str]; 12] = [
    TARGET_ROOT_GAIN,
    TARGET_RRI,
    TARGET_LOG_ERROR_GAIN,
    TARGET_PM_DIST_BEFORE,
    TARGET_PM_DIST_AFTER,
    SCENE_ROOT_GAIN,
    SCENE_RRI,
    SCENE_LOG_ERROR_GAIN,
    SCENE_PM_DIST_BEFORE,
    SCENE_PM_DIST_AFTER,
    TARGET_CURRENT_SUPPORT,
    TARGET_CANDIDATE_SUPPORT,
];

/// Every name that a label is read by.
fn known() -> impl Iterator<Item = &'static str> {
    COLUMNS.into_iter().flatten().copied().chain([RRI])
}

/// What to say of a label that no column holds: it would be lost.
pub(super) fn unknown(step: &Step) -> Option<(&str, String)> {
    let (name, _) = step.labels.iter().find(|(name, _)| !known().any(|known| known == name))?;
    let hint = suggest::hint(name, "labels are", known());
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
            scene_rri: step.label(SCENE_RRI),
            target_rri: step.label(TARGET_RRI),
            scene_root_gain: step.label(SCENE_ROOT_GAIN),
            target_root_gain: step.label(TARGET_ROOT_GAIN),
            scene_log_error_gain: step.label(SCENE_LOG_ERROR_GAIN),
            target_log_error_gain: step.label(TARGET_LOG_ERROR_GAIN),
            scene_pm_dist_before: step.label(SCENE_PM_DIST_BEFORE),
            scene_pm_dist_after: step.label(SCENE_PM_DIST_AFTER),
            target_pm_dist_before: step.label(TARGET_PM_DIST_BEFORE),
            target_pm_dist_after: step.label(TARGET_PM_DIST_AFTER),
            target_current_support: step.label(TARGET_CURRENT_SUPPORT),
            target_candidate_support: step.label(TARGET_CANDIDATE_SUPPORT),
        }
    }
}

/// Running sums along a chain: nothing until the first finite value.
#[derive(Default)]
pub(super) struct Cumulative([Option<f64>; 4]);

impl Cumulative {
    pub(super) fn add(&mut self, step: &Step) {
        const NAMES: [&[&str]; 4] = [&["target_rri", RRI], &["scene_rri"], TARGET_ROOT_GAIN, SCENE_ROOT_GAIN];
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
