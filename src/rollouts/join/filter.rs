//! Which chains are wanted.

use std::collections::HashMap;
use std::ops::Range;

use indexmap::IndexMap;

use super::JoinError;
use super::contents::Contents;
use super::part::cells;
use crate::digest::sha256_hex;
use crate::rollouts::dictionary::Dictionary;
use crate::rollouts::identifier::compact;
use crate::rollouts::record::Source;
use crate::rollouts::tables::{effective_source_row, split_of};
use crate::suggest;
use crate::value::{Map, Value};

/// What wanted chains are: of each list one of its values, where it has any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Scenes.
    pub scenes: Vec<String>,
    /// Snippets, in their long or short form.
    pub snippets: Vec<String>,
    /// Splits: the campaign's where a source has one, else the physical one.
    pub splits: Vec<String>,
    /// Targets, by their text ids.
    pub targets: Vec<String>,
    /// Chains, by their text ids.
    pub rollouts: Vec<String>,
    /// Samples, by their keys in their long or short form.
    pub sample_keys: Vec<String>,
}

/// What a store is split by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The source's scene.
    Scene,
    /// The source's snippet.
    Snippet,
    /// The campaign's split where a source has one, else the physical one.
    Split,
    /// The target.
    Target,
}

impl By {
    /// All there are.
    pub const ALL: [Self; 4] = [Self::Scene, Self::Snippet, Self::Split, Self::Target];

    /// Its name in commands.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Scene => "scene",
            Self::Snippet => "snippet",
            Self::Split => "split",
            Self::Target => "target",
        }
    }

    /// The values there are, in order of first use, each with its chains.
    pub(super) fn groups(self, contents: &Contents<'_>) -> Vec<(String, Vec<Range<usize>>)> {
        let mut groups: IndexMap<String, Vec<usize>> = IndexMap::new();
        for (chain, facts) in chains(contents).enumerate() {
            let value = match self {
                Self::Scene => facts.scene,
                Self::Snippet => facts.snippet,
                Self::Split => facts.split,
                Self::Target => facts.target,
            };
            groups.entry(value).or_default().push(chain);
        }
        groups.into_iter().map(|(value, chains)| (value, runs(chains))).collect()
    }

    /// One value of it, for the sidecar.
    pub(super) fn told(self, value: &str) -> Value {
        Value::Map(Map::from([(self.name().to_owned(), value.into())]))
    }
}

impl Filter {
    /// Each list by what it is of.
    fn lists(&self) -> [(&'static str, &[String]); 6] {
        [
            ("scene", &self.scenes),
            ("snippet", &self.snippets),
            ("split", &self.splits),
            ("target", &self.targets),
            ("rollout", &self.rollouts),
            ("sample key", &self.sample_keys),
        ]
    }

    /// Whether everything is wanted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lists().iter().all(|(_, values)| values.is_empty())
    }

    /// The filter as data, for the sidecar.
    pub(super) fn told(&self) -> Value {
        let given = self.lists().into_iter().filter(|(_, values)| !values.is_empty());
        let list = |values: &[String]| Value::List(values.iter().map(|value| value.as_str().into()).collect());
        Value::Map(given.map(|(field, values)| (field.replace(' ', "_"), list(values))).collect())
    }

    /// The wanted chains.
    pub(super) fn choose(&self, contents: &Contents<'_>) -> Result<Vec<Range<usize>>, JoinError> {
        let names = names(contents)?;
        let facts: Vec<[String; 6]> = chains(contents)
            .zip(names)
            .map(|(facts, name)| [facts.scene, facts.snippet, facts.split, facts.target, name, facts.sample_key])
            .collect();
        let lists = self.lists();
        let path = || contents.part.path.clone();
        let is = |field: &str, value: &str, own: &str| match field {
            "snippet" | "sample key" => compact(value) == own,
            _ => value == own,
        };
        let own = |facts: &[String; 6], place: usize| facts.get(place).cloned().unwrap_or_default();
        for (place, (field, values)) in lists.iter().enumerate() {
            for value in *values {
                if facts.iter().any(|facts| is(field, value, &own(facts, place))) {
                    continue;
                }
                let mut known: Vec<String> = facts.iter().map(|facts| own(facts, place)).collect();
                known.sort_unstable();
                known.dedup();
                return Err(JoinError::Unknown {
                    path: path(),
                    field,
                    value: value.clone(),
                    hint: hint(value, &known),
                });
            }
        }
        let wanted = |facts: &[String; 6]| {
            lists.iter().enumerate().all(|(place, (field, values))| {
                values.is_empty() || values.iter().any(|value| is(field, value, &own(facts, place)))
            })
        };
        let chosen = facts.iter().enumerate().filter(|(_, facts)| wanted(facts)).map(|(chain, _)| chain);
        let chosen = runs(chosen);
        if chosen.is_empty() {
            let given = lists.iter().filter(|(_, values)| !values.is_empty());
            let wanted = given.map(|(field, values)| format!("{field} {}", values.join(" or "))).collect::<Vec<_>>();
            return Err(JoinError::Nothing { path: path(), wanted: wanted.join(" and ") });
        }
        Ok(chosen)
    }
}

