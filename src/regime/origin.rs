//! Origins that look like slips: a label that no regime has, and that is nearly one that some has.

use super::Regime;
use crate::suggest;

/// A line on each origin among `known` that is no label of theirs but looks like one misspelled. Any
/// other may name a regime of an earlier run.
#[must_use]
pub fn stray_origins(known: &[&Regime]) -> Vec<String> {
    let labels = || known.iter().filter_map(|regime| regime.id.as_deref());
    let mut lines = Vec::new();
    for origin in known.iter().filter_map(|regime| regime.origin.as_deref()) {
        if labels().any(|label| label == origin) {
            continue;
        }
        // `calm` is no slip for `calm-again`.
        let Some(near) = suggest::nearest(origin, labels()).filter(|near| !near.starts_with(origin)) else { continue };
        let line = format!("origin `{origin}` is the label of no regime here; {}", suggest::question(near));
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}
