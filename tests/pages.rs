//! The pages do as they say: every block of code in README.md and docs/ is run, and what a page shows is what comes.
//!
//! A page is walked from top to bottom in a directory of its own, which begins with a copy of `scripts/`:
//!
//! | block | is |
//! |---|---|
//! | any, its first line a comment that begins with a file's name (`-- noise.lua`, `# hall.yaml`) | written to that file; one that is there must be the same |
//! | `lua`, `python` | run |
//! | `lua`, `yaml` that is fields of an experiment (`regime = ...`) | run, or checked, within an experiment of CartPole |
//! | `sh` | commands, which must succeed |
//! | `console` | commands after `$ `, each with what it says; a failure shows its `error[...]` |
//!
//! A picture is one that the page's commands draw, to the byte. In what is shown, `…` stands for any text in a line, and alone in a line for any number of lines. What
//! cannot be run has a mark before it, `<!-- not run: WHY -->`, with one of the reasons below.
//!
//! `SKYFALL_SNAPSHOTS=write` writes into the pages what their commands really say.

mod markdown;
mod walk;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Why a block may not be run.
const REASONS: &[&str] = &[
    "it builds skyfall",
    "it needs a cluster",
    "it needs what is not installed here",
    "it goes on until Ctrl-C",
    "nothing to run",
    "tests/listen.rs asks this",
];

/// What holds examples that `tests/reference.rs` runs.
const ELSEWHERE: &[&str] = &["docs/library.md"];

macro_rules! pages {
    ($($name:ident: $path:literal from $scripts:literal,)*) => {
        const PAGES: &[&str] = &[$($path),*];
        $(#[test]
        fn $name() {
            walk::walk($path, $scripts);
        })*
    };
}

pages! {
    readme: "README.md" from "scripts",
    docs_readme: "docs/README.md" from "scripts",
    algorithms: "docs/algorithms.md" from "scripts",
    architecture: "docs/architecture.md" from "scripts",
    campaigns: "docs/campaigns.md" from "scripts",
    clusters: "docs/clusters.md" from "scripts",
    configuration: "docs/configuration.md" from "scripts",
    environment_protocol: "docs/environment-protocol.md" from "scripts",
    environments: "docs/environments.md" from "scripts",
    evaluation: "docs/evaluation.md" from "scripts",
    experiments: "docs/experiments.md" from "scripts",
    figures: "docs/figures.md" from "scripts",
    glossary: "docs/glossary.md" from "scripts",
    metrics: "docs/metrics.md" from "scripts",
    policies: "docs/policies.md" from "scripts",
    regimes: "docs/regimes.md" from "scripts",
    resuming: "docs/resuming.md" from "scripts",
    rollouts: "docs/rollouts.md" from "scripts",
    scripts: "docs/scripts.md" from "scripts",
    serving: "docs/serving.md" from "scripts",
    sweeps: "docs/sweeps.md" from "scripts",
    traces: "docs/traces.md" from "scripts",
    scripts_readme: "scripts/README.md" from "scripts",
    new_project: "scripts/new/README.md" from "scripts/new",
}

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

#[test]
fn every_page_is_walked() {
    let mut there: BTreeSet<String> =
        ["README.md", "scripts/README.md", "scripts/new/README.md"].map(str::to_owned).into();
    for entry in std::fs::read_dir(home().join("docs")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".md") {
            there.insert(format!("docs/{name}"));
        }
    }
    let walked = PAGES.iter().chain(ELSEWHERE).map(|page| (*page).to_owned()).collect();
    assert_eq!(there, walked);
}

/// A script can be read at a sitting, says at its top what it is, and is shown at work.
#[test]
fn every_script_is_short_and_shown() {
    let shown: String = ["scripts/README.md", "README.md", "docs/campaigns.md"]
        .map(|page| std::fs::read_to_string(home().join(page)).unwrap())
        .concat();
    for entry in std::fs::read_dir(home().join("scripts")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "lua") {
            let (name, text) = (path.file_name().unwrap().display(), std::fs::read_to_string(&path).unwrap());
            assert!(text.starts_with(&format!("-- scripts/{name}: ")), "{name} does not say what it shows");
            assert!(text.lines().count() < 60, "{name} is too long");
            let module = text.ends_with("\nreturn M\n");
            assert!(module || shown.contains(&format!(" scripts/{name}")), "{name} is not shown at work");
        }
    }
}

/// Links between pages lead to a file and a heading that are there.
#[test]
fn links_lead_somewhere() {
    for page in PAGES {
        let text = std::fs::read_to_string(home().join(page)).unwrap();
        for target in markdown::links(&text) {
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let path = match file {
                "" => home().join(page),
                _ => home().join(page).parent().unwrap().join(file),
            };
            assert!(path.exists(), "{page}: {target} is not there");
            if !heading.is_empty() {
                let headings = markdown::headings(&std::fs::read_to_string(&path).unwrap());
                assert!(headings.contains(heading), "{page}: {target} has no such heading");
            }
        }
    }
}
