//! Sampling as Gymnasium samples: the same draws in the same order from the same seed.
//!
//! In Gymnasium every space, nested ones included, has a generator of its own; [`Sampler`] keeps
//! them. [`Space::sample`] makes the same draws from one stream instead, in the order of the
//! parts, for whoever has just one. Each rule of drawing is written once, for both.

use super::{Element, MultiDiscreteSpace, Space, batch, draw};
use crate::array::{Array, DType};
use crate::random::Rng;

/// The success probability of Gymnasium's geometric distribution of sequence lengths.
const END_OF_SEQUENCE: f64 = 0.25;

/// How many nodes Gymnasium's graphs are sampled with.
const NODES: usize = 10;

impl Space {
    /// A random element, all of it drawn from `rng`.
    ///
    /// Of a space without parts it is what Gymnasium's `sample` draws from that generator.
    pub fn sample(&self, rng: &mut Rng) -> Element {
        sample(self, rng)
    }
}

/// A space with Gymnasium's generators: `Sampler::new(space, s)` samples what Gymnasium does after
/// `space.seed(s)`.
#[derive(Clone, Debug)]
pub struct Sampler {
    space: Space,
    streams: Tree,
}

impl Sampler {
    /// The space, seeded.
    #[must_use]
    pub fn new(space: Space, seed: u64) -> Self {
        let streams = Tree::new(&space, seed);
        Self { space, streams }
    }

    /// The next random element.
    pub fn sample(&mut self) -> Element {
        sample(&self.space, &mut self.streams)
    }

    /// What is sampled from.
    #[must_use]
    pub fn space(&self) -> &Space {
        &self.space
    }
}

/// Where the draws for a space and its parts come from.
trait Streams: Sized {
    /// The stream of the space itself.
    fn own(&mut self) -> &mut Rng;

    /// Draws from the streams of the part at `index`.
    fn part<R>(&mut self, index: usize, draw: impl FnOnce(&mut Self) -> R) -> R;

    /// Draws several elements at once as Gymnasium's `Graph` does: from a copy of the streams,
    /// whose originals move on by one double.
    fn aside<R>(&mut self, draw: impl FnOnce(&mut Self) -> R) -> R;

    /// Draws `count` elements of `space`, each from streams of its own, as Gymnasium's
    /// `batch_space` does for what cannot be stacked.
    fn each<R>(&mut self, space: &Space, count: usize, draw: impl FnMut(&mut Self) -> R) -> Vec<R>;
}

impl Streams for Rng {
    fn own(&mut self) -> &mut Rng {
        self
    }

    fn part<R>(&mut self, _: usize, draw: impl FnOnce(&mut Self) -> R) -> R {
        draw(self)
    }

    fn aside<R>(&mut self, draw: impl FnOnce(&mut Self) -> R) -> R {
        draw(self)
    }

    fn each<R>(&mut self, _: &Space, count: usize, mut draw: impl FnMut(&mut Self) -> R) -> Vec<R> {
        (0..count).map(|_| draw(self)).collect()
    }
}

/// A generator for a space, and one such tree for each of its parts.
#[derive(Clone, Debug)]
struct Tree {
    rng: Rng,
    parts: Vec<Tree>,
}

impl Tree {
    /// The parts' seeds are the first draws from the seed; the space itself then begins afresh.
    fn new(space: &Space, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let mut part = |space| Self::new(space, rng.integers(0, i64::from(i32::MAX)).unsigned_abs());
        let parts = space.parts().into_iter().map(&mut part).collect();
        Self { rng: Rng::new(seed), parts }
    }
}

impl Streams for Tree {
    fn own(&mut self) -> &mut Rng {
        &mut self.rng
    }

    fn part<R>(&mut self, index: usize, draw: impl FnOnce(&mut Self) -> R) -> R {
        match self.parts.get_mut(index) {
            Some(part) => draw(part),
            None => draw(self),
        }
    }

    fn aside<R>(&mut self, draw: impl FnOnce(&mut Self) -> R) -> R {
        let mut copy = self.clone();
        self.rng.double();
        draw(&mut copy)
    }

    fn each<R>(&mut self, space: &Space, count: usize, mut draw: impl FnMut(&mut Self) -> R) -> Vec<R> {
        let mut seeds = self.rng.clone();
        (0..count).map(|_| draw(&mut Self::new(space, seeds.integers(0, 100_000_000).unsigned_abs()))).collect()
    }
}

