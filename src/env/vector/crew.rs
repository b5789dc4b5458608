//! The copies themselves: who owns which, and the loop that steps them.

use rayon::prelude::*;

use super::{Action, Actions, Batch, Observation};
use crate::array::{Array, DType, Item};
use crate::env::EnvError;
use crate::env::episode::{Episode, Phase, Step};
use crate::env::world::{World, WorldAction, WorldObservation};
use crate::space::Space;
use crate::value::{Map, Value};

/// Fewer steps than these are done before another thread would have woken up.
const FEWEST_STEPS: usize = 4096;
/// Shares a thread: more than one, so that an idle thread can take over from a busy core.
const SHARES: usize = 4;

/// Copies of a world that is not named.
pub(super) trait Copies: Send {
    /// The dtype and the axes of one observation within the batch.
    fn observation_layout(&self) -> (DType, Option<usize>);

    fn reset(&mut self, seed: Option<u64>, options: &Map, observations: &mut Array) -> Result<(), EnvError>;

    /// Whether given actions fit, in number and in kind.
    fn check(&self, actions: Actions<'_>, steps: usize) -> Result<(), EnvError>;

    /// Takes `steps` checked steps into `batch`, which has their shape.
    fn step(&mut self, actions: Actions<'_>, steps: usize, batch: &mut Batch) -> Result<(), EnvError>;

    fn parameters(&self) -> Map;

    fn set_parameter(&mut self, name: &str, value: &Value) -> Result<(), EnvError>;
}

/// Copies of the world `W`.
pub(super) struct Crew<W: World> {
    copies: Vec<Member<W>>,
    action_space: Space,
    id: &'static str,
}

/// One copy.
struct Member<W: World> {
    episode: Episode<W>,
    observation: W::Observation,
}

/// An action outside the action space, and where it was chosen.
struct Refused {
    copy: usize,
    step: usize,
    action: String,
}

/// Where the workers' actions come from.
#[derive(Clone, Copy)]
enum Source<'a, A> {
    Given(&'a [A]),
    Policy(&'a (dyn Fn(usize, Observation<'_>) -> Action + Sync)),
}

/// A run of neighbouring copies, and where what happens to them is written.
struct Share<'a, W: World> {
    first: usize,
    copies: &'a mut [Member<W>],
    observations: &'a mut [<W::Observation as WorldObservation>::Number],
    rewards: &'a mut [f64],
    terminated: &'a mut [bool],
    truncated: &'a mut [bool],
}

impl<W: World> Crew<W> {
    pub(super) fn new(episode: Episode<W>, action_space: Space, n: usize) -> Result<Self, EnvError> {
        let id = episode.id;
        let problem = |message: &str| EnvError::Argument { id: id.to_owned(), message: message.to_owned() };
        if n == 0 {
            return Err(problem("a vector needs at least one copy"));
        }
        let mut copies = Vec::new();
        copies.try_reserve_exact(n).map_err(|_| problem(&format!("memory does not hold {n} copies")))?;
        copies.extend((0..n).map(|_| Member { observation: episode.observe(), episode: episode.clone() }));
        Ok(Self { copies, action_space, id })
    }

    /// How many neighbouring copies make a share: all of them when the work is small.
    fn share(&self, steps: usize) -> usize {
        let even = self.copies.len().div_ceil(rayon::current_num_threads() * SHARES);
        even.max(FEWEST_STEPS.div_ceil(steps.max(1))).min(self.copies.len())
    }

    fn outside(&self, Refused { copy, step, action }: Refused) -> EnvError {
        let (id, space) = (self.id.to_owned(), self.action_space.to_string());
        EnvError::CopyAction { id, copy, step, action, space }
    }
}

impl<W: World> Copies for Crew<W> {
    fn observation_layout(&self) -> (DType, Option<usize>) {
        let dtype = <W::Observation as WorldObservation>::Number::DTYPE;
        // A discrete observation is a number, without an axis of its own.
        let axis = (dtype != DType::I64 || W::Observation::WIDTH > 1).then_some(W::Observation::WIDTH);
        (dtype, axis)
    }

    fn reset(&mut self, seed: Option<u64>, options: &Map, observations: &mut Array) -> Result<(), EnvError> {
        let slots = observations.as_slice_mut().unwrap_or_default();
        let rows = slots.par_chunks_mut(W::Observation::WIDTH);
        let members = self.copies.par_iter_mut().zip(rows).enumerate().with_min_len(256);
        members.try_for_each(|(copy, (member, row))| {
            let seed = seed.map(|seed| seed.wrapping_add(copy as u64));
            member.observation = match options.is_empty() {
                true => member.episode.reset(seed),
                false => member.episode.reset_with(seed, options)?,
            };
            row.copy_from_slice(member.observation.numbers());
            Ok(())
        })
    }

