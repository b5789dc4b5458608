//! Axes: from values to pixels, and where the ticks are.

use crate::eval::series::count;

/// A linear scale from values to pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    pub(super) from: f64,
    pub(super) to: f64,
    start: f64,
    end: f64,
}

impl Scale {
    /// The scale that puts `from` at pixel `start` and `to` at `end`.
    pub(super) fn new((from, to): (f64, f64), (start, end): (f64, f64)) -> Self {
        Self { from, to, start, end }
    }

    /// The pixel of a value.
    pub(super) fn at(&self, value: f64) -> f64 {
        let span = self.to - self.from;
        // Halved first: the span of values near the ends of float64 is not finite.
        let share = if span.is_finite() {
            if span == 0.0 { 0.5 } else { (value - self.from) / span }
        } else {
            (value / 2.0 - self.from / 2.0) / (self.to / 2.0 - self.from / 2.0)
        };
        self.start + share.clamp(-1.0, 2.0) * (self.end - self.start)
    }
}

/// A range that holds all finite `values`, widened to something that can be drawn; `(0, 1)`
/// where there is none.
pub(super) fn range(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let bounds =
        values.into_iter().filter(|value| value.is_finite()).fold(None, |bounds: Option<(f64, f64)>, value| {
            let (low, high) = bounds.unwrap_or((value, value));
            Some((low.min(value), high.max(value)))
        });
    let Some((low, high)) = bounds else { return (0.0, 1.0) };
    let middle = low / 2.0 + high / 2.0;
    let least = middle.abs() * 1e-9;
    if high - low <= least {
        let half = if middle == 0.0 { 1.0 } else { middle.abs() * 0.1 };
        return (middle - half, middle + half);
    }
    let margin = (high - low) * 0.04;
    if margin.is_finite() { (low - margin, high + margin) } else { (low, high) }
}

/// Round values within a range, about `wanted` of them, with what to write at each.
pub(super) fn ticks((from, to): (f64, f64), wanted: usize) -> Vec<(f64, String)> {
    let span = to - from;
    if !span.is_finite() || span <= 0.0 {
        return vec![(from, number(from)), (to, number(to))];
    }
    // A range may lie so that few round values fall into it: then there are smaller steps.
    let tries = [1, 2, 4].into_iter().map(|more| at_multiples((from, to), round_step(span / count(wanted * more))));
    let mut tries = tries.filter(|ticks| ticks.len() > 1);
    tries.next().unwrap_or_default()
}

/// The multiples of `step` within a range, all written in one unit.
fn at_multiples((from, to): (f64, f64), step: f64) -> Vec<(f64, String)> {
    const MOST: usize = 50;
    let (first, last) = ((from / step).ceil(), (to / step).floor());
    let places = std::iter::successors(Some(first), |place| Some(place + 1.0)).take_while(|place| *place <= last);
    let unit = unit(from.abs().max(to.abs()), step);
    places.take(MOST).map(|place| (place * step, tick(place * step, step, unit))).collect()
}

/// As [`ticks`], at whole numbers only.
pub(super) fn whole_ticks((from, to): (f64, f64), wanted: usize) -> Vec<(f64, String)> {
    at_multiples((from, to), round_step((to - from) / count(wanted.max(1))).max(1.0))
}

/// The least of 1, 2, 5 times a power of ten that is not below `step`.
fn round_step(step: f64) -> f64 {
    let power = 10_f64.powf(step.log10().floor());
    let lead = step / power;
    let round = [1.0, 2.0, 5.0].into_iter().find(|round| lead <= round * (1.0 + 1e-9)).unwrap_or(10.0);
    round * power
}

const SUFFIXES: [(f64, &str); 4] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];

/// The unit of an axis that reaches as far as `most`, with its SI suffix; none where numbers are
/// too large or too close to be written out.
fn unit(most: f64, step: f64) -> Option<(f64, &'static str)> {
    let most = most.max(step);
    if most >= 1e15 || step < 1e-6 {
        return None;
    }
    let fits = |unit: f64| most >= unit && (unit > 1e3 || most >= 1e4 || step >= 1e3);
    Some(SUFFIXES.into_iter().find(|(unit, _)| fits(*unit)).unwrap_or((1.0, "")))
}

/// A tick's text in the unit of its axis, with as many decimals as the step has.
fn tick(value: f64, step: f64, unit: Option<(f64, &str)>) -> String {
    match unit {
        _ if value == 0.0 => "0".to_owned(),
        None => number(value),
        Some((unit, suffix)) => format!("{}{suffix}", plain(value / unit, step / unit)),
    }
}

/// `value` with the decimals that tell multiples of `step` apart; a true minus sign.
fn plain(value: f64, step: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 9")]
    let decimals = (-(step * (1.0 + 1e-9)).log10().floor()).clamp(0.0, 9.0) as usize;
    let text = format!("{value:.decimals$}");
    text.replace('-', "\u{2212}")
}

/// A value in four digits, with a true minus sign.
pub(super) fn number(value: f64) -> String {
    crate::eval::output::cell::number(value).replace('-', "\u{2212}")
}

/// A count with an SI suffix where it is long.
pub(super) fn si(value: usize) -> String {
    let value = count(value);
    let (unit, suffix) = SUFFIXES.into_iter().find(|(unit, _)| value >= *unit && value >= 1e4).unwrap_or((1.0, ""));
    format!("{}{suffix}", number(value / unit))
}
