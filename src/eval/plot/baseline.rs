//! First encounters beside learning from scratch: what is gained above the baseline, and what is
//! lost below it, a panel a regime.

use super::frame::{Entry, Frame, Key, RIGHT, WIDTH, legend};
use super::ink::Ink;
use super::scale;
use super::scene::{Anchor, Dash, Label, Point, Scene};
use super::{Figure, left_out, text};
use crate::eval::encounter::Analysis;
use crate::eval::group::Group;
use crate::eval::reference::{Reference, curves};
use crate::eval::series::{count, mean, trailing_means};

/// Points of a curve.
const POINTS: usize = 100;
/// At most so many regimes are drawn.
const MOST_REGIMES: usize = 12;
const FILL: f64 = 0.45;

/// A group's first encounters with a regime beside the baseline's, over their common length.
#[derive(Clone, Debug)]
pub(super) struct Against {
    regime: String,
    /// Row, the group's and the baseline's trailing mean.
    points: Vec<(f64, f64, f64)>,
    difference: Option<f64>,
}

/// A group's curves beside the baseline's.
#[derive(Clone, Debug)]
pub(super) struct Beside {
    group: String,
    regimes: Vec<Against>,
    left_out: usize,
}

impl Beside {
    /// Nothing where there is no baseline, or no regime in common with it.
    pub(super) fn new(runs: &[Analysis<'_>], group: &Group, reference: &Reference) -> Option<Self> {
        let baseline = reference.baseline.as_ref()?;
        let members: Vec<&Analysis<'_>> = group.members.iter().filter_map(|place| runs.get(*place)).collect();
        let order = members.iter().flat_map(|run| run.regimes.iter().map(|regime| &regime.name));
        let own = curves(members.iter().copied());
        let names: indexmap::IndexSet<&String> = order.filter(|name| baseline.contains_key(*name)).collect();
        let settings = members.first()?.settings;
        let against = |name: &&&String| {
            let (own, base) = (&own.get(**name)?.rewards, &baseline.get(**name)?.rewards);
            let length = own.len().min(base.len());
            let (own, base) = (own.get(..length)?, base.get(..length)?);
            let w = settings.window.rows(length);
            let stride = length.div_ceil(POINTS).max(1);
            let both = trailing_means(own, w).zip(trailing_means(base, w)).enumerate();
            let points: Vec<_> = both.step_by(stride).map(|(row, (own, base))| (count(row + w), own, base)).collect();
            let difference = mean(own).zip(mean(base)).map(|(own, base)| own - base);
            (!points.is_empty()).then(|| Against { regime: (**name).clone(), points, difference })
        };
        let regimes: Vec<Against> = names.iter().take(MOST_REGIMES).filter_map(|name| against(&name)).collect();
        let left_out = names.len().saturating_sub(MOST_REGIMES);
        (!regimes.is_empty()).then(|| Self { group: group.label(), regimes, left_out })
    }
}

pub(super) fn figure(beside: &Beside) -> Figure {
    const TOP: f64 = 24.0;
    const HEIGHT: f64 = 120.0;
    const LINE: f64 = HEIGHT + 62.0;
    let across = beside.regimes.len().min(3);
    let all = beside.regimes.iter().flat_map(|against| &against.points);
    let y = scale::range(all.flat_map(|(_, own, base)| [*own, *base]));
    let edge = super::frame::left(&[y]);
    let width = (RIGHT - edge) / count(across);
    let mut scene = Scene::new(WIDTH, 0.0);
    let mut top = TOP;
    for line in beside.regimes.chunks(across) {
        for (index, against) in line.iter().enumerate() {
            let left = edge + width * count(index);
            let x = (0.0, against.points.last().map_or(1.0, |(row, ..)| row.max(1.0)));
            let gap = if index + 1 < across { 18.0 } else { 0.0 };
            let frame = Frame::new(x, y, (left, left + width - gap), (top, top + HEIGHT));
            panel(&mut scene, &frame, against, index == 0);
        }
        top += LINE;
    }
    let entries: Vec<Entry> = vec![
        (Key::Line(Ink::Text, 1.6, Dash::Solid), "first encounter".to_owned()),
        (Key::Line(Ink::Text, 1.2, Dash::Long), "from scratch".to_owned()),
        (Key::Patch(Ink::Gain, FILL), "above".to_owned()),
        (Key::Patch(Ink::Loss, FILL), "below".to_owned()),
    ];
    scene.height = legend(&mut scene, top - 14.0, &entries) + 6.0;
    let caption = format!(
        "First encounters of {} beside learning from scratch, as trailing means over the rows that both have; means over \
         runs. The number is the difference of the mean rewards.{}",
        text::whole(&beside.group),
        left_out(beside.left_out, "regime")
    );
    Figure::new("baseline", "Against learning from scratch", caption, scene)
}

fn panel(scene: &mut Scene, frame: &Frame, against: &Against, first: bool) {
    if first {
        frame.vertical(scene, "reward / step");
    } else {
        for (value, _) in scale::ticks((frame.y.from, frame.y.to), 5) {
            let y = frame.y.at(value);
            scene.line(vec![(frame.left, y), (frame.right, y)], Ink::Grid, 0.6);
        }
    }
    for pair in against.points.windows(2) {
        if let [before, after] = pair {
            fill(scene, frame, *before, *after);
        }
    }
    let line = |of: fn(&(f64, f64, f64)) -> f64| -> Vec<Point> {
        against.points.iter().map(|point| frame.at(point.0, of(point))).collect()
    };
    scene.dashed(line(|point| point.2), Ink::Text, 1.2, Dash::Long);
    scene.line(line(|point| point.1), Ink::Text, 1.6);
    let difference =
        against.difference.map(|value| format!("{}{}", if value > 0.0 { "+" } else { "" }, scale::number(value)));
    let difference = difference.unwrap_or_default();
    let room = frame.right - frame.left - text::width(&difference) - 10.0;
    let (shown, title) = text::fitted(&against.regime, room);
    let at = (frame.left, frame.top - 8.0);
    scene.label(Label { at, text: shown, title, bold: true, ..Label::default() });
    scene.text((frame.right, frame.top - 8.0), difference, Anchor::End, Ink::Text);
    frame.horizontal(scene, "row");
}

/// The area between two neighbouring points of both curves, parted where they cross.
fn fill(scene: &mut Scene, frame: &Frame, before: (f64, f64, f64), after: (f64, f64, f64)) {
    let (d0, d1) = (before.1 - before.2, after.1 - after.2);
    let ink = |difference: f64| if difference >= 0.0 { Ink::Gain } else { Ink::Loss };
    let at = |x: f64, y: f64| frame.at(x, y);
    if d0 * d1 >= 0.0 {
        let points = vec![at(before.0, before.1), at(after.0, after.1), at(after.0, after.2), at(before.0, before.2)];
        return scene.area(points, ink(if d0 == 0.0 { d1 } else { d0 }), FILL);
    }
    let share = d0 / (d0 - d1);
    let cross = at(before.0 + share * (after.0 - before.0), before.1 + share * (after.1 - before.1));
    scene.area(vec![at(before.0, before.1), cross, at(before.0, before.2)], ink(d0), FILL);
    scene.area(vec![at(after.0, after.1), cross, at(after.0, after.2)], ink(d1), FILL);
}
