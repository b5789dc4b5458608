//! A run's rows reduced to what can be drawn, in one pass and in bounded memory.
//!
//! The picture has [`COLUMNS`] columns; rows that fall into one column become one [`Cell`] with
//! their least and greatest value and their mean, so no spike is lost however many rows there are.
//! Nothing crosses an encounter's edge. Numbers are never taken from here: only drawings are.

use super::components::{self, Layer};
use super::regret;
use crate::eval::encounter::{Analysis, Encounter};
use crate::eval::reference::Reference;
use crate::eval::series::{count, trailing_means};

/// Columns of a picture of one run.
pub(super) const COLUMNS: usize = 600;
/// With more encounters than this, they are narrower than a pixel or two: they are neither shaded
/// nor told apart.
pub(super) const MOST_ENCOUNTERS: usize = 150;

/// Rows that fall into one column of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cell {
    /// Where the first of them is.
    pub(super) x: f64,
    pub(super) min: f64,
    pub(super) max: f64,
    sum: f64,
    pub(super) n: usize,
    pub(super) column: usize,
    /// The last row.
    row: usize,
}

impl Cell {
    pub(super) fn mean(&self) -> f64 {
        self.sum / count(self.n)
    }
}

/// What abscissae are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Axis {
    /// Steps, which never go back.
    Step,
    /// Rows, in a run whose steps go back.
    Row,
}

impl Axis {
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Row => "row (steps go back in this run)",
        }
    }
}

/// A line in pieces: between two of them nothing is drawn.
pub(super) type Pieces = Vec<Vec<Cell>>;

/// One run, reduced.
#[derive(Clone, Debug)]
pub(super) struct Curves {
    pub(super) axis: Axis,
    pub(super) range: (f64, f64),
    /// The rows that were reduced.
    pub(super) rows: usize,
    /// Where each encounter begins; one past the last ends at `range.1`.
    pub(super) starts: Vec<f64>,
    /// Finite rewards, a piece an encounter.
    pub(super) reward: Pieces,
    /// Their trailing means, a piece an encounter.
    pub(super) trailing: Pieces,
    /// Every row, whatever it holds.
    pub(super) columns: Vec<Cell>,
    /// The reward's components over the same columns.
    pub(super) layers: Vec<Layer>,
    /// What the components leave of the reward, in rows that have both.
    pub(super) residual: Vec<Cell>,
    /// Measured effective ranks, in pieces without an unmeasured row.
    pub(super) rank: Pieces,
    /// Refused actions, as 0 and 1.
    pub(super) refused: Vec<Cell>,
    /// Regret summed up to each column.
    pub(super) regret: Vec<Cell>,
}

/// From rows to columns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid<'a> {
    steps: Option<&'a [i64]>,
    from: f64,
    to: f64,
    columns: usize,
}

impl<'a> Grid<'a> {
    /// The grid of a run's own range.
    fn of(run: &'a Analysis<'_>) -> Self {
        let axis = if run.run.step.is_sorted() { Axis::Step } else { Axis::Row };
        Self::over(run, axis, range_of(run, axis), COLUMNS)
    }

    /// The rows of a run over a range of abscissae.
    pub(super) fn over(run: &'a Analysis<'_>, axis: Axis, (from, to): (f64, f64), columns: usize) -> Self {
        Self { steps: (axis == Axis::Step).then_some(run.run.step.as_slice()), from, to, columns }
    }

    /// Where a row is.
    fn x(&self, row: usize) -> f64 {
        match self.steps {
            Some(steps) => steps.get(row).copied().map_or(self.to, number),
            None => count(row),
        }
    }

