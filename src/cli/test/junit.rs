//! Test results as JUnit XML, which CI systems read.

use super::Outcome;

/// The document: a suite a file.
pub(super) fn document(results: &[(String, Vec<Outcome>)]) -> String {
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    for (file, outcomes) in results {
        let failures = outcomes.iter().filter(|outcome| outcome.failure.is_some()).count();
        let time: f64 = outcomes.iter().map(|outcome| outcome.time.as_secs_f64()).sum();
        let (name, tests) = (escaped(file), outcomes.len());
        text.push_str(&format!(
            "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" time=\"{time:.3}\">\n"
        ));
        for outcome in outcomes {
            let (case, time) = (escaped(&outcome.name), outcome.time.as_secs_f64());
            text.push_str(&format!("    <testcase classname=\"{name}\" name=\"{case}\" time=\"{time:.3}\""));
            match &outcome.failure {
                None => text.push_str("/>\n"),
                Some(failure) => text.push_str(&format!(
                    ">\n      <failure message=\"{}\">{}</failure>\n    </testcase>\n",
                    escaped(&failure.message),
                    escaped(&failure.to_string())
                )),
            }
        }
        text.push_str("  </testsuite>\n");
    }
    text + "</testsuites>\n"
}

/// `text` as XML holds it; what XML cannot hold is shown by its number.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\n' => safe.push_str("&#10;"),
            '\t' => safe.push('\t'),
            other if other.is_control() || matches!(other, '\u{fffe}' | '\u{ffff}') => {
                safe.push_str(&format!("\\u{{{:x}}}", u32::from(other)));
            }
            other => safe.push(other),
        }
    }
    safe
}
