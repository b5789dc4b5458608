//! Elements on their way through wrappers: copied in place, checked, and a space's zero.

use crate::array::{Array, Item, each};
use crate::space::{Element, Space};
use crate::value::Value;

/// Makes `to` what `from` is, in the storage it has where kind and shape agree.
pub(super) fn copy(from: &Element, to: &mut Element) {
    match (from, to) {
        (Element::Discrete(from), Element::Discrete(to)) => *to = *from,
        (Element::Array(from), Element::Array(to)) => each!(from, items => copy_items(items, to)),
        (from, to) => to.clone_from(from),
    }
}

fn copy_items<T: Item>(from: &ndarray::ArrayD<T>, to: &mut Array) {
    match T::unwrap_mut(to) {
        Some(to) if to.shape() == from.shape() => to.assign(from),
        _ => *to = T::wrap(from.clone()),
    }
}

/// Whether `action` is of the kind of `space`. A box's bounds are for the environment to apply;
/// what is not finite is refused.
pub(super) fn admissible(space: &Space, action: &Element) -> bool {
    match (space, action) {
        (Space::Box(space), Element::Array(array)) => {
            array.shape() == space.shape()
                && array.dtype() == space.dtype()
                && each!(array, items => items.iter().all(|item| item.to_f64().is_finite()))
        }
        _ => space.contains(action),
    }
}

/// What stands in for an element of `space` that is not there, as in Gymnasium: zeros, or what
/// the bounds allow nearest to them; the first element of a discrete space.
pub(super) fn zero(space: &Space) -> Element {
    let mut zero = space.blank();
    if let (Space::Box(space), Element::Array(array)) = (space, &mut zero) {
        for (index, (low, high)) in space.low().iter().zip(space.high()).enumerate() {
            if *low > 0.0 || *high < 0.0 {
                // A bound is a value of the space's dtype.
                let _ = array.set(index, &Value::Float(if *low > 0.0 { *low } else { *high }));
            }
        }
    }
    zero
}
