//! Candidates, a block of whole shells at a time: memory does not grow with the store.

use std::ops::Range;

use super::findings::Findings;
use super::states::{SUMMED, States};
use super::tables::{Columns, Tables};
use super::view::View;

/// About how many candidates a block has; a shell is never split.
const ROWS: usize = 1 << 17;

/// Some states in a row, with all their candidates.
pub(super) struct Block {
    /// The states' rows.
    pub(super) states: Range<usize>,
    /// The candidates' rows.
    pub(super) rows: Range<usize>,
    pub(super) candidates: Columns,
    pub(super) diagnostics: Columns,
    /// The derived view's rows of these states, as they are on disk.
    pub(super) view: Columns,
    /// Where each state's shell lies among the block's rows.
    pub(super) shells: Vec<Range<usize>>,
    /// The selected candidate's row in the block, state by state.
    pub(super) selected: Vec<Option<usize>>,
}

/// The states and candidates of every block. Candidates that do not stand in the states' order
/// make blocks without states.
pub(super) fn plan(tables: &Tables, states: &States) -> Vec<(Range<usize>, Range<usize>)> {
    let total = tables.candidates.rows;
    if !states.ordered {
        return (0..total).step_by(ROWS).map(|start| (0..0, start..total.min(start + ROWS))).collect();
    }
    let mut blocks = Vec::new();
    let (mut first, mut start) = (0, 0);
    for (state, end) in states.starts.iter().skip(1).copied().enumerate() {
        if end - start >= ROWS || state + 2 == states.starts.len() {
            blocks.push((first..state + 1, start..end));
            (first, start) = (state + 1, end);
        }
    }
    blocks
}

impl Block {
    pub(super) fn read(
        tables: &Tables,
        states: &States,
        view: &View,
        (own, rows): (Range<usize>, Range<usize>),
        findings: &mut Findings,
    ) -> Self {
        let candidates = tables.candidates.read(rows.clone(), findings);
        let beside = tables.diagnostics.rows == tables.candidates.rows;
        let diagnostics = if beside { tables.diagnostics.read(rows.clone(), findings) } else { Columns::default() };
        let persisted = view.read(own.clone(), findings);
        let starts = states.starts.get(own.start..).unwrap_or_default().windows(2).take(own.len());
        let shells: Vec<Range<usize>> = starts
            .map(|pair| match pair {
                [start, end] => start - rows.start..end - rows.start,
                _ => 0..0,
            })
            .collect();
        let ids = candidates.get::<i64>("candidate_row_id");
        let chosen = tables.steps.get::<i64>("selected_candidate_row_id").get(own.clone()).unwrap_or_default();
        let selected = shells.iter().zip(chosen).map(|(shell, chosen)| {
            let slot = ids.get(shell.clone())?.iter().rposition(|id| id == chosen)?;
            Some(shell.start + slot)
        });
        let selected = selected.collect();
        Self { states: own, rows, candidates, diagnostics, view: persisted, shells, selected }
    }

    /// A step column's rows of these states.
    pub(super) fn steps<'a, T: crate::array::Item>(&self, tables: &'a Tables, name: &str) -> &'a [T] {
        tables.steps.get::<T>(name).get(self.states.clone()).unwrap_or_default()
    }

    /// What the selected candidates add to the running sums.
    pub(super) fn gains(&self, gains: &mut [Vec<f32>; 4]) {
        for (metric, gains) in SUMMED.iter().zip(gains) {
            let column = self.candidates.get::<f32>(metric);
            gains.extend(
                self.selected.iter().map(|row| row.and_then(|row| column.get(row)).copied().unwrap_or(f32::NAN)),
            );
        }
    }
}
