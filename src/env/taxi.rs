//! The taxi (Dietterich 2000), draw for draw Gymnasium's `Taxi-v3` (as of 1.2) and `Taxi-v4`: drive south (0), north (1), east (2) or west (3) on a 5 x 5 grid with walls, pick
//! up (4) and drop off (5) a passenger at one of four stands.

use super::grid::categorical;
use super::setting::Field;
use super::snapshot::Slot;
use super::world::{Outcome, World};
use crate::random::Rng;
use crate::space::{Space, SpaceError};

/// The stands: row and column.
const STANDS: [(i64, i64); 4] = [(0, 0), (0, 4), (4, 0), (4, 3)];
/// The place of a passenger who sits in the taxi.
const ABOARD: i64 = 4;
const LAST: i64 = 4;

/// A taxi and its passenger. The versions differ in the rain: where the third drifts to, and that
/// its chances are fixed.
#[derive(Clone, Copy)]
pub(super) struct Taxi<const VERSION: u8> {
    is_rainy: bool,
    fickle_passenger: bool,
    rainy_probability: f64,
    fickle_probability: f64,
    /// The passenger will think again on the way.
    undecided: bool,
    place: Place,
}

#[derive(Clone, Copy)]
struct Place {
    row: i64,
    column: i64,
    passenger: i64,
    goal: i64,
}

impl Place {
    fn from_state(state: i64) -> Self {
        Self { row: state / 100, column: state / 20 % 5, passenger: state / 4 % 5, goal: state % 4 }
    }

    fn state(self) -> i64 {
        ((self.row * 5 + self.column) * 5 + self.passenger) * 4 + self.goal
    }

    /// The stand the taxi is at.
    fn stand(self) -> Option<i64> {
        let stand = STANDS.iter().position(|stand| *stand == (self.row, self.column))?;
        i64::try_from(stand).ok()
    }
}

impl<const VERSION: u8> Default for Taxi<VERSION> {
    fn default() -> Self {
        Self {
            is_rainy: false,
            fickle_passenger: false,
            rainy_probability: 0.8,
            fickle_probability: 0.3,
            undecided: false,
            place: Place::from_state(0),
        }
    }
}

/// Whether one can drive between `column` and the next one east.
fn open(row: i64, column: i64) -> bool {
    (0..LAST).contains(&column) && !matches!((row, column), (0 | 1, 1) | (3 | 4, 0 | 2))
}

/// Whether the way out of a cell in direction `action` is open.
fn passable(row: i64, column: i64, action: i64) -> bool {
    match action {
        0 => row < LAST,
        1 => row > 0,
        2 => open(row, column),
        _ => open(row, column - 1),
    }
}

/// The cell in direction `action`.
fn beside(row: i64, column: i64, action: i64) -> (i64, i64) {
    match action {
        0 => (row + 1, column),
        1 => (row - 1, column),
        2 => (row, column + 1),
        _ => (row, column - 1),
    }
}

/// Where rain drifts a fourth taxi. The reference looks for the wall at the new cell's *near*
/// side.
fn drifted(row: i64, column: i64, action: i64) -> (i64, i64) {
    let (to_row, to_column) = beside(row, column, action);
    let (to_row, to_column) = (to_row.clamp(0, LAST), to_column.clamp(0, LAST));
    match action {
        2 if !open(to_row, to_column - 1) => (row, column),
        3 if !open(to_row, to_column) => (row, column),
        _ => (to_row, to_column),
    }
}

/// Where rain drifts a third taxi. The reference looks for a wall east of the new cell when it
/// drifts left and west of it when it drifts right, whatever the direction.
fn drifted_v3(row: i64, column: i64, action: i64, left: bool) -> (i64, i64) {
    let (to_row, to_column) = beside(row, column, action);
    let (to_row, to_column) = (to_row.clamp(0, LAST), to_column.clamp(0, LAST));
    let free = if left { open(to_row, to_column) } else { open(to_row, to_column - 1) };
    if free { (to_row, to_column) } else { (row, column) }
}

