//! Curves of several runs on one grid: their mean with its interval, and the runs themselves.
//!
//! Every run of a group is reduced to the same columns. Where all runs of a group are still going
//! on, their mean and its bootstrap interval are drawn; beyond the shortest run, the mean of those
//! that are left, thinly.

use rayon::prelude::*;

use super::frame::{Entry, Frame, Key, WIDTH, legend};
use super::ink::{Ink, SERIES};
use super::reduce::{Axis, Grid, range_of};
use super::scale;
use super::scene::{Dash, Point, Scene};
use super::{Figure, left_out, text, x_range};
use crate::eval::Report;
use crate::eval::bootstrap::{Bootstrap, Strata};
use crate::eval::encounter::Analysis;
use crate::eval::group::Group;
use crate::eval::reference::Reference;
use crate::eval::series::{count, mean};

/// Columns of a picture of several runs.
const COLUMNS: usize = 150;
/// At most so many groups are drawn, and of each so many runs one by one.
const MOST_GROUPS: usize = SERIES;
const MOST_RUNS: usize = 50;

/// What is drawn of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Reward,
    Regret,
}

/// A mean over runs.
#[derive(Clone, Copy, Debug)]
struct Mean {
    value: f64,
    interval: Option<(f64, f64)>,
}

/// The curves of one group.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    name: String,
    runs: usize,
    /// Each run's value in each column, where it has one.
    own: Vec<Vec<Option<f64>>>,
    /// The mean over the runs that have a value, and the interval where all have one.
    means: Vec<Option<Mean>>,
    /// One past the last column that all runs reach.
    common: usize,
}

/// The curves of all groups on one grid.
#[derive(Clone, Debug)]
pub(super) struct Across {
    axis: Axis,
    range: (f64, f64),
    curves: Vec<Curve>,
}

impl Across {
    /// Reduces the runs of all groups; nothing where there is one run only.
    pub(super) fn new(runs: &[Analysis<'_>], groups: &[Group], reference: &Reference, what: What) -> Option<Self> {
        if runs.len() < 2 {
            return None;
        }
        let forward = runs.iter().all(|run| run.run.step.is_sorted());
        let axis = if forward { Axis::Step } else { Axis::Row };
        let ends = runs.iter().map(|run| range_of(run, axis));
        let range = ends.reduce(|all, own| (all.0.min(own.0), all.1.max(own.1)))?;
        let curve = |group: &Group| {
            let members: Vec<&Analysis<'_>> = group.members.iter().filter_map(|place| runs.get(*place)).collect();
            let grid = |run| Grid::over(run, axis, range, COLUMNS);
            let own: Vec<Vec<Option<f64>>> =
                members.par_iter().map(|run| columns(run, &grid(run), reference, what)).collect();
            let bootstrap = members.first().map(|run| run.settings.bootstrap).unwrap_or_default();
            Curve::new(group.label(), own, &bootstrap)
        };
        Some(Self { axis, range, curves: groups.iter().take(MOST_GROUPS).map(curve).collect() })
    }
}

/// A run's value in each column.
fn columns(run: &Analysis<'_>, grid: &Grid<'_>, reference: &Reference, what: What) -> Vec<Option<f64>> {
    let mut values = vec![None; COLUMNS];
    let cells = match what {
        What::Reward => grid.cells(run.run.reward.iter().copied().enumerate()),
        What::Regret => super::regret::summed(run, reference, grid),
    };
    for cell in cells {
        if let Some(value) = values.get_mut(cell.column) {
            *value = Some(cell.mean());
        }
    }
    values
}

impl Curve {
    fn new(name: String, own: Vec<Vec<Option<f64>>>, bootstrap: &Bootstrap) -> Self {
        let runs = own.len();
        let reach = |run: &Vec<Option<f64>>| run.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        let common = own.iter().map(reach).min().unwrap_or(0);
        let means = (0..COLUMNS).into_par_iter().map(|column| {
            let values: Vec<f64> = own.iter().filter_map(|run| run.get(column).copied().flatten()).collect();
            let interval = if column < common { bootstrap.mean(&Strata::single(&values)) } else { None };
            Some(Mean { value: mean(&values)?, interval })
        });
        Self { name, runs, means: means.collect(), common, own }
    }

