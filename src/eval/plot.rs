//! The pictures of a report: figures that continual-RL readers expect, from the rows once reduced.
//!
//! [`Drawing`] keeps of each run (of the first few) and of each group what its figures show:
//! bounded in size however many rows there are. A [`Figure`] is a scene with a caption, which says
//! what the picture leaves out; it becomes SVG, inside a page or as a file, or PNG.

mod across;
mod baseline;
mod components;
mod frame;
mod ink;
mod intervals;
mod matrix;
mod png;
mod rank;
mod reduce;
mod regret;
mod reward;
mod scale;
pub(crate) mod scatter;
mod scene;
mod shade;
mod svg;
pub(crate) mod sweep;
mod text;
mod visits;

use rayon::prelude::*;

use super::Report;
use super::encounter::Analysis;
use super::group::Group;
use super::reference::Reference;
use super::settings::RegretReference;
use across::{Across, What};
use baseline::Beside;
pub use ink::Theme;
use reduce::Curves;
use scene::Scene;
pub(super) use svg::page_style;

/// The size of all text in pictures, in pixels.
const TEXT: f64 = 11.0;
/// Runs are drawn one by one up to this many; of more, the first ones.
pub const MOST_RUNS: usize = 12;
/// Groups are held against a baseline up to this many.
const MOST_GROUPS: usize = 8;

/// What the figures of a report are drawn from.
#[derive(Debug)]
pub struct Drawing {
    /// The first runs, reduced.
    runs: Vec<Curves>,
    reward: Option<Across>,
    regret: Option<Across>,
    baseline: Vec<Beside>,
}

/// A picture with its caption.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// A short name, for files.
    pub name: &'static str,
    /// What it is.
    pub title: String,
    /// How it is to be read, and what it leaves out.
    pub caption: String,
    scene: Scene,
}

impl Figure {
    fn new(name: &'static str, title: &str, caption: String, scene: Scene) -> Self {
        Self { name, title: title.to_owned(), caption, scene }
    }

    /// As an element of a page that has [`page_style`].
    pub(super) fn inline(&self) -> String {
        svg::inline(&self.scene, &self.title)
    }

    /// As an SVG file.
    #[must_use]
    pub fn svg(&self) -> String {
        svg::document(&self.scene, &self.title)
    }

    /// As a PNG file, twice the picture's own size: 1440 pixels wide. `None` where there is no
    /// memory for it.
    #[must_use]
    pub fn png(&self, theme: Theme) -> Option<Vec<u8>> {
        png::document(&self.scene, 2.0, theme)
    }
}

impl Drawing {
    /// Reduces what is to be drawn.
    pub(super) fn new(runs: &[Analysis<'_>], groups: &[Group], reference: &Reference) -> Self {
        let first = runs.get(..MOST_RUNS.min(runs.len())).unwrap_or(runs);
        let besides = groups.iter().take(MOST_GROUPS).filter_map(|group| Beside::new(runs, group, reference));
        Self {
            runs: first.par_iter().map(|run| Curves::of(run, reference)).collect(),
            reward: Across::new(runs, groups, reference, What::Reward),
            regret: Across::new(runs, groups, reference, What::Regret),
            baseline: besides.collect(),
        }
    }
}

/// The figures of all runs and groups together; none where nothing was reduced.
#[must_use]
pub fn of_all(report: &Report) -> Vec<Figure> {
    let Some(drawing) = &report.drawing else { return Vec::new() };
    let across =
        |across: &Option<Across>, what| across.as_ref().and_then(|curves| across::figure(report, curves, what));
    let reward = across(&drawing.reward, What::Reward);
    let rest = [intervals::metrics(report), intervals::profile(report), across(&drawing.regret, What::Regret)];
    let mut baseline: Vec<Figure> = drawing.baseline.iter().map(baseline::figure).collect();
    if let Some(last) = baseline.last_mut() {
        last.caption += &left_out(report.groups.len().saturating_sub(MOST_GROUPS), "group");
    }
    reward.into_iter().chain(baseline).chain(rest.into_iter().flatten()).collect()
}

/// The figures of the run at `place` in the report; none beyond [`MOST_RUNS`], or where nothing
/// was reduced.
#[must_use]
pub fn of_run(report: &Report, place: usize) -> Vec<Figure> {
    let curves = report.drawing.as_ref().and_then(|drawing| drawing.runs.get(place));
    let Some((run, curves)) = report.runs.get(place).zip(curves) else { return Vec::new() };
    let regret_level = match report.settings.regret_ref {
        RegretReference::Run => "the run's best exit level under the regime",
        RegretReference::Set => "the best exit level of all runs under the regime",
        RegretReference::Levels(_) => "the level given for the regime",
    };
    let figures = [
        reward::figure(run, curves, &report.settings.window.words()),
        matrix::encounters(run),
        matrix::frozen(run),
        components::over_time(run, curves),
        components::as_bars(run, curves),
        rank::figure(run, curves),
        visits::figure(run),
        regret::figure(run, curves, regret_level),
    ];
    figures.into_iter().flatten().collect()
}

/// Every figure, with the stem of its file's name.
#[must_use]
pub fn all(report: &Report) -> Vec<(String, Figure)> {
    let drawn = report.drawing.as_ref().map_or(0, |drawing| drawing.runs.len());
    let runs = (0..drawn).flat_map(|place| {
        let named = move |figure: Figure| (format!("run-{:02}-{}", place + 1, figure.name), figure);
        of_run(report, place).into_iter().map(named)
    });
    let mut beside = 0;
    let all = of_all(report).into_iter().map(|figure| {
        beside += usize::from(figure.name == "baseline");
        let stem = if figure.name == "baseline" { format!("baseline-{beside:02}") } else { figure.name.to_owned() };
        (stem, figure)
    });
    let all: Vec<(String, Figure)> = all.collect();
    all.into_iter().chain(runs).collect()
}

/// What a caption says of rows that share a pixel.
fn reduction(curves: &Curves) -> String {
    if !curves.reduced() {
        return String::new();
    }
    let (rows, columns) = (scale::si(curves.rows), reduce::COLUMNS);
    format!(
        " Reduced for drawing: {rows} rows share {columns} columns of pixels; of each column the least, the greatest \
         and the mean value are drawn."
    )
}

/// What a caption says of `n` more of `what`, which the picture leaves out.
fn left_out(n: usize, what: &str) -> String {
    match n {
        0 => String::new(),
        1 => format!(" 1 more {what} is not drawn."),
        n => format!(" {n} more {what}s are not drawn."),
    }
}

/// The horizontal range of a picture over `range`; that of a single place has room on both sides.
fn x_range((from, to): (f64, f64)) -> (f64, f64) {
    if from < to { (from, to) } else { (from - 1.0, to + 1.0) }
}