impl<const VERSION: u8> Taxi<VERSION> {
    /// Drives in direction `action`, drifting left or right in the rain.
    fn drive(&mut self, action: i64, rng: &mut Rng) {
        let Place { row, column, .. } = self.place;
        let choice = if self.is_rainy {
            // The third version's chances are written down, not computed.
            let aside = if VERSION == 3 { 0.1 } else { (1.0 - self.rainy_probability) / 2.0 };
            categorical(rng, [self.rainy_probability, aside, aside])
        } else {
            categorical(rng, [1.0])
        };
        let (left, right) = match action {
            0 => (2, 3),
            1 => (3, 2),
            2 => (1, 0),
            _ => (0, 1),
        };
        let cell = match (VERSION, choice) {
            // In the third version the border stops a taxi without keeping it from drifting.
            (3, _) if self.is_rainy && action < 2 => match choice {
                0 => ((row + 1 - 2 * action).clamp(0, LAST), column),
                1 => drifted_v3(row, column, 3, true),
                _ => drifted_v3(row, column, 2, false),
            },
            _ if !passable(row, column, action) => (row, column),
            (_, 0) => beside(row, column, action),
            (3, 1) => drifted_v3(row, column, 0, true),
            (3, _) => drifted_v3(row, column, 1, false),
            (_, 1) => drifted(row, column, left),
            (_, _) => drifted(row, column, right),
        };
        (self.place.row, self.place.column) = cell;
    }

    /// The reward of picking up the passenger.
    fn pick_up(&mut self) -> f64 {
        if self.place.passenger != ABOARD && self.place.stand() == Some(self.place.passenger) {
            self.place.passenger = ABOARD;
            return -1.0;
        }
        -10.0
    }

    fn drop_off(&mut self) -> Outcome {
        match self.place.stand() {
            Some(stand) if self.place.passenger == ABOARD => {
                self.place.passenger = stand;
                let terminated = stand == self.place.goal;
                Outcome { reward: if terminated { 20.0 } else { -1.0 }, terminated }
            }
            _ => Outcome { reward: -10.0, terminated: false },
        }
    }
}

impl<const VERSION: u8> World for Taxi<VERSION> {
    const ARGUMENTS: &'static [&'static str] = match VERSION {
        3 => &["is_rainy", "fickle_passenger"],
        _ => &["is_rainy", "fickle_passenger", "rainy_probability", "fickle_probability"],
    };

    type Action = i64;
    type Observation = [i64; 1];

    fn spaces(&self) -> Result<(Space, Space), SpaceError> {
        Ok((Space::discrete(500, 0)?, Space::discrete(6, 0)?))
    }

    fn fields(&mut self) -> Vec<(&'static str, Field<'_>)> {
        let mut fields = vec![
            ("is_rainy", Field::Flag(&mut self.is_rainy)),
            ("fickle_passenger", Field::Flag(&mut self.fickle_passenger)),
        ];
        if VERSION > 3 {
            fields.push(("rainy_probability", Field::Share(&mut self.rainy_probability)));
            fields.push(("fickle_probability", Field::Share(&mut self.fickle_probability)));
        }
        fields
    }

    fn state(&mut self) -> Option<Vec<Slot<'_>>> {
        let Place { row, column, passenger, goal } = &mut self.place;
        Some(vec![
            Slot::Flag(&mut self.undecided),
            Slot::Integer(row),
            Slot::Integer(column),
            Slot::Integer(passenger),
            Slot::Integer(goal),
        ])
    }

    fn start(&mut self, rng: &mut Rng) {
        let weight = |state: i64| {
            let place = Place::from_state(state);
            if place.passenger != ABOARD && place.passenger != place.goal { 1.0 / 300.0 } else { 0.0 }
        };
        let state = categorical(rng, (0..500).map(weight));
        self.place = Place::from_state(i64::try_from(state).unwrap_or_default());
        self.undecided = self.fickle_passenger && rng.double() < self.fickle_probability;
    }

    fn advance(&mut self, action: i64, rng: &mut Rng) -> Outcome {
        let before = self.place;
        let outcome = match action {
            direction @ 0..=3 => {
                self.drive(direction, rng);
                Outcome { reward: -1.0, terminated: false }
            }
            other => {
                categorical(rng, [1.0]);
                if other == 4 { Outcome { reward: self.pick_up(), terminated: false } } else { self.drop_off() }
            }
        };
        let moved = (before.row, before.column) != (self.place.row, self.place.column);
        if self.fickle_passenger && self.undecided && before.passenger == ABOARD && moved {
            self.undecided = false;
            let other = rng.integers(0, 3);
            self.place.goal = if other < before.goal { other } else { other + 1 };
        }
        outcome
    }

    fn observe(&self) -> [i64; 1] {
        [self.place.state()]
    }
}
