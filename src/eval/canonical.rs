//! Which regime a label stands for.
//!
//! A revisit goes under a new label and names the one it returns to as its origin; origins may
//! have origins. What a label leads to in the end is its canonical regime. Labels that lead to
//! each other in a circle are one regime, named after the earliest of them.

use std::collections::HashMap;

use crate::trace::columns::{RunColumns, Warning};

/// The canonical regime of each of a run's labels.
#[derive(Debug, Default)]
pub(super) struct Canonical {
    /// For each label, a place in `names`.
    of_label: Vec<usize>,
    /// Labels and origins that are no label, in order of first appearance.
    pub(super) names: Vec<String>,
    /// Circles that were met.
    pub(super) warnings: Vec<Warning>,
}

impl Canonical {
    /// Follows the origins of `run`'s labels, each once.
    pub(super) fn of(run: &RunColumns) -> Self {
        let mut names = run.labels.clone();
        let mut places: HashMap<String, usize> =
            names.iter().enumerate().map(|(place, name)| (name.clone(), place)).collect();
        let mut next: Vec<Option<usize>> = Vec::with_capacity(names.len());
        for place in 0..run.labels.len() {
            next.push(run.origins.get(place).and_then(Option::as_ref).map(|origin| {
                *places.entry(origin.clone()).or_insert_with(|| {
                    names.push(origin.clone());
                    names.len() - 1
                })
            }));
        }
        let step = |place: usize| next.get(place).copied().flatten().filter(|origin| *origin != place);
        let mut known: Vec<Option<usize>> = vec![None; names.len()];
        let mut circles = Vec::new();
        for label in 0..run.labels.len() {
            let (path, end) = walk(label, step, &known);
            let regime = match end {
                End::Known(regime) => regime,
                End::Circle(start) => {
                    let circle = path.get(start..).unwrap_or_default();
                    let earliest = circle.iter().copied().min().unwrap_or(label);
                    circles.push(earliest);
                    earliest
                }
            };
            for place in path {
                if let Some(entry) = known.get_mut(place) {
                    *entry = Some(regime);
                }
            }
        }
        let of_label =
            (0..run.labels.len()).map(|label| known.get(label).copied().flatten().unwrap_or(label)).collect();
        let warnings = warning(run, &circles).into_iter().collect();
        Self { of_label, names, warnings }
    }

    /// The canonical regime of a row's label, as a place in `names`; `None` for unlabelled rows.
    pub(super) fn regime(&self, label: u32) -> Option<usize> {
        self.of_label.get(usize::try_from(label).ok()?).copied()
    }

    /// The canonical regime's name.
    pub(super) fn name(&self, label: u32) -> Option<&String> {
        self.names.get(self.regime(label)?)
    }
}

/// How a walk along origins ends.
enum End {
    /// At a place without an origin, or one whose regime is known.
    Known(usize),
    /// At a place of the path itself: the path's index of it.
    Circle(usize),
}

/// The places passed from `start` on, and how the walk ends.
fn walk(start: usize, step: impl Fn(usize) -> Option<usize>, known: &[Option<usize>]) -> (Vec<usize>, End) {
    let mut path = Vec::new();
    let mut passed: HashMap<usize, usize> = HashMap::new();
    let mut place = start;
    loop {
        if let Some(regime) = known.get(place).copied().flatten() {
            return (path, End::Known(regime));
        }
        if let Some(index) = passed.insert(place, path.len()) {
            return (path, End::Circle(index));
        }
        path.push(place);
        match step(place) {
            Some(origin) => place = origin,
            None => return (path, End::Known(place)),
        }
    }
}

fn warning(run: &RunColumns, circles: &[usize]) -> Option<Warning> {
    let name = run.labels.get(*circles.first()?)?;
    Some(Warning {
        code: "origin_cycle",
        message: format!("the origins of regime `{name}` lead back to it; all labels in the circle are one regime"),
        file: run.files.first().cloned(),
        line: None,
        step: None,
        count: circles.len() as u64,
    })
}
