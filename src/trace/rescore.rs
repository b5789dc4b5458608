//! Recorded rows scored anew: a reward composition replayed over a trace.
//!
//! A row keeps every byte but its reward, components and detail. Rows are scored in the order of
//! their file, with a composition of the file's own, so that neither threads nor other files are
//! seen in the result.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use indexmap::IndexMap;
use rayon::prelude::*;

use crate::atomic::{AtomicError, StagedFile};
use crate::diagnostic::{Exit, Problem};
use crate::env::Info;
use crate::reward::{Composition, ScoreError, StepClock, StepField, StepView};
use crate::text::json::write_text;
use crate::text::number::write_float;
use crate::trace::columns::Warning;
use crate::trace::error::TraceError;
use crate::trace::field::{Field, unescape};
use crate::trace::format::write_map;
use crate::trace::input::{self, InputFile};
use crate::trace::lines::{Lines, RowLine};
use crate::trace::parse::ParsedLine;
use crate::trace::read::ReadOptions;
use crate::trace::recorded::RecordedStep;
use crate::trace::scan::Cursor;
use crate::trace::sink::{Compression, Sink};
use crate::value::Map;

/// How much is gathered before it is written.
const BLOCK: usize = 1 << 16;

/// What became of one file.
#[derive(Clone, Debug, Default)]
pub struct Rescored {
    /// The file that was read, as the user named it.
    pub path: String,
    /// Where its rows went.
    pub output: PathBuf,
    /// Rows.
    pub rows: u64,
    /// Rows whose reward is another one now.
    pub changed: u64,
    /// What was odd about the file; lines that are no rows are left out.
    pub warnings: Vec<Warning>,
}

/// Why rescoring stopped; nothing is then at the output's name that was not there before.
#[derive(Debug, thiserror::Error)]
pub enum RescoreError<E> {
    /// The trace cannot be read.
    #[error(transparent)]
    Read(#[from] TraceError),
    /// The output cannot be written.
    #[error(transparent)]
    Write(#[from] AtomicError),
    /// The composition could not be made.
    #[error("the composition could not be made")]
    Composition(E),
    /// A row cannot be scored.
    #[error("{path}:{line}: {source}")]
    Score {
        /// The file.
        path: String,
        /// The row's line, from 1.
        line: usize,
        /// The step and the term.
        source: ScoreError,
    },
    /// Input and output are one.
    #[error("{path} would be replaced by its own rescoring")]
    SamePlace {
        /// The path.
        path: String,
    },
}

impl<E: std::fmt::Debug> Problem for RescoreError<E> {
    fn code(&self) -> &'static str {
        match self {
            Self::Read(error) => error.code(),
            Self::Write(_) => "trace/write",
            Self::Composition(_) => "trace/composition",
            Self::Score { .. } => "trace/score",
            Self::SamePlace { .. } => "trace/same-place",
        }
    }

    fn exit(&self) -> Exit {
        match self {
            Self::Read(error) => error.exit(),
            Self::SamePlace { .. } => Exit::Usage,
            Self::Write(_) | Self::Composition(_) | Self::Score { .. } => Exit::Failure,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Read(error) => error.hint(),
            Self::SamePlace { .. } => Some("write to another place".to_owned()),
            _ => None,
        }
    }
}

/// Scores the rows of `path` with what `make` makes, and writes them to `output`. A directory is
/// rescored file by file, in parallel, to a directory of the same shape.
///
/// # Errors
/// When a file cannot be read or written, or a row does not hold what a term asks for; files that
/// were finished before stay.
pub fn rescore<E: Send>(
    path: &Path,
    output: &Path,
    make: impl Fn() -> Result<Composition, E> + Sync,
) -> Result<Vec<Rescored>, RescoreError<E>> {
    let one = |input: &InputFile, output: &Path| {
        let mut composition = make().map_err(RescoreError::Composition)?;
        rescore_file(input, output, &mut composition)
    };
    if !path.is_dir() {
        return Ok(vec![one(&InputFile::named(path), output)?]);
    }
    let (inputs, _) = input::expand(&[path.to_owned()])?;
    let rescored: Vec<_> = inputs
        .par_iter()
        .map(|input| one(input, &output.join(Path::new(&input.name).strip_prefix(path).unwrap_or(path))))
        .collect();
    rescored.into_iter().collect()
}

fn rescore_file<E>(
    input: &InputFile,
    output: &Path,
    composition: &mut Composition,
) -> Result<Rescored, RescoreError<E>> {
    if let (Ok(from), Ok(to)) = (Path::new(&input.name).canonicalize(), output.canonicalize())
        && from == to
    {
        return Err(RescoreError::SamePlace { path: input.name.clone() });
    }
    let mut lines = Lines::open(input, &ReadOptions::default())?;
    let staged = StagedFile::new(output)?;
    let sink = staged.file().try_clone().and_then(|file| Sink::new(Compression::of_name(output), file));
    let mut sink = sink.map_err(TraceError::write(output))?;
    let mut rescored = Rescored { path: input.name.clone(), output: output.to_owned(), ..Rescored::default() };
    let mut scorer = Scorer { composition, components: IndexMap::new(), detail: Map::new() };
    let mut block = Vec::new();
    let mut next = || {
        lines.next_with(|RowLine { text, parsed, line }| {
            let reward = scorer.score(&parsed).map_err(|source| RescoreError::Score {
                path: input.name.clone(),
                line,
                source,
            })?;
            rescored.rows += 1;
            rescored.changed += u64::from(reward.to_bits() != parsed.row.reward.to_bits());
            scorer.write(&mut block, text, reward);
            if block.len() >= BLOCK {
                sink.write_rows(&block).map_err(TraceError::write(output))?;
                block.clear();
            }
            Ok::<(), RescoreError<E>>(())
        })
    };
    while let Some(scored) = next()? {
        scored?;
    }
    sink.write_rows(&block).and_then(|()| sink.finish()).map_err(TraceError::write(output))?;
    staged.commit()?;
    rescored.warnings = lines.warnings();
    Ok(rescored)
}

struct Scorer<'a> {
    composition: &'a mut Composition,
    components: IndexMap<String, f64>,
    detail: Map,
}

