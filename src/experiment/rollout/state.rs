//! Where the loop stands between two steps.

use std::rc::Rc;

use super::{Rollout, RunResult};
use crate::algorithm::{Episode, Window};
use crate::experiment::regimes::RegimeTrack;
use crate::experiment::row::StepRow;
use crate::regime::{regime_from_value, regime_to_value};
use crate::reward::StepClock;
use crate::snapshot::{self, SnapshotError};
use crate::space::Element;
use crate::value::Value;

/// Where the loop stands.
pub(super) struct State {
    pub(super) observation: Element,
    pub(super) next_observation: Element,
    pub(super) action: Element,
    pub(super) regimes: RegimeTrack,
    pub(super) row: StepRow,
    pub(super) clock: Rc<StepClock>,
    pub(super) episode: Episode,
    pub(super) window: Window,
    /// The sum of the finished episodes' returns.
    returns: f64,
    pub(super) warned: bool,
    pub(super) result: RunResult,
}

impl State {
    pub(super) fn new(rollout: &Rollout<'_>) -> Self {
        let blank = rollout.env.observation_space().blank();
        Self {
            observation: blank.clone(),
            next_observation: blank,
            action: rollout.env.action_space().blank(),
            regimes: RegimeTrack::new(rollout.env),
            row: StepRow::new(&rollout.plan.record, rollout.plan.effective_rank),
            clock: Rc::default(),
            episode: Episode::default(),
            window: Window::default(),
            returns: 0.0,
            warned: false,
            result: RunResult::default(),
        }
    }

    pub(super) fn add(&mut self, reward: f64) {
        self.result.steps += 1;
        self.result.total_reward += reward;
        self.episode.steps += 1;
        self.episode.total_reward += reward;
        self.window.steps += 1;
        self.window.total_reward += reward;
    }

    pub(super) fn end_episode(&mut self) {
        self.result.episodes += 1;
        self.returns += self.episode.total_reward;
        self.episode = Episode { index: self.episode.index + 1, ..Episode::default() };
    }

    /// The loop's own part of a checkpoint.
    pub(super) fn snapshot(&self) -> Value {
        let warnings = self.result.warnings.iter().map(|line| Value::from(line.as_str())).collect::<Vec<_>>();
        snapshot::state([
            ("observation", self.observation.to_value()),
            ("regime", regime_to_value(self.regimes.present())),
            ("episode", tally(self.episode.index, self.episode.steps, self.episode.total_reward)),
            ("window", tally(self.window.index, self.window.steps, self.window.total_reward)),
            ("run", tally(self.result.episodes, self.result.steps, self.result.total_reward)),
            ("returns", self.returns.into()),
            ("effective_rank", self.row.snapshot()),
            ("warned", self.warned.into()),
            ("warnings", warnings.into()),
        ])
    }

    /// Goes back to a checkpoint; the world's parameters are for the environment to restore.
    ///
    /// # Errors
    /// When `state` is not what a loop over the same spaces saved.
    pub(super) fn restore(&mut self, rollout: &mut Rollout<'_>, state: &Value) -> Result<(), SnapshotError> {
        let observation = snapshot::entry(state, "observation")?;
        let observation = rollout.env.observation_space().element(observation, "observation");
        self.observation = observation.map_err(|_| snapshot::damaged("observation"))?;
        let regime = regime_from_value(snapshot::entry(state, "regime")?, "regime");
        let regime = regime.map_err(|_| snapshot::damaged("regime"))?;
        if let Some(reward) = &mut rollout.reward {
            reward.set_weights(&regime.reward).map_err(|_| snapshot::damaged("regime"))?;
        }
        self.row.label(&regime);
        self.row.restore(snapshot::entry(state, "effective_rank")?)?;
        self.regimes.resume(regime);
        let (index, steps, total_reward) = read_tally(state, "episode")?;
        self.episode = Episode { index, steps, total_reward, ..Episode::default() };
        let (index, steps, total_reward) = read_tally(state, "window")?;
        self.window = Window { index, steps, total_reward, ..Window::default() };
        let (episodes, steps, total_reward) = read_tally(state, "run")?;
        let warnings = |list: &Value| list.as_list()?.iter().map(|line| line.as_text().map(str::to_owned)).collect();
        let warnings = snapshot::read(state, "warnings", warnings)?;
        self.result = RunResult { episodes, steps, total_reward, windows: index, warnings, ..RunResult::default() };
        self.returns = snapshot::read_number(state, "returns")?;
        self.warned = snapshot::read_flag(state, "warned")?;
        Ok(())
    }

    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
    pub(super) fn finish(self) -> RunResult {
        let mut result = self.result;
        if result.steps > 0 {
            result.mean_reward = result.total_reward / result.steps as f64;
        }
        if result.episodes > 0 {
            result.mean_return = Some(self.returns / result.episodes as f64);
        }
        result
    }
}

fn tally(index: u64, steps: u64, total_reward: f64) -> Value {
    snapshot::state([
        ("index", snapshot::count(index)),
        ("steps", snapshot::count(steps)),
        ("total_reward", total_reward.into()),
    ])
}

fn read_tally(state: &Value, key: &str) -> Result<(u64, u64, f64), SnapshotError> {
    let tally = snapshot::entry(state, key)?;
    Ok((
        snapshot::read_count(tally, "index")?,
        snapshot::read_count(tally, "steps")?,
        snapshot::read_number(tally, "total_reward")?,
    ))
}
