//! Identifiers of synthetic scenes and samples: written in short, and compared.

/// Long synthetic identifiers in short: `AriaSyntheticEnvironment_S_AtekDataSample_N` as
/// `ASE_S_Atek_N`, wherever it stands in `text`.
pub(super) fn compact(text: &str) -> String {
    const LONG: (&str, &str) = ("AriaSyntheticEnvironment_", "_AtekDataSample_");
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(LONG.0) {
        let parts = after.split_once(LONG.1).filter(|(scene, _)| !scene.is_empty() && !scene.contains('_'));
        let Some((scene, tail)) = parts else {
            out.push_str(before);
            out.push_str(LONG.0);
            rest = after;
            continue;
        };
        let ends = |c: char| matches!(c, '_' | ':' | '/' | '.') || c.is_whitespace();
        let sample = tail.split(ends).next().unwrap_or_default();
        if sample.is_empty() {
            out.push_str(before);
            out.push_str(LONG.0);
            rest = after;
            continue;
        }
        out.push_str(&format!("{before}ASE_{scene}_Atek_{sample}"));
        rest = tail.get(sample.len()..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// Whether a target's identifier, if it names a snippet at all, names the one whose compact form
/// is `snippet`.
pub(super) fn names_snippet(id: &str, snippet: &str) -> bool {
    let structured = id.contains("AtekDataSample_") || id.contains("AriaSyntheticEnvironment_");
    !structured || compact(id).contains(snippet) || id.contains(snippet)
}

#[cfg(test)]
mod tests {
    use super::compact;

    #[test]
    fn long_identifiers_are_written_in_short() {
        let long = "AriaSyntheticEnvironment_12_AtekDataSample_000034:x";
        assert_eq!(compact(long), "ASE_12_Atek_000034:x");
        assert_eq!(
            compact("AriaSyntheticEnvironment_1_2_AtekDataSample_3"),
            "AriaSyntheticEnvironment_1_2_AtekDataSample_3"
        );
        assert_eq!(compact("toy:3"), "toy:3");
    }
}
