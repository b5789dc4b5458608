//! Records as they arrive: plain data with native arrays among it, read field by field with the
//! path of each, so that a mistake is named where it was made.

use indexmap::IndexMap;

use crate::array::{Array, DType, Scalar};
use crate::suggest;
use crate::text::json;
use crate::value::Value;

/// Plain data whose leaves may be native arrays.
#[derive(Clone, Debug, PartialEq)]
pub enum Datum {
    /// A native array.
    Array(Array),
    /// A scalar, or a list of scalars and lists.
    Value(Value),
    /// A list that holds maps or arrays.
    List(Vec<Datum>),
    /// A map.
    Map(IndexMap<String, Datum>),
}

impl Datum {
    fn kind(&self) -> &'static str {
        match self {
            Self::Array(_) => "an array",
            Self::Value(value) => value.kind(),
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
        }
    }
}

/// What is wrong with a record: the field, by its path, and what was expected of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}: {}", one_line(path), one_line(message))]
pub struct RecordError {
    /// The record, and the way to the field: `root-000003: trajectories[1].steps[2].labels.rri`.
    pub path: String,
    /// What was expected and what came.
    pub message: String,
}

impl crate::diagnostic::Problem for RecordError {
    fn code(&self) -> &'static str {
        "rollouts/record"
    }
}

/// `text` as it may stand in one line of a terminal, whatever a producer called its things.
pub(super) fn one_line(text: &str) -> String {
    const LONGEST: usize = 400;
    let escaped = |letter: char| match letter {
        letter if letter.is_control() => letter.escape_debug().to_string(),
        letter => letter.to_string(),
    };
    let line: String = text.chars().take(LONGEST).map(escaped).collect();
    if text.chars().nth(LONGEST).is_some() { line + "..." } else { line }
}

/// One map of a record, and where it is.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    map: &'a IndexMap<String, Datum>,
    path: &'a str,
}

type Read<T> = Result<T, RecordError>;

pub(super) fn mistake<T>(path: impl Into<String>, message: impl Into<String>) -> Read<T> {
    Err(RecordError { path: path.into(), message: message.into() })
}

impl<'a> Fields<'a> {
    /// `datum` as a map all of whose keys are `known`.
    pub(super) fn of(datum: &'a Datum, path: &'a str, known: &[&str]) -> Read<Self> {
        // The root's path already ends as if a field were to follow.
        let place = path.trim_end_matches(": ");
        let Datum::Map(map) = datum else {
            return mistake(place, format!("must be a map, got {}", datum.kind()));
        };
        if let Some(key) = map.keys().find(|key| !known.contains(&key.as_str())) {
            let hint = suggest::hint(key, "known are", known.iter().copied());
            return mistake(place, format!("unknown key `{key}`; {hint}"));
        }
        Ok(Self { map, path })
    }

    pub(super) fn at(&self, name: &str) -> String {
        if self.path.ends_with(' ') { format!("{}{name}", self.path) } else { format!("{}.{name}", self.path) }
    }

