//! Levels as a table of coloured cells: a row an encounter (or a checkpoint), a column a regime.
//!
//! A cell's colour is its change from the regime's level before, so that forgetting is seen; its
//! number is the level itself. What was not observed is hatched and is not 0.

use indexmap::IndexSet;

use super::frame::{Key, WIDTH, legend};
use super::ink::Ink;
use super::scale::number;
use super::scene::{Anchor, Label, Scene};
use super::shade::{labels, lettered, letters, regime, regimes};
use super::{Figure, left_out, text};
use crate::eval::RunReport;
use crate::eval::series::count;
use crate::value::{Map, Value};

/// At most so many rows and columns are drawn.
const MOST_ROWS: usize = 60;
const MOST_COLUMNS: usize = 60;
/// The strongest colour a cell takes.
const STRONGEST: f64 = 0.75;

/// A level in the table.
#[derive(Clone, Copy, Debug)]
struct Level {
    value: f64,
    /// What the regime's level was before.
    before: Option<f64>,
    /// Whether the row is the regime's own encounter.
    own: bool,
}

struct Table {
    rows: Vec<String>,
    columns: Vec<String>,
    levels: Vec<Vec<Option<Level>>>,
}

/// Exit levels of encounters, and entry levels where the next encounter shows what is left.
pub(super) fn encounters(run: &RunReport) -> Option<Figure> {
    let visits: Vec<&Map> = run.detail("encounters").take(MOST_ROWS + 1).collect();
    let level = |visit: &Map, key: &str| visit.get(key).and_then(Value::as_float);
    let mut columns: IndexSet<&str> = visits.iter().take(MOST_ROWS).filter_map(|visit| regime(visit)).collect();
    columns.truncate(MOST_COLUMNS);
    if columns.len() < 2 {
        return None;
    }
    let mut last: Vec<Option<f64>> = vec![None; columns.len()];
    let mut table = Table {
        rows: Vec::new(),
        columns: columns.iter().map(|name| (*name).to_owned()).collect(),
        levels: Vec::new(),
    };
    for (index, visit) in visits.iter().enumerate().take(MOST_ROWS) {
        let mut row: Vec<Option<Level>> = vec![None; columns.len()];
        let mut put = |visit: &Map, key: &str, own: bool| {
            let place = regime(visit).and_then(|name| columns.get_index_of(name))?;
            let before = last.get_mut(place)?;
            let value = level(visit, key)?;
            *row.get_mut(place)? = Some(Level { value, before: *before, own });
            if own {
                *before = Some(value);
            }
            Some(())
        };
        put(visit, "exit", true);
        if let Some(next) = visits.get(index + 1) {
            put(next, "entry", false);
        }
        let name = labels(visit);
        let name = if regime(visit).is_none() { "no regime".to_owned() } else { text::whole(&name) };
        table.rows.push(format!("{} {name}", index + 1));
        table.levels.push(row);
    }
    let caption = format!(
        "What each encounter leaves behind. A row is an encounter, a column a regime: in bold the exit level under the \
         row's own regime, beside it the entry level under the regime that follows, which shows what is left of that. \
         Colours are changes from the regime's exit level before; hatched cells were not observed. A trace has no \
         evaluation of the regimes that are not active.{}{}",
        left_out(run.detail("encounters").count() - table.rows.len(), "encounter"),
        left_out(regimes(run).len() - columns.len(), "regime")
    );
    Some(Figure::new("matrix", "Encounters and forgetting", caption, table.draw("after encounter")))
}

/// The matrix R of frozen performance.
pub(super) fn frozen(run: &RunReport) -> Option<Figure> {
    let tree = run.frozen()?;
    let list = |key: &str| tree.get(key).and_then(Value::as_list).unwrap_or_default();
    let columns: Vec<String> =
        list("regimes").iter().filter_map(Value::as_text).take(MOST_COLUMNS).map(str::to_owned).collect();
    if columns.is_empty() {
        return None;
    }
    let mut last: Vec<Option<f64>> = vec![None; columns.len()];
    let mut table = Table { rows: Vec::new(), columns, levels: Vec::new() };
    for (checkpoint, values) in list("checkpoints").iter().zip(list("performance")).take(MOST_ROWS) {
        table.rows.push(checkpoint.as_int().map_or_else(|| "final".to_owned(), |step| format!("step {step}")));
        let row = values.as_list().unwrap_or_default().iter().zip(&mut last).map(|(value, before)| {
            let value = value.as_float()?;
            let level = Level { value, before: *before, own: false };
            *before = Some(value);
            Some(level)
        });
        table.levels.push(row.collect());
    }
    let caption = format!(
        "Mean reward with learning switched off: a row a checkpoint, a column a regime. Colours are changes from the \
         checkpoint before; hatched cells were not served.{}{}",
        left_out(list("checkpoints").len() - table.rows.len(), "checkpoint"),
        left_out(list("regimes").len() - table.columns.len(), "regime")
    );
    Some(Figure::new("frozen", "Frozen performance", caption, table.draw("checkpoint")))
}

