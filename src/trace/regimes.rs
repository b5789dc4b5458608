//! Segments and regimes counted: stretches of rows of one label, and the sum of those of each.

use crate::trace::columns::NO_REGIME;
use crate::trace::stats::{MOST_SEGMENTS, RegimeStats, Segment};
use crate::trace::tally::Tally;

/// A stretch of rows of the label at `place`.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    place: u32,
    steps: (i64, i64),
    rows: u64,
    reward: Tally,
}

/// Sums by label: at their places, and those of rows without one.
#[derive(Debug, Default)]
struct Sums {
    by_place: Vec<RegimeStats>,
    unlabelled: RegimeStats,
}

impl Sums {
    fn of(&mut self, place: u32) -> &mut RegimeStats {
        let at = place as usize;
        if place != NO_REGIME && self.by_place.len() <= at {
            self.by_place.resize(at + 1, RegimeStats::default());
        }
        self.by_place.get_mut(at).unwrap_or(&mut self.unlabelled)
    }

    fn add(&mut self, place: u32, segments: u64, rows: u64, reward: &Tally) {
        let regime = self.of(place);
        regime.segments += segments;
        regime.rows += rows;
        regime.reward.join(reward);
    }
}

/// The stretches so far.
#[derive(Debug, Default)]
pub(super) struct Regimes {
    ended: Vec<Stretch>,
    open: Option<Stretch>,
    /// Stretches that are too many to be kept.
    beyond: Sums,
    n_beyond: u64,
}

impl Regimes {
    /// Adds a row.
    #[inline]
    pub(super) fn add(&mut self, place: u32, step: i64, reward: f64) {
        match &mut self.open {
            Some(open) if open.place == place => {
                open.steps.1 = step;
                open.rows += 1;
                open.reward.add(reward);
            }
            _ => {
                let mut next = Stretch { place, steps: (step, step), rows: 1, reward: Tally::default() };
                next.reward.add(reward);
                self.open_next(next);
            }
        }
    }

    /// Adds a stretch that follows; it goes on with the open one if their labels are the same.
    fn open_next(&mut self, next: Stretch) {
        match &mut self.open {
            Some(open) if open.place == next.place => {
                open.steps.1 = next.steps.1;
                open.rows += next.rows;
                open.reward.join(&next.reward);
            }
            _ => {
                let ended = self.open.replace(next);
                self.end(ended);
            }
        }
    }

    fn end(&mut self, stretch: Option<Stretch>) {
        let Some(stretch) = stretch else { return };
        if self.ended.len() < MOST_SEGMENTS {
            self.ended.push(stretch);
        } else {
            self.n_beyond += 1;
            self.beyond.add(stretch.place, 1, stretch.rows, &stretch.reward);
        }
    }

    /// Adds what follows, whose labels are here at the places that `place_of` tells.
    pub(super) fn append(&mut self, later: Self, place_of: impl Fn(u32) -> u32) {
        for stretch in later.ended.into_iter().chain(later.open) {
            self.open_next(Stretch { place: place_of(stretch.place), ..stretch });
        }
        self.n_beyond += later.n_beyond;
        let unlabelled = later.beyond.unlabelled;
        for (place, sum) in (0..).zip(later.beyond.by_place).chain([(NO_REGIME, unlabelled)]) {
            self.beyond.add(
                if place == NO_REGIME { place } else { place_of(place) },
                sum.segments,
                sum.rows,
                &sum.reward,
            );
        }
    }

    /// The regimes, the segments, and how many segments there are.
    pub(super) fn finish(
        mut self,
        labels: Vec<String>,
        origins: Vec<Option<String>>,
    ) -> (Vec<RegimeStats>, Vec<Segment>, u64) {
        let last = self.open.take();
        self.end(last);
        let mut sums = Sums::default();
        for stretch in &self.ended {
            sums.add(stretch.place, 1, stretch.rows, &stretch.reward);
        }
        for (place, sum) in (0..).zip(&self.beyond.by_place).chain([(NO_REGIME, &self.beyond.unlabelled)]) {
            sums.add(place, sum.segments, sum.rows, &sum.reward);
        }
        let n_segments = self.ended.len() as u64 + self.n_beyond;
        let mut regimes = sums.by_place;
        regimes.resize(labels.len(), RegimeStats::default());
        for ((regime, label), origin) in regimes.iter_mut().zip(labels).zip(origins) {
            regime.label = Some(label);
            regime.origin = origin;
        }
        let unlabelled = regimes.len();
        if sums.unlabelled.rows > 0 {
            regimes.push(sums.unlabelled);
        }
        let segments = self
            .ended
            .into_iter()
            .map(|Stretch { place, steps, rows, reward }| Segment {
                regime: if place == NO_REGIME { unlabelled } else { place as usize },
                steps,
                rows,
                reward,
            })
            .collect();
        (regimes, segments, n_segments)
    }
}
