//! The loop: steps, episodes, windows and regimes, and a trace row for each step.
//!
//! Every step goes in this order: the provider is asked (parameters and weights change before
//! the policy sees the step), the policy acts, the environment steps, the composition scores, the
//! row is written, the algorithm and the observer are told. After an episode the environment is
//! reset if more steps are to come.

mod state;

use std::path::Path;
use std::rc::Rc;

use super::checkpoint::{self, Checkpoints, Keeper};
use super::error::{ExperimentError, ResumeError, RunError};
use super::regimes::RegimeTrack;
use super::row::reported_time;
use crate::algorithm::{Algorithm, Episode, Window};
use crate::atomic;
use crate::config::{ExperimentConfig, Record, beside};
use crate::env::{Env, Transition};
use crate::regime::{Provider, Regime};
use crate::reward::{Composition, Known, StepClock, StepView};
use crate::trace::{Summary, Writer, WriterOptions};
use crate::value::Map;
use state::State;

/// What the loop is to do.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    /// The experiment's seed: the environment's first reset has it.
    pub seed: u64,
    /// The most steps.
    pub total_steps: u64,
    /// The steps of a window, at least 1.
    pub window_steps: u64,
    /// Whether an episode that ends is followed by another.
    pub auto_reset: bool,
    /// Merged into every row.
    pub meta: Map,
    /// Extra row keys to record.
    pub record: Vec<Record>,
    /// Over how many steps each effective rank of the policy's representation is measured.
    pub effective_rank: Option<u64>,
}

/// Everything that takes part in a run.
pub(crate) struct Rollout<'a> {
    /// What to do.
    pub plan: &'a Plan,
    /// The world, as it was made.
    pub env: &'a mut dyn Env,
    /// What learns, with its policy.
    pub algorithm: &'a mut dyn Algorithm,
    /// How steps are scored; `None` when the environment scores itself.
    pub reward: Option<&'a mut Composition>,
    /// When the world shifts.
    pub provider: &'a mut dyn Provider,
}

/// What a run leaves behind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Output<'a> {
    /// Where to write a row for each step.
    pub traces: Option<&'a Path>,
    /// The resolved configuration, to stand beside the trace ([`crate::config::beside`]).
    pub config: Option<&'a ExperimentConfig>,
    /// How the run is made resumable; for this it needs a configuration and a trace.
    pub checkpoints: Option<Checkpoints>,
}

impl Output<'_> {
    /// What keeps the run's checkpoints, if it can have some.
    fn keeper(&self, rollout: &Rollout<'_>) -> Result<Option<Keeper>, ResumeError> {
        let Some(checkpoints) = self.checkpoints else { return Ok(None) };
        match (self.traces, self.config) {
            (Some(trace), Some(config)) => Keeper::new(checkpoints, trace, config, rollout),
            _ if checkpoints.resume => Err(ResumeError::NoTrace),
            _ => Ok(None),
        }
    }

    /// Starts the trace, or goes on with its first `from` bytes, and puts the configuration
    /// beside it if it is a file.
    fn open(&self, meta: &Map, from: Option<(u64, Summary)>) -> Result<Option<Writer>, RunError> {
        let Some(path) = self.traces else { return Ok(None) };
        let writer = match from {
            Some(from) => Writer::resume(path, meta, WriterOptions::default(), from)?,
            None => {
                let writer = Writer::create(path, meta, WriterOptions::default())?;
                // An earlier run's checkpoint is not this one's.
                checkpoint::discard(path)?;
                writer
            }
        };
        if let Some(config) = self.config.filter(|_| path.is_file()) {
            atomic::write_file(&beside(path), config.to_document().as_bytes())?;
        }
        Ok(Some(writer))
    }
}

/// Is told what happens; everything is optional.
pub trait Observer {
    /// Before the first step, once the trace is open: `anew` unless the run goes on from a
    /// checkpoint.
    ///
    /// # Errors
    /// As [`Observer::on_step`].
    fn on_begin(&mut self, _anew: bool) -> Result<(), String> {
        Ok(())
    }

    /// After each step, with the composed reward.
    ///
    /// # Errors
    /// One line; the run stops with it. So for the others.
    fn on_step(&mut self, _step: &StepView<'_>, _reward: f64) -> Result<(), String> {
        Ok(())
    }

    /// After each finished episode.
    ///
    /// # Errors
    /// As [`Observer::on_step`].
    fn on_episode(&mut self, _episode: &Episode) -> Result<(), String> {
        Ok(())
    }

    /// After each window, with the regime in force.
    ///
    /// # Errors
    /// As [`Observer::on_step`].
    fn on_window(&mut self, _window: &Window, _regime: &Regime) -> Result<(), String> {
        Ok(())
    }

    /// Whether the run is to stop before its next step.
    fn interrupted(&self) -> bool {
        false
    }
}

/// An observer that only lets the run go on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}

