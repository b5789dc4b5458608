//! Whether an element lies in a space.

use super::{Element, Space, batch};

impl Space {
    /// Whether `element` lies in the space, by Gymnasium's rules: of an array's dtype it is asked
    /// that nothing be lost on the way to the space's.
    #[must_use]
    pub fn contains(&self, element: &Element) -> bool {
        match (self, element) {
            (Self::Box(space), Element::Array(array)) => space.contains(array),
            (Self::Discrete { n, start, .. }, Element::Discrete(value)) => {
                value.checked_sub(*start).is_some_and(|offset| (0..*n).contains(&offset))
            }
            (Self::MultiDiscrete(space), Element::Array(array)) => space.contains(array),
            (Self::MultiBinary(space), Element::Array(array)) => space.contains(array),
            (Self::Text(space), Element::Text(text)) => space.contains(text),
            (Self::Dict(dict), Element::Dict(parts)) => {
                parts.len() == dict.spaces().len()
                    && dict
                        .spaces()
                        .iter()
                        .all(|(name, space)| parts.get(name).is_some_and(|part| space.contains(part)))
            }
            (Self::Tuple(spaces), Element::Tuple(parts)) => {
                parts.len() == spaces.len() && spaces.iter().zip(parts).all(|(space, part)| space.contains(part))
            }
            (Self::Sequence { space, stack: false }, Element::Tuple(items)) => {
                items.iter().all(|item| space.contains(item))
            }
            (Self::Sequence { space, stack: true }, items) => {
                batch::split(space, items).is_some_and(|items| items.iter().all(|item| space.contains(item)))
            }
            (Self::Graph { node_space, edge_space }, Element::Dict(_)) => {
                contains_graph(node_space, edge_space.as_deref(), element).unwrap_or(false)
            }
            (Self::OneOf(spaces), Element::Tuple(parts)) => match parts.as_slice() {
                [Element::Discrete(index), part] => usize::try_from(*index)
                    .ok()
                    .and_then(|index| spaces.get(index))
                    .is_some_and(|space| space.contains(part)),
                _ => false,
            },
            _ => false,
        }
    }
}

/// Whether `graph` has nodes and edges of these spaces, and links between its nodes; `None` when
/// it is no graph.
fn contains_graph(node_space: &Space, edge_space: Option<&Space>, graph: &Element) -> Option<bool> {
    let Element::Dict(parts) = graph else { return None };
    let nodes = batch::split(node_space, parts.get("nodes")?)?;
    let in_space = nodes.iter().all(|node| node_space.contains(node));
    if parts.len() == 1 {
        return Some(in_space);
    }
    let (edge_space, edges, links) = (edge_space?, parts.get("edges")?, parts.get("edge_links")?);
    let edges = batch::split(edge_space, edges)?;
    let Element::Array(links) = links else { return None };
    let linked = links.shape() == [edges.len(), 2]
        && links.dtype().integer_range().is_some()
        && links.scalars().all(|node| {
            node.to_i64().and_then(|node| usize::try_from(node).ok()).is_some_and(|node| node < nodes.len())
        });
    Some(in_space && linked && parts.len() == 3 && edges.iter().all(|edge| edge_space.contains(edge)))
}