fn sample<S: Streams>(space: &Space, streams: &mut S) -> Element {
    match space {
        Space::Box(space) => Element::Array(draw::boxed(space, streams.own())),
        Space::Discrete { n, start, dtype } => Element::Discrete(draw::discrete(*n, *start, *dtype, streams.own())),
        Space::MultiDiscrete(space) => Element::Array(draw::multi_discrete(space, streams.own())),
        Space::MultiBinary(space) => Element::Array(draw::multi_binary(space, streams.own())),
        Space::Text(space) => Element::Text(draw::text(space, streams.own())),
        Space::Dict(dict) => {
            let parts = dict.spaces().iter().enumerate();
            let drawn = parts
                .map(|(index, (name, space))| (name.clone(), streams.part(index, |streams| sample(space, streams))));
            Element::Dict(drawn.collect())
        }
        Space::Tuple(spaces) => {
            let parts = spaces.iter().enumerate();
            Element::Tuple(parts.map(|(index, space)| streams.part(index, |streams| sample(space, streams))).collect())
        }
        Space::Sequence { space, stack } => {
            let length = streams.own().geometric(END_OF_SEQUENCE);
            let items: Vec<_> = (0..length).map(|_| streams.part(0, |streams| sample(space, streams))).collect();
            if *stack { batch::join(space, &items) } else { Element::Tuple(items) }
        }
        Space::Graph { node_space, edge_space } => graph(node_space, edge_space.as_deref(), streams),
        Space::OneOf(spaces) => {
            let index = streams.own().integers(0, i64::try_from(spaces.len()).unwrap_or(i64::MAX));
            let chosen = usize::try_from(index).unwrap_or(0);
            let part = spaces.get(chosen).map(|space| streams.part(chosen, |streams| sample(space, streams)));
            Element::Tuple(std::iter::once(Element::Discrete(index)).chain(part).collect())
        }
    }
}

fn graph<S: Streams>(node_space: &Space, edge_space: Option<&Space>, streams: &mut S) -> Element {
    let n_nodes = i64::try_from(NODES).unwrap_or(i64::MAX);
    let n_edges = usize::try_from(streams.own().integers(0, n_nodes * (n_nodes - 1))).unwrap_or(0);
    let nodes = streams.part(0, |streams| streams.aside(|streams| several(node_space, NODES, streams)));
    let edges = edge_space.filter(|_| n_edges > 0).and_then(|space| {
        let edges = streams.part(1, |streams| streams.aside(|streams| several(space, n_edges, streams)));
        let links = streams.own().integers_of(DType::I32, 0, n_nodes, 2 * n_edges);
        let links = links.into_iter().filter_map(|node| i32::try_from(node).ok()).collect();
        Some((edges, Array::from_vec(&[n_edges, 2], links).ok()?))
    });
    Element::graph(nodes, edges)
}

/// `count` elements as one, as Gymnasium samples `batch_space(space, count)`: what can be stacked
/// is drawn at once, by the rules of the stacked space.
fn several<S: Streams>(space: &Space, count: usize, streams: &mut S) -> Element {
    match space {
        Space::Box(space) => Element::Array(draw::boxed(&space.repeated(count), streams.own())),
        Space::Discrete { n, start, dtype } => {
            let stacked = MultiDiscreteSpace::repeated(*n, *start, *dtype, count);
            Element::Array(draw::multi_discrete(&stacked, streams.own()))
        }
        Space::MultiDiscrete(space) => Element::Array(draw::boxed(&space.as_box().repeated(count), streams.own())),
        Space::MultiBinary(space) => Element::Array(draw::boxed(&space.as_box().repeated(count), streams.own())),
        Space::Dict(dict) => {
            let parts = dict.spaces().iter().enumerate();
            let drawn = parts.map(|(index, (name, space))| {
                (name.clone(), streams.part(index, |streams| several(space, count, streams)))
            });
            Element::Dict(drawn.collect())
        }
        Space::Tuple(spaces) => {
            let parts = spaces.iter().enumerate();
            let drawn = parts.map(|(index, space)| streams.part(index, |streams| several(space, count, streams)));
            Element::Tuple(drawn.collect())
        }
        _ => Element::Tuple(streams.each(space, count, |streams| sample(space, streams))),
    }
}
