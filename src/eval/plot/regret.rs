//! Regret summed up over the steps of one run.

use super::frame::{Frame, legend};
use super::ink::Ink;
use super::reduce::{Cell, Curves, Grid, finite_rows};
use super::scale;
use super::scene::Scene;
use super::shade::{Bands, STRIP};
use super::{Figure, reduction};
use crate::eval::RunReport;
use crate::eval::encounter::Analysis;
use crate::eval::metrics::regret_levels;
use crate::eval::reference::Reference;
use crate::sum::Sum;

/// The sum so far, over labelled rows, of the regime's reference level less the reward.
pub(super) fn summed(run: &Analysis<'_>, reference: &Reference, grid: &Grid<'_>) -> Vec<Cell> {
    let mut total = Sum::default();
    let levels = regret_levels(run, reference);
    let labelled = run.encounters.iter().zip(levels).filter_map(|(visit, level)| Some((visit, level?)));
    let sums = labelled.flat_map(|(visit, level)| {
        finite_rows(run, visit).zip(visit.rewards.iter()).map(move |(row, reward)| (row, level - reward))
    });
    grid.cells(sums.map(|(row, regret)| {
        total.add(regret);
        (row, total.value())
    }))
}

pub(super) fn figure(run: &RunReport, curves: &Curves, reference: &str) -> Option<Figure> {
    if curves.regret.len() < 2 {
        return None;
    }
    let mut scene = Scene::new(super::frame::WIDTH, 0.0);
    let y = scale::range(curves.regret.iter().flat_map(|cell| [cell.min, cell.max]).chain([0.0]));
    let frame = Frame::wide(super::x_range(curves.range), y, (STRIP + 6.0, 206.0));
    let bands = Bands::of(run, curves);
    frame.vertical(&mut scene, "summed regret");
    bands.behind(&mut scene, &frame);
    frame.zero(&mut scene);
    super::reward::means(&mut scene, &frame, &curves.regret, Ink::Text, 1.6);
    let entries = bands.strip(&mut scene, &frame);
    frame.horizontal(&mut scene, curves.axis.title());
    scene.height = legend(&mut scene, frame.bottom + 42.0, &entries) + 6.0;
    let caption = format!(
        "Empirical regret summed over labelled rows: {reference} less the reward. It stands in for dynamic regret and \
         may fall.{}",
        reduction(curves)
    );
    Some(Figure::new("regret", "Summed regret", caption, scene))
}
