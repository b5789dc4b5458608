//! The plan: a space's points as trials, in order, each resolved configuration once.
//!
//! It is a file of rows, written once and read from the front, so that a sweep needs no memory
//! for the trials it has not come to yet.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::error::SweepError;
use super::flat;
use super::numbers::Numbers;
use super::space::Space;
use crate::digest::sha256_hex;
use crate::text::json;
use crate::unit::Unit;
use crate::value::{Map, Value};

/// What a point comes down to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The identity of everything that decides the trial's result.
    pub identity: String,
    /// The steps it takes at most.
    pub steps: u64,
}

/// A point that is to be tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Its number as text, which is that of its configuration and of no other ([`Numbers`]).
    pub id: String,
    /// The axes' values.
    pub point: Map,
    /// What it comes down to, or why nothing can be made of it.
    pub resolved: Result<Resolved, String>,
}

impl Trial {
    /// The trial at `point`; `None` if the plan that gives the `numbers` has it already.
    pub(crate) fn numbered(numbers: &mut Numbers, point: Map, resolved: Result<Resolved, String>) -> Option<Self> {
        let id = numbers.meet(unit("", &point, &resolved).short())?;
        Some(Self { id, point, resolved })
    }

    /// The unit of work it is; of a point that nothing can be made of, its values are the identity.
    #[must_use]
    pub(crate) fn unit(&self) -> Unit {
        unit(&self.id, &self.point, &self.resolved)
    }

    /// The steps it takes at most.
    #[must_use]
    pub(crate) fn steps(&self) -> u64 {
        self.resolved.as_ref().map_or(0, |resolved| resolved.steps)
    }

    /// The trial as a row of the plan.
    #[must_use]
    pub fn to_value(&self) -> Value {
        let mut row = Map::from_iter([
            ("trial".to_owned(), self.id.as_str().into()),
            ("point".to_owned(), Value::Map(self.point.clone())),
        ]);
        match &self.resolved {
            Ok(resolved) => {
                row.insert("identity".to_owned(), resolved.identity.as_str().into());
                row.insert("steps".to_owned(), resolved.steps.into());
            }
            Err(why) => drop(row.insert("error".to_owned(), why.as_str().into())),
        }
        Value::Map(row)
    }

    /// The trial of a row.
    ///
    /// # Errors
    /// One line: what the row lacks.
    pub fn from_value(row: &Value) -> Result<Self, String> {
        let field = |name: &str| row.as_map().and_then(|row| row.get(name));
        let text = |name: &str| field(name).and_then(Value::as_text).map(str::to_owned);
        let point = field("point").and_then(Value::as_map).ok_or("`point` must be a map")?.clone();
        let resolved = match (text("identity"), text("error")) {
            (Some(identity), None) => {
                // It stands in the names of files.
                if identity.len() != 64 || !identity.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                    return Err("`identity` must be 64 hexadecimal digits".to_owned());
                }
                let steps = field("steps").and_then(Value::as_count).ok_or("`steps` must be a count")?;
                Ok(Resolved { identity, steps })
            }
            (None, Some(why)) => Err(why),
            _ => return Err("it must have `identity` or `error`".to_owned()),
        };
        let id = text("trial").filter(|id| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()));
        Ok(Self { id: id.ok_or("`trial` must be a number as text")?, point, resolved })
    }
}

/// Refuses what is no value: it would be another one every time it is looked for.
pub(super) fn check(point: &Map) -> Result<(), SweepError> {
    fn holds_nan(value: &Value) -> bool {
        match value {
            Value::Float(number) => number.is_nan(),
            Value::List(items) => items.iter().any(holds_nan),
            Value::Map(map) => map.values().any(holds_nan),
            _ => false,
        }
    }
    match flat(point).iter().find(|(_, value)| holds_nan(value)) {
        Some((axis, _)) => Err(SweepError::Space(format!("the axis `{axis}` is NaN at {}", super::describe(point)))),
        None => Ok(()),
    }
}

/// The unit of work that a point comes down to.
pub(super) fn unit(id: &str, point: &Map, resolved: &Result<Resolved, String>) -> Unit {
    match resolved {
        Ok(resolved) => Unit::with_identity(id, &*resolved.identity),
        Err(_) => Unit::new(id, &Value::Map(point.clone())),
    }
}

/// What a plan holds, all told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Trials.
    pub trials: u64,
    /// Points that came down to a configuration that was there already.
    pub duplicates: u64,
    /// Steps, at most.
    pub steps: u64,
    /// The axes, in the order they are first met.
    pub axes: Vec<String>,
    /// The SHA-256 of the plan's rows.
    pub sha256: String,
    /// Axes of which some points' configurations showed nothing, as far as that was looked for.
    pub idle: Vec<String>,
}

/// Points beyond so many are not kept to see which axes are idle.
const MOST_KEPT: usize = 10_000;

