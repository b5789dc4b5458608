//! Recovery and adaptation: a sign a visit, an open one with an arrow where it never got there.

use super::Figure;
use super::frame::{Entry, Frame, Key, RIGHT, WIDTH, left, legend};
use super::ink::Ink;
use super::scale;
use super::scene::{Anchor, Scene, Shape};
use super::shade::{MOST_LISTED, lettered, letters, regime, regimes};
use super::text;
use crate::eval::RunReport;
use crate::eval::series::count;
use crate::value::{Map, Value};

/// How long one visit took.
struct Visit {
    place: usize,
    regime: Option<usize>,
    rows: f64,
    censored: bool,
}

pub(super) fn figure(run: &RunReport) -> Option<Figure> {
    let names = regimes(run);
    let rows = |map: &Map, key: &str| map.get(key).and_then(Value::as_float);
    let place_of = |map: &Map| regime(map).and_then(|name| names.get_index_of(name));
    let recoveries: Vec<Visit> = run
        .detail("pairs")
        .filter_map(|pair| {
            let second = pair.get("encounters").and_then(Value::as_list)?.get(1)?.as_int()?;
            let (reached, censored) = (rows(pair, "recovery_rows"), rows(pair, "censored_at"));
            let place = usize::try_from(second).ok()?;
            Some(Visit { place, regime: place_of(pair), rows: reached.or(censored)?, censored: reached.is_none() })
        })
        .collect();
    let adaptations: Vec<Visit> = run
        .detail("encounters")
        .enumerate()
        .skip(1)
        .filter_map(|(place, visit)| {
            Some(Visit { place, regime: place_of(visit), rows: rows(visit, "adaptation_rows")?, censored: false })
        })
        .collect();
    if recoveries.is_empty() && adaptations.is_empty() {
        return None;
    }
    let last = count(run.detail("encounters").count());
    let x = (0.5, last + 0.5);
    let range = |visits: &[Visit]| (0.0, scale::range(visits.iter().map(|visit| visit.rows * 1.1).chain([1.0])).1);
    let edge = left(&[range(&recoveries), range(&adaptations)]);
    let panels: Vec<(&str, &[Visit])> = [("rows to recover", &recoveries[..]), ("rows to adapt", &adaptations[..])]
        .into_iter()
        .filter(|(_, visits)| !visits.is_empty())
        .collect();
    let mut scene = Scene::new(WIDTH, 0.0);
    let mut top = 12.0;
    for (index, (title, visits)) in panels.iter().enumerate() {
        let frame = Frame::new(x, range(visits), (edge, RIGHT), (top, top + 120.0));
        frame.vertical(&mut scene, title);
        visits.iter().for_each(|visit| sign(&mut scene, &frame, visit));
        if index + 1 < panels.len() {
            frame.baseline(&mut scene);
        } else {
            frame.horizontal(&mut scene, "encounter");
        }
        top = frame.bottom + 18.0;
    }
    let mut entries: Vec<Entry> = names.iter().take(MOST_LISTED).enumerate().map(entry).collect();
    if recoveries.iter().any(|visit| visit.censored) {
        entries.push((Key::Dot(Ink::Text, Shape::Ring), "\u{2191} not within the visit".to_owned()));
    }
    scene.height = legend(&mut scene, top + 24.0, &entries) + 6.0;
    let caption = "Rows that each revisit took to come back to the level it was left at, and that each encounter took \
                   to adapt. An open sign with an arrow is a visit that ended before it got there: it would have taken \
                   longer than its rows.";
    Some(Figure::new("visits", "Recovery and adaptation", caption.to_owned(), scene))
}

fn entry((place, name): (usize, &String)) -> Entry {
    (Key::Dot(Ink::series(place), Shape::Disc), lettered(place, name))
}

fn sign(scene: &mut Scene, frame: &Frame, visit: &Visit) {
    let at = frame.at(count(visit.place + 1), visit.rows);
    let ink = visit.regime.map_or(Ink::Soft, Ink::series);
    if visit.censored {
        scene.dot(at, 4.0, ink, Shape::Ring);
        let tip = at.1 - 14.0;
        scene.line(vec![(at.0, at.1 - 4.0), (at.0, tip)], ink, 1.2);
        scene.line(vec![(at.0 - 3.0, tip + 4.0), (at.0, tip), (at.0 + 3.0, tip + 4.0)], ink, 1.2);
    } else {
        scene.dot(at, 4.0, ink, Shape::Disc);
    }
    let apart = frame.x.at(2.0) - frame.x.at(1.0);
    let name = visit.regime.map(letters).filter(|name| text::fits(name, apart));
    if let Some(name) = name {
        let y = if visit.censored { at.1 + 15.0 } else { at.1 - 7.0 };
        scene.text((at.0, y), name, Anchor::Middle, Ink::Soft);
    }
}
