//! Controls for continual learning: what any algorithm would reach if it forgot everything at a
//! shift, or if it were told which regime is in force.
//!
//! `NAME+reset_at_shift` begins anew whenever the regime changes, policy and all, as at the
//! run's start: nothing is kept, so it is the floor for whatever forgets and the yardstick for
//! whatever claims to transfer. `NAME+oracle_per_regime` has a learner of its own for each regime
//! and takes it up where it was left: nothing is forgotten, so it is the ceiling.
//!
//! Two regimes are the same if their origins are, or where there is none their ids; a change
//! of parameters under one id is part of that regime. Each learner hears only of the steps it took
//! itself; of an episode during which it came into force, the end is not its own to judge.

use indexmap::IndexMap;

use super::{Algorithm, AlgorithmError, Episode, Window};
use crate::policy::{Policy, PolicyError};
use crate::regime::Regime;
use crate::reward::StepView;
use crate::snapshot::{self, SnapshotError};
use crate::space::Element;
use crate::value::Value;

/// What happens at a shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// The learner begins anew.
    Reset,
    /// Each regime has its own learner.
    Oracle,
}

impl Control {
    /// Both, by the name that follows an algorithm's and a `+`.
    pub const NAMES: [(&str, Self); 2] = [("reset_at_shift", Self::Reset), ("oracle_per_regime", Self::Oracle)];
}

/// Makes the learner as it is at the run's start.
pub type Maker = Box<dyn Fn() -> Result<Box<dyn Algorithm>, AlgorithmError>>;

/// The learners that `make` makes, under `control`.
///
/// # Errors
/// When the first one cannot be made.
pub fn controlled(control: Control, make: Maker) -> Result<Box<dyn Algorithm>, AlgorithmError> {
    let present = make()?;
    Ok(Box::new(Controlled {
        control,
        make,
        present,
        regime: None,
        resting: IndexMap::new(),
        within_episode: false,
        warnings: Vec::new(),
        told: Vec::new(),
    }))
}

struct Controlled {
    control: Control,
    make: Maker,
    /// The learner of the present regime, and which one that is.
    present: Box<dyn Algorithm>,
    regime: Option<String>,
    /// The other regimes' learners.
    resting: IndexMap<Option<String>, Box<dyn Algorithm>>,
    within_episode: bool,
    /// What the learners say that the user was not told: they repeat each other.
    warnings: Vec<String>,
    told: Vec<String>,
}

impl Controlled {
    /// Hears what the present learner says, before it goes or is asked.
    fn hear(&mut self) {
        for warning in self.present.take_warnings() {
            if !self.told.contains(&warning) {
                self.told.push(warning.clone());
                self.warnings.push(warning);
            }
        }
    }
}

/// What makes two regimes the same.
fn identity(regime: &Regime) -> Option<String> {
    regime.origin.clone().or_else(|| regime.id.clone())
}

impl Algorithm for Controlled {
    fn policy(&self) -> &dyn Policy {
        self.present.policy()
    }

    fn policy_mut(&mut self) -> &mut dyn Policy {
        self.present.policy_mut()
    }

    fn act(&mut self, observation: &Element, action: &mut Element) -> Result<(), PolicyError> {
        self.present.act(observation, action)
    }

    fn on_start(&mut self, regime: &Regime) -> Result<(), AlgorithmError> {
        self.regime = identity(regime);
        self.present.on_start(regime)
    }

    fn on_step(&mut self, step: &StepView<'_>, reward: f64) -> Result<(), AlgorithmError> {
        self.within_episode = true;
        self.present.on_step(step, reward)
    }

    fn on_episode(&mut self, episode: &Episode) -> Result<(), AlgorithmError> {
        self.within_episode = false;
        self.present.on_episode(episode)
    }

    fn on_window(&mut self, window: &Window) -> Result<(), AlgorithmError> {
        self.present.on_window(window)
    }

    fn on_shift(&mut self, regime: &Regime) -> Result<(), AlgorithmError> {
        let entered = identity(regime);
        if entered == self.regime {
            return self.present.on_shift(regime);
        }
        self.hear();
        let known = self.resting.swap_remove(&entered);
        let mut present = match known {
            Some(learner) => learner,
            None => {
                let mut learner = (self.make)()?;
                learner.on_start(regime)?;
                learner
            }
        };
        present.take_over(self.within_episode);
        let left = std::mem::replace(&mut self.regime, entered);
        let resting = std::mem::replace(&mut self.present, present);
        if self.control == Control::Oracle {
            self.resting.insert(left, resting);
        }
        Ok(())
    }

    fn take_over(&mut self, within_episode: bool) {
        self.within_episode = within_episode;
        self.present.take_over(within_episode);
    }

    fn finish(&mut self) -> Result<(), AlgorithmError> {
        self.present.finish()
    }

    /// The present learner's policy is saved as every algorithm's is.
    fn snapshot(&self) -> Result<Value, SnapshotError> {
        let resting = self.resting.iter().map(|(regime, learner)| {
            Ok(snapshot::state([
                ("regime", regime.clone().into()),
                ("policy", learner.policy().snapshot()?),
                ("algorithm", learner.snapshot()?),
            ]))
        });
        Ok(snapshot::state([
            ("regime", self.regime.clone().into()),
            ("present", self.present.snapshot()?),
            ("resting", resting.collect::<Result<Vec<_>, _>>()?.into()),
            ("within_episode", self.within_episode.into()),
            ("told", self.told.iter().map(|line| Value::from(line.as_str())).collect::<Vec<_>>().into()),
        ]))
    }

    fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        let text = |value: &Value| value.as_text().map(str::to_owned);
        self.regime = snapshot::read_optional(state, "regime", text)?;
        self.present.restore(snapshot::entry(state, "present")?)?;
        self.resting.clear();
        for state in snapshot::read(state, "resting", Value::as_list)? {
            let mut learner = (self.make)().map_err(|_| snapshot::damaged("resting"))?;
            learner.policy_mut().restore(snapshot::entry(state, "policy")?)?;
            learner.restore(snapshot::entry(state, "algorithm")?)?;
            self.resting.insert(snapshot::read_optional(state, "regime", text)?, learner);
        }
        self.within_episode = snapshot::read_flag(state, "within_episode")?;
        self.told = snapshot::read(state, "told", |list| list.as_list()?.iter().map(text).collect())?;
        Ok(())
    }

    fn take_warnings(&mut self) -> Vec<String> {
        self.hear();
        std::mem::take(&mut self.warnings)
    }
}
