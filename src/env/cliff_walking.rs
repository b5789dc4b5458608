//! Cliff Walking (Sutton and Barto, example 6.6), draw for draw Gymnasium's `CliffWalking-v1`: go up
//! (0), right (1), down (2) or left (3) on a 4 x 12 grid, from the lower left corner to the lower
//! right one. The cliff between them costs 100 and leads back to the start.

use super::grid::{categorical, slipped, state_number};
use super::setting::Field;
use super::snapshot::Slot;
use super::world::{Outcome, World};
use crate::random::Rng;
use crate::space::{Space, SpaceError};

const COLUMNS: usize = 12;
const STATES: usize = 48;
const START: usize = 36;
const GOAL: usize = 47;

/// A walk along a cliff.
#[derive(Clone, Copy)]
pub(super) struct CliffWalking {
    is_slippery: bool,
    step_reward: f64,
    cliff_reward: f64,
    state: usize,
}

impl CliffWalking {
    /// The walk of `CliffWalkingSlippery-v1`.
    pub(super) fn slippery() -> Self {
        Self { is_slippery: true, ..Self::default() }
    }
}

impl Default for CliffWalking {
    fn default() -> Self {
        Self { is_slippery: false, step_reward: -1.0, cliff_reward: -100.0, state: START }
    }
}

/// The state one walk away, at the edge the same.
fn neighbour(state: usize, action: i64) -> usize {
    let column = state % COLUMNS;
    match action {
        0 if state >= COLUMNS => state - COLUMNS,
        1 if column + 1 < COLUMNS => state + 1,
        2 if state + COLUMNS < STATES => state + COLUMNS,
        3 if column > 0 => state - 1,
        _ => state,
    }
}

impl World for CliffWalking {
    const ARGUMENTS: &'static [&'static str] = &["is_slippery"];

    type Action = i64;
    type Observation = [i64; 1];

    fn spaces(&self) -> Result<(Space, Space), SpaceError> {
        Ok((Space::discrete(48, 0)?, Space::discrete(4, 0)?))
    }

    fn fields(&mut self) -> Vec<(&'static str, Field<'_>)> {
        vec![
            ("is_slippery", Field::Flag(&mut self.is_slippery)),
            ("step_reward", Field::Number(&mut self.step_reward)),
            ("cliff_reward", Field::Number(&mut self.cliff_reward)),
        ]
    }

    fn state(&mut self) -> Option<Vec<Slot<'_>>> {
        Some(vec![Slot::Index(&mut self.state)])
    }

    fn start(&mut self, rng: &mut Rng) {
        categorical(rng, [1.0]);
        self.state = START;
    }

    fn advance(&mut self, action: i64, rng: &mut Rng) -> Outcome {
        let action = if self.is_slippery {
            slipped(rng, action, [1.0 / 3.0; 3])
        } else {
            categorical(rng, [1.0]);
            action
        };
        self.state = neighbour(self.state, action);
        if (START + 1..GOAL).contains(&self.state) {
            self.state = START;
            return Outcome { reward: self.cliff_reward, terminated: false };
        }
        Outcome { reward: self.step_reward, terminated: self.state == GOAL }
    }

    fn observe(&self) -> [i64; 1] {
        state_number(self.state)
    }
}
