//! What one row holds, as far as columns need it.

use crate::trace::columns::NO_REGIME;
use crate::trace::field::Odd;

/// A row's cells. Texts that recur are numbers of the scanner's interners.
#[derive(Debug)]
pub(super) struct Cells<'a> {
    pub(super) step: i64,
    /// NaN where not finite.
    pub(super) reward: f64,
    /// [`NO_REGIME`] where null or absent.
    pub(super) regime: u32,
    pub(super) origin: u32,
    pub(super) observed_at: Option<&'a [u8]>,
    pub(super) invalid_action: bool,
    pub(super) null_invalid_action: bool,
    /// NaN where not measured.
    pub(super) effective_rank: f64,
    pub(super) components: Vec<(u32, f64)>,
    /// The identity values' JSON text; empty where absent.
    pub(super) identity: [&'a [u8]; 5],
    /// Whether the identity is surely that of the row before.
    pub(super) same_identity: bool,
    /// Other keys with their values' JSON text.
    pub(super) others: Vec<(u32, &'a [u8])>,
    /// Fields whose value is of no use.
    pub(super) odd: Vec<(&'static str, Odd)>,
    pub(super) duplicate_key: bool,
}

impl Default for Cells<'_> {
    fn default() -> Self {
        Self {
            step: 0,
            reward: f64::NAN,
            regime: NO_REGIME,
            origin: NO_REGIME,
            observed_at: None,
            invalid_action: false,
            null_invalid_action: false,
            effective_rank: f64::NAN,
            components: Vec::new(),
            identity: [&[]; 5],
            same_identity: false,
            others: Vec::new(),
            odd: Vec::new(),
            duplicate_key: false,
        }
    }
}

impl Cells<'_> {
    /// The cells of a row without any field; buffers are kept.
    pub(super) fn clear(&mut self) {
        self.components.clear();
        self.others.clear();
        self.odd.clear();
        *self = Self {
            components: std::mem::take(&mut self.components),
            others: std::mem::take(&mut self.others),
            odd: std::mem::take(&mut self.odd),
            ..Self::default()
        };
    }
}
