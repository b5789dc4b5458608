//! Keys that are nearly a field's name: `runId`, `regime`.

use crate::trace::row::{IDENTITY_KEYS, STEP_FIELDS};
use crate::trace::stats::TraceStats;

/// The keys of the runs that are no field's name but nearly one that the run has not, each with that
/// name, once.
#[must_use]
pub(crate) fn near_fields(stats: &TraceStats) -> Vec<(&str, &'static str)> {
    let mut near = Vec::new();
    for run in &stats.runs {
        let absent = |field: &str| match field {
            "regime_id" => run.regimes.iter().all(|regime| regime.label.is_none()),
            "observed_at" => run.observed == 0,
            identity if IDENTITY_KEYS.contains(&identity) => !run.identity.fields.contains_key(identity),
            _ => true,
        };
        for key in run.meta.keys().chain(&run.per_step) {
            let folded = folded(key);
            let fields = STEP_FIELDS.into_iter().chain(IDENTITY_KEYS);
            let field = fields.filter(|field| absent(field)).find(|field| is_near(&folded, field));
            if let Some(field) = field
                && !near.iter().any(|(known, _)| known == key)
            {
                near.push((key.as_str(), field));
            }
        }
    }
    near
}

/// Whether a folded key is the field's name in another spelling, or the name without its `_id`.
fn is_near(key: &str, field: &str) -> bool {
    key == folded(field) || field.strip_suffix("_id").is_some_and(|stem| key == folded(stem))
}

/// Letters and digits, in lower case.
fn folded(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}
