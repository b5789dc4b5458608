//! The house keeps its storeys: who may know whom, who may see Lua, who may print.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The rooms by storey, from the ground up; a room may use its own storey's earlier rooms and
/// every storey below.
const STOREYS: &[&[&str]] = &[
    &["value"],
    &["text", "diagnostic", "digest", "suggest", "sum", "closing", "atomic", "snapshot", "object"],
    &["array", "random", "unit", "launcher"],
    &["space"],
    &["env", "reward", "regime", "policy", "trace"],
    &["config"],
    &["algorithm"],
    &["experiment"],
    &["bundle", "eval", "rollouts"],
    &["sweep", "campaign"],
    &["script"],
    &["cli"],
];

fn sources() -> Vec<(PathBuf, String)> {
    fn walk(directory: &Path, found: &mut Vec<(PathBuf, String)>) {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push((path.clone(), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    let mut found = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    found.sort();
    found
}

/// The room a source file belongs to.
fn room(path: &Path) -> String {
    let inside = path.strip_prefix(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap();
    let first = inside.components().next().unwrap().as_os_str().to_str().unwrap();
    first.trim_end_matches(".rs").to_owned()
}

/// A source's code, without comments and without its unit tests.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]").next().unwrap();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

#[test]
fn rooms_depend_downwards_only() {
    let storey: BTreeMap<&str, usize> =
        STOREYS.iter().enumerate().flat_map(|(level, rooms)| rooms.iter().map(move |room| (*room, level))).collect();
    for (path, text) in sources() {
        let own = room(&path);
        if own == "lib" || own == "main" {
            continue;
        }
        let level = *storey.get(own.as_str()).unwrap_or_else(|| panic!("{own} has no storey in tests/house.rs"));
        for (other, other_level) in &storey {
            let uses =
                code(&text).contains(&format!("crate::{other}::")) || code(&text).contains(&format!("crate::{other};"));
            if uses && *other != own {
                assert!(*other_level <= level, "{} uses `{other}`, which stands above it", path.display());
            }
        }
    }
}

#[test]
fn rooms_of_one_storey_do_not_turn_in_a_circle() {
    for rooms in STOREYS {
        let mut uses: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (path, text) in sources() {
            let own = room(&path);
            for other in rooms.iter().filter(|other| rooms.contains(&own.as_str()) && **other != own) {
                if code(&text).contains(&format!("crate::{other}::")) {
                    uses.entry(own.clone()).or_default().push((*other).to_owned());
                }
            }
        }
        for (own, others) in &uses {
            for other in others {
                let back = uses.get(other).is_some_and(|back| back.contains(own));
                assert!(!back, "`{own}` and `{other}` use each other");
            }
        }
    }
}

#[test]
fn only_the_script_host_sees_lua() {
    for (path, text) in sources() {
        if room(&path) != "script" {
            assert!(!code(&text).contains("mlua"), "{} names mlua", path.display());
        }
    }
}

#[test]
fn only_the_command_line_knows_clap_and_prints() {
    for (path, text) in sources() {
        if room(&path) != "cli" {
            for word in ["clap::", "println!", "eprintln!", "io::stdout", "io::stderr"] {
                assert!(!code(&text).contains(word), "{} contains {word}", path.display());
            }
        }
    }
}

#[test]
fn no_file_outgrows_one_idea() {
    for (path, text) in sources() {
        if path.parent().is_some_and(|parent| parent.ends_with("ziggurat")) {
            continue; // tables of numbers
        }
        let lines = code(&text).lines().count();
        assert!(lines <= 500, "{} has {lines} lines of code", path.display());
    }
}

/// A test file that no one lists is never run, and nothing else would say so.
#[test]
fn every_test_file_is_listed() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let listed = std::fs::read_to_string(tests.join("main.rs")).unwrap();
    for entry in std::fs::read_dir(&tests).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("main.rs") {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            assert!(listed.contains(&format!("\nmod {name};")), "tests/main.rs does not list {name}");
        }
    }
}
