//! The documents say what is so.

use std::path::Path;
use std::process::Command;

use skyfall::eval::metrics::TABLE;

use crate::command::Scratch;

fn document(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(name)).unwrap()
}

#[test]
fn every_metric_is_explained() {
    let text = document("metrics.md");
    for metric in TABLE {
        assert!(text.contains(&format!("`{}`", metric.name)), "{}", metric.name);
    }
}

/// Each figure's name stands in its document, and the README's picture is an SVG file.
#[test]
fn every_figure_is_explained() {
    let text = document("figures.md");
    let names = "reward-groups baseline intervals profile regret-groups regret reward matrix frozen components \
                 component-bars rank visits";
    for name in names.split(' ') {
        assert!(
            text.contains(&format!("`{name}`"))
                || text.contains(&format!("-{name}`"))
                || text.contains(&format!("`{name}-NN`")),
            "{name}"
        );
    }
    super::outputs::assert_well_formed(&document("reward-groups.svg"));
}

#[test]
fn the_ten_lines_of_python_write_a_conforming_trace() {
    let text = document("traces.md");
    let snippet = text.split("```python\n").nth(1).unwrap().split("```").next().unwrap();
    assert!(snippet.lines().filter(|line| !line.trim().is_empty()).count() <= 10, "{snippet}");
    let scratch = Scratch::new();
    scratch.write("write.py", snippet);
    let python = std::env::var("SKYFALL_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let output = Command::new(&python).arg("write.py").current_dir(scratch.path()).output();
    let output = output.unwrap_or_else(|error| panic!("these tests need {python}: {error}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let checked = scratch.skyfall(&["eval", "--traces", "traces.jsonl", "--check"]).ok();
    assert_eq!(checked.stdout, "1 file(s), 1 run(s), 3000 row(s), 0 line(s) lost\n");
    let report = scratch.skyfall(&["eval", "--traces", "traces.jsonl", "--strict"]).ok();
    assert_eq!(report.stderr, "");
    assert!(report.stdout.contains("forgetting"), "{}", report.stdout);
    assert!(!report.stdout.contains("no_revisit"), "{}", report.stdout);
}
