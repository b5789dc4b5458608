//! The derived view: states by padded candidates, for finite-candidate value learning.
//!
//! State order is that of `steps`; a state's candidates stand in table order; what is beyond a
//! shell's end is padding. Here the tables come from the writer, whose candidates are contiguous
//! and ascending; the validator derives the view from any tables on its own.

use indexmap::IndexMap;
use ndarray::ArrayD;

use super::tables::Tables;
use crate::array::Array;

/// The columns of the view, one entry a state.
#[derive(Default)]
struct States {
    source_row_id: Vec<i64>,
    target_row_id: Vec<i64>,
    td_next_step_row_id: Vec<i64>,
    td_terminal_mask: Vec<bool>,
    td_discount: Vec<f32>,
    td_reward: Vec<f32>,
    td_reward_target_rri: Vec<f32>,
    selected_candidate_index: Vec<i32>,
}

/// The view's 17 arrays by name: vectors of S states, matrices of S states by A candidates.
pub(super) fn derive(tables: &Tables, gamma: f64) -> IndexMap<&'static str, Array> {
    let (steps, candidates) = (&tables.steps, &tables.candidates);
    let (count, width) = (steps.step_row_id.len(), tables.max_candidates);
    let mut view = Padded::new(count, width);
    let mut states = States::default();
    let mut first = 0;
    for state in 0..count {
        let at = |column: &[i64]| column.get(state).copied().unwrap_or(-1);
        let shell = steps.num_candidates.get(state).copied().and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        for local in 0..shell {
            view.put(tables, state, local, first + local);
        }
        let selected = usize::try_from(at(&steps.selected_candidate_row_id)).unwrap_or(usize::MAX);
        let label = |column: &[f32]| column.get(selected).copied().unwrap_or(f32::NAN);
        let rollout = usize::try_from(at(&steps.rollout_row_id)).unwrap_or(usize::MAX);
        let chained = |column: &[i64], missing| column.get(rollout).copied().unwrap_or(missing);
        // Chains are contiguous: a successor is the next row, if it belongs to the same chain.
        let next = match steps.rollout_row_id.get(state + 1) {
            Some(other) if *other == at(&steps.rollout_row_id) => {
                steps.step_row_id.get(state + 1).copied().unwrap_or(-1)
            }
            _ => -1,
        };
        states.source_row_id.push(chained(&tables.rollouts.source_row_id, -1));
        states.target_row_id.push(chained(&tables.rollouts.target_row_id, 0));
        states.selected_candidate_index.push(steps.selected_shell_index.get(state).copied().unwrap_or(-1));
        states.td_reward.push(label(&candidates.target_root_gain));
        states.td_reward_target_rri.push(label(&candidates.target_rri));
        states.td_next_step_row_id.push(next);
        states.td_terminal_mask.push(next < 0);
        states.td_discount.push(if next < 0 { 0.0 } else { super::datum::narrow(gamma) });
        first += shell;
    }
    IndexMap::from([
        ("state_step_row_id", Array::I64(column(steps.step_row_id.clone()))),
        ("source_row_id", Array::I64(column(states.source_row_id))),
        ("target_row_id", Array::I64(column(states.target_row_id))),
        ("candidate_row_id", Array::I64(view.candidate_row_id)),
        ("valid_action_mask", Array::Bool(view.valid_action_mask)),
        ("q_train_mask", Array::Bool(view.q_train_mask)),
        ("position_id", Array::I32(view.position_id)),
        ("one_step_target_rri", Array::F32(view.one_step_target_rri)),
        ("one_step_target_root_gain", Array::F32(view.one_step_target_root_gain)),
        ("invalid_reason_bitset", Array::U32(view.invalid_reason_bitset)),
        ("selected_candidate_index", Array::I32(column(states.selected_candidate_index))),
        ("td_selected_candidate_row_id", Array::I64(column(steps.selected_candidate_row_id.clone()))),
        ("td_reward", Array::F32(column(states.td_reward))),
        ("td_reward_target_rri", Array::F32(column(states.td_reward_target_rri))),
        ("td_next_step_row_id", Array::I64(column(states.td_next_step_row_id))),
        ("td_terminal_mask", Array::Bool(column(states.td_terminal_mask))),
        ("td_discount", Array::F32(column(states.td_discount))),
    ])
}

fn column<T>(cells: Vec<T>) -> ArrayD<T> {
    ndarray::Array1::from(cells).into_dyn()
}

/// The padded matrices.
struct Padded {
    candidate_row_id: ArrayD<i64>,
    valid_action_mask: ArrayD<bool>,
    q_train_mask: ArrayD<bool>,
    position_id: ArrayD<i32>,
    one_step_target_rri: ArrayD<f32>,
    one_step_target_root_gain: ArrayD<f32>,
    invalid_reason_bitset: ArrayD<u32>,
}

impl Padded {
    fn new(states: usize, width: usize) -> Self {
        let shape = || ndarray::IxDyn(&[states, width]);
        Self {
            candidate_row_id: ArrayD::from_elem(shape(), -1),
            valid_action_mask: ArrayD::from_elem(shape(), false),
            q_train_mask: ArrayD::from_elem(shape(), false),
            position_id: ArrayD::from_elem(shape(), -1),
            one_step_target_rri: ArrayD::from_elem(shape(), f32::NAN),
            one_step_target_root_gain: ArrayD::from_elem(shape(), f32::NAN),
            invalid_reason_bitset: ArrayD::from_elem(shape(), 0),
        }
    }

    /// Copies candidate `row` of the table into slot `local` of `state`.
    fn put(&mut self, tables: &Tables, state: usize, local: usize, row: usize) {
        fn set<T: Copy>(matrix: &mut ArrayD<T>, slot: [usize; 2], value: Option<&T>) {
            if let (Some(place), Some(value)) = (matrix.get_mut(slot), value) {
                *place = *value;
            }
        }
        let (slot, from) = ([state, local], &tables.candidates);
        let valid = from.actor_action_mask.get(row) == Some(&true);
        set(&mut self.candidate_row_id, slot, from.candidate_row_id.get(row));
        set(&mut self.valid_action_mask, slot, Some(&valid));
        set(&mut self.q_train_mask, slot, Some(&(valid && from.q_train_mask.get(row) == Some(&true))));
        set(&mut self.position_id, slot, from.position_id.get(row));
        set(&mut self.invalid_reason_bitset, slot, from.invalid_reason_bitset.get(row));
        if valid {
            set(&mut self.one_step_target_rri, slot, from.target_rri.get(row));
            set(&mut self.one_step_target_root_gain, slot, from.target_root_gain.get(row));
        }
    }
}
