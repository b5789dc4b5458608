//! The derived view: states by padded candidates, for finite-candidate value learning.
//!
//! State order is that of `steps`; a state's candidates stand in table order; what is beyond a
//! shell's end is padding. The view's width is known once the last shell is, so it is made in a
//! second pass over the tables on disk, block by block. The writer's candidates are contiguous
//! and ascending; the validator derives the view from any tables on its own.

use std::ops::Range;

use bytemuck::NoUninit;
use rayon::prelude::*;

use super::datum::narrow;
use super::schema::{self, Candidates, Rollouts, Steps};
use super::zarr::{ArrayStream, Layout, StoreError, StoreReader, StoreWriter};
use crate::array::{Array, Item};

/// Bytes of the view that are made at a time.
const BLOCK: usize = 32 << 20;

/// The view to be made.
pub(super) struct View<'a> {
    /// States, S.
    pub(super) states: usize,
    /// The widest shell, A.
    pub(super) width: usize,
    /// The discount of transitions that do not end their chain.
    pub(super) gamma: f64,
    /// Chains, whose sources and targets states have.
    pub(super) rollouts: &'a Rollouts,
}

impl View<'_> {
    /// Derives the view from the tables that `reader` finds and writes it.
    pub(super) fn write(&self, store: &StoreWriter, reader: &StoreReader, chunk_states: u32) -> Result<(), StoreError> {
        let layout = Layout::states(chunk_states);
        let mut streams: Vec<(&str, ArrayStream)> = schema::VIEW
            .into_iter()
            .map(|(name, dtype, padded)| {
                let tail = if padded { vec![self.width] } else { Vec::new() };
                (name, store.stream(&format!("q_h/{name}"), dtype, &tail, layout))
            })
            .collect();
        let (mut state, mut candidate) = (0, 0);
        let at_a_time = (BLOCK / (26 * self.width.max(1))).max(1);
        while state < self.states {
            let states = state..(state + at_a_time).min(self.states);
            let block = Block::read(self, reader, states.clone(), candidate)?;
            streams.par_iter_mut().try_for_each(|(name, stream)| stream.push(&block.cells(name)))?;
            (state, candidate) = (states.end, candidate + block.widths.iter().sum::<usize>());
        }
        streams.into_par_iter().try_for_each(|(_, stream)| stream.finish())
    }
}

/// What some consecutive states are derived from.
struct Block<'a> {
    view: &'a View<'a>,
    states: Range<usize>,
    /// The row of the first candidate.
    first: usize,
    widths: Vec<usize>,
    /// The chain of every state, and of the one after the last.
    rollout_row_id: Vec<i64>,
    selected_candidate_row_id: Vec<i64>,
    selected_shell_index: Vec<i32>,
    valid: Vec<bool>,
    train: Vec<bool>,
    position_id: Vec<i32>,
    rri: Vec<f32>,
    root_gain: Vec<f32>,
    reasons: Vec<u32>,
}

impl<'a> Block<'a> {
    fn read(view: &'a View<'a>, reader: &StoreReader, states: Range<usize>, first: usize) -> Result<Self, StoreError> {
        let and_next = states.start..(states.end + 1).min(view.states);
        let counts: Vec<i32> = column(reader, Steps::GROUP, "num_candidates", states.clone())?;
        let widths: Vec<usize> = counts.into_iter().map(|width| usize::try_from(width).unwrap_or(0)).collect();
        let rows = first..first + widths.iter().sum::<usize>();
        let flags = |name| column::<bool>(reader, Candidates::GROUP, name, rows.clone());
        let floats = |name| column::<f32>(reader, Candidates::GROUP, name, rows.clone());
        let ((valid, train), (rri, root_gain)) = rayon::join(
            || rayon::join(|| flags("actor_action_mask"), || flags("q_train_mask")),
            || rayon::join(|| floats("target_rri"), || floats("target_root_gain")),
        );
        let (position_id, reasons) = rayon::join(
            || column(reader, Candidates::GROUP, "position_id", rows.clone()),
            || column(reader, Candidates::GROUP, "invalid_reason_bitset", rows.clone()),
        );
        Ok(Self {
            view,
            first,
            widths,
            rollout_row_id: column(reader, Steps::GROUP, "rollout_row_id", and_next)?,
            selected_candidate_row_id: column(reader, Steps::GROUP, "selected_candidate_row_id", states.clone())?,
            selected_shell_index: column(reader, Steps::GROUP, "selected_shell_index", states.clone())?,
            valid: valid?,
            train: train?,
            position_id: position_id?,
            rri: rri?,
            root_gain: root_gain?,
            reasons: reasons?,
            states,
        })
    }

