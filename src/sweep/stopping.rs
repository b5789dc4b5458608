//! Ending trials early that fall behind the others, by files alone: it works the same whether the
//! trials are on one machine or on many.
//!
//! At certain windows, its rungs, a trial writes down how well it does and looks at what the other
//! trials wrote there. What it decides depends on those that came before it; every decision is
//! recorded with the numbers behind it. Trials that have no number there are the worst.

use std::path::{Path, PathBuf};

use super::Goal;
use super::error::SweepError;
use crate::atomic;
use crate::text::json;
use crate::value::{Map, Value};

/// When a trial is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Asynchronous successive halving in its stopping form (Li et al. 2020): rungs are `first`
    /// windows, `first * factor`, `first * factor^2`, ...; at each a trial goes on if it is among
    /// the best 1 / `factor` of those that reached it.
    Halving {
        /// The windows of the first rung, at least 1.
        first: u64,
        /// At least 2.
        factor: u64,
    },
    /// The median rule (Golovin et al. 2017): from `first` windows on, every `every`, a trial is
    /// ended whose best value so far is worse than the median of the others' means so far, if at
    /// least `least` others are there.
    Median {
        /// The windows of the first rung, at least 1.
        first: u64,
        /// The windows between two rungs, at least 1.
        every: u64,
        /// How many others there must be, at least 1.
        least: u64,
    },
}

/// What a window's value is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Watched {
    /// The window's reward per step.
    #[default]
    WindowReward,
    /// The reward per step of the run so far.
    MeanReward,
}

impl Watched {
    /// Both, with the names scripts have for them.
    pub const ALL: [(&'static str, Self); 2] =
        [("window_reward", Self::WindowReward), ("mean_reward", Self::MeanReward)];
}

/// A rule and what it looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopping {
    /// When a trial is ended.
    pub rule: Rule,
    /// What a window's value is, unless the script computes it.
    pub watched: Watched,
}

impl Rule {
    /// Whether `windows` windows are a rung.
    fn is_rung(self, windows: u64) -> bool {
        match self {
            Self::Halving { first, factor } => {
                let mut rung = first;
                while rung < windows {
                    rung = rung.saturating_mul(factor);
                }
                rung == windows
            }
            Self::Median { first, every, .. } => windows >= first && (windows - first).is_multiple_of(every),
        }
    }

    /// Whether a trial ends here that has `own`, others having `others`.
    fn ends(self, goal: Goal, own: f64, others: &mut [f64]) -> bool {
        match self {
            Self::Halving { factor, .. } => {
                let better = others.iter().filter(|other| goal.is_better(**other, own)).count() as u64;
                let among = others.len() as u64 + 1;
                better >= (among / factor).max(1)
            }
            Self::Median { least, .. } => {
                if (others.len() as u64) < least {
                    return false;
                }
                others.sort_by(|one, other| match (goal.is_better(*one, *other), goal.is_better(*other, *one)) {
                    (true, _) => std::cmp::Ordering::Less,
                    (_, true) => std::cmp::Ordering::Greater,
                    _ => std::cmp::Ordering::Equal,
                });
                // The better of the two in the middle: a trial must not be worse than half of them.
                others.get((others.len() - 1) / 2).is_some_and(|median| goal.is_better(*median, own))
            }
        }
    }
}

/// What was decided at a rung.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The rung: windows done.
    pub windows: u64,
    /// The trial's value there.
    pub value: f64,
    /// How many others were there already.
    pub others: u64,
    /// Whether the trial was ended.
    pub ended: bool,
}

impl Decision {
    /// The decision as plain data.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let entries: [(&str, Value); 4] = [
            ("windows", self.windows.into()),
            ("value", self.value.into()),
            ("others", self.others.into()),
            ("ended", self.ended.into()),
        ];
        Value::Map(entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    }
}

impl Decision {
    /// The decision in an outcome.
    #[must_use]
    pub fn from_value(value: &Value) -> Option<Self> {
        let field = |name: &str| value.as_map()?.get(name);
        Some(Self {
            windows: field("windows")?.as_count()?,
            value: field("value")?.as_float()?,
            others: field("others")?.as_count()?,
            ended: field("ended")?.as_bool()?,
        })
    }
}

