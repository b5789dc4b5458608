//! Colours by what they are for, in light and in dark.
//!
//! Series take the colours of Okabe and Ito (2008), which colour-blind readers tell apart; in the
//! dark the two that would drown are lighter. Whatever a colour says, a letter, a shape, a dash
//! or a place says too.

/// What a mark's colour is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Ink {
    /// Text and axes.
    #[default]
    Text,
    /// Lesser text.
    Soft,
    /// Grid lines.
    Grid,
    /// The ground.
    Paper,
    /// A series, counted from 0; there are [`SERIES`] colours.
    Series(usize),
    /// What is above a baseline.
    Gain,
    /// What is below it.
    Loss,
}

/// Colours of series; from there on they begin again.
pub(super) const SERIES: usize = 8;

/// A way to look at a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// Dark on white.
    Light,
    /// Light on black.
    Dark,
}

/// The names of the inks with their colours in light and in dark.
pub(super) const COLOURS: [(&str, &str, &str); 14] = [
    ("text", "#1b1f24", "#e6edf3"),
    ("soft", "#59636e", "#9198a1"),
    ("grid", "#d1d9e0", "#30363d"),
    ("paper", "#ffffff", "#0d1117"),
    ("s0", "#0072b2", "#56b4e9"),
    ("s1", "#d55e00", "#f0803c"),
    ("s2", "#009e73", "#2fc39a"),
    ("s3", "#cc79a7", "#e29ac3"),
    ("s4", "#e69f00", "#f0b429"),
    ("s5", "#56b4e9", "#7f9cf5"),
    ("s6", "#8f7d00", "#f0e442"),
    ("s7", "#5f6b76", "#aab4be"),
    ("gain", "#009e73", "#2fc39a"),
    ("loss", "#d55e00", "#f0803c"),
];

impl Ink {
    /// The ink of series `place`.
    pub(super) fn series(place: usize) -> Self {
        Self::Series(place % SERIES)
    }

    /// Its name in style sheets.
    pub(super) fn name(self) -> &'static str {
        const SERIES_NAMES: [&str; SERIES] = ["s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"];
        match self {
            Self::Text => "text",
            Self::Soft => "soft",
            Self::Grid => "grid",
            Self::Paper => "paper",
            Self::Series(place) => SERIES_NAMES.get(place % SERIES).copied().unwrap_or("s0"),
            Self::Gain => "gain",
            Self::Loss => "loss",
        }
    }

    /// Its colour as `#rrggbb`.
    pub(super) fn colour(self, theme: Theme) -> &'static str {
        let (_, light, dark) =
            COLOURS.iter().find(|(name, ..)| *name == self.name()).copied().unwrap_or(("", "#000000", "#ffffff"));
        if theme == Theme::Light { light } else { dark }
    }
}
