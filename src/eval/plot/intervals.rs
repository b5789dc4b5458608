//! Metrics of groups as points with intervals, over the runs themselves; and which share of the
//! runs' levels is above any given level.

use super::across::dash;
use super::frame::{Entry, Frame, Key, RIGHT, WIDTH, legend};
use super::ink::{Ink, SERIES};
use super::scale;
use super::scene::{Anchor, Label, Point, Scene, Shape};
use super::{Figure, left_out, text};
use crate::eval::Report;
use crate::eval::group::Group;
use crate::eval::output::cell::{self, Column};
use crate::eval::series::count;
use crate::value::Value;

/// At most so many groups are drawn.
const MOST_GROUPS: usize = 20;
/// At most so many metrics have a panel.
const MOST_PANELS: usize = 12;
/// Of each group at most so many runs are drawn one by one.
const MOST_RUNS: usize = 100;
const ROW: f64 = 18.0;

/// The report's headline metrics, a panel each.
pub(super) fn metrics(report: &Report) -> Option<Figure> {
    if report.runs.len() < 2 {
        return None;
    }
    let groups: Vec<&Group> = report.groups.iter().take(MOST_GROUPS).collect();
    let mut panels = cell::columns(report);
    panels.retain(|column| cell::defined(report, column));
    let metrics = panels.len();
    panels.truncate(MOST_PANELS);
    if panels.is_empty() {
        return None;
    }
    const NAMES: f64 = 150.0;
    const ACROSS: usize = 2;
    let width = (RIGHT - NAMES) / count(ACROSS);
    let height = ROW * count(groups.len());
    let mut scene = Scene::new(WIDTH, 0.0);
    let mut top = 22.0;
    for row in panels.chunks(ACROSS) {
        for (place, group) in groups.iter().enumerate() {
            let y = top + ROW * (count(place) + 0.5) + 4.0;
            scene.name((4.0, y), &group.label(), NAMES - 12.0, Anchor::Start, Ink::Text);
        }
        for (index, column) in row.iter().enumerate() {
            let left = NAMES + width * count(index);
            panel(&mut scene, report, &groups, column, (left + 8.0, left + width - 16.0, top, top + height));
        }
        top += height + 46.0;
    }
    let entries: Vec<Entry> = vec![
        (Key::Dot(Ink::Text, Shape::Disc), "mean and interval".to_owned()),
        (Key::Dot(Ink::Text, Shape::Square), "interquartile mean".to_owned()),
        (Key::Dot(Ink::Soft, Shape::Ring), "a run".to_owned()),
    ];
    scene.height = legend(&mut scene, top - 12.0, &entries) + 6.0;
    let confidence = scale::number(report.settings.bootstrap.confidence * 100.0);
    let runs = groups.iter().map(|group| group.members.len().saturating_sub(MOST_RUNS)).sum();
    let caption = format!(
        "Each group's mean over its runs with the {confidence} % bootstrap interval, the interquartile mean, and the runs \
         themselves. A run on which a metric is not defined is missing, not 0.{}{}{}",
        left_out(report.groups.len() - groups.len(), "group"),
        left_out(metrics - panels.len(), "metric"),
        left_out(runs, "single run")
    );
    Some(Figure::new("intervals", "Groups with intervals", caption, scene))
}

