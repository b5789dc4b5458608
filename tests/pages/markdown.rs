//! Markdown, as far as these pages need it.

use std::collections::BTreeSet;
use std::ops::Range;

/// A fenced block of code.
pub struct Block<'a> {
    /// `sh`, `lua`, ...
    pub language: &'a str,
    /// Why it is not run, if it says so.
    pub mark: Option<&'a str>,
    pub text: &'a str,
    /// The line of its opening fence.
    pub line: usize,
    /// Where its text stands in the page.
    pub place: Range<usize>,
}

/// The blocks of a page, from top to bottom.
pub fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut found = Vec::new();
    let (mut at, mut before) = (0, "");
    let mut open: Option<(&str, Option<&str>, usize, usize)> = None;
    for (index, line) in page.split_inclusive('\n').enumerate() {
        let start = at;
        at += line.len();
        let line = line.trim_end_matches('\n');
        match (line.strip_prefix("```"), open) {
            (Some(language), None) => {
                let mark = before.strip_prefix("<!-- not run: ").and_then(|mark| mark.strip_suffix(" -->"));
                open = Some((language, mark, index + 1, at));
            }
            (Some(_), Some((language, mark, line, from))) => {
                found.push(Block { language, mark, text: &page[from..start], line, place: from..start });
                open = None;
            }
            (None, _) => assert!(!line.trim_start().starts_with("```"), "line {}: a fence in a list", index + 1),
        }
        before = line;
    }
    assert!(open.is_none(), "a block is not closed");
    found
}

/// A page without its blocks of code.
fn prose(page: &str) -> String {
    let mut inside = false;
    let outside = |line: &&str| {
        let fence = line.starts_with("```");
        inside ^= fence;
        !inside && !fence
    };
    page.lines().filter(outside).collect::<Vec<_>>().join("\n")
}

/// The targets of links to files of the project.
pub fn links(page: &str) -> Vec<&str> {
    let target = |rest: &'_ str| rest.split_once(')').map(|(target, _)| target.len());
    page.match_indices("](")
        .filter_map(|(at, opening)| {
            let rest = &page[at + opening.len()..];
            target(rest).map(|length| &rest[..length])
        })
        .filter(|target| !target.contains("://") && !target.contains(char::is_whitespace))
        .collect()
}

/// The pictures that a page shows.
pub fn pictures(page: &str) -> impl Iterator<Item = &str> {
    page.lines().filter_map(|line| line.strip_prefix("![")?.split_once("](")?.1.strip_suffix(')'))
}

/// What a page's headings are called in links.
pub fn headings(page: &str) -> BTreeSet<String> {
    let slug = |heading: &str| {
        let kept = heading.trim().to_lowercase().replace(' ', "-");
        kept.chars().filter(|letter| letter.is_alphanumeric() || "-_".contains(*letter)).collect()
    };
    prose(page).lines().filter(|line| line.starts_with('#')).map(|line| slug(line.trim_start_matches('#'))).collect()
}
