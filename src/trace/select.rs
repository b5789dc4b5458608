//! Rows picked from traces, as they stand.

use std::path::PathBuf;

use crate::trace::columns::{Identity, Warning};
use crate::trace::error::TraceError;
use crate::trace::input::{self, InputFile};
use crate::trace::lines::{Lines, RowLine};
use crate::trace::parse::ParsedLine;
use crate::trace::read::ReadOptions;
use crate::value::Value;

/// Which rows are wanted: those that fit everything that is said here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    /// Identity or metadata keys and the text of their values: `seed` and `3`.
    pub run: Vec<(String, String)>,
    /// Regime labels, of which a row must have one; nothing is asked if there are none.
    pub regimes: Vec<String>,
    /// The least step.
    pub from_step: Option<i64>,
    /// The step before which rows end.
    pub until_step: Option<i64>,
}

impl Filter {
    /// Whether a row is wanted.
    pub(super) fn takes(&self, line: &ParsedLine<'_>) -> bool {
        let row = &line.row;
        self.from_step.is_none_or(|from| row.step >= from)
            && self.until_step.is_none_or(|until| row.step < until)
            && (self.regimes.is_empty() || row.regime_id.as_ref().is_some_and(|label| self.regimes.contains(label)))
            && (self.run.is_empty() || self.takes_run(line))
    }

    fn takes_run(&self, line: &ParsedLine<'_>) -> bool {
        let identity = Identity::from_json(line.identity);
        self.run.iter().all(|(key, wanted)| {
            let value =
                identity.fields.get(key.as_str()).or_else(|| line.meta.get(key)).or_else(|| line.row.extra.get(key));
            value.is_some_and(|value| text_of(value) == *wanted)
        })
    }
}

/// A value as it would be typed.
fn text_of(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        other => crate::text::json::to_string(other),
    }
}

/// Hands the text of each wanted row of `paths` to `take`, without its newline, until that answers
/// `false`; tells what was odd about the files read so far.
///
/// # Errors
/// When a file is missing, unreadable or not UTF-8.
pub fn select(
    paths: &[PathBuf],
    filter: &Filter,
    mut take: impl FnMut(&[u8]) -> bool,
) -> Result<Vec<Warning>, TraceError> {
    let (inputs, _) = input::expand(paths)?;
    each_row(&inputs, filter, |row| take(row.text))
}

/// Hands each wanted row of `inputs` to `take` until that answers `false`.
pub(super) fn each_row(
    inputs: &[InputFile],
    filter: &Filter,
    mut take: impl FnMut(&RowLine<'_>) -> bool,
) -> Result<Vec<Warning>, TraceError> {
    let mut warnings = Vec::new();
    for input in inputs {
        let mut lines = Lines::open(input, &ReadOptions::default())?;
        let mut going = true;
        while going && let Some(more) = lines.next_with(|row| !filter.takes(&row.parsed) || take(&row))? {
            going = more;
        }
        warnings.extend(lines.warnings());
        if !going {
            break;
        }
    }
    Ok(warnings)
}