impl Table {
    fn draw(&self, rows_title: &str) -> Scene {
        const NAMES: f64 = 150.0;
        const TOP: f64 = 36.0;
        const WIDEST: f64 = 84.0;
        let names = self
            .rows
            .iter()
            .map(|row| text::width(row) + 12.0)
            .fold(text::width(rows_title) + 20.0, f64::max)
            .min(NAMES);
        let columns = count(self.columns.len());
        let width = ((WIDTH - 16.0 - names) / columns).min(WIDEST);
        let height = if self.rows.len() > 30 { 15.0 } else { 22.0 };
        let mut scene = Scene::new(WIDTH, 0.0);
        let spelled = self.columns.iter().all(|name| text::fits(&text::whole(name), width - 6.0));
        // Of letters that stand closer than they are wide, every so many-th.
        let widest = (0..self.columns.len()).map(|place| text::width(&letters(place))).fold(0.0, f64::max);
        let every = (1..self.columns.len()).find(|every| width * count(*every) > widest).unwrap_or(1);
        scene.text((8.0, TOP - 8.0), rows_title, Anchor::Start, Ink::Soft);
        let mut x = names;
        for (place, name) in self.columns.iter().enumerate() {
            let middle = (x + width / 2.0, TOP - 8.0);
            if spelled {
                scene.name(middle, name, width, Anchor::Middle, Ink::Text);
            } else if place.is_multiple_of(every) {
                scene.text(middle, letters(place), Anchor::Middle, Ink::Text);
            }
            x += width;
        }
        let strongest = self.strongest();
        // What is observed covers it.
        let rows = count(self.rows.len());
        scene.hatch((names, TOP), (width * columns - 1.0, height * rows - 1.0));
        let mut y = TOP;
        for (row, levels) in self.rows.iter().zip(&self.levels) {
            scene.name((8.0, y + height / 2.0 + 4.0), row, names - 12.0, Anchor::Start, Ink::Text);
            let mut x = names;
            for level in levels {
                if let Some(level) = level {
                    cell(&mut scene, (x, y), (width - 1.0, height - 1.0), *level, strongest);
                }
                x += width;
            }
            y += height;
        }
        scene.height = self.explain(&mut scene, y + 8.0, strongest, spelled) + 6.0;
        scene
    }

    fn strongest(&self) -> f64 {
        let changes = self.levels.iter().flatten().flatten().filter_map(|level| Some(level.value - level.before?));
        changes.map(f64::abs).filter(|change| change.is_finite()).fold(0.0, f64::max)
    }

    fn explain(&self, scene: &mut Scene, top: f64, strongest: f64, spelled: bool) -> f64 {
        let mut entries = vec![(Key::Hatch, "not observed".to_owned())];
        if strongest > 0.0 {
            entries.insert(0, (Key::Patch(Ink::Gain, STRONGEST), format!("rise by {}", number(strongest))));
            entries.insert(0, (Key::Patch(Ink::Loss, STRONGEST), format!("fall by {}", number(strongest))));
        }
        let mut bottom = legend(scene, top, &entries);
        if !spelled {
            let named = self.columns.iter().enumerate().map(|(place, name)| (Key::Nothing, lettered(place, name)));
            bottom = legend(scene, bottom + 4.0, &named.collect::<Vec<_>>());
        }
        bottom
    }
}

fn cell(scene: &mut Scene, at: (f64, f64), size: (f64, f64), level: Level, strongest: f64) {
    let change = level.before.map(|before| level.value - before);
    let shown = number(level.value);
    let title = change.map(|change| format!("{shown}, {} from {}", number(change), number(level.value - change)));
    let (ink, opacity) = match change {
        Some(change) if strongest > 0.0 && change < 0.0 => (Ink::Loss, STRONGEST * -change / strongest),
        Some(change) if strongest > 0.0 => (Ink::Gain, STRONGEST * change / strongest),
        _ => (Ink::Grid, 0.5),
    };
    let opacity = (opacity * 100.0).round() / 100.0;
    scene.rect((at.0 - 1.0, at.1 - 1.0), (size.0 + 2.0, size.1 + 2.0), Ink::Paper, 1.0);
    scene.rect(at, size, Ink::Grid, 0.25);
    scene.titled_rect(at, size, ink, opacity, Some(title.unwrap_or_else(|| shown.clone())));
    if text::fits(&shown, size.0) {
        let at = (at.0 + size.0 / 2.0, at.1 + size.1 / 2.0 + 4.0);
        scene.label(Label { at, text: shown, anchor: Anchor::Middle, bold: level.own, ..Label::default() });
    }
}