fn panel(scene: &mut Scene, report: &Report, groups: &[&Group], column: &Column, at: (f64, f64, f64, f64)) {
    let (left, right, top, bottom) = at;
    let own = |group: &Group, most: usize| -> Vec<f64> {
        let members = group.members.iter().take(most);
        members.filter_map(|place| report.runs.get(*place)?.value(&column.metric)).collect()
    };
    let summaries = || groups.iter().filter_map(|group| group.metrics.get(&column.metric));
    let intervals = summaries().filter_map(|summary| summary.ci).flat_map(|(low, high)| [low, high]);
    let x = scale::range(groups.iter().flat_map(|group| own(group, usize::MAX)).chain(intervals));
    let frame = Frame::new(x, (0.0, 1.0), (left, right), (top, bottom));
    let y = |place: usize| top + ROW * (count(place) + 0.5);
    scene.label(Label {
        at: (left, top - 6.0),
        text: format!("{} {}", column.heading, cell::arrow(column.direction)),
        bold: true,
        ..Label::default()
    });
    for (place, group) in groups.iter().enumerate() {
        scene.line(vec![(left, y(place)), (right, y(place))], Ink::Grid, 0.6);
        let ink = Ink::series(place);
        for value in own(group, MOST_RUNS) {
            scene.dot((frame.x.at(value), y(place)), 2.5, Ink::Soft, Shape::Ring);
        }
        let Some(summary) = group.metrics.get(&column.metric) else { continue };
        if let Some((low, high)) = summary.ci {
            scene.line(vec![(frame.x.at(low), y(place)), (frame.x.at(high), y(place))], ink, 3.0);
        }
        if let Some(iqm) = summary.iqm.filter(|_| summary.n > 1) {
            scene.dot((frame.x.at(iqm), y(place)), 3.0, ink, Shape::Square);
        }
        if let Some(mean) = summary.mean {
            scene.dot((frame.x.at(mean), y(place)), 4.5, ink, Shape::Disc);
        }
    }
    frame.horizontal_values(scene, "", 4);
}

/// The share of runs and regimes whose last exit level is above a level.
pub(super) fn profile(report: &Report) -> Option<Figure> {
    if report.runs.len() < 2 {
        return None;
    }
    let groups: Vec<(String, Vec<f64>)> = report
        .groups
        .iter()
        .take(SERIES)
        .map(|group| (text::fitted(&group.label(), 150.0).0, levels(report, group)))
        .filter(|(_, levels)| !levels.is_empty())
        .collect();
    if groups.is_empty() {
        return None;
    }
    let x = scale::range(groups.iter().flat_map(|(_, levels)| levels.iter().copied()));
    let mut scene = Scene::new(WIDTH, 0.0);
    let frame = Frame::wide(x, (0.0, 1.0), (12.0, 202.0));
    frame.vertical(&mut scene, "share above");
    for (place, (_, levels)) in groups.iter().enumerate() {
        scene.dashed(steps(&frame, levels), Ink::series(place), 1.8, dash(place));
    }
    frame.horizontal_values(&mut scene, "exit level of the last encounter (reward / step)", 8);
    let entry = |(place, (name, levels)): (usize, &(String, Vec<f64>))| {
        (Key::Line(Ink::series(place), 1.8, dash(place)), format!("{name} ({} levels)", levels.len()))
    };
    let entries: Vec<Entry> = groups.iter().enumerate().map(entry).collect();
    scene.height = legend(&mut scene, frame.bottom + 42.0, &entries) + 6.0;
    let caption = format!(
        "Performance profile: the share of all runs and regimes whose last exit level is above a given level. Levels of \
         regimes with different scales of reward are mixed.{}",
        left_out(report.groups.len().saturating_sub(SERIES), "group")
    );
    Some(Figure::new("profile", "Performance profile", caption, scene))
}

/// The exit level of each run's last encounter with each regime, ascending.
fn levels(report: &Report, group: &Group) -> Vec<f64> {
    let mut levels = Vec::new();
    for run in group.members.iter().filter_map(|place| report.runs.get(*place)) {
        let mut last: indexmap::IndexMap<&str, f64> = indexmap::IndexMap::new();
        for visit in run.detail("encounters") {
            let regime = visit.get("regime").and_then(Value::as_text);
            if let Some((regime, exit)) = regime.zip(visit.get("exit").and_then(Value::as_float)) {
                last.insert(regime, exit);
            }
        }
        levels.extend(last.into_values());
    }
    levels.sort_by(f64::total_cmp);
    levels
}

/// A falling staircase from 1 to 0; of very many levels every so many-th.
fn steps(frame: &Frame, levels: &[f64]) -> Vec<Point> {
    const MOST: usize = 400;
    let n = count(levels.len());
    let mut points = vec![frame.at(frame.x.from, 1.0)];
    let stride = levels.len().div_ceil(MOST).max(1);
    let mut share = 1.0;
    for (index, level) in levels.iter().enumerate().skip(stride - 1).step_by(stride) {
        points.push(frame.at(*level, share));
        share = 1.0 - count(index + 1) / n;
        points.push(frame.at(*level, share));
    }
    points.push(frame.at(frame.x.to, 0.0));
    points
}
