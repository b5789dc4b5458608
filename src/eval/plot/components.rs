//! What the reward is made of: signed stacks over the steps, and as bars by regime and by shift.

use super::frame::{Entry, Frame, Key, RIGHT, WIDTH, legend};
use super::ink::{Ink, SERIES};
use super::reduce::{Cell, Curves};
use super::scale;
use super::scene::{Dash, Point, Scene};
use super::shade::{Bands, STRIP, lettered, letters, regimes};
use super::{Figure, left_out, reduction, text};
use crate::eval::RunReport;
use crate::eval::encounter::Analysis;
use crate::eval::series::count;
use crate::sum::Sum;

const FILL: f64 = 0.8;
/// More bars than this are not told apart: the first are drawn.
const MOST_BARS: usize = 60;

/// One layer of a stack: a component, or all lesser ones together.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    pub(super) name: String,
    /// Its mean in each column.
    means: Vec<f64>,
    /// Its mean under each regime, in order of first encounter.
    by_regime: Vec<f64>,
    /// The change of its mean across each shift.
    by_shift: Vec<f64>,
}

/// The components of a run as layers, the weightiest first; of more than there are colours, the
/// least are taken together.
pub(super) fn layers(run: &Analysis<'_>, components: &[(String, Vec<Cell>)]) -> Vec<Layer> {
    let mut layers: Vec<Layer> = components
        .iter()
        .zip(run.run.components.values())
        .map(|((name, cells), column)| {
            let (by_regime, by_shift) = levels(run, column);
            Layer { name: text::whole(name), means: cells.iter().map(Cell::mean).collect(), by_regime, by_shift }
        })
        .collect();
    let weight = |layer: &Layer| layer.means.iter().map(|mean| mean.abs()).sum::<f64>();
    layers.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    if layers.len() > SERIES {
        let lesser = layers.split_off(SERIES - 1);
        let add = |a: &mut Vec<f64>, b: &[f64]| a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
        let name = format!("{} others", lesser.len());
        if let Some(mut all) = lesser.into_iter().reduce(|mut all, one| {
            add(&mut all.means, &one.means);
            add(&mut all.by_regime, &one.by_regime);
            add(&mut all.by_shift, &one.by_shift);
            all
        }) {
            all.name = name;
            layers.push(all);
        }
    }
    layers
}

/// A component's mean under each regime and its change across each shift.
fn levels(run: &Analysis<'_>, column: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let sums = run.encounters.iter().map(|visit| {
        let (from, to) = visit.span.rows;
        let mut sum = Sum::default();
        column.get(from..to).unwrap_or_default().iter().filter(|value| value.is_finite()).for_each(|v| sum.add(*v));
        (sum.value(), count(to - from))
    });
    let sums: Vec<(f64, f64)> = sums.collect();
    let of = |places: &[usize]| {
        let own = places.iter().filter_map(|place| sums.get(*place));
        let (sum, rows) = own.fold((0.0, 0.0), |(sum, rows), (s, n)| (sum + s, rows + n));
        if rows > 0.0 { sum / rows } else { 0.0 }
    };
    let by_regime = run.regimes.iter().map(|regime| of(&regime.visits)).collect();
    let by_shift = run.shifts().map(|(before, after)| of(&[after]) - of(&[before])).collect();
    (by_regime, by_shift)
}

/// The stacks over time.
pub(super) fn over_time(run: &RunReport, curves: &Curves) -> Option<Figure> {
    let columns: Vec<f64> = curves.columns.iter().map(|cell| cell.x).collect();
    if curves.layers.is_empty() || columns.len() < 2 {
        return None;
    }
    let stacks: Vec<Vec<(f64, f64)>> = stack(curves.layers.iter().map(|layer| layer.means.as_slice()), columns.len());
    let rewards = || curves.reward.iter().flatten().map(Cell::mean);
    let y = scale::range(stacks.iter().flatten().flat_map(|(low, high)| [*low, *high]).chain(rewards()));
    let mut scene = Scene::new(WIDTH, 0.0);
    let frame = Frame::wide(super::x_range(curves.range), y, (STRIP + 6.0, 236.0));
    let bands = Bands::of(run, curves);
    frame.vertical(&mut scene, "reward / step");
    for (place, layer) in stacks.iter().enumerate() {
        let edge = |of: &dyn Fn(&(f64, f64)) -> f64| -> Vec<Point> {
            columns.iter().zip(layer).map(|(x, ends)| frame.at(*x, of(ends))).collect()
        };
        let mut outline = edge(&|ends| ends.1);
        outline.extend(edge(&|ends| ends.0).into_iter().rev());
        scene.area(outline, Ink::series(place), FILL);
    }
    bands.lines(&mut scene, &frame);
    frame.zero(&mut scene);
    super::reward::lines(&mut scene, &frame, &curves.reward, Ink::Text, 1.2);
    let mut entries = names(&curves.layers);
    entries.push((Key::Line(Ink::Text, 1.2, Dash::Solid), "reward".to_owned()));
    if run.value("residual_frac").is_some_and(|share| share > 0.0) {
        let points = curves.residual.iter().map(|cell| frame.at(cell.x, cell.mean())).collect();
        scene.dashed(points, Ink::Text, 1.2, Dash::Short);
        entries.push((Key::Line(Ink::Text, 1.2, Dash::Short), "what they do not explain".to_owned()));
    }
    let strip = bands.plain_strip(&mut scene, &frame);
    frame.horizontal(&mut scene, curves.axis.title());
    let bottom = legend(&mut scene, frame.bottom + 42.0, &entries);
    scene.height = legend(&mut scene, bottom + 2.0, &strip) + 6.0;
    let caption = format!(
        "Reward components, stacked: what is positive upwards from 0, what is negative downwards; the line is the \
         reward. Means of pixel columns; a row without a component has 0 of it.{}",
        reduction(curves)
    );
    Some(Figure::new("components", "Reward components", caption, scene))
}

