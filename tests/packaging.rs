//! What goes out of the house: the package has what builds, explains and licenses it, and nothing of
//! a workplace; every dependency's licence is one that fits ours.

use std::path::Path;
use std::process::Command;

/// Licences under which the binary may be passed on as MIT or Apache-2.0: they ask for their notice,
/// no more.
const FITTING: [&str; 12] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    // Of data: the roots that a TLS client trusts.
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

fn cargo(words: &[&str]) -> String {
    let out = Command::new(env!("CARGO")).args(words).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    assert!(out.status.success(), "cargo {words:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

/// Whether an SPDX expression can be met by licences that fit; `/` is the old way to write `OR`.
fn fits(expression: &str) -> bool {
    let text = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut words = text.split_whitespace().collect::<Vec<_>>().into_iter().peekable();
    let met = any(&mut words);
    met && words.next().is_none()
}

type Words<'a> = std::iter::Peekable<std::vec::IntoIter<&'a str>>;

fn any(words: &mut Words<'_>) -> bool {
    let mut met = all(words);
    while words.next_if_eq(&"OR").is_some() {
        met |= all(words);
    }
    met
}

fn all(words: &mut Words<'_>) -> bool {
    let mut met = one(words);
    while words.next_if_eq(&"AND").is_some() {
        met &= one(words);
    }
    met
}

fn one(words: &mut Words<'_>) -> bool {
    match words.next() {
        Some("(") => {
            let met = any(words);
            met && words.next() == Some(")")
        }
        Some(name) if words.next_if_eq(&"WITH").is_some() => {
            words.next().is_some_and(|exception| FITTING.contains(&format!("{name} WITH {exception}").as_str()))
        }
        Some(name) => FITTING.contains(&name),
        None => false,
    }
}

#[test]
fn expressions_are_weighed_as_spdx_has_them() {
    for fitting in
        ["MIT", "MIT/Apache-2.0", "(MIT OR GPL-3.0) AND Zlib", "Apache-2.0 WITH LLVM-exception", "GPL-2.0 OR MIT"]
    {
        assert!(fits(fitting), "{fitting}");
    }
    for other in ["GPL-3.0-only", "MIT AND GPL-3.0-only", "GPL-2.0 WITH Classpath-exception-2.0", "", "MIT MIT", "(MIT"]
    {
        assert!(!fits(other), "{other}");
    }
}

#[test]
fn every_dependency_has_a_licence_that_fits() {
    let host = cargo_host();
    // Of this platform: the sources of others need not be here, and nothing is downloaded for a test.
    let told = cargo(&["metadata", "--format-version=1", "--locked", "--offline", "--filter-platform", &host]);
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    let packages = told["packages"].as_array().unwrap();
    assert!(packages.len() > 100, "{} packages", packages.len());
    for package in packages {
        let licence = package["license"].as_str().unwrap_or("");
        assert!(fits(licence), "{} {}: {licence:?}", package["name"], package["version"]);
    }
}

fn cargo_host() -> String {
    let told = cargo(&["-vV"]);
    told.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_owned()
}

#[test]
fn the_package_has_what_it_needs_and_no_more() {
    let listed = cargo(&["package", "--list", "--allow-dirty", "--offline"]);
    let listed: Vec<&str> = listed.lines().collect();
    for needed in [
        "CHANGELOG.md",
        "Cargo.lock",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "README.md",
        "benches/run",
        "docs/library.md",
        "scripts/quickstart.lua",
        "src/eval/plot/font/LICENSE",
        "stdlib/skyfall/init.lua",
        "tests/main.rs",
        "tests/run",
    ] {
        assert!(listed.contains(&needed), "{needed} is not in the package");
    }
    for name in &listed {
        let of_a_workplace = [".ci", "fuzz/", "target/", "__pycache__", ".gitignore"];
        assert!(!of_a_workplace.iter().any(|part| name.contains(part)), "{name} is in the package");
    }
    let manifest = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    assert!(manifest.contains("license = \"MIT OR Apache-2.0\""));
}