    fn column(&self, x: f64) -> usize {
        let span = self.to - self.from;
        if span <= 0.0 {
            return 0;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a column count")]
        let column = ((x - self.from) / span * count(self.columns)) as usize;
        column.min(self.columns.saturating_sub(1))
    }

    /// The cells of values by row; an infinite or missing value is none.
    pub(super) fn cells(&self, values: impl Iterator<Item = (usize, f64)>) -> Vec<Cell> {
        let mut cells: Vec<Cell> = Vec::new();
        values.filter(|(_, value)| value.is_finite()).for_each(|(row, value)| self.add(&mut cells, row, value));
        cells
    }

    fn add(&self, cells: &mut Vec<Cell>, row: usize, value: f64) {
        let x = self.x(row);
        let column = self.column(x);
        match cells.last_mut().filter(|cell| cell.column == column) {
            Some(cell) => {
                cell.min = cell.min.min(value);
                cell.max = cell.max.max(value);
                cell.sum += value;
                cell.n += 1;
                cell.row = row;
            }
            None => cells.push(Cell { x, min: value, max: value, sum: value, n: 1, column, row }),
        }
    }

    /// The cells of values in pieces that are parted where a row has none; of pieces within one
    /// column one is left.
    fn pieces(&self, values: impl Iterator<Item = (usize, f64)>) -> Pieces {
        let mut pieces: Pieces = Vec::new();
        let mut current: Vec<Cell> = Vec::new();
        for (row, value) in values.filter(|(_, value)| value.is_finite()) {
            let column = self.column(self.x(row));
            if current.last().is_some_and(|cell| cell.row + 1 < row && cell.column != column) {
                pieces.push(std::mem::take(&mut current));
            }
            self.add(&mut current, row, value);
        }
        pieces.push(current);
        pieces.retain(|piece| !piece.is_empty());
        pieces
    }
}

impl Curves {
    /// Reduces the rows of `run`.
    pub(super) fn of(run: &Analysis<'_>, reference: &Reference) -> Self {
        let grid = Grid::of(run);
        let columns = run.run;
        let apart = run.encounters.len() <= MOST_ENCOUNTERS;
        let each = |cells: &dyn Fn(&Encounter<'_>) -> Vec<Cell>| -> Pieces {
            let pieces = run.encounters.iter().map(cells);
            if apart { pieces.collect() } else { merged(pieces) }
        };
        let reward = each(&|visit| {
            let (from, to) = visit.span.rows;
            grid.cells((from..to).zip(columns.reward.get(from..to).unwrap_or_default().iter().copied()))
        });
        let trailing = each(&|visit| {
            let rows = finite_rows(run, visit).skip(visit.span.w.saturating_sub(1));
            grid.cells(rows.zip(trailing_means(&visit.rewards, visit.span.w)))
        });
        let components = columns.components.iter().map(|(name, column)| {
            let values = column.iter().map(|value| if value.is_finite() { *value } else { 0.0 });
            (name.clone(), grid.cells(values.enumerate()))
        });
        let components: Vec<(String, Vec<Cell>)> = components.collect();
        Self {
            axis: if grid.steps.is_some() { Axis::Step } else { Axis::Row },
            range: (grid.from, grid.to),
            rows: columns.step.len(),
            starts: if apart {
                run.encounters.iter().map(|visit| grid.x(visit.span.rows.0)).collect()
            } else {
                Vec::new()
            },
            reward,
            trailing,
            columns: grid.cells((0..columns.step.len()).map(|row| (row, 0.0))),
            layers: components::layers(run, &components),
            residual: grid.cells(crate::eval::metrics::residuals_by_row(run)),
            rank: grid.pieces(columns.effective_rank.iter().copied().enumerate()),
            refused: grid.cells(columns.invalid_action.iter().map(|refused| f64::from(u8::from(*refused))).enumerate()),
            regret: regret::summed(run, reference, &grid),
        }
    }

    /// Whether columns hold several rows.
    pub(super) fn reduced(&self) -> bool {
        self.reward.iter().flatten().any(|cell| cell.n > 1)
    }
}

/// Where a run begins and ends.
pub(super) fn range_of(run: &Analysis<'_>, axis: Axis) -> (f64, f64) {
    let steps = &run.run.step;
    let end = |step: Option<&i64>| step.copied().map_or(0.0, number);
    match axis {
        Axis::Step => (end(steps.first()), end(steps.last())),
        Axis::Row => (0.0, count(steps.len().saturating_sub(1))),
    }
}

/// The rows of an encounter with a finite reward.
pub(super) fn finite_rows<'a>(run: &'a Analysis<'_>, visit: &Encounter<'_>) -> impl Iterator<Item = usize> + 'a {
    let (from, to) = visit.span.rows;
    (from..to).filter(|row| run.run.reward.get(*row).is_some_and(|reward| reward.is_finite()))
}

/// Pieces one after the other as one, neighbours within one column taken together.
fn merged(pieces: impl Iterator<Item = Vec<Cell>>) -> Pieces {
    let mut all: Vec<Cell> = Vec::new();
    for cell in pieces.flatten() {
        match all.last_mut().filter(|last| last.column == cell.column) {
            Some(last) => {
                last.min = last.min.min(cell.min);
                last.max = last.max.max(cell.max);
                last.sum += cell.sum;
                last.n += cell.n;
                last.row = cell.row;
            }
            None => all.push(cell),
        }
    }
    vec![all]
}

/// A step as an abscissa.
fn number(step: i64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a step as an abscissa")]
    let x = step as f64;
    x
}
