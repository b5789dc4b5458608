//! The pictures of a sweep: every trial across all axes, the metric against each axis, and how much
//! of it each axis explains.

use super::Figure;
use super::frame::{Frame, WIDTH};
use super::ink::Ink;
use super::scale;
use super::scene::{Anchor, Dash, Mark, Scene, Shape};

/// More trials than this are not drawn one by one.
const MOST_TRIALS: usize = 500;
/// More axes than this are not drawn side by side.
const MOST_AXES: usize = 12;

/// An axis or a metric: its name, and for each trial where it is on it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Dimension {
    /// Its name.
    pub name: String,
    /// Where each trial is; `None` where it has no such axis.
    pub places: Vec<Option<f64>>,
    /// What stands at the whole places from 0, where values are no numbers.
    pub names: Option<Vec<String>>,
}

impl Dimension {
    fn range(&self) -> (f64, f64) {
        match &self.names {
            #[expect(clippy::cast_precision_loss, reason = "a count of names")]
            Some(names) => (-0.5, names.len() as f64 - 0.5),
            None => scale::range(self.places.iter().copied().flatten()),
        }
    }

    /// Its ticks: places with what to write there.
    fn ticks(&self) -> Vec<(f64, String)> {
        match &self.names {
            Some(names) => (0_u32..).map(f64::from).zip(names.iter().cloned()).collect(),
            None => scale::ticks(self.range(), 4),
        }
    }
}

/// Every trial as a line across the axes and the metric; the better half is drawn last, in colour.
#[must_use]
pub(crate) fn parallel(axes: &[Dimension], metric: &Dimension, higher: bool) -> Figure {
    const TOP: f64 = 34.0;
    const BOTTOM: f64 = 300.0;
    let shown: Vec<&Dimension> = axes.iter().take(MOST_AXES - 1).chain([metric]).collect();
    let mut scene = Scene::new(WIDTH, BOTTOM + 16.0);
    #[expect(clippy::cast_precision_loss, reason = "a dozen axes")]
    let apart = (WIDTH - 140.0) / (shown.len().max(2) - 1) as f64;
    let frames: Vec<Frame> = shown
        .iter()
        .zip(0_u32..)
        .map(|(dimension, place)| {
            let x = 70.0 + apart * f64::from(place);
            Frame::new((0.0, 1.0), dimension.range(), (x, x + 1.0), (TOP, BOTTOM))
        })
        .collect();
    let trials = metric.places.len().min(MOST_TRIALS);
    let mut order: Vec<(usize, f64)> =
        metric.places.iter().take(trials).enumerate().filter_map(|(trial, place)| Some((trial, (*place)?))).collect();
    order.sort_by(|(_, one), (_, other)| if higher { one.total_cmp(other) } else { other.total_cmp(one) });
    let half = order.len() / 2;
    for (rank, (trial, _)) in order.iter().enumerate() {
        let at = |(dimension, frame): (&&Dimension, &Frame)| {
            Some(frame.at(0.0, dimension.places.get(*trial).copied().flatten()?))
        };
        let better = rank >= half;
        let best = rank + 1 == order.len();
        let (ink, width) = match (best, better) {
            (true, _) => (Ink::Series(1), 2.0),
            (_, true) => (Ink::Series(0), 1.0),
            _ => (Ink::Grid, 1.0),
        };
        // An axis that a trial does not have is passed over.
        scene.dashed(shown.iter().zip(&frames).filter_map(at).collect(), ink, width, Dash::Solid);
    }
    for (dimension, frame) in shown.iter().zip(&frames) {
        scene.line(vec![(frame.left, TOP), (frame.left, BOTTOM)], Ink::Text, 1.0);
        for (value, tick) in dimension.ticks() {
            let y = frame.y.at(value);
            scene.line(vec![(frame.left - 3.0, y), (frame.left, y)], Ink::Text, 1.0);
            scene.name((frame.left - 5.0, y + 3.5), &tick, apart.min(60.0), Anchor::End, Ink::Soft);
        }
        scene.name((frame.left, TOP - 14.0), &dimension.name, apart - 6.0, Anchor::Middle, Ink::Text);
    }
    let more = metric.places.len() - trials;
    let caption = format!(
        "Every trial is a line; the better half by {} is coloured, the best one thick.{}{}",
        metric.name,
        super::left_out(more, "trial"),
        if axes.len() >= MOST_AXES { " Further axes are not drawn." } else { "" }
    );
    Figure::new("parallel", "Trials across all axes", caption, scene)
}