    /// The field, unless it is absent or null.
    pub(super) fn get(&self, name: &str) -> Option<&'a Datum> {
        self.map.get(name).filter(|datum| !matches!(datum, Datum::Value(Value::Null)))
    }

    pub(super) fn required(&self, name: &str) -> Read<&'a Datum> {
        self.get(name).ok_or_else(|| RecordError { path: self.at(name), message: "is missing".to_owned() })
    }

    pub(super) fn text(&self, name: &str) -> Read<Option<String>> {
        match self.get(name) {
            None => Ok(None),
            Some(Datum::Value(Value::Text(text))) => Ok(Some(text.clone())),
            Some(other) => mistake(self.at(name), format!("must be text, got {}", other.kind())),
        }
    }

    pub(super) fn required_text(&self, name: &str) -> Read<String> {
        self.required(name)?;
        Ok(self.text(name)?.unwrap_or_default())
    }

    /// An integer that fits `T`.
    pub(super) fn integer<T: TryFrom<i64>>(&self, name: &str) -> Read<Option<T>> {
        let Some(datum) = self.get(name) else { return Ok(None) };
        let value = match datum {
            Datum::Value(value @ (Value::Int(_) | Value::BigInt(_) | Value::Float(_))) => value,
            _ => return mistake(self.at(name), format!("must be an integer, got {}", datum.kind())),
        };
        match value.as_int().map(T::try_from) {
            Some(Ok(value)) => Ok(Some(value)),
            _ => mistake(self.at(name), format!("must be {}, got {}", whole::<T>(), json::to_string(value))),
        }
    }

    pub(super) fn required_integer<T: TryFrom<i64> + Default>(&self, name: &str) -> Read<T> {
        self.required(name)?;
        Ok(self.integer(name)?.unwrap_or_default())
    }

    pub(super) fn boolean(&self, name: &str) -> Read<Option<bool>> {
        match self.get(name) {
            None => Ok(None),
            Some(Datum::Value(Value::Bool(value))) => Ok(Some(*value)),
            Some(other) => mistake(self.at(name), format!("must be a boolean, got {}", other.kind())),
        }
    }

    /// One float32.
    pub(super) fn float(&self, name: &str) -> Read<Option<f32>> {
        let Some(datum) = self.get(name) else { return Ok(None) };
        let number = match datum {
            Datum::Value(value) => scalar(value),
            _ => None,
        };
        FLOAT.take(number, || self.at(name), datum.kind()).map(Some)
    }

    /// A vector of float32; finite numbers stay finite.
    pub(super) fn floats(&self, name: &str) -> Read<Option<Vec<f32>>> {
        self.get(name).map(|datum| floats(datum, &self.at(name))).transpose()
    }

    /// A vector of texts.
    pub(super) fn texts(&self, name: &str) -> Read<Option<Vec<String>>> {
        let Some(datum) = self.get(name) else { return Ok(None) };
        let read = |(index, item): (usize, Datum)| match item {
            Datum::Value(Value::Text(text)) => Ok(text),
            other => mistake(format!("{}[{index}]", self.at(name)), format!("must be text, got {}", other.kind())),
        };
        items(datum, &self.at(name))?.into_iter().enumerate().map(read).collect::<Read<_>>().map(Some)
    }

    /// A vector of `W` float32.
    pub(super) fn vector<const W: usize>(&self, name: &str) -> Read<Option<[f32; W]>> {
        let Some(numbers) = self.floats(name)? else { return Ok(None) };
        let length = numbers.len();
        match <[f32; W]>::try_from(numbers) {
            Ok(numbers) => Ok(Some(numbers)),
            Err(_) => mistake(self.at(name), format!("must hold {W} numbers, got {length}")),
        }
    }

    /// A matrix of `W` columns, row by row.
    pub(super) fn rows<const W: usize>(&self, name: &str) -> Read<Option<Vec<[f32; W]>>> {
        let Some(datum) = self.get(name) else { return Ok(None) };
        let cells = flat(datum, &self.at(name), Some(W), &FLOAT)?;
        Ok(Some(cells.chunks_exact(W).filter_map(|row| row.try_into().ok()).collect()))
    }

    /// A vector of booleans.
    pub(super) fn booleans(&self, name: &str) -> Read<Option<Vec<bool>>> {
        self.get(name).map(|datum| booleans(datum, &self.at(name))).transpose()
    }

    /// A vector of integers that fit `T`, none of them rounded.
    pub(super) fn integers<T: TryFrom<i64>>(&self, name: &str) -> Read<Option<Vec<T>>> {
        let expected = whole::<T>();
        let whole =
            Cells { expected: &expected, take: &|scalar| scalar.to_i64().and_then(|whole| T::try_from(whole).ok()) };
        self.get(name).map(|datum| flat(datum, &self.at(name), None, &whole)).transpose()
    }

    /// A list of maps or of anything else, item by item.
    pub(super) fn items(&self, name: &str) -> Read<Vec<Datum>> {
        items(self.required(name)?, &self.at(name))
    }
}

/// `datum`'s items, whatever kind of list it is.
pub(super) fn items(datum: &Datum, path: &str) -> Read<Vec<Datum>> {
    match datum {
        Datum::List(items) => Ok(items.clone()),
        Datum::Value(Value::List(items)) => Ok(items.iter().cloned().map(Datum::Value).collect()),
        Datum::Map(map) if map.is_empty() => Ok(Vec::new()),
        Datum::Value(Value::Map(map)) if map.is_empty() => Ok(Vec::new()),
        other => mistake(path, format!("must be a list, got {}", other.kind())),
    }
}

/// A number; null and the texts of Python's non-finite ones count.
fn scalar(value: &Value) -> Option<Scalar> {
    match value {
        Value::Null => Some(Scalar::Float(f64::NAN)),
        Value::Text(text) => match text.as_str() {
            "NaN" => Some(Scalar::Float(f64::NAN)),
            "Infinity" => Some(Scalar::Float(f64::INFINITY)),
            "-Infinity" => Some(Scalar::Float(f64::NEG_INFINITY)),
            _ => None,
        },
        Value::Bool(_) => None,
        value => Scalar::from_value(value),
    }
}

/// float64 as a column of float32 holds it, unless it is finite and beyond that.
fn float(scalar: Scalar) -> Option<f32> {
    let number = scalar.to_f64();
    let narrowed = narrow(number);
    (narrowed.is_finite() || !number.is_finite()).then_some(narrowed)
}

/// The integers that `T` holds, in words; none is beyond the 64 bits that integers are read with.
fn whole<T: TryFrom<i64>>() -> String {
    let bits = 8 * size_of::<T>().min(size_of::<i64>());
    let is_signed = T::try_from(-1).is_ok();
    let most = i64::MAX >> (i64::BITS as usize - bits).saturating_sub(usize::from(!is_signed));
    let least = if is_signed { -1 - most } else { 0 };
    format!("an integer from {least} to {most}")
}

