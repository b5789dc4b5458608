//! Batches: an order drawn once from a seed, and states of any width padded to one.

use super::{ChainError, ChainReader, Columns, Part};
use crate::array::{Array, Item};
use crate::random::Rng;

/// The positions of batch after batch.
#[derive(Clone, Debug)]
pub struct Batches {
    order: Vec<usize>,
    size: usize,
    next: usize,
}

impl Batches {
    /// `count` positions in an order drawn from `seed`, in batches of `size`.
    pub(super) fn new(count: usize, size: usize, seed: u64) -> Self {
        Self { order: Rng::named(seed, "batches").permutation(count), size: size.max(1), next: 0 }
    }
}

impl Iterator for Batches {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        let end = (self.next + self.size).min(self.order.len());
        let batch = self.order.get(self.next..end)?.to_vec();
        self.next = end;
        (!batch.is_empty()).then_some(batch)
    }
}

/// States side by side, padded to the widest shell of all stores.
pub type Batch = Columns;

impl ChainReader {
    /// The states at `positions`, counted through all chains from 0, one a row and padded to the
    /// widest shell `w` of all stores: `candidate_pose_relative_root (n, w, 12)`, `action_mask`,
    /// `label_mask`, `candidate_reward`, `one_step_target_rri` (all `(n, w)`; padding is 0, false
    /// and NaN), `selected_index`, `discount`, `terminal`, `horizon_remaining`, `store_index`,
    /// `rollout_row_id`, `target_row_id`, `step_index` (all `(n)`), `root_pose_world (n, 12)`,
    /// `target_extents (n, 3)`, `target_pose_world_object (n, 12)`.
    ///
    /// # Errors
    /// When there is no such state, or its store cannot be read any more.
    pub fn state_batch(&self, positions: &[usize]) -> Result<Batch, ChainError> {
        let width = self.parts.iter().map(|part| part.width).max().unwrap_or(0);
        let mut rows = Rows::default();
        for position in positions {
            let (part, store_index, place, step) = self.find(*position)?;
            let Some(place) = part.chains.get(place) else { continue };
            let horizon = i64::from(Part::cell::<i16>(&part.small.rollouts, "horizon", place.rollout));
            let index = i64::try_from(step).unwrap_or_default();
            let state = part.state(place.states.start + step, horizon - index)?;
            rows.pad(&state.candidate_pose_relative_root, width * 12);
            rows.masks[0].extend(padded(&state.action_mask, width, false));
            rows.masks[1].extend(padded(&state.label_mask, width, false));
            rows.rewards[0].extend(padded(&state.candidate_reward, width, f32::NAN));
            rows.rewards[1].extend(padded(&state.one_step_target_rri, width, f32::NAN));
            rows.terminal.push(state.terminal);
            rows.discount.push(state.discount);
            for (column, value) in rows.ids.iter_mut().zip([
                state.selected_index,
                state.horizon_remaining,
                i64::try_from(store_index).unwrap_or_default(),
                Part::cell(&part.small.rollouts, "rollout_row_id", place.rollout),
                Part::cell(&part.small.rollouts, "target_row_id", place.rollout),
                index,
            ]) {
                column.push(value);
            }
            for (column, (table, name, row, length)) in rows.vectors.iter_mut().zip([
                (&part.small.rollouts, "root_pose_world", place.rollout, 12),
                (&part.small.targets, "target_extents", place.target, 3),
                (&part.small.targets, "target_pose_world_object", place.target, 12),
            ]) {
                let numbers = table.get(name).and_then(Array::as_f32).unwrap_or_default();
                column.extend(numbers.get(row * length..(row + 1) * length).unwrap_or_default());
            }
        }
        rows.columns(positions.len(), width)
    }

    /// The store, chain and step of a state.
    fn find(&self, position: usize) -> Result<(&Part, usize, usize, usize), ChainError> {
        let mut before = 0;
        for (store_index, part) in self.parts.iter().enumerate() {
            let states = part.ends.last().copied().unwrap_or(0);
            if position < before + states {
                let within = position - before;
                let chain = part.ends.partition_point(|end| *end <= within);
                let start = chain.checked_sub(1).and_then(|chain| part.ends.get(chain)).copied().unwrap_or(0);
                return Ok((part, store_index, chain, within - start));
            }
            before += states;
        }
        Err(ChainError::Index { index: position, count: before })
    }
}

/// A vector's elements, then `padding` up to `width`.
fn padded<T: Item>(array: &Array, width: usize, padding: T) -> impl Iterator<Item = T> + '_ {
    let own = array.as_slice::<T>().unwrap_or_default();
    own.iter().copied().chain(std::iter::repeat(padding)).take(width)
}

/// A batch's columns as they grow.
#[derive(Default)]
struct Rows {
    poses: Vec<f32>,
    masks: [Vec<bool>; 2],
    rewards: [Vec<f32>; 2],
    terminal: Vec<bool>,
    discount: Vec<f32>,
    ids: [Vec<i64>; 6],
    vectors: [Vec<f32>; 3],
}

impl Rows {
    fn pad(&mut self, poses: &Array, length: usize) {
        self.poses.extend(padded(poses, length, 0.0_f32));
    }

    fn columns(self, count: usize, width: usize) -> Result<Batch, ChainError> {
        let [actions, labels] = self.masks;
        let [rewards, rris] = self.rewards;
        let [selected, remaining, stores, rollouts, targets, steps] = self.ids;
        let [roots, extents, objects] = self.vectors;
        let made = [
            ("candidate_pose_relative_root", Array::from_vec(&[count, width, 12], self.poses)),
            ("action_mask", Array::from_vec(&[count, width], actions)),
            ("label_mask", Array::from_vec(&[count, width], labels)),
            ("candidate_reward", Array::from_vec(&[count, width], rewards)),
            ("one_step_target_rri", Array::from_vec(&[count, width], rris)),
            ("selected_index", Array::from_vec(&[count], selected)),
            ("discount", Array::from_vec(&[count], self.discount)),
            ("terminal", Array::from_vec(&[count], self.terminal)),
            ("horizon_remaining", Array::from_vec(&[count], remaining)),
            ("store_index", Array::from_vec(&[count], stores)),
            ("rollout_row_id", Array::from_vec(&[count], rollouts)),
            ("target_row_id", Array::from_vec(&[count], targets)),
            ("step_index", Array::from_vec(&[count], steps)),
            ("root_pose_world", Array::from_vec(&[count, 12], roots)),
            ("target_extents", Array::from_vec(&[count, 3], extents)),
            ("target_pose_world_object", Array::from_vec(&[count, 12], objects)),
        ];
        let mut batch = Batch::new();
        for (name, array) in made {
            let array =
                array.map_err(|error| ChainError::Refused { path: Default::default(), what: error.to_string() })?;
            batch.insert(name.to_owned(), array);
        }
        Ok(batch)
    }
}