/// The stacks as bars, a bar a regime and a bar a shift.
pub(super) fn as_bars(run: &RunReport, curves: &Curves) -> Option<Figure> {
    let all = regimes(run);
    let regimes: Vec<&String> = all.iter().take(MOST_BARS).collect();
    let shifts = curves.layers.first().map_or(0, |layer| layer.by_shift.len());
    if curves.layers.is_empty() || regimes.is_empty() || shifts == 0 {
        return None;
    }
    let by_regime = stack(curves.layers.iter().map(|layer| layer.by_regime.as_slice()), regimes.len());
    let shown = shifts.min(MOST_BARS);
    let by_shift = stack(curves.layers.iter().map(|layer| layer.by_shift.as_slice()), shown);
    let range = |stacks: &[Vec<(f64, f64)>]| {
        scale::range(stacks.iter().flatten().flat_map(|(low, high)| [*low, *high]).chain([0.0]))
    };
    let (levels, changes) = (range(&by_regime), range(&by_shift));
    let mut scene = Scene::new(WIDTH, 0.0);
    let middle = 300.0;
    let edge = super::frame::left(&[levels]);
    let second = middle + super::frame::left(&[changes]);
    let rows = (12.0, 170.0);
    let first = Frame::new((0.0, count(regimes.len())), levels, (edge, middle), rows);
    first.vertical(&mut scene, "mean reward / step");
    bars(&mut scene, &first, &by_regime);
    let other = Frame::new((0.0, count(shown)), changes, (second, RIGHT), rows);
    other.vertical_at(&mut scene, "change of encounter mean", middle + 20.0);
    bars(&mut scene, &other, &by_shift);
    let every = shown.div_ceil(15).max(1);
    let spelled = regimes.iter().all(|name| text::fits(&text::whole(name), first.step() - 4.0));
    for (place, name) in regimes.iter().enumerate().step_by(regimes.len().div_ceil(15).max(1)) {
        let name = if spelled { text::whole(name) } else { letters(place) };
        first.under(&mut scene, count(place) + 0.5, name);
    }
    for shift in (0..shown).step_by(every) {
        other.under(&mut scene, count(shift) + 0.5, (shift + 1).to_string());
    }
    first.titled(&mut scene, "regime");
    other.titled(&mut scene, "shift");
    let mut bottom = legend(&mut scene, rows.1 + 42.0, &names(&curves.layers));
    if !spelled {
        let named = regimes.iter().enumerate().map(|(place, name)| (Key::Nothing, lettered(place, name)));
        bottom = legend(&mut scene, bottom + 2.0, &named.collect::<Vec<_>>());
    }
    scene.height = bottom + 6.0;
    let caption = format!(
        "Mean of each reward component under each regime, and how the means change at each shift to another \
         encounter.{}{}",
        left_out(all.len() - regimes.len(), "regime"),
        left_out(shifts - shown, "shift")
    );
    Some(Figure::new("component-bars", "Reward components by regime and by shift", caption, scene))
}

fn bars(scene: &mut Scene, frame: &Frame, stacks: &[Vec<(f64, f64)>]) {
    for (layer, ends) in stacks.iter().enumerate() {
        for (place, (low, high)) in ends.iter().enumerate() {
            let from = frame.at(count(place) + 0.15, *high);
            let to = frame.at(count(place) + 0.85, *low);
            scene.rect(from, (to.0 - from.0, to.1 - from.1), Ink::series(layer), FILL);
        }
    }
    frame.zero(scene);
    frame.baseline(scene);
}

fn names(layers: &[Layer]) -> Vec<Entry> {
    layers.iter().enumerate().map(|(place, layer)| (Key::Patch(Ink::series(place), FILL), layer.name.clone())).collect()
}

/// The lower and upper end of each layer's share of each of `n` stacks.
fn stack<'a>(layers: impl Iterator<Item = &'a [f64]>, n: usize) -> Vec<Vec<(f64, f64)>> {
    let mut ends = vec![(0.0, 0.0); n];
    let place = |layer: &[f64]| -> Vec<(f64, f64)> {
        let shares = ends.iter_mut().zip(layer.iter().copied().chain(std::iter::repeat(0.0)));
        let own = shares.map(|((negative, positive), value)| {
            if value < 0.0 {
                *negative += value;
                (*negative, *negative - value)
            } else {
                *positive += value;
                (*positive - value, *positive)
            }
        });
        own.collect()
    };
    layers.map(place).collect()
}