/// Goes through `space` and hands each trial to `take`, numbered by `numbers`; `resolve` says what a
/// point comes down to.
///
/// # Errors
/// What `take` says; when the space cannot be gone through.
pub(crate) fn each(
    space: &Space,
    numbers: &mut Numbers,
    resolve: &mut dyn FnMut(&Map) -> Result<Resolved, String>,
    take: &mut dyn FnMut(&Trial) -> Result<(), SweepError>,
) -> Result<Totals, SweepError> {
    let mut totals = Totals::default();
    let mut hash = String::new();
    let mut firsts: HashMap<String, Map> = HashMap::new();
    space.each(&mut |point| {
        check(point)?;
        for axis in flat(point).into_keys() {
            if !totals.axes.contains(&axis) {
                totals.axes.push(axis);
            }
        }
        let resolved = resolve(point);
        let identity = unit("", point, &resolved).short().to_owned();
        let Some(trial) = Trial::numbered(numbers, point.clone(), resolved) else {
            totals.duplicates += 1;
            if let Some(first) = firsts.get(&identity) {
                note_idle(&mut totals.idle, first, point);
            }
            return Ok(());
        };
        if firsts.len() < MOST_KEPT {
            firsts.insert(identity, point.clone());
        }
        totals.trials += 1;
        totals.steps += trial.steps();
        hash = sha256_hex(format!("{hash}{}", json::to_string(&trial.to_value())).as_bytes());
        take(&trial)
    })?;
    totals.sha256 = hash;
    Ok(totals)
}

/// Notes the axes in which two points differ that came to one configuration.
fn note_idle(idle: &mut Vec<String>, one: &Map, other: &Map) {
    let (one, other) = (flat(one), flat(other));
    for axis in one.keys().chain(other.keys()) {
        if one.get(axis) != other.get(axis) && !idle.contains(axis) {
            idle.push(axis.clone());
        }
    }
}

/// Writes the plan of `space` to `path`.
///
/// # Errors
/// As for [`each`]; when the file cannot be written.
pub(crate) fn write(
    path: &Path,
    space: &Space,
    numbers: &mut Numbers,
    resolve: &mut dyn FnMut(&Map) -> Result<Resolved, String>,
) -> Result<Totals, SweepError> {
    let mut out = BufWriter::new(File::create(path).map_err(SweepError::io(path))?);
    let totals = each(space, numbers, resolve, &mut |trial| {
        let mut line = Vec::new();
        json::write(&mut line, &trial.to_value());
        line.push(b'\n');
        out.write_all(&line).map_err(SweepError::io(path))
    })?;
    out.flush().map_err(SweepError::io(path))?;
    Ok(totals)
}

/// A plan being read from its file.
#[derive(Debug)]
pub struct Rows {
    path: PathBuf,
    file: BufReader<File>,
    line: usize,
    /// How many rows there must be, where that is known.
    expected: Option<u64>,
}

impl Rows {
    /// The plan in the file `path`.
    ///
    /// # Errors
    /// When it is not there or cannot be opened.
    pub fn open(path: &Path) -> Result<Self, SweepError> {
        let file = File::open(path).map_err(|source| match source.kind() {
            ErrorKind::NotFound => SweepError::Malformed {
                path: path.display().to_string(),
                line: None,
                message: "the list of the sweep's trials is gone; --resume makes it again".to_owned(),
            },
            _ => SweepError::io(path)(source),
        })?;
        Ok(Self { path: path.to_owned(), file: BufReader::new(file), line: 0, expected: None })
    }

    /// The plan, which must have all the trials that it had when it was made.
    #[must_use]
    pub fn of(mut self, totals: &Totals) -> Self {
        self.expected = (!totals.is_search()).then_some(totals.trials);
        self
    }

    fn malformed(&self, message: String) -> SweepError {
        SweepError::Malformed { path: self.path.display().to_string(), line: Some(self.line), message }
    }

    fn read(&mut self) -> Result<Option<Trial>, SweepError> {
        let mut bytes = Vec::new();
        self.file.read_until(b'\n', &mut bytes).map_err(SweepError::io(&self.path))?;
        // A search's plan grows: its last row may be half there when its process is killed.
        if !bytes.ends_with(b"\n") {
            let expected = self.expected.take().filter(|expected| *expected > self.line as u64);
            let cut =
                |expected| self.malformed(format!("of {expected} trials the rest is missing; --resume plans anew"));
            return expected.map_or(Ok(None), |expected| Err(cut(expected)));
        }
        self.line += 1;
        let text = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned());
        let row = text.and_then(|text| json::parse(&text).map_err(|error| error.to_string()));
        row.and_then(|row| Trial::from_value(&row)).map(Some).map_err(|message| self.malformed(message))
    }
}

impl Iterator for Rows {
    type Item = Result<Trial, SweepError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}