    /// The cells of one array, as bytes.
    fn cells(&self, array: &str) -> Vec<u8> {
        let masked = |labels: &[f32]| {
            let masked = labels.iter().zip(&self.valid).map(|(label, valid)| if *valid { *label } else { f32::NAN });
            masked.collect::<Vec<f32>>()
        };
        match array {
            "state_step_row_id" => bytes(self.states.clone().map(super::tables::id)),
            "source_row_id" => bytes(self.chained(&self.view.rollouts.source_row_id, -1)),
            "target_row_id" => bytes(self.chained(&self.view.rollouts.target_row_id, 0)),
            "candidate_row_id" => {
                let ids: Vec<i64> = (self.first..).map(super::tables::id).take(self.valid.len()).collect();
                self.padded(&ids, -1)
            }
            "valid_action_mask" => self.padded(&self.valid, false),
            "q_train_mask" => {
                let both: Vec<bool> =
                    self.train.iter().zip(&self.valid).map(|(train, valid)| *train && *valid).collect();
                self.padded(&both, false)
            }
            "position_id" => self.padded(&self.position_id, -1),
            "one_step_target_rri" => self.padded(&masked(&self.rri), f32::NAN),
            "one_step_target_root_gain" => self.padded(&masked(&self.root_gain), f32::NAN),
            "invalid_reason_bitset" => self.padded(&self.reasons, 0),
            "selected_candidate_index" => bytes(self.selected_shell_index.iter().copied()),
            "td_selected_candidate_row_id" => bytes(self.selected_candidate_row_id.iter().copied()),
            "td_reward" => bytes(self.selected(&self.root_gain)),
            "td_reward_target_rri" => bytes(self.selected(&self.rri)),
            "td_next_step_row_id" => bytes(self.next()),
            "td_terminal_mask" => bytes(self.next().map(|next| next < 0)),
            // "td_discount"
            _ => bytes(self.next().map(|next| if next < 0 { 0.0 } else { narrow(self.view.gamma) })),
        }
    }

    /// A column of the chains, state by state.
    fn chained<'b>(&'b self, column: &'b [i64], missing: i64) -> impl Iterator<Item = i64> + 'b {
        let states = self.rollout_row_id.iter().take(self.states.len());
        states.map(move |id| usize::try_from(*id).ok().and_then(|row| column.get(row)).copied().unwrap_or(missing))
    }

    /// The label of the selected candidate of every state.
    fn selected<'b>(&'b self, labels: &'b [f32]) -> impl Iterator<Item = f32> + 'b {
        self.selected_candidate_row_id.iter().map(|id| {
            let row = usize::try_from(*id).ok().and_then(|row| row.checked_sub(self.first));
            row.and_then(|row| labels.get(row)).copied().unwrap_or(f32::NAN)
        })
    }

    /// The step after each state; chains are contiguous, so it is the next row or none.
    fn next(&self) -> impl Iterator<Item = i64> + '_ {
        self.states.clone().enumerate().map(|(at, state)| {
            let follows = self.rollout_row_id.get(at + 1).is_some_and(|next| Some(next) == self.rollout_row_id.get(at));
            if follows { super::tables::id(state + 1) } else { -1 }
        })
    }

    /// Shell after shell, each filled up to the view's width.
    fn padded<T: NoUninit>(&self, cells: &[T], missing: T) -> Vec<u8> {
        let mut padded = Vec::with_capacity(self.widths.len() * self.view.width * size_of::<T>());
        let padding = vec![missing; self.view.width];
        let mut rest = cells;
        for width in &self.widths {
            let (shell, after) = rest.split_at_checked(*width).unwrap_or((rest, &[]));
            padded.extend_from_slice(bytemuck::cast_slice(shell));
            padded.extend_from_slice(bytemuck::cast_slice(padding.get(shell.len()..).unwrap_or_default()));
            rest = after;
        }
        padded
    }
}

fn bytes<T: NoUninit>(cells: impl Iterator<Item = T>) -> Vec<u8> {
    bytemuck::cast_slice(&cells.collect::<Vec<T>>()).to_vec()
}

/// Some rows of a column that the writer has just written.
fn column<T: Item>(reader: &StoreReader, group: &str, name: &str, rows: Range<usize>) -> Result<Vec<T>, StoreError> {
    let path = format!("{group}/{name}");
    let array: Array = reader.rows(&path, rows)?;
    Ok(array.as_slice::<T>().unwrap_or_default().to_vec())
}
