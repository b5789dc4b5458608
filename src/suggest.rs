//! "Did you mean": the known name nearest to one that is not known.

/// The name among `known` that is most like `given`, if one is near enough to be a slip of the
/// hand rather than a guess. Ties go to the earliest of `known`.
///
/// ```
/// assert_eq!(skyfall::suggest::nearest("windw_steps", ["window_steps", "total_steps"]), Some("window_steps"));
/// assert_eq!(skyfall::suggest::nearest("banana", ["window_steps"]), None);
/// ```
#[must_use]
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const NEAR: f64 = 0.8;
    let folded = given.to_lowercase();
    let mut best: Option<(f64, &str)> = None;
    for name in known {
        let likeness = strsim::jaro_winkler(&folded, &name.to_lowercase());
        if likeness >= NEAR && best.is_none_or(|(top, _)| likeness > top) {
            best = Some((likeness, name));
        }
    }
    best.map(|(_, name)| name)
}
