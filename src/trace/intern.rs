//! Small numbers for texts that recur: labels, component names, keys.

use std::collections::HashMap;

use crate::trace::field::unescape;

/// Texts numbered in order of first appearance. Spellings that differ only in escapes are one text.
#[derive(Debug, Default)]
pub(super) struct Interner {
    by_spelling: HashMap<Vec<u8>, u32>,
    by_text: HashMap<String, u32>,
    texts: Vec<String>,
}

impl Interner {
    /// The number of the text that is escaped as `escaped`.
    pub(super) fn number(&mut self, escaped: &[u8]) -> u32 {
        if let Some(number) = self.by_spelling.get(escaped) {
            return *number;
        }
        let text = unescape(escaped).into_owned();
        let number = *self.by_text.entry(text).or_insert_with_key(|text| {
            self.texts.push(text.clone());
            u32::try_from(self.texts.len() - 1).unwrap_or(u32::MAX)
        });
        self.by_spelling.insert(escaped.to_vec(), number);
        number
    }

    pub(super) fn text(&self, number: u32) -> &str {
        self.texts.get(number as usize).map_or("", String::as_str)
    }
}