/// One trial before a rule.
#[derive(Debug)]
pub struct Hearing {
    rule: Rule,
    goal: Goal,
    rungs: PathBuf,
    trial: String,
    best: Option<f64>,
    sum: f64,
    windows: u64,
    /// What was decided so far.
    pub decisions: Vec<Decision>,
}

impl Hearing {
    /// The trial called `trial`, whose rungs are in the directory `rungs`.
    #[must_use]
    pub fn new(rule: Rule, goal: Goal, rungs: &Path, trial: &str) -> Self {
        let (rungs, trial) = (rungs.to_owned(), trial.to_owned());
        Self { rule, goal, rungs, trial, best: None, sum: 0.0, windows: 0, decisions: Vec::new() }
    }

    /// Takes in a window's value; whether the trial ends with it.
    ///
    /// # Errors
    /// When a rung cannot be read or written.
    pub fn window(&mut self, value: f64) -> Result<bool, SweepError> {
        self.windows += 1;
        self.sum += value;
        if self.best.is_none_or(|best| self.goal.is_better(value, best)) {
            self.best = Some(value);
        }
        if !self.rule.is_rung(self.windows) {
            return Ok(false);
        }
        #[expect(clippy::cast_precision_loss, reason = "a count of windows")]
        let mean = self.sum / self.windows as f64;
        let (written, own) = match self.rule {
            Rule::Halving { .. } => (value, value),
            Rule::Median { .. } => (mean, self.best.unwrap_or(f64::NAN)),
        };
        let rung = self.rungs.join(self.windows.to_string());
        let mut others = self.others(&rung)?;
        let path = rung.join(&self.trial);
        atomic::write_file(&path, json::to_string(&Value::Float(written)).as_bytes())?;
        let ended = self.rule.ends(self.goal, own, &mut others);
        self.decisions.push(Decision { windows: self.windows, value: own, others: others.len() as u64, ended });
        Ok(ended)
    }

    /// What the other trials wrote at a rung, in the order of their names.
    fn others(&self, rung: &Path) -> Result<Vec<f64>, SweepError> {
        let entries = match std::fs::read_dir(rung) {
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(SweepError::io(rung))?,
        };
        let mut names = Vec::new();
        for entry in entries {
            let name = entry.map_err(SweepError::io(rung))?.file_name().to_string_lossy().into_owned();
            if !name.starts_with('.') && name != self.trial {
                names.push(name);
            }
        }
        names.sort();
        let read = |name: String| {
            let path = rung.join(name);
            let text = std::fs::read_to_string(&path).map_err(SweepError::io(&path))?;
            Ok(json::parse(&text).ok().and_then(|value| value.as_float()).unwrap_or(f64::NAN))
        };
        names.into_iter().map(read).collect()
    }
}

impl Stopping {
    /// The rule as it stands in a sweep's header.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let (name, settings) = match self.rule {
            Rule::Halving { first, factor } => ("asha", vec![("first", first), ("factor", factor)]),
            Rule::Median { first, every, least } => {
                ("median", vec![("first", first), ("every", every), ("least", least)])
            }
        };
        let watched = Watched::ALL.into_iter().find(|(_, watched)| *watched == self.watched);
        let mut map = Map::from_iter([
            ("rule".to_owned(), name.into()),
            ("watch".to_owned(), watched.map(|(name, _)| name).into()),
        ]);
        map.extend(settings.into_iter().map(|(name, value)| (name.to_owned(), value.into())));
        Value::Map(map)
    }

    /// The rule in a sweep's header.
    #[must_use]
    pub fn from_value(value: &Value) -> Option<Self> {
        let map = value.as_map()?;
        let count = |name: &str| map.get(name)?.as_count();
        let rule = match map.get("rule")?.as_text()? {
            "asha" => Rule::Halving { first: count("first")?, factor: count("factor")? },
            "median" => Rule::Median { first: count("first")?, every: count("every")?, least: count("least")? },
            _ => return None,
        };
        let name = map.get("watch")?.as_text()?;
        let watched = Watched::ALL.into_iter().find(|(known, _)| *known == name)?.1;
        Some(Self { rule, watched })
    }
}
