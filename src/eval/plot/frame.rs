//! The rectangle that data are drawn in: axes with ticks, a strip above it that names the
//! encounters, a legend below it.
//!
//! Nothing of the frame stands on data: ticks are left of and below the rectangle, names of
//! encounters above it, the legend under the axis.

use super::ink::Ink;
use super::scale::{self, Scale};
use super::scene::{Anchor, Dash, Label, Point, Scene, Shape};
use super::text;

/// The width of every picture.
pub(super) const WIDTH: f64 = 720.0;
/// Where data begin from the left, unless ticks are wide.
pub(super) const LEFT: f64 = 60.0;
/// Where they end.
pub(super) const RIGHT: f64 = WIDTH - 16.0;

/// About how many ticks a vertical axis has.
const VERTICAL_TICKS: usize = 5;

/// The rectangle of one panel, with its scales.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) x: Scale,
    pub(super) y: Scale,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

impl Frame {
    /// A panel as wide as the picture but for its ticks, from `top` to `bottom`.
    pub(super) fn wide(x: (f64, f64), y: (f64, f64), rows: (f64, f64)) -> Self {
        Self::new(x, y, (left(&[y]), RIGHT), rows)
    }

    pub(super) fn new(x: (f64, f64), y: (f64, f64), (left, right): (f64, f64), (top, bottom): (f64, f64)) -> Self {
        Self { x: Scale::new(x, (left, right)), y: Scale::new(y, (bottom, top)), left, right, top, bottom }
    }

    pub(super) fn at(&self, x: f64, y: f64) -> Point {
        (self.x.at(x), self.y.at(y))
    }

    /// Grid lines and ticks of the vertical axis, and its title at the picture's edge.
    pub(super) fn vertical(&self, scene: &mut Scene, title: &str) {
        self.vertical_at(scene, title, 12.0);
    }

    /// The same with the title at `x`.
    pub(super) fn vertical_at(&self, scene: &mut Scene, title: &str, x: f64) {
        let wanted = if self.bottom - self.top < 80.0 { 2 } else { VERTICAL_TICKS };
        for (value, tick) in scale::ticks((self.y.from, self.y.to), wanted) {
            let y = self.y.at(value);
            scene.line(vec![(self.left, y), (self.right, y)], Ink::Grid, 0.6);
            scene.text((self.left - 6.0, y + 3.5), tick, Anchor::End, Ink::Soft);
        }
        let at = (x, f64::midpoint(self.top, self.bottom));
        scene.label(Label { at, text: title.to_owned(), anchor: Anchor::Middle, upwards: true, ..Label::default() });
    }

    /// The horizontal axis with its ticks, and its title.
    pub(super) fn horizontal(&self, scene: &mut Scene, title: &str) {
        self.baseline(scene);
        let wanted = if self.right - self.left < 300.0 { 3 } else { 8 };
        for (value, tick) in scale::whole_ticks((self.x.from, self.x.to), wanted) {
            self.tick(scene, value, tick);
        }
        self.titled(scene, title);
    }

    /// The horizontal axis of values that are not whole.
    pub(super) fn horizontal_values(&self, scene: &mut Scene, title: &str, wanted: usize) {
        self.baseline(scene);
        for (value, tick) in scale::ticks((self.x.from, self.x.to), wanted) {
            self.tick(scene, value, tick);
        }
        self.titled(scene, title);
    }

    fn tick(&self, scene: &mut Scene, value: f64, tick: String) {
        let x = self.x.at(value);
        scene.line(vec![(x, self.bottom), (x, self.bottom + 4.0)], Ink::Text, 1.0);
        self.under(scene, value, tick);
    }

    /// A text under the axis.
    pub(super) fn under(&self, scene: &mut Scene, x: f64, text: String) {
        scene.text((self.x.at(x), self.bottom + 16.0), text, Anchor::Middle, Ink::Soft);
    }

    /// The title of the horizontal axis.
    pub(super) fn titled(&self, scene: &mut Scene, title: &str) {
        scene.text((f64::midpoint(self.left, self.right), self.bottom + 32.0), title, Anchor::Middle, Ink::Text);
    }

    /// How far apart 0 and 1 are from left to right.
    pub(super) fn step(&self) -> f64 {
        self.x.at(1.0) - self.x.at(0.0)
    }

    /// The line under the panel.
    pub(super) fn baseline(&self, scene: &mut Scene) {
        scene.line(vec![(self.left, self.bottom), (self.right, self.bottom)], Ink::Text, 1.0);
    }

    /// A line at the value 0, if the panel has it inside.
    pub(super) fn zero(&self, scene: &mut Scene) {
        if self.y.from < 0.0 && self.y.to > 0.0 {
            let y = self.y.at(0.0);
            scene.line(vec![(self.left, y), (self.right, y)], Ink::Text, 0.8);
        }
    }
}

/// Where panels with these vertical ranges begin from the left, so that their ticks have room.
pub(super) fn left(ranges: &[(f64, f64)]) -> f64 {
    let ticks = ranges.iter().flat_map(|range| scale::ticks(*range, VERTICAL_TICKS));
    ticks.map(|(_, tick)| text::width(&tick) + 28.0).fold(LEFT, f64::max)
}

/// What an entry of a legend shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Key {
    Line(Ink, f64, Dash),
    Patch(Ink, f64),
    Hatch,
    Dot(Ink, Shape),
    /// The name says all.
    Nothing,
}

/// An entry of a legend: its sign, and what that stands for.
pub(super) type Entry = (Key, String);

/// Draws a legend from `top` down, as many entries a line as fit; returns where it ends.
pub(super) fn legend(scene: &mut Scene, top: f64, entries: &[Entry]) -> f64 {
    const SIGN: f64 = 20.0;
    const APART: f64 = 18.0;
    const LINE: f64 = 16.0;
    const LONGEST: f64 = 200.0;
    let entries: Vec<(Key, (String, Option<String>))> =
        entries.iter().map(|(key, name)| (*key, text::fitted(name, LONGEST))).collect();
    let before = |key: Key| if key == Key::Nothing { 0.0 } else { SIGN };
    let width = |(key, (shown, _)): &(Key, (String, Option<String>))| before(*key) + text::width(shown);
    let all: f64 = entries.iter().map(|entry| width(entry) + APART).sum();
    // On several lines they stand in columns.
    let column = entries.iter().map(width).fold(0.0, f64::max);
    let column = (LEFT + all - APART > RIGHT).then_some(column);
    let (mut x, mut y) = (LEFT, top);
    for (key, (shown, title)) in &entries {
        let width = column.unwrap_or_else(|| before(*key) + text::width(shown));
        if x > LEFT && x + width > RIGHT {
            (x, y) = (LEFT, y + LINE);
        }
        sign(scene, *key, (x, y + LINE / 2.0));
        let at = (x + before(*key), y + LINE / 2.0 + 3.5);
        let (shown, title) = (shown.clone(), title.clone());
        scene.label(Label { at, text: shown, title, ..Label::default() });
        x += width + APART;
    }
    if entries.is_empty() { top } else { y + LINE }
}

fn sign(scene: &mut Scene, key: Key, (x, y): Point) {
    match key {
        Key::Line(ink, width, dash) => scene.dashed(vec![(x, y), (x + 15.0, y)], ink, width, dash),
        Key::Patch(ink, opacity) => scene.rect((x, y - 5.0), (15.0, 10.0), ink, opacity),
        Key::Hatch => scene.hatch((x, y - 5.0), (15.0, 10.0)),
        Key::Nothing => {}
        Key::Dot(ink, shape) => scene.dot((x + 7.0, y), 3.5, ink, shape),
    }
}
