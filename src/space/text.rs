//! `Text`: strings over an alphabet.

use indexmap::IndexSet;

use super::SpaceError;

/// Strings of `min_length` to `max_length` characters, each of `charset`.
#[derive(Clone, Debug)]
pub struct TextSpace {
    min_length: i64,
    max_length: i64,
    charset: IndexSet<char>,
}

/// The order of the alphabet counts: it decides what is sampled.
impl PartialEq for TextSpace {
    fn eq(&self, other: &Self) -> bool {
        (self.min_length, self.max_length) == (other.min_length, other.max_length)
            && self.charset.as_slice() == other.charset.as_slice()
    }
}

impl TextSpace {
    /// Gymnasium's default alphabet: the digits, then the upper and lower case of ASCII.
    pub const ALPHANUMERIC: &'static str = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

    /// The strings of `min_length` to `max_length` characters of `charset`; repeated characters
    /// count once.
    ///
    /// # Errors
    /// When the lengths are negative or not in order, or there are none of some length for want
    /// of characters.
    pub fn new(min_length: i64, max_length: i64, charset: &str) -> Result<Self, SpaceError> {
        if min_length < 0 {
            return Err(SpaceError::new("min_length", format!("must be at least 0, got {min_length}")));
        }
        if max_length < min_length {
            let message = format!("must be at least min_length ({min_length}), got {max_length}");
            return Err(SpaceError::new("max_length", message));
        }
        if charset.is_empty() && min_length > 0 {
            return Err(SpaceError::new(
                "charset",
                format!("is empty, but texts have at least {min_length} characters"),
            ));
        }
        Ok(Self { min_length, max_length, charset: charset.chars().collect() })
    }

    /// The least number of characters.
    #[must_use]
    pub fn min_length(&self) -> i64 {
        self.min_length
    }

    /// The greatest number of characters.
    #[must_use]
    pub fn max_length(&self) -> i64 {
        self.max_length
    }

    /// The alphabet, in its order.
    #[must_use]
    pub fn charset(&self) -> String {
        self.charset.iter().collect()
    }

    pub(super) fn alphabet(&self) -> &IndexSet<char> {
        &self.charset
    }

    pub(super) fn contains(&self, text: &str) -> bool {
        let length = i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
        (self.min_length..=self.max_length).contains(&length)
            && text.chars().all(|character| self.charset.contains(&character))
    }
}
