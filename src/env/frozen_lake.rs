//! Frozen Lake, draw for draw Gymnasium's `FrozenLake-v1`: walk left (0), down (1), right (2) or up
//! (3) from `S` over the ice `F` to the goal `G`, past the holes `H`.

use super::grid::{categorical, slipped, state_number};
use super::setting::{Field, Setting};
use super::snapshot::Slot;
use super::world::{Outcome, World};
use crate::random::Rng;
use crate::space::{Space, SpaceError};
use crate::value::{Map, Value};

const SMALL: [&str; 4] = ["SFFF", "FHFH", "FFFH", "HFFG"];
const LARGE: [&str; 8] =
    ["SFFFFFFF", "FFFFFFFF", "FFFHFFFF", "FFFFFHFF", "FFFHFFFF", "FHHFFFHF", "FHFFHFHF", "FFFHFFFG"];

/// A walk over a frozen lake.
#[derive(Clone)]
pub(super) struct FrozenLake {
    map: Lake,
    is_slippery: bool,
    success_rate: f64,
    rewards: RewardSchedule,
    state: usize,
}

/// The tiles, row by row.
#[derive(Clone)]
struct Lake {
    columns: usize,
    tiles: Vec<u8>,
}

/// What reaching the goal, a hole and anything else pays.
#[derive(Clone, Copy)]
struct RewardSchedule([f64; 3]);

impl FrozenLake {
    /// The lake, and `kwargs` with a map's name (`map` unless they name one) replaced by the map.
    ///
    /// # Errors
    /// When no map has that name. A map that is not named is random in Gymnasium, and no seed
    /// repeats it; here it must be given.
    pub(super) fn new(map: &str, kwargs: &Map) -> Result<(Self, Map), String> {
        let mut kwargs = kwargs.clone();
        let name = kwargs.shift_remove("map_name").unwrap_or_else(|| map.into());
        let rows: &[&str] = match name.as_text() {
            Some("4x4") => &SMALL,
            Some("8x8") => &LARGE,
            None if name.is_null() && kwargs.get("desc").is_some_and(|desc| !desc.is_null()) => &SMALL,
            _ => return Err("`map_name` must be 4x4 or 8x8; give any other map as `desc`".to_owned()),
        };
        if kwargs.get("desc").is_none_or(Value::is_null) {
            kwargs.insert("desc".to_owned(), Value::List(rows.iter().map(|row| Value::from(*row)).collect()));
        }
        let map = Lake { columns: 1, tiles: b"S".to_vec() };
        let rewards = RewardSchedule([1.0, 0.0, 0.0]);
        Ok((Self { map, is_slippery: true, success_rate: 1.0 / 3.0, rewards, state: 0 }, kwargs))
    }
}

impl Lake {
    fn tile(&self, state: usize) -> u8 {
        self.tiles.get(state).copied().unwrap_or(b'F')
    }

    /// The state one walk away, at the edge the same.
    fn neighbour(&self, state: usize, action: i64) -> usize {
        let column = state % self.columns;
        match action {
            0 if column > 0 => state - 1,
            1 if state + self.columns < self.tiles.len() => state + self.columns,
            2 if column + 1 < self.columns => state + 1,
            3 if state >= self.columns => state - self.columns,
            _ => state,
        }
    }
}

impl Setting for Lake {
    fn get(&self) -> Value {
        let row = |tiles: &[u8]| Value::Text(tiles.iter().map(|tile| char::from(*tile)).collect());
        Value::List(self.tiles.chunks(self.columns).map(row).collect())
    }

    fn set(&mut self, value: &Value) -> Result<(), String> {
        let wrong = "must be a list of rows of one length, made of S, F, H and G, with an S";
        let rows: Option<Vec<&str>> = value.as_list().and_then(|rows| rows.iter().map(Value::as_text).collect());
        let rows = rows.ok_or_else(|| format!("{wrong}, got {}", value.kind()))?;
        let columns = rows.first().map_or(0, |row| row.len());
        let tiles = rows.concat().into_bytes();
        let sound = columns > 0
            && rows.iter().all(|row| row.len() == columns)
            && tiles.iter().all(|tile| b"SFHG".contains(tile))
            && tiles.contains(&b'S');
        if !sound {
            return Err(wrong.to_owned());
        }
        *self = Self { columns, tiles };
        Ok(())
    }
}

impl Setting for RewardSchedule {
    fn get(&self) -> Value {
        Value::List(self.0.map(Value::Float).to_vec())
    }

    fn set(&mut self, value: &Value) -> Result<(), String> {
        let numbers: Option<Vec<f64>> = value.as_list().and_then(|items| items.iter().map(Value::as_float).collect());
        let rewards = numbers.and_then(|numbers| <[f64; 3]>::try_from(numbers).ok());
        self.0 = rewards
            .filter(|rewards| rewards.iter().all(|reward| reward.is_finite()))
            .ok_or("must be three finite numbers: for the goal, a hole, anything else")?;
        Ok(())
    }
}

impl World for FrozenLake {
    const ARGUMENTS: &'static [&'static str] = &["map_name", "desc", "is_slippery", "success_rate", "reward_schedule"];

    type Action = i64;
    type Observation = [i64; 1];

    fn spaces(&self) -> Result<(Space, Space), SpaceError> {
        let states = i64::try_from(self.map.tiles.len()).unwrap_or(i64::MAX);
        Ok((Space::discrete(states, 0)?, Space::discrete(4, 0)?))
    }

    fn fields(&mut self) -> Vec<(&'static str, Field<'_>)> {
        vec![
            ("desc", Field::Other(&mut self.map)),
            ("is_slippery", Field::Flag(&mut self.is_slippery)),
            ("success_rate", Field::Share(&mut self.success_rate)),
            ("reward_schedule", Field::Other(&mut self.rewards)),
        ]
    }

    fn state(&mut self) -> Option<Vec<Slot<'_>>> {
        Some(vec![Slot::Index(&mut self.state)])
    }

    fn start(&mut self, rng: &mut Rng) {
        let tiles = &self.map.tiles;
        #[expect(clippy::cast_precision_loss, reason = "no map has 2^53 tiles")]
        let share = 1.0 / tiles.iter().filter(|tile| **tile == b'S').count() as f64;
        self.state = categorical(rng, tiles.iter().map(|tile| if *tile == b'S' { share } else { 0.0 }));
    }

    fn advance(&mut self, action: i64, rng: &mut Rng) -> Outcome {
        if matches!(self.map.tile(self.state), b'G' | b'H') {
            // Only a map that was changed under the walker's feet leaves them here.
            categorical(rng, [1.0]);
            return Outcome { reward: 0.0, terminated: true };
        }
        let failure = (1.0 - self.success_rate) / 2.0;
        let action = if self.is_slippery {
            slipped(rng, action, [failure, self.success_rate, failure])
        } else {
            categorical(rng, [1.0]);
            action
        };
        self.state = self.map.neighbour(self.state, action);
        let RewardSchedule([goal, hole, ice]) = self.rewards;
        match self.map.tile(self.state) {
            b'G' => Outcome { reward: goal, terminated: true },
            b'H' => Outcome { reward: hole, terminated: true },
            _ => Outcome { reward: ice, terminated: false },
        }
    }

    fn observe(&self) -> [i64; 1] {
        state_number(self.state)
    }
}