/// How a run went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunResult {
    /// Steps taken.
    pub steps: u64,
    /// Finished episodes.
    pub episodes: u64,
    /// Windows, a last shorter one included.
    pub windows: u64,
    /// The sum of the rewards.
    pub total_reward: f64,
    /// The reward per step; 0 without steps.
    pub mean_reward: f64,
    /// The mean return of the finished episodes.
    pub mean_return: Option<f64>,
    /// What was written, if a trace was asked for.
    pub trace: Option<Summary>,
    /// The observer stopped the run.
    pub interrupted: bool,
    /// What the user should know, one line each.
    pub warnings: Vec<String>,
}

impl Rollout<'_> {
    /// Checks that the environment and the composition can follow the regimes that are known up
    /// front; the environment must be as it was made and is left so.
    ///
    /// # Errors
    /// When a regime sets a parameter the environment lacks or refuses, or weighs a term the
    /// composition lacks.
    pub(crate) fn check(&mut self) -> Result<(), ExperimentError> {
        RegimeTrack::new(self.env).check(self.provider, self.env, self.reward.as_deref())
    }

    /// Goes through the steps and leaves what `output` asks for. The trace is made only
    /// after the environment was reset under the first regime.
    ///
    /// # Errors
    /// When a part fails or the trace cannot be written; rows written until then stay, whole.
    pub(crate) fn run(mut self, output: Output<'_>, observer: &mut dyn Observer) -> Result<RunResult, RunError> {
        let mut state = State::new(&self);
        if self.plan.effective_rank.is_some() && self.algorithm.policy().representation().is_none() {
            state
                .result
                .warnings
                .push("effective rank: the policy has no hidden layer, so it is not measured".to_owned());
        }
        state.result.warnings.extend(crate::regime::stray_origins(&self.provider.known()));
        let mut keeper = output.keeper(&self)?;
        let resumed = self.resume(&mut state, &output, keeper.as_ref())?;
        let anew = resumed.is_none();
        let mut writer = match resumed {
            Some(writer) => Some(writer),
            None => {
                self.shift(&mut state)?;
                let told = self.algorithm.on_start(state.regimes.present());
                told.map_err(|source| RunError::Algorithm { step: 0, source })?;
                let reset = self.env.reset(Some(self.plan.seed), &mut state.observation);
                reset.map_err(|source| RunError::Env { step: 0, source })?;
                output.open(&self.plan.meta, None)?
            }
        };
        let step = state.result.steps;
        let begun = observer.on_begin(anew).map_err(|message| RunError::Callback { step, message });
        let gone = begun.and_then(|()| self.steps(&mut state, &mut writer, &mut keeper, observer));
        // Also after a failure: what was written so far is kept.
        let closed = writer.map(|mut writer| writer.close()).transpose();
        gone?;
        let step = state.result.steps;
        self.algorithm.finish().map_err(|source| RunError::Algorithm { step, source })?;
        state.result.warnings.extend(self.algorithm.take_warnings());
        state.result.trace = closed?;
        Ok(state.finish())
    }

    /// Goes back to the checkpoint that the run is to go on from; `None` where there is none.
    fn resume(
        &mut self,
        state: &mut State,
        output: &Output<'_>,
        keeper: Option<&Keeper>,
    ) -> Result<Option<Writer>, RunError> {
        let Some(keeper) = keeper.filter(|_| output.checkpoints.is_some_and(|checkpoints| checkpoints.resume)) else {
            return Ok(None);
        };
        let Some(checkpoint) = keeper.read()? else { return Ok(None) };
        let restored = checkpoint.restore(self).and_then(|saved| state.restore(self, saved));
        restored.map_err(|error| keeper.misfit(&error))?;
        output.open(&self.plan.meta, Some((checkpoint.length, checkpoint.written)))
    }

    /// Writes a checkpoint, between two steps. Where a part can no longer be saved, the user is
    /// told and there are no more.
    fn checkpoint(
        &mut self,
        state: &mut State,
        writer: &mut Option<Writer>,
        keeper: &mut Option<Keeper>,
    ) -> Result<(), RunError> {
        let (Some(open), Some(kept)) = (writer, &mut *keeper) else { return Ok(()) };
        open.flush()?;
        state.result.warnings.extend(self.algorithm.take_warnings());
        if let Err(error) = kept.keep(self, state.snapshot(), open.summary())? {
            state.result.warnings.push(format!("step {}: no more checkpoints: {error}", state.result.steps));
            *keeper = None;
        }
        Ok(())
    }

    fn steps(
        &mut self,
        state: &mut State,
        writer: &mut Option<Writer>,
        keeper: &mut Option<Keeper>,
        observer: &mut dyn Observer,
    ) -> Result<(), RunError> {
        while state.result.steps < self.plan.total_steps {
            let interrupted = observer.interrupted();
            let window_ended = state.window.steps == 0 && state.result.steps > 0;
            let due = |keeper: &Keeper| interrupted || (window_ended && keeper.due(state.result.windows));
            if keeper.as_ref().is_some_and(due) {
                self.checkpoint(state, writer, keeper)?;
            }
            if interrupted {
                state.result.interrupted = true;
                break;
            }
            if state.result.steps > 0 && self.shift(state)? {
                let step = state.result.steps;
                let told = self.algorithm.on_shift(state.regimes.present());
                told.map_err(|source| RunError::Algorithm { step, source })?;
            }
            let ended = self.step(state, writer, observer)?;
            if ended && !self.plan.auto_reset {
                break;
            }
            if ended && state.result.steps < self.plan.total_steps {
                let step = state.result.steps;
                let reset = self.env.reset(None, &mut state.observation);
                reset.map_err(|source| RunError::Env { step, source })?;
            }
        }
        if state.window.steps > 0 { self.end_window(state, observer) } else { Ok(()) }
    }

    /// Asks the provider and puts a new regime in force; whether it has another label than the one
    /// before, or none: what moves under one label, as in a drift, is no shift.
    fn shift(&mut self, state: &mut State) -> Result<bool, RunError> {
        let step = state.result.steps;
        let regime = self.provider.shift(step).map_err(|source| RunError::Provider { step, source })?;
        let Some(regime) = regime else { return Ok(false) };
        let same = regime.id.is_some() && regime.id == state.regimes.present().id;
        let shifted = state.regimes.shift(regime, self.env, self.reward.as_deref_mut());
        shifted.map_err(|source| RunError::Regime { step, source: Box::new(source) })?;
        state.row.label(state.regimes.present());
        Ok(!same)
    }

    /// One step; whether it ended the episode.
    fn step(
        &mut self,
        state: &mut State,
        writer: &mut Option<Writer>,
        observer: &mut dyn Observer,
    ) -> Result<bool, RunError> {
        let step = state.result.steps;
        let acted = self.algorithm.act(&state.observation, &mut state.action);
        acted.map_err(|source| RunError::Policy { step, source })?;
        let stepped = self.env.step(&state.action, &mut state.next_observation);
        let Transition { reward: env_reward, terminated, truncated, info } =
            stepped.map_err(|source| RunError::Env { step, source })?;
        if let Some(time) = reported_time(&info) {
            state.clock = Rc::new(StepClock::fixed(time.to_owned()));
        }
        if !env_reward.is_finite() && !std::mem::replace(&mut state.warned, true) {
            let number = crate::text::number::float_text(env_reward);
            state.result.warnings.push(format!("step {step}: the environment's reward is {number} (told once)"));
        }
        let view = StepView {
            step,
            observation: &state.observation,
            action: &state.action,
            next_observation: &state.next_observation,
            env_reward,
            terminated,
            truncated,
            info: &info,
            regime_id: state.regimes.present().id.as_deref(),
            clock: &state.clock,
            known: Known::ALL,
        };
        let row = &mut state.row.row;
        let reward = match &mut self.reward {
            Some(reward) => reward.score(&view, &mut row.reward_components, &mut row.reward_detail)?,
            None => env_reward,
        };
        row.reward = reward;
        row.observed_at = reported_time(&info).or_else(|| state.clock.observed()).map(str::to_owned);
        if let Some(writer) = writer {
            state.row.fill(&view);
            state.row.measure(self.algorithm.policy().representation());
            writer.write(&state.row.row)?;
        }
        self.algorithm.on_step(&view, reward).map_err(|source| RunError::Algorithm { step, source })?;
        observer.on_step(&view, reward).map_err(|message| RunError::Callback { step, message })?;
        if state.row.row.observed_at.is_some() {
            state.clock = Rc::default();
        }
        std::mem::swap(&mut state.observation, &mut state.next_observation);
        state.add(reward);
        let ended = terminated || truncated;
        if ended {
            state.episode.terminated = terminated;
            state.episode.truncated = truncated;
            let told = self.algorithm.on_episode(&state.episode);
            told.map_err(|source| RunError::Algorithm { step, source })?;
            observer.on_episode(&state.episode).map_err(|message| RunError::Callback { step, message })?;
            state.end_episode();
        }
        if state.window.steps == self.plan.window_steps {
            self.end_window(state, observer)?;
        }
        Ok(ended)
    }

    fn end_window(&mut self, state: &mut State, observer: &mut dyn Observer) -> Result<(), RunError> {
        let step = state.result.steps.saturating_sub(1);
        state.window.done = state.result.steps;
        self.algorithm.on_window(&state.window).map_err(|source| RunError::Algorithm { step, source })?;
        let told = observer.on_window(&state.window, state.regimes.present());
        told.map_err(|message| RunError::Callback { step, message })?;
        state.result.warnings.extend(self.algorithm.take_warnings());
        state.result.windows += 1;
        state.window = Window { index: state.window.index + 1, ..Window::default() };
        Ok(())
    }
}