impl Scorer<'_> {
    fn score(&mut self, line: &ParsedLine<'_>) -> Result<f64, ScoreError> {
        let row = &line.row;
        let recorded = RecordedStep::new(row.action.as_ref(), [&row.extra, &line.meta]);
        let mut known = recorded.known;
        let clock = match &row.observed_at {
            Some(time) => {
                known = known.with(StepField::ObservedAt);
                StepClock::fixed(time.clone())
            }
            None => StepClock::default(),
        };
        let info = Info { invalid_action: row.invalid_action, ..Info::default() };
        let step = StepView {
            step: u64::try_from(row.step).unwrap_or_default(),
            observation: &recorded.observation,
            action: &recorded.action,
            next_observation: &recorded.next_observation,
            env_reward: recorded.env_reward,
            terminated: recorded.terminated,
            truncated: recorded.truncated,
            info: &info,
            regime_id: row.regime_id.as_deref(),
            clock: &Rc::new(clock),
            known,
        };
        self.composition.score(&step, &mut self.components, &mut self.detail)
    }

    /// Appends the row `text` with what was scored in the places of what it had.
    fn write(&self, out: &mut Vec<u8>, text: &[u8], reward: f64) {
        let mut places = places(text);
        places.sort_by_key(|(_, place)| place.as_ref().map_or(usize::MAX, |place| place.start));
        let end = text.len().saturating_sub(1);
        let mut written = 0;
        for (field, place) in places {
            let place = match place {
                Some(place) => {
                    out.extend_from_slice(text.get(written..place.start).unwrap_or_default());
                    place
                }
                None if field == Field::Detail && self.detail.is_empty() => continue,
                None => {
                    out.extend_from_slice(text.get(written..end).unwrap_or_default());
                    out.extend_from_slice(if field == Field::Detail {
                        b", \"reward_detail\": "
                    } else {
                        b", \"reward_components\": "
                    });
                    end..end
                }
            };
            written = place.end;
            match field {
                Field::Reward => write_float(out, reward),
                Field::Detail => write_map(out, &self.detail, false),
                _ => self.write_components(out),
            }
        }
        out.extend_from_slice(text.get(written..).unwrap_or_default());
        out.push(b'\n');
    }

    fn write_components(&self, out: &mut Vec<u8>) {
        out.push(b'{');
        for (place, (name, value)) in self.components.iter().enumerate() {
            if place > 0 {
                out.extend_from_slice(b", ");
            }
            write_text(out, name);
            out.extend_from_slice(b": ");
            write_float(out, *value);
        }
        out.push(b'}');
    }
}

/// Where the values that scoring replaces stand in a row; of equal keys the last.
fn places(text: &[u8]) -> [(Field, Option<Range<usize>>); 3] {
    let mut places = [(Field::Reward, None), (Field::Components, None), (Field::Detail, None)];
    let mut cursor = Cursor::new(text);
    let mut first = true;
    if cursor.open_object().is_err() {
        return places;
    }
    while let Ok(Some(key)) = cursor.next_key(first) {
        first = false;
        let start = text.len() - cursor.rest.len();
        if cursor.value().is_err() {
            break;
        }
        let field = Field::of_key(&unescape(key));
        if let Some((_, place)) = places.iter_mut().find(|(known, _)| *known == field) {
            *place = Some(start..text.len() - cursor.rest.len());
        }
    }
    places
}
