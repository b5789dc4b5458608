//! "Did you mean": the known name nearest to one that is not known, and how messages ask about it.

/// The name among `known` that is most like `given`, if one is near enough to be a slip of the
/// hand rather than a guess. Ties go to the earliest of `known`.
#[must_use]
pub(crate) fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
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

/// The question that a message asks about the name it takes to be meant.
#[must_use]
pub(crate) fn question(near: &str) -> String {
    format!("did you mean `{near}`?")
}

/// What to say to someone who wrote `given`: which of the `known` names may be meant, or else all
/// of them behind `has`, such as "it takes".
#[must_use]
pub(crate) fn hint<'a>(given: &str, has: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match nearest(given, known.iter().copied()) {
        Some(near) => question(near),
        None if known.is_empty() => format!("{has} none"),
        None => format!("{has} {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::{hint, nearest};

    #[test]
    fn a_slip_of_the_hand_is_told_from_a_guess() {
        assert_eq!(nearest("windw_steps", ["window_steps", "total_steps"]), Some("window_steps"));
        assert_eq!(nearest("banana", ["window_steps"]), None);
        assert_eq!(hint("lenght", "it takes", ["length", "force"]), "did you mean `length`?");
        assert_eq!(hint("banana", "it takes", ["length", "force"]), "it takes length, force");
        assert_eq!(hint("banana", "it takes", []), "it takes none");
    }
}
