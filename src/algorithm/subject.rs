//! A policy under search: parameters around a centre, judged by the returns of whole episodes.
//!
//! What random-search algorithms share: they put candidates into the policy, hear what their
//! episodes returned, and leave the centre in the end. An episode that began under other
//! parameters or another regime is nobody's score.

use super::{AlgorithmError, Episode};
use crate::policy::Policy;
use crate::policy::settings::Settings;

/// After how many episodes of one and the same return the user is told.
const INDISTINGUISHABLE: u64 = 20;

/// The parameters to search over.
pub(super) fn parameters(settings: &mut Settings<'_>, policy: &dyn Policy) -> Option<Vec<f64>> {
    let parameters = policy.parameters().filter(|parameters| !parameters.is_empty());
    if parameters.is_none() {
        settings.note("its policy has no parameters to change");
    }
    parameters.map(<[f64]>::to_vec)
}

/// The policy, the centre of the search, and what its episodes say about the task.
pub(super) struct Subject {
    name: String,
    policy: Box<dyn Policy>,
    /// What the search is centred on.
    pub(super) centre: Vec<f64>,
    spoilt: bool,
    /// The centre was moved since judging was last begun anew.
    moved: bool,
    /// Moves of the centre, episodes heard of, and the bounds of their returns.
    moves: u64,
    episodes: u64,
    seen: [f64; 2],
    warnings: Vec<String>,
}

impl Subject {
    pub(super) fn new(name: &str, settings: &mut Settings<'_>, policy: Box<dyn Policy>) -> Option<Self> {
        let centre = parameters(settings, &*policy)?;
        Some(Self {
            name: name.to_owned(),
            policy,
            centre,
            spoilt: false,
            moved: false,
            moves: 0,
            episodes: 0,
            seen: [f64::INFINITY, f64::NEG_INFINITY],
            warnings: Vec::new(),
        })
    }

    pub(super) fn policy(&self) -> &dyn Policy {
        &*self.policy
    }

    pub(super) fn policy_mut(&mut self) -> &mut dyn Policy {
        &mut *self.policy
    }

    /// Gives the policy the centre's parameters plus `offsets`.
    ///
    /// # Errors
    /// When the policy no longer has as many parameters.
    pub(super) fn play(&mut self, offsets: impl Iterator<Item = f64>) -> Result<(), AlgorithmError> {
        let Some(slots) = self.policy.parameters_mut().filter(|slots| slots.len() == self.centre.len()) else {
            let message = "the policy's parameters changed their number".to_owned();
            return Err(AlgorithmError::Failed { name: self.name.clone(), message });
        };
        for ((slot, centre), offset) in slots.iter_mut().zip(&self.centre).zip(offsets) {
            *slot = centre + offset;
        }
        Ok(())
    }

    /// The return of an episode that counts; minus infinity for one that is not finite.
    pub(super) fn score(&mut self, episode: &Episode) -> Option<f64> {
        if std::mem::take(&mut self.spoilt) {
            return None;
        }
        let score = episode.total_reward;
        self.episodes += 1;
        self.seen = [self.seen[0].min(score), self.seen[1].max(score)];
        let [low, high] = self.seen;
        if self.episodes == INDISTINGUISHABLE && low == high {
            self.warnings.push(format!(
                "each of {INDISTINGUISHABLE} episodes of different parameters returned {low}: the reward cannot \
                 tell policies apart, so there is nothing to learn from it"
            ));
        }
        Some(if score.is_finite() { score } else { f64::NEG_INFINITY })
    }

    /// The centre was moved.
    pub(super) fn moved(&mut self) {
        self.moved = true;
        self.moves += 1;
    }

    /// The regime shifted; whether judging is to begin anew. Where shifts come faster than the
    /// centre moves, they are taken as part of the task, so that the search goes on.
    pub(super) fn shifted(&mut self) -> bool {
        let anew = std::mem::take(&mut self.moved);
        self.spoilt |= anew;
        anew
    }

    pub(super) fn take_over(&mut self, within_episode: bool) {
        self.spoilt = within_episode;
    }

    /// Leaves the centre; `needed` says how many episodes a move of it takes.
    ///
    /// # Errors
    /// As [`Subject::play`].
    pub(super) fn finish(&mut self, needed: usize) -> Result<(), AlgorithmError> {
        if self.moves == 0 {
            self.warnings.push(format!(
                "nothing was learned: the run has too few finished episodes ({needed} are played for each change)"
            ));
        }
        self.play(std::iter::repeat(0.0))
    }

    pub(super) fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }
}

/// `count` as a number to calculate with.
#[expect(clippy::cast_precision_loss, reason = "counts of episodes, steps and candidates")]
pub(super) fn number(count: usize) -> f64 {
    count as f64
}

/// Mean and standard deviation (of the population) of `numbers`; zeros of none.
pub(super) fn moments(numbers: impl Iterator<Item = f64> + Clone) -> [f64; 2] {
    let count = number(numbers.clone().count().max(1));
    let mean = numbers.clone().sum::<f64>() / count;
    let variance = numbers.map(|number| (number - mean).powi(2)).sum::<f64>() / count;
    [mean, variance.sqrt()]
}
