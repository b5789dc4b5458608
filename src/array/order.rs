//! Where the extremes are, and elements in order. NaN counts as beyond every number.

use std::cmp::Ordering;

use ndarray::{ArrayD, Axis};

use super::reduce::beats;
use super::{Array, ArrayError, Item, each};

impl Array {
    /// The position in C order of the least element (the first of several; the first NaN before
    /// all), or of the greatest; `None` without elements.
    #[must_use]
    pub fn arg_extreme(&self, greatest: bool) -> Option<usize> {
        each!(self, array => extreme_of(array.iter().copied(), greatest))
    }

    /// The positions of the least elements along `axis`, which is gone, or of the greatest.
    ///
    /// # Errors
    /// When there is no such axis, or it is empty.
    pub fn arg_extreme_along(&self, axis: usize, greatest: bool) -> Result<Self, ArrayError> {
        self.check_not_empty(axis)?;
        let found = |at: Option<usize>| at.and_then(|at| i64::try_from(at).ok()).unwrap_or(0);
        Ok(each!(self, array => {
            array.map_axis(Axis(axis), |lane| found(extreme_of(lane.iter().copied(), greatest))).into()
        }))
    }

    /// The elements in rising order along `axis`, NaN last.
    ///
    /// # Errors
    /// When there is no such axis.
    pub fn sorted(&self, axis: usize) -> Result<Self, ArrayError> {
        fn of<T: Item>(array: &ArrayD<T>, axis: usize) -> Array {
            let mut sorted = array.clone();
            for mut lane in sorted.lanes_mut(Axis(axis)) {
                let mut items = lane.to_vec();
                items.sort_by(|a, b| rising(*a, *b));
                lane.iter_mut().zip(items).for_each(|(place, item)| *place = item);
            }
            sorted.into()
        }
        self.axis_length(axis)?;
        Ok(each!(self, array => of(array, axis)))
    }
}

fn extreme_of<T: Item>(items: impl Iterator<Item = T>, greatest: bool) -> Option<usize> {
    let better = |item: T, best: T| if greatest { item > best } else { item < best };
    let best = items.enumerate().reduce(|best, item| if beats(item.1, best.1, better) { item } else { best });
    best.map(|(at, _)| at)
}

/// Numbers by size, then NaN.
#[expect(clippy::eq_op, reason = "only NaN differs from itself")]
fn rising<T: Item>(a: T, b: T) -> Ordering {
    a.partial_cmp(&b).unwrap_or_else(|| (a != a).cmp(&(b != b)))
}
