//! Points over whole numbers, told apart by sign and colour: a picture that other rooms draw.

use super::Figure;
use super::frame::{Frame, Key, WIDTH, legend};
use super::ink::Ink;
use super::scale;
use super::scene::{Scene, Shape};

/// A kind of points, drawn after those before it.
pub(crate) struct Series {
    /// What the legend calls it.
    pub(crate) name: String,
    /// Its place among the colours.
    pub(crate) colour: usize,
    pub(crate) sign: Sign,
    pub(crate) points: Vec<(f64, f64)>,
}

/// How a point is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    Disc,
    Ring,
    Square,
}

impl Sign {
    fn shape(self) -> Shape {
        match self {
            Self::Disc => Shape::Disc,
            Self::Ring => Shape::Ring,
            Self::Square => Shape::Square,
        }
    }
}

/// The picture of `series`, with `titles` of the horizontal and the vertical axis.
pub(crate) fn figure(title: &str, caption: String, titles: (&str, &str), series: &[Series]) -> Figure {
    let points = || series.iter().flat_map(|series| &series.points);
    let last = points().map(|(x, _)| *x).fold(1.0, f64::max);
    let y = scale::range(points().map(|(_, y)| *y));
    let mut scene = Scene::new(WIDTH, 0.0);
    let frame = Frame::wide((-0.5, last + 0.5), y, (24.0, 284.0));
    scene.text((frame.left, 14.0), title, super::scene::Anchor::Start, Ink::Text);
    frame.vertical(&mut scene, titles.1);
    frame.zero(&mut scene);
    for series in series {
        for (x, y) in &series.points {
            scene.dot(frame.at(*x, *y), 3.5, Ink::series(series.colour), series.sign.shape());
        }
    }
    frame.horizontal(&mut scene, titles.0);
    let entries: Vec<_> = series
        .iter()
        .map(|series| (Key::Dot(Ink::series(series.colour), series.sign.shape()), series.name.clone()))
        .collect();
    scene.height = legend(&mut scene, frame.bottom + 42.0, &entries) + 6.0;
    Figure::new("scatter", title, caption, scene)
}
