//! Numbers and names as tables for people show them, whatever the format.

use crate::eval::Report;
use crate::eval::group::Summary;
use crate::eval::metrics::Direction;

/// What stands where a metric is not defined.
pub(super) const UNDEFINED: &str = "\u{2014}";

/// A column of a table for people.
#[derive(Clone, Debug)]
pub(in crate::eval) struct Column {
    pub(in crate::eval) metric: String,
    pub(in crate::eval) heading: String,
    pub(in crate::eval) direction: Direction,
}

/// The metrics that are shown when none are asked for, the most wanted first, with their headings.
const HEADLINES: [(&str, &str); 7] = [
    ("mean_reward", "reward/step"),
    ("forgetting", "forgetting"),
    ("adaptation_rows", "adaptation"),
    ("recovery_rows", "recovery"),
    ("worst_regime", "worst regime"),
    ("invalid_action_rate", "invalid"),
    ("erank_change", "rank change"),
];

/// The metric that tables head so, or else is called so.
pub(in crate::eval) fn metric_of(name: &str) -> &str {
    HEADLINES.iter().find(|(_, heading)| *heading == name).map_or(name, |(metric, _)| metric)
}

/// The columns of a report: the metrics asked for, else the headlines and the user's own.
pub(in crate::eval) fn columns(report: &Report) -> Vec<Column> {
    let column = |metric: &str, heading: &str| {
        let measure = report.measures.get(metric)?;
        Some(Column { metric: metric.to_owned(), heading: heading.to_owned(), direction: measure.direction })
    };
    let asked = &report.settings.metrics;
    if !asked.is_empty() {
        return asked.iter().filter_map(|metric| column(metric, metric)).collect();
    }
    let own = report.measures.iter().filter(|(_, measure)| measure.own).map(|(name, _)| (name.as_str(), name.as_str()));
    HEADLINES.into_iter().chain(own).filter_map(|(metric, heading)| column(metric, heading)).collect()
}

/// Whether any run has a value of the column's metric.
pub(in crate::eval) fn defined(report: &Report, column: &Column) -> bool {
    report.runs.iter().any(|run| run.value(&column.metric).is_some())
}

/// Why a metric has no value, by the first run.
pub(super) fn reason<'a>(report: &'a Report, metric: &str) -> &'a str {
    let outcome = report.runs.first().and_then(|run| run.metrics.get(metric));
    outcome.and_then(|outcome| outcome.reason.as_deref()).unwrap_or("undefined")
}

/// An arrow towards the better side.
pub(in crate::eval) fn arrow(direction: Direction) -> &'static str {
    match direction {
        Direction::Higher => "\u{2191}",
        Direction::Lower => "\u{2193}",
        Direction::Neutral => "",
    }
}

/// A number with four significant digits and no more decimals than it needs; very large and very
/// small ones with an exponent.
pub(in crate::eval) fn number(value: f64) -> String {
    const DIGITS: i32 = 4;
    if value == 0.0 {
        return "0".to_owned();
    }
    let size = value.abs();
    if !(1e-4..1e7).contains(&size) {
        return format!("{value:.3e}");
    }
    #[expect(clippy::cast_possible_truncation, reason = "between -4 and 6")]
    let magnitude = size.log10().floor() as i32;
    let decimals = usize::try_from(DIGITS - 1 - magnitude).unwrap_or(0);
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// A number, or a dash where it is not defined.
pub(super) fn optional(value: Option<f64>) -> String {
    value.map_or_else(|| UNDEFINED.to_owned(), number)
}

/// `mean [low, high]`, and over how many runs where not over all of `runs`.
pub(super) fn summary(summary: &Summary, runs: usize) -> String {
    let Some(mean) = summary.mean else { return UNDEFINED.to_owned() };
    let mut cell = number(mean);
    if let Some((low, high)) = summary.ci {
        cell.push_str(&format!(" [{}, {}]", number(low), number(high)));
    }
    if summary.n < runs {
        cell.push_str(&format!(" ({} of {runs})", summary.n));
    }
    cell
}

/// Whether a character would break a line, move a terminal's cursor, turn the direction of its
/// text or be seen by nobody.
pub(super) fn unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

/// `name` on one line of at most `most` characters, unprintable ones replaced; the empty name is
/// shown as such.
pub(in crate::eval) fn name(name: &str, most: usize) -> String {
    if name.is_empty() {
        return "\u{201c}\u{201d}".to_owned();
    }
    let shown = |c: char| if unprintable(c) { '\u{fffd}' } else { c };
    if name.chars().nth(most).is_none() {
        return name.chars().map(shown).collect();
    }
    name.chars().take(most.saturating_sub(1)).map(shown).chain(['\u{2026}']).collect()
}

/// `text` as the content or an attribute of an XML or HTML element: no markup in it, and no
/// character that XML does not know.
pub(in crate::eval) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            c if c.is_control() && !matches!(c, '\n' | '\t') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}
