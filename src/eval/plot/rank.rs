//! Effective rank, with gaps where it was not measured, and refused actions below.

use super::frame::{Frame, RIGHT, WIDTH, left, legend};
use super::ink::Ink;
use super::reduce::{Cell, Curves};
use super::scale;
use super::scene::{Scene, Shape};
use super::shade::{Bands, STRIP};
use super::{Figure, reduction};
use crate::eval::RunReport;
use crate::eval::output::cell::number;

/// More measurements than this are a line without dots.
const MOST_DOTS: usize = 150;

pub(super) fn figure(run: &RunReport, curves: &Curves) -> Option<Figure> {
    let refused = curves.refused.iter().any(|cell| cell.max > 0.0);
    let measured = !curves.rank.is_empty();
    if !refused && !measured {
        return None;
    }
    let cells = || curves.rank.iter().flatten();
    let x = super::x_range(curves.range);
    let ranks = scale::range(cells().flat_map(|cell| [cell.min, cell.max]));
    let rates = (0.0, scale::range(curves.refused.iter().map(Cell::mean).chain([0.0])).1);
    let edge = left(&[ranks, rates]);
    let bands = Bands::of(run, curves);
    let mut scene = Scene::new(WIDTH, 0.0);
    let mut top = STRIP + 6.0;
    let mut names = None;
    if measured {
        let frame = Frame::new(x, ranks, (edge, RIGHT), (top, top + 150.0));
        panel(&mut scene, &frame, &bands, "effective rank");
        names = Some(bands.strip(&mut scene, &frame));
        for piece in &curves.rank {
            super::reward::envelope(&mut scene, &frame, piece, Ink::Text);
            super::reward::means(&mut scene, &frame, piece, Ink::Text, 1.4);
        }
        if cells().count() <= MOST_DOTS {
            cells().for_each(|cell| scene.dot(frame.at(cell.x, cell.mean()), 2.0, Ink::Text, Shape::Disc));
        }
        if refused {
            frame.baseline(&mut scene);
        } else {
            frame.horizontal(&mut scene, curves.axis.title());
        }
        top = frame.bottom + if refused { 14.0 } else { 42.0 };
    }
    if refused {
        let frame = Frame::new(x, rates, (edge, RIGHT), (top, top + if measured { 64.0 } else { 120.0 }));
        panel(&mut scene, &frame, &bands, "refused");
        if names.is_none() {
            names = Some(bands.strip(&mut scene, &frame));
        }
        super::reward::means(&mut scene, &frame, &curves.refused, Ink::Text, 1.2);
        frame.horizontal(&mut scene, curves.axis.title());
        top = frame.bottom + 42.0;
    }
    scene.height = legend(&mut scene, top, &names.unwrap_or_default()) + 6.0;
    let coverage = run.value("erank_coverage").map(|share| {
        format!(
            "Effective rank of the representation, measured in {} % of the rows; nothing is drawn where it was not. ",
            number(share * 100.0)
        )
    });
    let coverage = coverage.filter(|_| measured).unwrap_or_default();
    let below = if refused { "Refused actions as a share of the rows of a pixel column." } else { "" };
    let title = if measured { "Effective rank" } else { "Refused actions" };
    Some(Figure::new("rank", title, format!("{coverage}{below}{}", reduction(curves)).trim().to_owned(), scene))
}

fn panel(scene: &mut Scene, frame: &Frame, bands: &Bands, title: &str) {
    frame.vertical(scene, title);
    bands.behind(scene, frame);
}
