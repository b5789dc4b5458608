//! Observations as cells: one of a table, or one in each of several shifted grids (tile coding).
//!
//! Tile coding after Sutton and Barto, "Reinforcement Learning: An Introduction" (2nd ed., 2018),
//! section 9.5.4: tiling `t` of `n` is shifted along number `d` by `t (2d + 1) mod n` nths of a
//! tile. Numbers beyond the bounds fall into the outermost tiles.

use super::menu::{n_numbers, place};
use super::settings::{Settings, count};
use super::{Context, PolicyError};
use crate::space::{Element, Space};
use crate::value::Value;

/// The tiles along each number unless others are asked for.
const BINS: usize = 8;

/// How observations become cells.
#[derive(Clone, Debug)]
pub(super) enum Coding {
    /// One cell an element of a discrete space.
    Table {
        /// The space's first element.
        start: i64,
        /// How many there are.
        n: usize,
    },
    /// A cell in each of several grids.
    Tiles {
        /// How each number is cut.
        axes: Vec<Axis>,
        /// How many grids there are.
        tilings: usize,
    },
}

/// How one number of the observation is cut.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    bins: usize,
}

impl Coding {
    /// The coding for the observations of `context`; reads `bins`, `tilings`, `low` and `high`.
    pub(super) fn new(settings: &mut Settings<'_>, context: Context<'_>) -> Option<Self> {
        let bins = settings.read("bins", read_bins, "an integer of at least 1, or a list of them");
        let tilings = settings.read("tilings", |value| count(value, 1), "an integer of at least 1");
        let expected = "a list of finite numbers and nulls";
        let [low, high] = ["low", "high"].map(|key| settings.read(key, read_bounds, expected));
        if let Space::Discrete { n, start, .. } = *context.observation_space {
            if bins.is_some() || tilings.is_some() || low.is_some() || high.is_some() {
                settings.note("observations are discrete: a cell for each, without bins, tilings or bounds");
            }
            return Some(Self::Table { start, n: usize::try_from(n).unwrap_or(usize::MAX) });
        }
        let n = n_numbers(settings, context)?;
        let bins = bins.unwrap_or_else(|| vec![BINS]);
        let bins = if let [same] = *bins { vec![same; n] } else { bins };
        let bounds = match context.observation_space {
            Space::Box(space) => [space.low(), space.high()].map(|ends| ends.iter().map(|end| end.to_f64()).collect()),
            _ => [vec![f64::NEG_INFINITY; n], vec![f64::INFINITY; n]],
        };
        let [lows, highs] = bounds;
        let low = low.unwrap_or_else(|| vec![None; n]);
        let high = high.unwrap_or_else(|| vec![None; n]);
        for (key, given) in [("bins", bins.len()), ("low", low.len()), ("high", high.len())] {
            if given != n {
                settings.note(format!("`kwargs.{key}` has {given} items, but an observation has {n} numbers"));
                return None;
            }
        }
        let ends = |given: Vec<Option<f64>>, spaces: Vec<f64>| {
            given.into_iter().zip(spaces).map(|(given, space)| given.unwrap_or(space)).collect::<Vec<_>>()
        };
        let axes = ends(low, lows).into_iter().zip(ends(high, highs)).zip(bins);
        let axes: Vec<Axis> = axes.map(|((low, high), bins)| Axis { low, high, bins }).collect();
        for (index, Axis { low, high, .. }) in axes.iter().enumerate() {
            if !(low.is_finite() && high.is_finite() && low < high) {
                settings.note(format!(
                    "number {index} of an observation goes from {low} to {high}; `kwargs.low` and `kwargs.high` \
                     must give it finite bounds in order"
                ));
            }
        }
        Some(Self::Tiles { axes, tilings: tilings.unwrap_or(1) })
    }

    /// How many cells there are; `None` beyond counting.
    pub(super) fn n_cells(&self) -> Option<usize> {
        match self {
            Self::Table { n, .. } => Some(*n),
            Self::Tiles { axes, tilings } => {
                let grid = axes.iter().try_fold(1_usize, |cells, axis| cells.checked_mul(axis.cells(*tilings)));
                grid?.checked_mul(*tilings)
            }
        }
    }

    /// Writes the cells of `observation` over `cells`; `numbers` is scratch.
    ///
    /// # Errors
    /// When the observation is not of the space, or one of its numbers is NaN.
    pub(super) fn cells(
        &self,
        id: &str,
        observation: &Element,
        numbers: &mut Vec<f64>,
        cells: &mut Vec<usize>,
    ) -> Result<(), PolicyError> {
        cells.clear();
        let misfit = |message: &str| PolicyError::Failed { id: id.to_owned(), message: message.to_owned() };
        match (self, observation) {
            (Self::Table { start, n }, Element::Discrete(value)) => {
                let cell = place(*value, *start).filter(|cell| cell < n);
                cells.push(cell.ok_or_else(|| misfit("the observation has no cell"))?);
            }
            (Self::Tiles { axes, tilings }, _) => {
                numbers.clear();
                if !observation.append_numbers(numbers) || numbers.len() != axes.len() {
                    return Err(misfit("the observation does not have the numbers its tiles are for"));
                }
                if numbers.iter().any(|number| number.is_nan()) {
                    return Err(misfit("a number of the observation is NaN"));
                }
                for tiling in 0..*tilings {
                    let cell = axes.iter().zip(&*numbers).enumerate().fold(tiling, |cell, (index, (axis, number))| {
                        let shift = tiling * (2 * index + 1) % tilings;
                        cell * axis.cells(*tilings) + axis.cell(*number, shift, *tilings)
                    });
                    cells.push(cell);
                }
            }
            (Self::Table { .. }, _) => return Err(misfit("the observation is not an integer")),
        }
        Ok(())
    }
}

impl Axis {
    /// How many tiles lie along the axis: shifted grids need one more.
    fn cells(self, tilings: usize) -> usize {
        self.bins + usize::from(tilings > 1)
    }

    #[expect(clippy::cast_precision_loss, reason = "a number of tiles")]
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to the axis")]
    fn cell(self, number: f64, shift: usize, tilings: usize) -> usize {
        let place = (number - self.low) / (self.high - self.low) * self.bins as f64;
        let inside = place.clamp(0.0, self.bins as f64);
        let cell = (inside + shift as f64 / tilings as f64).floor() as usize;
        cell.min(self.cells(tilings).saturating_sub(1))
    }
}

/// One number of tiles for all, or one for each.
fn read_bins(value: &Value) -> Option<Vec<usize>> {
    match value.as_list() {
        Some(items) => items.iter().map(|item| count(item, 1)).collect(),
        None => Some(vec![count(value, 1)?]),
    }
}

/// Bounds; null leaves one to the space.
fn read_bounds(value: &Value) -> Option<Vec<Option<f64>>> {
    let bound = |value: &Value| match value {
        Value::Null => Some(None),
        other => other.as_float().filter(|bound| bound.is_finite()).map(Some),
    };
    value.as_list()?.iter().map(bound).collect()
}
