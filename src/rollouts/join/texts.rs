//! A part's texts, and the ids they get in the store that is made.

use crate::rollouts::dictionary::{Dictionaries, Dictionary, NAMES};
use crate::rollouts::{Store, StoreError};

/// The texts of one dictionary.
pub(super) struct Texts(pub(super) Vec<String>);

impl Texts {
    pub(super) fn read(store: &Store, dictionary: Dictionary) -> Result<Self, StoreError> {
        let name = NAMES.get(dictionary as usize).copied().unwrap_or_default();
        store.dictionary(name).map(Self)
    }

    /// The text of an id, if there is one.
    pub(super) fn of(&self, id: Option<i32>) -> Option<String> {
        self.0.get(usize::try_from(id?).ok()?).cloned()
    }
}

/// A part's dictionaries, each id with the one it has in the store that is made, once known.
pub(super) struct Codes(Vec<Vec<(String, Option<i32>)>>);

impl Codes {
    /// Reads the dictionaries of a store; that of the codec may be missing.
    pub(super) fn read(store: &Store) -> Result<Self, StoreError> {
        let codec = store.attribute("candidate_trace_codec_version").is_some();
        let read = |(number, name): (usize, &&str)| {
            if number == Dictionary::CandidateFact as usize && !codec {
                return Ok(Vec::new());
            }
            Ok(store.dictionary(name)?.into_iter().map(|text| (text, None)).collect())
        };
        NAMES.iter().enumerate().map(read).collect::<Result<_, StoreError>>().map(Self)
    }

    /// Forgets the new ids: those of another store are asked for.
    pub(super) fn forget(&mut self) {
        self.0.iter_mut().flatten().for_each(|(_, known)| *known = None);
    }

    /// The id in `to` of what is `id` here; none stays none.
    pub(super) fn code(&mut self, dictionary: usize, id: i32, to: &mut Dictionaries) -> i32 {
        let place = usize::try_from(id).ok();
        let Some((text, known)) = place.and_then(|place| self.0.get_mut(dictionary)?.get_mut(place)) else { return -1 };
        // Names of chains are listed once more for every chain that has them.
        match known {
            Some(known) if dictionary != Dictionary::Rollout as usize => *known,
            _ => {
                let code = to.provisional(dictionary, text);
                *known = Some(code);
                code
            }
        }
    }

    /// The text of an id.
    pub(super) fn text(&self, dictionary: Dictionary, id: i32) -> Option<&str> {
        let (text, _) = self.0.get(dictionary as usize)?.get(usize::try_from(id).ok()?)?;
        Some(text)
    }

    /// All texts of a dictionary, by their ids.
    pub(super) fn texts(&self, dictionary: Dictionary) -> impl Iterator<Item = &str> {
        self.0.get(dictionary as usize).into_iter().flatten().map(|(text, _)| text.as_str())
    }
}
