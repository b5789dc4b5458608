//! Reward over the steps of one run: the rows faintly, their trailing means on top, the
//! encounters behind.

use super::frame::{Entry, Frame, Key, legend};
use super::ink::Ink;
use super::reduce::{Cell, Curves, Pieces};
use super::scale;
use super::scene::{Dash, Scene};
use super::shade::{Bands, STRIP};
use super::{Figure, reduction};
use crate::eval::RunReport;

const FAINT: f64 = 0.35;

pub(super) fn figure(run: &RunReport, curves: &Curves, window: &str) -> Option<Figure> {
    let cells = || curves.reward.iter().flatten();
    cells().next()?;
    let y = scale::range(cells().flat_map(|cell| [cell.min, cell.max]));
    let mut scene = Scene::new(super::frame::WIDTH, 0.0);
    let frame = Frame::wide(super::x_range(curves.range), y, (STRIP + 6.0, 246.0));
    let bands = Bands::of(run, curves);
    frame.vertical(&mut scene, "reward / step");
    bands.behind(&mut scene, &frame);
    frame.zero(&mut scene);
    for piece in &curves.reward {
        envelope(&mut scene, &frame, piece, Ink::Soft);
    }
    for piece in &curves.trailing {
        means(&mut scene, &frame, piece, Ink::Text, 1.6);
    }
    let mut entries: Vec<Entry> = vec![
        (Key::Patch(Ink::Soft, FAINT), "rows".to_owned()),
        (Key::Line(Ink::Text, 1.6, Dash::Solid), "trailing mean".to_owned()),
    ];
    entries.extend(bands.strip(&mut scene, &frame));
    frame.horizontal(&mut scene, curves.axis.title());
    scene.height = legend(&mut scene, frame.bottom + 42.0, &entries) + 6.0;
    let caption = format!(
        "Reward per step. The line is the trailing mean over a window of {window} of each encounter's rows, begun anew \
         at each encounter; the background shows the canonical regime.{}{}",
        reduction(curves),
        if bands.bands.is_empty() { " The encounters are too many to be told apart." } else { "" },
    );
    Some(Figure::new("reward", "Reward over steps", caption, scene))
}

/// The least and greatest value of each column.
pub(super) fn envelope(scene: &mut Scene, frame: &Frame, cells: &[Cell], ink: Ink) {
    match cells {
        [] => {}
        [one] if one.n == 1 => scene.dot(frame.at(one.x, one.mean()), 2.0, ink, super::scene::Shape::Disc),
        cells if cells.iter().all(|cell| cell.n == 1) => {
            scene.line(cells.iter().map(|cell| frame.at(cell.x, cell.mean())).collect(), ink, 0.8);
        }
        cells => {
            // At least a hair's breadth, so that a constant stretch is seen.
            let hair = 0.4;
            let upper = cells.iter().map(|cell| (frame.x.at(cell.x), frame.y.at(cell.max) - hair));
            let lower = cells.iter().rev().map(|cell| (frame.x.at(cell.x), frame.y.at(cell.min) + hair));
            scene.area(upper.chain(lower).collect(), ink, FAINT);
        }
    }
}

/// A line through the columns' means; a single column is a dot.
pub(super) fn means(scene: &mut Scene, frame: &Frame, cells: &[Cell], ink: Ink, width: f64) {
    match cells {
        [one] => scene.dot(frame.at(one.x, one.mean()), width + 0.6, ink, super::scene::Shape::Disc),
        cells => scene.line(cells.iter().map(|cell| frame.at(cell.x, cell.mean())).collect(), ink, width),
    }
}

/// Lines through the means of each piece.
pub(super) fn lines(scene: &mut Scene, frame: &Frame, pieces: &Pieces, ink: Ink, width: f64) {
    pieces.iter().for_each(|piece| means(scene, frame, piece, ink, width));
}
