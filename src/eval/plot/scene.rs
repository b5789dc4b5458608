//! A picture as a list of marks, before it is a file.
//!
//! Coordinates are pixels at the picture's own size, `y` downwards. Figures make scenes; the
//! writers of SVG and PNG put the same scene on paper. Colours are named by what they are for
//! ([`Ink`]), so a scene is the same in light and in dark.

use super::ink::Ink;

/// A point of a scene.
pub(super) type Point = (f64, f64);

/// A picture under construction.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Scene {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) marks: Vec<Mark>,
}

/// Something to draw.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Mark {
    /// A filled polygon.
    Area { points: Vec<Point>, ink: Ink, opacity: f64 },
    /// A line through points.
    Line { points: Vec<Point>, ink: Ink, width: f64, dash: Dash },
    /// A filled rectangle; its title is what it stands for.
    Rect { at: Point, size: Point, ink: Ink, opacity: f64, title: Option<String> },
    /// A rectangle filled with slanting lines: not observed, or unlabelled.
    Hatch { at: Point, size: Point },
    /// A sign at a point.
    Dot { at: Point, radius: f64, ink: Ink, shape: Shape },
    /// A line of text.
    Text(Label),
}

/// How a line is broken: what tells series apart beside their colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Dash {
    #[default]
    Solid,
    Long,
    Short,
}

impl Dash {
    /// The lengths of ink and of no ink.
    pub(super) fn lengths(self) -> Option<(f64, f64)> {
        match self {
            Self::Solid => None,
            Self::Long => Some((6.0, 3.0)),
            Self::Short => Some((2.0, 2.0)),
        }
    }
}

/// The shape of a sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Disc,
    Ring,
    Square,
}

/// Where a text stands in relation to its point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Anchor {
    #[default]
    Start,
    Middle,
    End,
}

/// A line of text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Label {
    pub(super) at: Point,
    pub(super) text: String,
    /// The whole text, where `text` is cut.
    pub(super) title: Option<String>,
    pub(super) anchor: Anchor,
    pub(super) ink: Ink,
    pub(super) bold: bool,
    /// Read from below, turned by a quarter.
    pub(super) upwards: bool,
}

impl Scene {
    pub(super) fn new(width: f64, height: f64) -> Self {
        Self { width, height, marks: Vec::new() }
    }

    pub(super) fn area(&mut self, points: Vec<Point>, ink: Ink, opacity: f64) {
        if points.len() > 2 {
            self.marks.push(Mark::Area { points, ink, opacity });
        }
    }

    pub(super) fn line(&mut self, points: Vec<Point>, ink: Ink, width: f64) {
        self.dashed(points, ink, width, Dash::Solid);
    }

    pub(super) fn dashed(&mut self, points: Vec<Point>, ink: Ink, width: f64, dash: Dash) {
        if points.len() > 1 {
            self.marks.push(Mark::Line { points, ink, width, dash });
        }
    }

    pub(super) fn rect(&mut self, at: Point, size: Point, ink: Ink, opacity: f64) {
        self.titled_rect(at, size, ink, opacity, None);
    }

    pub(super) fn titled_rect(&mut self, at: Point, size: Point, ink: Ink, opacity: f64, title: Option<String>) {
        self.marks.push(Mark::Rect { at, size, ink, opacity, title });
    }

    pub(super) fn hatch(&mut self, at: Point, size: Point) {
        self.marks.push(Mark::Hatch { at, size });
    }

    pub(super) fn dot(&mut self, at: Point, radius: f64, ink: Ink, shape: Shape) {
        self.marks.push(Mark::Dot { at, radius, ink, shape });
    }

    pub(super) fn label(&mut self, label: Label) {
        self.marks.push(Mark::Text(label));
    }

    /// A short text of ours.
    pub(super) fn text(&mut self, at: Point, text: impl Into<String>, anchor: Anchor, ink: Ink) {
        self.label(Label { at, text: text.into(), anchor, ink, ..Label::default() });
    }

    /// A name of the user's at most `room` pixels wide; cut where it must be, with the whole of it
    /// as its title.
    pub(super) fn name(&mut self, at: Point, name: &str, room: f64, anchor: Anchor, ink: Ink) {
        let (text, title) = super::text::fitted(name, room);
        self.label(Label { at, text, title, anchor, ink, ..Label::default() });
    }
}

/// The slanting lines that fill a rectangle.
pub(super) fn hatching(at: Point, size: Point) -> Vec<(Point, Point)> {
    const APART: f64 = 7.0;
    let (width, height) = size;
    let mut lines = Vec::new();
    let mut offset = APART / 2.0;
    while offset < width + height {
        // From the left or the lower edge, rising to the right.
        let start = (at.0 + (offset - height).max(0.0), at.1 + offset.min(height));
        let end = (at.0 + offset.min(width), at.1 + (offset - width).max(0.0));
        lines.push((start, end));
        offset += APART;
    }
    lines
}
