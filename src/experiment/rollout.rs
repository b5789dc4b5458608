//! The loop: steps, episodes, windows and regimes, and a trace row for each step.
//!
//! Every step goes in this order: the provider is asked (parameters and weights change before
//! the policy sees the step), the policy acts, the environment steps, the composition scores, the
//! row is written, the algorithm and the observer are told. After an episode the environment is
//! reset if more steps are to come.

use std::path::Path;
use std::rc::Rc;

use super::error::{ExperimentError, RunError};
use super::regimes::RegimeTrack;
use super::row::{StepRow, reported_time};
use crate::algorithm::{Algorithm, Episode, Window};
use crate::atomic;
use crate::config::{Record, beside};
use crate::env::{Env, Transition};
use crate::regime::{Provider, Regime};
use crate::reward::{Composition, StepClock, StepView};
use crate::trace::{Summary, Writer, WriterOptions};
use crate::value::Map;

/// What the loop is to do.
#[derive(Clone, Debug)]
pub struct Plan {
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
}

/// Everything that takes part in a run.
pub struct Rollout<'a> {
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
pub struct Output<'a> {
    /// Where to write a row for each step.
    pub traces: Option<&'a Path>,
    /// The text of the resolved configuration, to stand [beside](crate::config::beside) the trace.
    pub config: Option<&'a str>,
}

impl Output<'_> {
    /// Starts the trace, and puts the configuration beside it if it is a file.
    fn open(self, meta: &Map) -> Result<Option<Writer>, RunError> {
        let Some(path) = self.traces else { return Ok(None) };
        let writer = Writer::create(path, meta, WriterOptions::default())?;
        if let Some(config) = self.config.filter(|_| path.is_file()) {
            atomic::write_file(&beside(path), config.as_bytes())?;
        }
        Ok(Some(writer))
    }
}

/// Is told what happens; everything is optional.
pub trait Observer {
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
    pub fn check(&mut self) -> Result<(), ExperimentError> {
        RegimeTrack::new(self.env).check(self.provider, self.env, self.reward.as_deref())
    }

    /// Goes through the steps and leaves what `output` asks for. The trace is made only
    /// after the environment was reset under the first regime.
    ///
    /// # Errors
    /// When a part fails or the trace cannot be written; rows written until then stay, whole.
    pub fn run(mut self, output: Output<'_>, observer: &mut dyn Observer) -> Result<RunResult, RunError> {
        let mut state = State::new(&self);
        self.shift(&mut state)?;
        let reset = self.env.reset(Some(self.plan.seed), &mut state.observation);
        reset.map_err(|source| RunError::Env { step: 0, source })?;
        let mut writer = output.open(&self.plan.meta)?;
        let gone = self.steps(&mut state, &mut writer, observer);
        // Also after a failure: what was written so far is kept.
        let closed = writer.map(|mut writer| writer.close()).transpose();
        gone?;
        let step = state.result.steps;
        self.algorithm.finish().map_err(|source| RunError::Algorithm { step, source })?;
        state.result.warnings.extend(self.algorithm.take_warnings());
        state.result.trace = closed?;
        Ok(state.finish())
    }

    fn steps(
        &mut self,
        state: &mut State,
        writer: &mut Option<Writer>,
        observer: &mut dyn Observer,
    ) -> Result<(), RunError> {
        while state.result.steps < self.plan.total_steps {
            if observer.interrupted() {
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
        let acted = self.algorithm.policy_mut().act(&state.observation, &mut state.action);
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

/// Where the loop stands.
struct State {
    observation: crate::space::Element,
    next_observation: crate::space::Element,
    action: crate::space::Element,
    regimes: RegimeTrack,
    row: StepRow,
    clock: Rc<StepClock>,
    episode: Episode,
    window: Window,
    /// The sum of the finished episodes' returns.
    returns: f64,
    warned: bool,
    result: RunResult,
}

impl State {
    fn new(rollout: &Rollout<'_>) -> Self {
        let blank = rollout.env.observation_space().blank();
        Self {
            observation: blank.clone(),
            next_observation: blank,
            action: rollout.env.action_space().blank(),
            regimes: RegimeTrack::new(rollout.env),
            row: StepRow::new(&rollout.plan.record),
            clock: Rc::default(),
            episode: Episode::default(),
            window: Window::default(),
            returns: 0.0,
            warned: false,
            result: RunResult::default(),
        }
    }

    fn add(&mut self, reward: f64) {
        self.result.steps += 1;
        self.result.total_reward += reward;
        self.episode.steps += 1;
        self.episode.total_reward += reward;
        self.window.steps += 1;
        self.window.total_reward += reward;
    }

    fn end_episode(&mut self) {
        self.result.episodes += 1;
        self.returns += self.episode.total_reward;
        self.episode = Episode { index: self.episode.index + 1, ..Episode::default() };
    }

    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^53")]
    fn finish(self) -> RunResult {
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
