//! A policy under search: parameters around a centre, judged by the returns of whole episodes.
//!
//! What all random search shares: it puts candidates into the policy, hears what their episodes
//! returned, and leaves the centre in the end. An episode that began under other parameters or
//! another regime is nobody's score.

use super::{AlgorithmError, Episode};
use crate::policy::Policy;
use crate::policy::settings::Settings;
use crate::snapshot::{self, SnapshotError};
use crate::value::Value;

/// After how many episodes of one and the same return the user is told.
const INDISTINGUISHABLE: u64 = 50;
/// The most numbers that the candidates of one comparison may be: 1 GB of them.
const MOST_NUMBERS: usize = 1 << 27;

/// The policy, the centre of the search, and what its episodes say about the task.
pub(super) struct Subject {
    name: String,
    policy: Box<dyn Policy>,
    /// What the search is centred on.
    pub(super) centre: Vec<f64>,
    spoilt: bool,
    /// Candidates were compared since judging was last begun anew.
    compared: bool,
    /// Comparisons made, episodes heard of, and the bounds of their returns.
    comparisons: u64,
    episodes: u64,
    seen: [f64; 2],
    warnings: Vec<String>,
}

impl Subject {
    /// `policy`, searched around its present parameters by `candidates` at once; notes what is in
    /// the way.
    pub(super) fn new(
        name: &str,
        settings: &mut Settings<'_>,
        policy: Box<dyn Policy>,
        candidates: usize,
    ) -> Option<Self> {
        let Some(centre) = policy.parameters().filter(|centre| !centre.is_empty()).map(<[f64]>::to_vec) else {
            settings.note("its policy has no parameters to change");
            return None;
        };
        let size = centre.len();
        if candidates.checked_mul(size).is_none_or(|numbers| numbers > MOST_NUMBERS) {
            settings.note(format!(
                "{candidates} times the policy's {size} parameters are too many numbers (most: {MOST_NUMBERS})"
            ));
        }
        Some(Self {
            name: name.to_owned(),
            policy,
            centre,
            spoilt: false,
            compared: false,
            comparisons: 0,
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

    /// Gives the policy the centre's parameters plus `offsets`, one for each.
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

    /// Gives the policy the centre's parameters.
    ///
    /// # Errors
    /// As [`Subject::play`].
    pub(super) fn play_centre(&mut self) -> Result<(), AlgorithmError> {
        self.play(std::iter::repeat(0.0))
    }

    /// Moves the centre to what the policy plays.
    pub(super) fn adopt(&mut self) {
        if let Some(parameters) = self.policy.parameters() {
            self.centre.clear();
            self.centre.extend_from_slice(parameters);
        }
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
                "each of {INDISTINGUISHABLE} episodes of different parameters returned {low}: the reward does not \
                 tell policies apart, so there is nothing to learn from it"
            ));
        }
        Some(if score.is_finite() { score } else { f64::NEG_INFINITY })
    }

    /// Candidates were compared.
    pub(super) fn compared(&mut self) {
        self.compared = true;
        self.comparisons += 1;
    }

    /// The regime shifted; whether judging is to begin anew. Where shifts come faster than
    /// comparisons, they are taken as part of the task, so that the search goes on.
    pub(super) fn shifted(&mut self) -> bool {
        let anew = std::mem::take(&mut self.compared);
        self.spoilt |= anew;
        anew
    }

    pub(super) fn take_over(&mut self, within_episode: bool) {
        self.spoilt = within_episode;
    }

    /// Leaves the centre; `needed` says how many episodes a comparison takes.
    ///
    /// # Errors
    /// As [`Subject::play`].
    pub(super) fn finish(&mut self, needed: usize) -> Result<(), AlgorithmError> {
        if self.comparisons == 0 {
            self.warnings.push(format!(
                "nothing was learned: the run has too few finished episodes ({needed} are played for a comparison)"
            ));
        }
        self.play_centre()
    }

    pub(super) fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// Everything but the policy.
    pub(super) fn snapshot(&self) -> Value {
        snapshot::state([
            ("centre", snapshot::numbers(&self.centre)),
            ("spoilt", self.spoilt.into()),
            ("compared", self.compared.into()),
            ("comparisons", snapshot::count(self.comparisons)),
            ("episodes", snapshot::count(self.episodes)),
            ("seen", snapshot::numbers(&self.seen)),
        ])
    }

    /// Goes back to a snapshot.
    ///
    /// # Errors
    /// When `state` is none of a policy of this size.
    pub(super) fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        snapshot::read_numbers_into(state, "centre", &mut self.centre)?;
        self.spoilt = snapshot::read_flag(state, "spoilt")?;
        self.compared = snapshot::read_flag(state, "compared")?;
        self.comparisons = snapshot::read_count(state, "comparisons")?;
        self.episodes = snapshot::read_count(state, "episodes")?;
        snapshot::read_numbers_into(state, "seen", &mut self.seen)
    }
}
