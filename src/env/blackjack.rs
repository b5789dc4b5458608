//! Blackjack (Sutton and Barto, example 5.1), draw for draw Gymnasium's `Blackjack-v1`: stick (0)
//! or hit (1) against a dealer who draws up to 17, from a deck that never runs out.

use super::setting::Field;
use super::snapshot::Slot;
use super::world::{Outcome, World};
use crate::random::Rng;
use crate::space::{Space, SpaceError};

/// The dealer draws below this.
const DEALER_STANDS: i64 = 17;
const MOST: i64 = 21;

/// A player's hand and a dealer's.
#[derive(Clone, Copy)]
pub(super) struct Blackjack {
    /// A win with an ace and a ten pays half as much again; not under `sab`.
    natural: bool,
    /// The book's rules: an ace and a ten beat a dealer who does not hold them.
    sab: bool,
    player: Hand,
    dealer: Hand,
    /// The dealer's open card.
    shown: i64,
}

/// Cards, as far as they matter.
#[derive(Clone, Copy, Default)]
struct Hand {
    /// The sum with every ace as 1.
    sum: i64,
    ace: bool,
    cards: i64,
}

impl Hand {
    fn draw(&mut self, rng: &mut Rng) -> i64 {
        // Thirteen kinds: ace, 2 to 10, and three faces that count 10.
        let card = (rng.integers(0, 13) + 1).min(10);
        self.sum += card;
        self.ace |= card == 1;
        self.cards += 1;
        card
    }

    fn usable_ace(self) -> bool {
        self.ace && self.sum + 10 <= MOST
    }

    fn total(self) -> i64 {
        if self.usable_ace() { self.sum + 10 } else { self.sum }
    }

    /// What counts against the other hand: nothing when the hand is bust.
    fn score(self) -> i64 {
        if self.total() > MOST { 0 } else { self.total() }
    }

    /// An ace and a ten.
    fn is_natural(self) -> bool {
        self.cards == 2 && self.ace && self.sum == 11
    }
}

impl Default for Blackjack {
    fn default() -> Self {
        Self { natural: false, sab: true, player: Hand::default(), dealer: Hand::default(), shown: 1 }
    }
}

impl Blackjack {
    /// Plays the dealer's hand and compares.
    fn stick(&mut self, rng: &mut Rng) -> f64 {
        while self.dealer.total() < DEALER_STANDS {
            self.dealer.draw(rng);
        }
        let natural = self.player.is_natural();
        if self.sab && natural && !self.dealer.is_natural() {
            return 1.0;
        }
        match self.player.score().cmp(&self.dealer.score()) {
            std::cmp::Ordering::Less => -1.0,
            std::cmp::Ordering::Equal => 0.0,
            std::cmp::Ordering::Greater if self.natural && natural && !self.sab => 1.5,
            std::cmp::Ordering::Greater => 1.0,
        }
    }
}

impl World for Blackjack {
    const ARGUMENTS: &'static [&'static str] = &["natural", "sab"];

    type Action = i64;
    type Observation = [i64; 3];

    fn spaces(&self) -> Result<(Space, Space), SpaceError> {
        let parts = [32, 11, 2].map(|n| Space::discrete(n, 0));
        let observation = Space::tuple(parts.into_iter().collect::<Result<_, _>>()?)?;
        Ok((observation, Space::discrete(2, 0)?))
    }

    fn fields(&mut self) -> Vec<(&'static str, Field<'_>)> {
        vec![("natural", Field::Flag(&mut self.natural)), ("sab", Field::Flag(&mut self.sab))]
    }

    fn state(&mut self) -> Option<Vec<Slot<'_>>> {
        let Self { player, dealer, shown, .. } = self;
        let hands = [player, dealer].into_iter();
        let slots = hands
            .flat_map(|hand| [Slot::Integer(&mut hand.sum), Slot::Flag(&mut hand.ace), Slot::Integer(&mut hand.cards)]);
        Some(slots.chain([Slot::Integer(shown)]).collect())
    }

    fn start(&mut self, rng: &mut Rng) {
        (self.player, self.dealer) = (Hand::default(), Hand::default());
        self.shown = self.dealer.draw(rng);
        self.dealer.draw(rng);
        self.player.draw(rng);
        self.player.draw(rng);
        // The reference also draws what only a picture of the open card shows: its suit, and
        // which of the faces a ten is.
        rng.integers(0, 4);
        if self.shown == 10 {
            rng.integers(0, 3);
        }
    }

    fn advance(&mut self, action: i64, rng: &mut Rng) -> Outcome {
        if action == 0 {
            return Outcome { reward: self.stick(rng), terminated: true };
        }
        self.player.draw(rng);
        let terminated = self.player.total() > MOST;
        Outcome { reward: if terminated { -1.0 } else { 0.0 }, terminated }
    }

    fn observe(&self) -> [i64; 3] {
        [self.player.total(), self.shown, i64::from(self.player.usable_ace())]
    }
}