/// Which value may be meant, or a few of those there are.
fn hint(value: &str, known: &[String]) -> String {
    const SHOWN: usize = 8;
    match suggest::nearest(value, known.iter().map(String::as_str)) {
        Some(near) => suggest::question(near),
        None => {
            let shown: Vec<&str> = known.iter().take(SHOWN).map(String::as_str).collect();
            let more = if known.len() > SHOWN { format!(" and {} more", known.len() - SHOWN) } else { String::new() };
            format!("it has {}{more}", shown.join(", "))
        }
    }
}

/// What chains are chosen by.
struct Facts {
    scene: String,
    snippet: String,
    split: String,
    target: String,
    sample_key: String,
}

/// The facts of each chain, in order.
fn chains<'c>(contents: &'c Contents<'_>) -> impl Iterator<Item = Facts> + 'c {
    let sources: HashMap<i64, &Source> =
        contents.part.sources.iter().map(|source| (effective_source_row(source), source)).collect();
    contents.owners.iter().map(move |(source, target)| {
        let source = sources.get(source);
        let text =
            |of: fn(&Source) -> &Option<String>| source.and_then(|source| of(source).clone()).unwrap_or_default();
        let target = usize::try_from(*target).ok().and_then(|target| contents.targets.get(target));
        Facts {
            scene: text(|source| &source.scene_id),
            snippet: text(|source| &source.snippet_id),
            split: source
                .map(|source| source.campaign().map_or_else(|| split_of(source), str::to_owned))
                .unwrap_or_default(),
            target: target.and_then(|target| target.target_id.clone()).unwrap_or_default(),
            sample_key: text(|source| &source.source_sample_key),
        }
    })
}

/// The text id of each chain, in order.
fn names(contents: &Contents<'_>) -> Result<Vec<String>, JoinError> {
    let table = contents.part.store.table("rollouts", &["rollout_id"], 0..usize::MAX)?;
    let name = |id: &i32| contents.codes.text(Dictionary::Rollout, *id).unwrap_or_default().to_owned();
    Ok(cells::<i32>(&table, "rollout_id").iter().map(name).collect())
}

/// Ascending numbers as runs.
fn runs(numbers: impl IntoIterator<Item = usize>) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some(last) if last.end == number => last.end += 1,
            _ => runs.push(number..number + 1),
        }
    }
    runs
}

/// A directory's name for the store of `value`.
pub(super) fn file_name(value: &str) -> String {
    format!("{}.zarr", file_stem(value))
}

/// What is in a file's name for `value`, unlike that of any other: letters, digits, `.`, `_` and `-` stay, others are
/// written as `%` and their bytes; one that is too long ends in a digest of it.
#[must_use]
pub(crate) fn file_stem(value: &str) -> String {
    const LONGEST: usize = 120;
    const DIGITS: usize = 16;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let letter = |(place, byte): (usize, u8)| match byte {
        byte if plain(byte) || byte == b'.' && place > 0 => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    let name: String = value.bytes().enumerate().map(letter).collect();
    match name.get(..LONGEST) {
        None if name.is_empty() => "%".to_owned(),
        None => name,
        Some(start) => format!("{start}-{}", sha256_hex(value.as_bytes()).get(..DIGITS).unwrap_or_default()),
    }
}