    fn check(&self, actions: Actions<'_>, steps: usize) -> Result<(), EnvError> {
        let problem = |message: String| EnvError::Argument { id: self.id.to_owned(), message };
        let given = match (actions, W::Action::given(actions)) {
            (Actions::Policy(_), _) => return Ok(()),
            (_, Some(given)) => given,
            (_, None) => return Err(problem(format!("these actions are not elements of {}", self.action_space))),
        };
        let copies = self.copies.len();
        if copies.checked_mul(steps) != Some(given.len()) {
            return Err(problem(format!("got {} actions for {copies} copies and {steps} steps", given.len())));
        }
        match given.iter().position(|action| !action.fits(&self.action_space)) {
            Some(index) => {
                let action = given.get(index).map(W::Action::to_string).unwrap_or_default();
                Err(self.outside(Refused { copy: index / steps, step: index % steps, action }))
            }
            None => Ok(()),
        }
    }

    fn step(&mut self, actions: Actions<'_>, steps: usize, batch: &mut Batch) -> Result<(), EnvError> {
        if steps == 0 {
            return Ok(());
        }
        let source = match (actions, W::Action::given(actions)) {
            (Actions::Policy(policy), _) => Source::Policy(policy),
            (_, given) => Source::Given(given.unwrap_or_default()),
        };
        let share = self.share(steps);
        let width = W::Observation::WIDTH;
        let observations = batch.observations.as_slice_mut().unwrap_or_default();
        let rewards = batch.rewards.as_f64_mut().unwrap_or_default();
        let terminated = batch.terminated.as_bool_mut().unwrap_or_default();
        let truncated = batch.truncated.as_bool_mut().unwrap_or_default();
        let space = &self.action_space;
        let refused = if share == self.copies.len() {
            let copies = self.copies.as_mut_slice();
            Share { first: 0, copies, observations, rewards, terminated, truncated }.run(source, steps, space)
        } else {
            let flags = terminated.par_chunks_mut(share * steps).zip(truncated.par_chunks_mut(share * steps));
            let rows = observations.par_chunks_mut(share * steps * width).zip(rewards.par_chunks_mut(share * steps));
            let shares = self.copies.par_chunks_mut(share).zip(rows).zip(flags).enumerate();
            shares
                .map(|(number, ((copies, (observations, rewards)), (terminated, truncated)))| {
                    let first = number * share;
                    Share { first, copies, observations, rewards, terminated, truncated }.run(source, steps, space)
                })
                .reduce(|| None, earlier)
        };
        refused.map_or(Ok(()), |refused| Err(self.outside(refused)))
    }

    fn parameters(&self) -> Map {
        self.copies.first().map(|member| member.episode.parameters()).unwrap_or_default()
    }

    fn set_parameter(&mut self, name: &str, value: &Value) -> Result<(), EnvError> {
        self.copies.iter_mut().try_for_each(|member| member.episode.set_parameter(name, value))
    }
}

/// The refusal of the copy with the lower number, whoever was first in time.
fn earlier(left: Option<Refused>, right: Option<Refused>) -> Option<Refused> {
    left.or(right)
}

impl<W: World> Share<'_, W> {
    /// Takes each copy through all its steps; stops at the first action that is refused.
    fn run(self, source: Source<'_, W::Action>, steps: usize, space: &Space) -> Option<Refused> {
        let width = W::Observation::WIDTH;
        let rows = self.observations.chunks_exact_mut(steps * width).zip(self.rewards.chunks_exact_mut(steps));
        let flags = self.terminated.chunks_exact_mut(steps).zip(self.truncated.chunks_exact_mut(steps));
        for (offset, ((member, (row, rewards)), (terminated, truncated))) in
            self.copies.iter_mut().zip(rows).zip(flags).enumerate()
        {
            let copy = self.first + offset;
            let flags = terminated.iter_mut().zip(truncated.iter_mut());
            let slots = row.chunks_exact_mut(width).zip(rewards.iter_mut()).zip(flags);
            for (step, ((slot, reward), (terminated, truncated))) in slots.enumerate() {
                let action = || source.action::<W>(copy, step, steps, &member.observation, space);
                let brought = match member.episode.phase() {
                    Phase::Running => match action() {
                        Ok(action) => member.advance(action),
                        Err(action) => return Some(Refused { copy, step, action }),
                    },
                    Phase::Ended | Phase::Unstarted => member.begin(),
                };
                slot.copy_from_slice(member.observation.numbers());
                (*reward, *terminated, *truncated) = (brought.reward, brought.terminated, brought.truncated);
            }
        }
        None
    }
}

impl<W: World> Member<W> {
    #[inline]
    fn advance(&mut self, action: W::Action) -> Step {
        let step = self.episode.step(action);
        self.observation = self.episode.observe();
        step
    }

    fn begin(&mut self) -> Step {
        self.observation = self.episode.reset(None);
        Step { reward: 0.0, terminated: false, truncated: false }
    }
}

impl<A: WorldAction> Source<'_, A> {
    /// The action of a copy at a step; as text if the action space does not hold it.
    #[inline]
    fn action<W: World>(
        self,
        copy: usize,
        step: usize,
        steps: usize,
        observation: &W::Observation,
        space: &Space,
    ) -> Result<A, String> {
        let action = match self {
            Self::Given(all) => return all.get(copy * steps + step).copied().ok_or_else(String::new),
            Self::Policy(policy) => policy(copy, observation.view()),
        };
        A::chosen(action).filter(|action| action.fits(space)).ok_or_else(|| match action {
            Action::Discrete(action) => action.to_string(),
            Action::Continuous(action) => action.to_string(),
        })
    }
}
