//! The encounters behind a picture over time: shading by canonical regime, lines where they
//! change, a strip above with their labels.
//!
//! A revisit has its origin's colour and, in the strip, its own label. Where labels do not fit,
//! the strip has letters and the legend says what they stand for; unlabelled rows are hatched.

use indexmap::IndexSet;

use super::frame::{Entry, Frame, Key};
use super::ink::Ink;
use super::reduce::Curves;
use super::scene::{Anchor, Scene};
use super::text;
use crate::eval::RunReport;
use crate::value::{Map, Value};

/// The height of the strip above a panel.
pub(super) const STRIP: f64 = 16.0;
const SHADE: f64 = 0.10;
const STRIP_SHADE: f64 = 0.45;
/// More encounters than this have no lines between them.
const MOST_LINES: usize = 60;
/// More regimes than this are not listed in a legend.
pub(super) const MOST_LISTED: usize = 40;

/// An encounter in a picture.
#[derive(Clone, Debug)]
pub(super) struct Band {
    from: f64,
    to: f64,
    /// The regime's place in the order of first encounter.
    pub(super) regime: Option<usize>,
    label: String,
}

/// The encounters of a run, and the regimes' names.
#[derive(Clone, Debug, Default)]
pub(super) struct Bands {
    pub(super) bands: Vec<Band>,
    regimes: IndexSet<String>,
}

impl Bands {
    pub(super) fn of(run: &RunReport, curves: &Curves) -> Self {
        let mut regimes: IndexSet<String> = IndexSet::new();
        let mut bands = Vec::new();
        for (index, (visit, from)) in run.detail("encounters").zip(&curves.starts).enumerate() {
            let regime = regime(visit).map(|name| regimes.insert_full(name.to_owned()).0);
            let to = curves.starts.get(index + 1).copied().unwrap_or(curves.range.1);
            bands.push(Band { from: *from, to, regime, label: labels(visit) });
        }
        Self { bands, regimes }
    }

    /// Where a band is in a frame; that of a single row is as wide as the frame.
    fn ends(&self, band: &Band, frame: &Frame) -> (f64, f64) {
        if self.bands.len() == 1 { (frame.left, frame.right) } else { (frame.x.at(band.from), frame.x.at(band.to)) }
    }

    /// Shading and the lines between encounters.
    pub(super) fn behind(&self, scene: &mut Scene, frame: &Frame) {
        if self.regimes.is_empty() {
            return;
        }
        for band in &self.bands {
            let (from, to) = self.ends(band, frame);
            let size = ((to - from).max(0.5), frame.bottom - frame.top);
            match band.regime {
                Some(regime) => scene.rect((from, frame.top), size, Ink::series(regime), SHADE),
                None => scene.hatch((from, frame.top), size),
            }
        }
        self.lines(scene, frame);
    }

    /// The lines between encounters.
    pub(super) fn lines(&self, scene: &mut Scene, frame: &Frame) {
        if self.bands.len() <= MOST_LINES {
            for band in self.bands.iter().skip(1) {
                let x = frame.x.at(band.from);
                scene.line(vec![(x, frame.top), (x, frame.bottom)], Ink::Soft, 0.6);
            }
        }
    }

    /// The strip above `frame`; returns what the legend has to say of it.
    pub(super) fn strip(&self, scene: &mut Scene, frame: &Frame) -> Vec<Entry> {
        self.strip_in(scene, frame, true)
    }

    /// The same without colours, where colours mean something else.
    pub(super) fn plain_strip(&self, scene: &mut Scene, frame: &Frame) -> Vec<Entry> {
        self.strip_in(scene, frame, false)
    }

    fn strip_in(&self, scene: &mut Scene, frame: &Frame, coloured: bool) -> Vec<Entry> {
        let ink = |regime: usize| if coloured { Ink::series(regime) } else { Ink::Grid };
        let room = |band: &Band| {
            let (from, to) = self.ends(band, frame);
            to - from - 6.0
        };
        let spelled = self
            .bands
            .iter()
            .filter(|band| band.regime.is_some())
            .all(|band| text::fits(&text::whole(&band.label), room(band)));
        let top = frame.top - STRIP - 2.0;
        for band in &self.bands {
            let (from, room) = (self.ends(band, frame).0, room(band));
            let Some(regime) = band.regime else { continue };
            let title = Some(text::whole(&band.label));
            scene.titled_rect((from, top), ((room + 6.0).max(0.5), STRIP), ink(regime), STRIP_SHADE, title);
            let middle = (from + room / 2.0 + 3.0, top + 12.0);
            if spelled {
                scene.name(middle, &band.label, room + 4.0, Anchor::Middle, Ink::Text);
            } else if text::fits(&letters(regime), room + 4.0) {
                scene.text(middle, letters(regime), Anchor::Middle, Ink::Text);
            }
        }
        if self.regimes.is_empty() { Vec::new() } else { self.entries(spelled, coloured) }
    }

    fn entries(&self, spelled: bool, coloured: bool) -> Vec<Entry> {
        let mut entries: Vec<Entry> = Vec::new();
        let repeated = self.bands.iter().filter(|band| band.regime.is_some()).count() > self.regimes.len();
        if !spelled || (repeated && coloured) {
            entries.extend(self.regimes.iter().take(MOST_LISTED).enumerate().map(|(regime, name)| {
                let name = if spelled { text::whole(name) } else { lettered(regime, name) };
                (if coloured { Key::Patch(Ink::series(regime), STRIP_SHADE) } else { Key::Nothing }, name)
            }));
        }
        if coloured && self.bands.iter().any(|band| band.regime.is_none()) {
            entries.push((Key::Hatch, "no regime".to_owned()));
        }
        entries
    }
}

/// The regimes that a run meets, in order of first encounter.
pub(super) fn regimes(run: &RunReport) -> IndexSet<String> {
    run.detail("encounters").filter_map(regime).map(str::to_owned).collect()
}

/// The canonical regime of an encounter, or of a pair of them.
pub(super) fn regime(visit: &Map) -> Option<&str> {
    visit.get("regime").and_then(Value::as_text)
}

/// An encounter's labels.
pub(super) fn labels(visit: &Map) -> String {
    let labels = visit.get("labels").and_then(Value::as_list).unwrap_or_default();
    labels.iter().filter_map(Value::as_text).collect::<Vec<_>>().join(", ")
}

/// A short sign of a regime: A to Z, then AA and on.
pub(super) fn letters(regime: usize) -> String {
    let letter = |place: usize| char::from(b'A' + u8::try_from(place % 26).unwrap_or(0));
    if regime < 26 { letter(regime).to_string() } else { format!("{}{}", letter(regime / 26 - 1), letter(regime)) }
}

/// A regime's name with the letters that stand for it.
pub(super) fn lettered(regime: usize, name: &str) -> String {
    format!("{} {}", letters(regime), text::whole(name))
}