    /// How many runs have a value in a column or later.
    fn left(&self, column: usize) -> usize {
        self.own.iter().filter(|run| run.iter().skip(column).any(Option::is_some)).count()
    }
}

/// All groups in one picture.
pub(super) fn figure(report: &Report, across: &Across, what: What) -> Option<Figure> {
    let values = || across.curves.iter().flat_map(|curve| &curve.means).flatten();
    values().next()?;
    let ends = values().flat_map(|mean| {
        let (low, high) = mean.interval.unwrap_or((mean.value, mean.value));
        [mean.value, low, high]
    });
    let single = across.curves.len() == 1;
    let runs =
        across.curves.iter().filter(|_| single).flat_map(|curve| curve.own.iter().take(MOST_RUNS)).flatten().flatten();
    let y = scale::range(ends.chain(runs.copied()));
    let (axis, name, title, drawn) = match what {
        What::Reward => ("reward / step", "reward-groups", "Reward of groups", "Reward per step"),
        What::Regret => ("summed regret", "regret-groups", "Regret of groups", "Empirical regret summed up"),
    };
    let mut scene = Scene::new(WIDTH, 0.0);
    let frame = Frame::wide(x_range(across.range), y, (12.0, 252.0));
    frame.vertical(&mut scene, axis);
    frame.zero(&mut scene);
    let mut entries: Vec<Entry> = Vec::new();
    for (place, curve) in across.curves.iter().enumerate() {
        draw(&mut scene, &frame, across, curve, (place, single));
        let (few, many) = (curve.left(COLUMNS - 1), curve.runs);
        let left = if few < many { format!(" ({many} runs, {few} to the end)") } else { format!(" ({many} runs)") };
        let shown = format!("{}{left}", text::fitted(&curve.name, 150.0).0);
        entries.push((Key::Line(Ink::series(place), 1.8, dash(place)), shown));
    }
    frame.horizontal(&mut scene, if across.axis == Axis::Step { "step" } else { "row (steps go back in some run)" });
    scene.height = legend(&mut scene, frame.bottom + 42.0, &entries) + 6.0;
    let confidence = scale::number(report.settings.bootstrap.confidence * 100.0);
    let thin = if single { " Thin lines are the runs themselves." } else { "" };
    let runs = across.curves.iter().filter(|_| single).map(|curve| curve.own.len().saturating_sub(MOST_RUNS)).sum();
    let caption = format!(
        "{drawn}: the mean over a group's runs, each counted once, with the {confidence} % bootstrap interval.{thin} A \
         thin end goes on beyond the shortest run and is the mean of the runs that are left. Reduced for drawing: \
         means of {COLUMNS} columns.{}{}",
        left_out(report.groups.len() - across.curves.len(), "group"),
        left_out(runs, "single run")
    );
    Some(Figure::new(name, title, caption, scene))
}

fn draw(scene: &mut Scene, frame: &Frame, across: &Across, curve: &Curve, (place, single): (usize, bool)) {
    let ink = Ink::series(place);
    let x = |column: usize| {
        let (from, to) = across.range;
        from + (to - from) * (count(column) + 0.5) / count(COLUMNS)
    };
    if single {
        for run in curve.own.iter().take(MOST_RUNS) {
            let points = run.iter().enumerate().filter_map(|(column, value)| Some(frame.at(x(column), (*value)?)));
            scene.line(points.collect(), Ink::Soft, 0.5);
        }
    }
    let common = || curve.means.iter().enumerate().take(curve.common);
    let band = |of: fn((f64, f64)) -> f64| -> Vec<Point> {
        common().filter_map(|(column, mean)| Some(frame.at(x(column), of((*mean)?.interval?)))).collect()
    };
    let mut outline = band(|interval| interval.1);
    outline.extend(band(|interval| interval.0).into_iter().rev());
    scene.area(outline, ink, 0.22);
    let line = |columns: std::ops::Range<usize>| -> Vec<Point> {
        let within = curve.means.iter().enumerate().filter(|(column, _)| columns.contains(column));
        within.filter_map(|(column, mean)| Some(frame.at(x(column), (*mean)?.value))).collect()
    };
    scene.dashed(line(0..curve.common), ink, 1.8, dash(place));
    scene.line(line(curve.common.saturating_sub(1)..COLUMNS), ink, 0.7);
}

/// Groups differ in their lines, too.
pub(super) fn dash(place: usize) -> Dash {
    match place % 3 {
        0 => Dash::Solid,
        1 => Dash::Long,
        _ => Dash::Short,
    }
}