/// The metric of every trial against one axis, with its mean at each value where values repeat.
#[must_use]
pub(crate) fn against(axis: &Dimension, metric: &Dimension) -> Figure {
    let mut scene = Scene::new(WIDTH, 240.0);
    let frame = Frame::wide(axis.range(), metric.range(), (12.0, 190.0));
    frame.vertical(&mut scene, &metric.name);
    frame.baseline(&mut scene);
    for (value, tick) in axis.ticks() {
        frame.under(&mut scene, value, tick);
    }
    frame.titled(&mut scene, &axis.name);
    let mut points: Vec<(f64, f64)> =
        axis.places.iter().zip(&metric.places).filter_map(|(x, y)| Some(((*x)?, (*y)?))).collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.total_cmp(&other.1)));
    for (x, y) in points.iter().take(MOST_TRIALS) {
        scene.dot(frame.at(*x, *y), 2.5, Ink::Series(0), Shape::Ring);
    }
    let means: Vec<(f64, f64)> = points
        .chunk_by(|one, other| one.0.to_bits() == other.0.to_bits())
        .filter_map(|same| {
            let mean = crate::eval::series::mean(&same.iter().map(|(_, y)| *y).collect::<Vec<_>>())?;
            same.first().map(|(x, _)| (*x, mean))
        })
        .collect();
    let repeated = means.len() < points.len();
    if repeated {
        for (x, mean) in &means {
            scene.dot(frame.at(*x, *mean), 4.0, Ink::Series(1), Shape::Disc);
        }
        if axis.names.is_none() {
            scene.line(means.iter().map(|(x, mean)| frame.at(*x, *mean)).collect(), Ink::Series(1), 1.5);
        }
    }
    let caption = format!(
        "Rings are trials{}.{}",
        if repeated { ", discs their mean at one value" } else { "" },
        super::left_out(points.len().saturating_sub(MOST_TRIALS), "trial")
    );
    Figure::new("against", &format!("{} against {}", metric.name, axis.name), caption, scene)
}

/// How much of the metric's variance each axis explains by itself, as bars.
#[must_use]
pub(crate) fn importance(shares: &[(String, Option<f64>)]) -> Figure {
    const ROW: f64 = 22.0;
    const NAMES: f64 = 170.0;
    const BARS: f64 = WIDTH - NAMES - 80.0;
    #[expect(clippy::cast_precision_loss, reason = "a count of axes")]
    let mut scene = Scene::new(WIDTH, ROW * shares.len() as f64 + 12.0);
    for ((name, share), place) in shares.iter().zip(0_u32..) {
        let y = 6.0 + ROW * f64::from(place);
        scene.name((NAMES - 8.0, y + 14.0), name, NAMES - 16.0, Anchor::End, Ink::Text);
        let width = share.unwrap_or(0.0) * BARS;
        scene.marks.push(Mark::Rect {
            at: (NAMES, y + 4.0),
            size: (width.max(1.0), ROW - 8.0),
            ink: Ink::Series(0),
            opacity: 1.0,
            title: None,
        });
        let text = share.map_or_else(|| "too few trials".to_owned(), |share| format!("{:.0} %", share * 100.0));
        scene.text((NAMES + width + 8.0, y + 14.0), text, Anchor::Start, Ink::Soft);
    }
    let caption = "The share of the metric's variance over trials that an axis explains by itself (omega squared of a \
                   one-way analysis of variance; an axis of more than eight numbers is cut into five parts of as many \
                   trials). Axes that only matter together show little here.";
    Figure::new("importance", "Importance", caption.to_owned(), scene)
}
