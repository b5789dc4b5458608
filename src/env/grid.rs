//! What the grid worlds share: drawing an outcome, and a state's number.

use crate::random::Rng;

/// The index of the first weight whose cumulative sum exceeds a draw from `[0, 1)`; 0 if none
/// does. One number is drawn even when there is one outcome only.
pub(super) fn categorical(rng: &mut Rng, weights: impl IntoIterator<Item = f64>) -> usize {
    let draw = rng.double();
    let mut sum = 0.0;
    weights
        .into_iter()
        .position(|weight| {
            sum += weight;
            sum > draw
        })
        .unwrap_or(0)
}

/// The observation of a state: its number.
pub(super) fn state_number(state: usize) -> [i64; 1] {
    [i64::try_from(state).unwrap_or(i64::MAX)]
}

/// The action taken on ice: one turn back (`index - 1`), as meant, or one turn on, with these
/// weights.
pub(super) fn slipped(rng: &mut Rng, action: i64, weights: [f64; 3]) -> i64 {
    match categorical(rng, weights) {
        0 => (action + 3) % 4,
        1 => action,
        _ => (action + 1) % 4,
    }
}
