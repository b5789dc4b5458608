//! `tabular`: a table of action values, over a discrete space's elements or over tiles.

use std::path::Path;

use super::menu::{Actions, highest};
use super::settings::{MOST_WEIGHTS, Settings};
use super::tiling::Coding;
use super::weights::{self, Tensor};
use super::{ActionValues, Checkpoint, Context, Policy, PolicyError};
use crate::snapshot::{self, SnapshotError};
use crate::space::Element;
use crate::value::Value;

/// Takes the action of the highest value, the first of several. An action's value is the sum of
/// its entries over the observation's cells: one cell of a discrete observation, one a tiling of
/// any other.
///
/// Every value begins at `initial`. The weights file holds the table as `value`, float64 of shape
/// `[n_cells, n_actions]`.
pub(super) struct Tabular {
    id: String,
    coding: Coding,
    actions: Actions,
    shape: [usize; 2],
    table: Vec<f64>,
    cells: Vec<usize>,
    numbers: Vec<f64>,
    values: Vec<f64>,
}

impl Tabular {
    pub(super) fn new(id: &str, mut settings: Settings<'_>, context: Context<'_>) -> Result<Self, String> {
        let actions = Actions::new(&mut settings, context);
        let initial = settings.number("initial", 0.0);
        let coding = Coding::new(&mut settings, context);
        let shape = actions.zip(coding.as_ref()).and_then(|(actions, coding)| {
            let n_actions = actions.n();
            let n_cells =
                coding.n_cells().filter(|cells| cells.checked_mul(n_actions).is_some_and(|size| size <= MOST_WEIGHTS));
            if n_cells.is_none() {
                settings.note(format!(
                    "{n_actions} actions with that many cells are too many values (most: {MOST_WEIGHTS})"
                ));
            }
            Some([n_cells?, n_actions])
        });
        let ((actions, coding), shape) = settings.finish(actions.zip(coding).zip(shape))?;
        let [n_cells, n_actions] = shape;
        let tilings = if let Coding::Tiles { tilings, .. } = coding { tilings } else { 1 };
        #[expect(clippy::cast_precision_loss, reason = "a handful of tilings")]
        let entry = initial / tilings as f64;
        Ok(Self {
            id: id.to_owned(),
            coding,
            actions,
            shape,
            table: vec![entry; n_cells * n_actions],
            cells: Vec::with_capacity(tilings),
            numbers: Vec::new(),
            values: vec![0.0; n_actions],
        })
    }

    fn tensor(&self) -> [Tensor<'_>; 1] {
        [Tensor { name: "value", shape: &self.shape }]
    }
}

impl Policy for Tabular {
    fn act(&mut self, observation: &Element, action: &mut Element) -> Result<(), PolicyError> {
        self.coding.cells(&self.id, observation, &mut self.numbers, &mut self.cells)?;
        let [_, n_actions] = self.shape;
        add_values(&self.table, n_actions, &self.cells, &mut self.values);
        *action = self.actions.at(highest(self.values.iter().copied()));
        Ok(())
    }

    fn save(&self, dir: &Path) -> Result<Checkpoint, PolicyError> {
        weights::save(&self.id, dir, &self.tensor(), &self.table).map(Checkpoint::Weights)
    }

    fn load(&mut self, path: &Path) -> Result<(), PolicyError> {
        let tensor = [Tensor { name: "value", shape: &self.shape }];
        weights::load(&self.id, path, &tensor, &mut self.table)
    }

    fn snapshot(&self) -> Result<Value, SnapshotError> {
        Ok(snapshot::state([("table", snapshot::numbers(&self.table))]))
    }

    fn restore(&mut self, state: &Value) -> Result<(), SnapshotError> {
        snapshot::read_numbers_into(state, "table", &mut self.table)
    }

    fn parameters(&self) -> Option<&[f64]> {
        Some(&self.table)
    }

    fn parameters_mut(&mut self) -> Option<&mut [f64]> {
        Some(&mut self.table)
    }

    fn action_values(&mut self) -> Option<&mut dyn ActionValues> {
        Some(self)
    }
}

impl ActionValues for Tabular {
    fn n_actions(&self) -> usize {
        self.shape[1]
    }

    fn cells(&mut self, observation: &Element, cells: &mut Vec<usize>) -> Result<(), PolicyError> {
        self.coding.cells(&self.id, observation, &mut self.numbers, cells)
    }

    fn values(&self, cells: &[usize], values: &mut [f64]) {
        add_values(&self.table, self.shape[1], cells, values);
    }

    fn add(&mut self, cell: usize, action: usize, amount: f64) {
        if let Some(entry) = self.table.get_mut(cell * self.shape[1] + action) {
            *entry += amount;
        }
    }

    fn action(&self, place: usize) -> Element {
        self.actions.at(place)
    }
}

/// Writes the sums over `cells` over `values`.
fn add_values(table: &[f64], n_actions: usize, cells: &[usize], values: &mut [f64]) {
    values.fill(0.0);
    for cell in cells {
        let row = table.get(cell * n_actions..(cell + 1) * n_actions).unwrap_or_default();
        for (value, entry) in values.iter_mut().zip(row) {
            *value += entry;
        }
    }
}
