//! Evaluation: the numbers of a continual-RL paper, from trace files alone.
//!
//! [`evaluate`] turns readings of traces ([`Material`]) into a [`Report`]: each run is cut into
//! segments and encounters ([`encounter`]), every metric of the table ([`metrics`]) is computed
//! from those, runs that differ only in seed or run id are summed up in groups ([`group`]), and
//! groups are compared ([`compare`]). What is asked for is [`Settings`]; how a report looks is
//! [`output`]. A metric that is not defined on a run has no value and says why; it is never 0 for
//! want of data.

mod bootstrap;
mod canonical;
mod caution;
pub mod compare;
pub mod condition;
mod custom;
pub mod encounter;
mod error;
mod frozen;
pub mod group;
mod material;
pub mod metrics;
pub mod output;
pub mod plot;
mod reference;
mod report;
mod select;
mod series;
mod settings;

use indexmap::IndexMap;
use rayon::prelude::*;

use crate::trace::columns::{Input, RunColumns, TraceColumns, Warning};
pub use bootstrap::Bootstrap;
pub use custom::{Custom, Judge, Judgement};
use encounter::Analysis;
pub use error::EvalError;
pub use frozen::Frozen;
pub use material::{Material, Paths};
use metrics::{Measure, Metric, TABLE};
pub use reference::Reference;
pub use report::{Report, RunReport, SCHEMA};
use select::Selected;
pub use select::{Duplicates, Selection};
pub use settings::{Bounds, RegretReference, Settings, Window};

/// Evaluates every run of a reading.
///
/// # Errors
/// When no input holds a usable row, or when what was asked for does not fit the runs.
pub fn evaluate(material: impl Into<Material>, settings: &Settings) -> Result<Report, EvalError> {
    evaluate_with(material, settings, &[])
}

/// Evaluates every run of a reading, also by metrics of the user's own.
///
/// # Errors
/// As for [`evaluate`]; when a metric of the user's own fails.
pub fn evaluate_with(
    material: impl Into<Material>,
    settings: &Settings,
    customs: &[Custom<'_>],
) -> Result<Report, EvalError> {
    let Material { traces, frozen, baseline } = material.into();
    custom::check(customs)?;
    let settings = &with_metrics_by_name(settings, customs);
    let (measures, wanted) = wanted(settings, customs)?;
    let TraceColumns { mut inputs, runs, mut warnings } = traces;
    let selected = select(runs, (&inputs, &warnings), settings)?;
    let mut analysed = analyse(&selected, settings);
    if let Some(frozen) = frozen {
        inputs.extend(frozen.inputs);
        warnings.extend(frozen.warnings);
        warnings.extend(frozen::pair(&mut analysed, &frozen.runs));
    }
    let scratch: Option<Vec<Selected>> = baseline.map(|baseline| {
        inputs.extend(baseline.inputs);
        warnings.extend(baseline.warnings);
        baseline.runs.into_iter().map(|run| Selected { run, ..Selected::default() }).collect()
    });
    let scratch = scratch.as_ref().map(|scratch| analyse(scratch, settings));
    let reference = Reference::new(&analysed, scratch.as_deref(), settings);
    let mut runs: Vec<RunReport> = analysed.par_iter().map(|run| RunReport::new(run, &reference, &wanted)).collect();
    for custom in customs.iter().filter(|custom| measures.contains_key(&custom.name)) {
        for (report, run) in runs.iter_mut().zip(&analysed) {
            let outcome = custom.outcome(report, run)?;
            report.metrics.insert(custom.name.clone(), outcome);
        }
    }
    warnings.extend(caution::folded(analysed.iter().flat_map(|run| run.warnings.iter().cloned())));
    let groups = group::groups(&runs, &measures, settings)?;
    let drawing = settings.plots.then(|| plot::Drawing::new(&analysed, &groups, &reference));
    let compare = |names| compare::compare(names, &groups, &runs, &measures, &settings.bootstrap);
    let comparisons = settings.compare.iter().map(compare).collect::<Result<Vec<_>, _>>()?;
    let verdicts = condition::judge(&settings.fail_if, &groups);
    warnings.extend(caution::cautions(&runs, &groups, &verdicts));
    Ok(Report { settings: settings.clone(), inputs, measures, runs, groups, comparisons, verdicts, warnings, drawing })
}

/// The settings with metrics by their own names where they are asked for by a table's heading.
fn with_metrics_by_name(settings: &Settings, customs: &[Custom<'_>]) -> Settings {
    let mut settings = settings.clone();
    for name in &mut settings.metrics {
        if !customs.iter().any(|custom| custom.name == *name) {
            *name = output::cell::metric_of(name).to_owned();
        }
    }
    settings
}

/// What is to be reported, and which metrics of the table are among it.
fn wanted(
    settings: &Settings,
    customs: &[Custom<'_>],
) -> Result<(IndexMap<String, Measure>, Vec<&'static Metric>), EvalError> {
    let table = TABLE.iter().map(|metric| (metric.name, Measure::from(metric)));
    let own = customs.iter().map(|custom| (custom.name.as_str(), custom.measure.clone()));
    let mut measures: IndexMap<String, Measure> =
        table.chain(own).map(|(name, measure)| (name.to_owned(), measure)).collect();
    let conditions = settings.fail_if.iter().map(|condition| &condition.metric);
    if let Some(name) = settings.metrics.iter().chain(conditions.clone()).find(|name| !measures.contains_key(*name)) {
        let known = error::nearest_or_all(name, measures.keys().map(String::as_str));
        return Err(EvalError::UnknownMetric { name: name.clone(), known });
    }
    if !settings.metrics.is_empty() {
        let kept: Vec<&String> = settings.metrics.iter().chain(conditions).collect();
        measures.retain(|name, _| kept.contains(&name));
    }
    let metrics = TABLE.iter().filter(|metric| measures.contains_key(metric.name)).collect();
    Ok((measures, metrics))
}

/// The rows that count, of runs that have some, in the order of the report.
fn select(
    runs: Vec<RunColumns>,
    (inputs, warnings): (&[Input], &[Warning]),
    settings: &Settings,
) -> Result<Vec<Selected>, EvalError> {
    let mut runs: Vec<RunColumns> = runs.into_iter().filter(|run| !run.step.is_empty()).collect();
    if runs.is_empty() {
        let inputs: Vec<&str> = inputs.iter().map(|input| input.path.as_str()).collect();
        let why = warnings.iter().find(|warning| warning.is_loss()).map(|warning| {
            let line = warning.line.map(|line| format!(":{line}")).unwrap_or_default();
            format!("; {}{line}: {}", warning.file.as_deref().unwrap_or_default(), warning.message)
        });
        return Err(EvalError::NoRows { inputs: inputs.join(", "), why: why.unwrap_or_default() });
    }
    settings.selection.check(&runs)?;
    runs.sort_by(|a, b| report::by_identity(&a.identity, &b.identity));
    let selected: Result<Vec<Selected>, EvalError> = runs.into_iter().map(|run| settings.selection.of(run)).collect();
    let mut selected = selected?;
    selected.retain(|selected| !selected.run.step.is_empty());
    if selected.is_empty() { Err(EvalError::NothingSelected) } else { Ok(selected) }
}

fn analyse<'a>(selected: &'a [Selected], settings: &'a Settings) -> Vec<Analysis<'a>> {
    selected.par_iter().map(|selected| Analysis::new(selected, settings)).collect()
}
