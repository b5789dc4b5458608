//! Why an element does not lie in a space: the part at fault, for a message.

use super::{BoxSpace, Element, Space};
use crate::array::Array;

impl Space {
    /// What keeps `element` out of the space, in one line that names the number or part at fault
    /// under `path`, counting from 1; `None` when it lies in it.
    #[must_use]
    pub fn fault(&self, element: &Element, path: &str) -> Option<String> {
        if self.contains(element) {
            return None;
        }
        let deeper = match (self, element) {
            (Self::Box(space), Element::Array(array)) => fault_in_box(space, array, path),
            (Self::Dict(dict), Element::Dict(parts)) => dict.spaces().iter().find_map(|(name, space)| {
                let path = format!("{path}.{name}");
                match parts.get(name) {
                    Some(part) => space.fault(part, &path),
                    None => Some(format!("`{path}` is missing")),
                }
            }),
            (Self::Tuple(spaces), Element::Tuple(parts)) if spaces.len() == parts.len() => {
                first_fault(spaces.iter().zip(parts), path)
            }
            (Self::Sequence { space, stack: false }, Element::Tuple(items)) => {
                first_fault(items.iter().map(|item| (&**space, item)), path)
            }
            _ => None,
        };
        Some(deeper.unwrap_or_else(|| format!("`{path}` is {element}, outside {self}")))
    }
}

fn first_fault<'a>(parts: impl Iterator<Item = (&'a Space, &'a Element)>, path: &str) -> Option<String> {
    parts.enumerate().find_map(|(index, (space, part))| space.fault(part, &format!("{path}[{}]", index + 1)))
}

fn fault_in_box(space: &BoxSpace, array: &Array, path: &str) -> Option<String> {
    if array.shape() != space.shape() {
        return Some(format!("`{path}` has the shape {:?}, the space has {:?}", array.shape(), space.shape()));
    }
    let (found, expected) = (array.dtype(), space.dtype());
    if found.promote(expected) != expected {
        return Some(format!("`{path}` is of {}, the space of {}", found.numpy_name(), expected.numpy_name()));
    }
    array.scalars().zip(space.low().iter().zip(space.high())).enumerate().find_map(|(index, (number, (low, high)))| {
        let place = || match space.shape().len() {
            0 => format!("`{path}`"),
            1 => format!("`{path}[{}]`", index + 1),
            _ => format!("`{path}`, element {} in C order,", index + 1),
        };
        if number.to_f64().is_nan() {
            return Some(format!("{} is NaN", place()));
        }
        (!BoxSpace::within(number, *low, *high)).then(|| format!("{} is {number}, outside {low} to {high}", place()))
    })
}