/// What the cells of a column are, and how a number becomes one.
struct Cells<'a, T> {
    expected: &'a str,
    take: &'a dyn Fn(Scalar) -> Option<T>,
}

const FLOAT: Cells<'static, f32> = Cells { expected: "a number within float32's range", take: &float };

impl<T> Cells<'_, T> {
    /// The cell that `scalar` becomes; where it is none, `kind` says what was there instead.
    fn take(&self, scalar: Option<Scalar>, place: impl Fn() -> String, kind: &str) -> Read<T> {
        scalar.and_then(self.take).ok_or_else(|| {
            let got = scalar.map_or_else(|| kind.to_owned(), |scalar| scalar.to_string());
            RecordError { path: place(), message: format!("must be {}, got {got}", self.expected) }
        })
    }
}

/// The cells of a vector, or of a matrix of `columns` columns, in C order.
fn flat<T>(datum: &Datum, path: &str, columns: Option<usize>, cells: &Cells<'_, T>) -> Read<Vec<T>> {
    match datum {
        Datum::Array(array) => {
            match (array.shape(), columns) {
                ([_], None) => {}
                ([_, width], Some(columns)) if *width == columns => {}
                (shape, None) => return mistake(path, format!("must be a vector, got an array of shape {shape:?}")),
                (shape, Some(columns)) => {
                    return mistake(path, format!("must be of shape [n, {columns}], got {shape:?}"));
                }
            }
            let take = |(index, scalar): (usize, Scalar)| cells.take(Some(scalar), || format!("{path}[{index}]"), "");
            array.scalars().enumerate().map(take).collect()
        }
        Datum::Value(_) | Datum::List(_) | Datum::Map(_) => {
            let mut found = Vec::new();
            for (index, item) in items(datum, path)?.iter().enumerate() {
                let place = || format!("{path}[{index}]");
                match (columns, item) {
                    (None, Datum::Value(value)) => found.push(cells.take(scalar(value), place, value.kind())?),
                    (None, other) => found.push(cells.take(None, place, other.kind())?),
                    (Some(columns), item) => {
                        let row = flat(item, &place(), None, cells)?;
                        if row.len() != columns {
                            return mistake(place(), format!("must hold {columns} numbers, got {}", row.len()));
                        }
                        found.extend(row);
                    }
                }
            }
            Ok(found)
        }
    }
}

/// A vector of float32; finite numbers stay finite.
pub(super) fn floats(datum: &Datum, path: &str) -> Read<Vec<f32>> {
    match datum {
        // The common case, without a look at every number.
        Datum::Array(Array::F32(numbers)) if numbers.ndim() == 1 => Ok(numbers.iter().copied().collect()),
        _ => flat(datum, path, None, &FLOAT),
    }
}

/// An array's elements in C order, as a vector.
pub(super) fn flattened(array: &Array) -> Array {
    let count = array.len();
    // A vector of as many elements always fits.
    array.clone().reshape(&[count]).unwrap_or_else(|_| Array::zeros(array.dtype(), &[0]))
}

/// A matrix of any width, its rows read by `row`: its height and width, and its cells in C order.
pub(super) fn raster<T>(
    datum: &Datum,
    path: &str,
    row: impl Fn(&Datum, &str) -> Read<Vec<T>>,
) -> Read<([usize; 2], Vec<T>)> {
    if let Datum::Array(array) = datum {
        let [height, width] = array.shape() else {
            return mistake(path, format!("must be of shape [height, width], got {:?}", array.shape()));
        };
        return Ok(([*height, *width], row(&Datum::Array(flattened(array)), path)?));
    }
    let rows = items(datum, path)?;
    let (mut width, mut cells) = (0, Vec::new());
    for (index, datum) in rows.iter().enumerate() {
        let place = format!("{path}[{index}]");
        let own = row(datum, &place)?;
        if index > 0 && own.len() != width {
            return mistake(place, format!("holds {} pixels, but the rows before hold {width}", own.len()));
        }
        width = own.len();
        cells.extend(own);
    }
    Ok(([rows.len(), width], cells))
}

/// A vector of booleans.
pub(super) fn booleans(datum: &Datum, path: &str) -> Read<Vec<bool>> {
    if let Datum::Array(array) = datum {
        if array.dtype() != DType::Bool || array.shape().len() != 1 {
            return mistake(path, format!("must be a vector of booleans, got {} {:?}", array.dtype(), array.shape()));
        }
        return Ok(array.numbers().map(|number| number != 0.0).collect());
    }
    let mut found = Vec::new();
    for (index, item) in items(datum, path)?.into_iter().enumerate() {
        match item {
            Datum::Value(Value::Bool(value)) => found.push(value),
            other => return mistake(format!("{path}[{index}]"), format!("must be a boolean, got {}", other.kind())),
        }
    }
    Ok(found)
}

/// float64 as the column holds it.
#[expect(clippy::cast_possible_truncation, reason = "the store's columns are float32")]
pub(super) fn narrow(number: f64) -> f32 {
    number as f32
}
