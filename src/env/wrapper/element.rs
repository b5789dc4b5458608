//! Elements on their way through wrappers: copied in place, checked, and a space's zero.

use crate::array::{Array, Item, Scalar, each};
use crate::space::{Element, Space};

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
        (Space::Tuple(spaces), Element::Tuple(parts)) => {
            spaces.len() == parts.len() && spaces.iter().zip(parts).all(|(space, part)| admissible(space, part))
        }
        (Space::Dict(dict), Element::Dict(parts)) => {
            let has = |(name, space): (&String, &Space)| parts.get(name).is_some_and(|part| admissible(space, part));
            dict.spaces().len() == parts.len() && dict.spaces().iter().all(has)
        }
        _ => space.contains(action),
    }
}

/// What stands in for an element of `space` that is not there, as in Gymnasium: zeros, or what
/// the bounds allow nearest to them; the first element of a discrete space.
pub(super) fn zero(space: &Space) -> Element {
    match space {
        Space::Tuple(spaces) => Element::Tuple(spaces.iter().map(zero).collect()),
        Space::Dict(dict) => {
            Element::Dict(dict.spaces().iter().map(|(name, space)| (name.clone(), zero(space))).collect())
        }
        Space::Box(bounds) => {
            let nearest = |(low, high): (&Scalar, &Scalar)| match (low.to_f64() > 0.0, high.to_f64() < 0.0) {
                (true, _) => *low,
                (_, true) => *high,
                _ => Scalar::Int(0),
            };
            filled(space.blank(), bounds.low().iter().zip(bounds.high()).map(nearest))
        }
        Space::MultiDiscrete(multi) => filled(space.blank(), multi.start().iter().copied().map(Scalar::Int)),
        other => other.blank(),
    }
}

/// `element` with `values` in C order; they are of its dtype.
fn filled(mut element: Element, values: impl Iterator<Item = Scalar>) -> Element {
    if let Element::Array(array) = &mut element {
        each!(array, items => fill(items.iter_mut(), values));
    }
    element
}

fn fill<'a, T: Item>(items: impl Iterator<Item = &'a mut T>, values: impl Iterator<Item = Scalar>) {
    for (item, value) in items.zip(values) {
        *item = T::from_scalar(value).unwrap_or_default();
    }
}
