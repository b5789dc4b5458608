//! A stretch of whole lines read into parts, one a run, with an account of what was odd.
//!
//! A chunk knows nothing of the lines around it; what depends on them (the last line of a file,
//! a row that repeats the one before) it hands on to whoever joins chunks.

use std::collections::HashMap;

use indexmap::IndexMap;

use crate::trace::account::Refused;
use crate::trace::cells::Cells;
use crate::trace::columns::Identity;
use crate::trace::fault::Faults;
use crate::trace::layout::Layout;
use crate::trace::parse::parse_line;
use crate::trace::part::PartBuilder;
use crate::trace::scanner::RowScanner;

/// The row at an edge of a chunk.
#[derive(Debug, Default)]
pub(super) struct EdgeRow {
    pub(super) text: Vec<u8>,
    pub(super) line: usize,
    pub(super) step: i64,
}

/// What a chunk holds.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    pub(super) runs: IndexMap<String, (Identity, PartBuilder)>,
    pub(super) scanner: RowScanner,
    pub(super) faults: Faults,
    /// Lines, blank ones included.
    pub(super) lines: usize,
    pub(super) rows: u64,
    pub(super) skipped: u64,
    /// The last line that is not blank, if it is no row; it is not among the faults.
    pub(super) refused: Option<Refused>,
    pub(super) first_row: Option<EdgeRow>,
    pub(super) last_row: Option<EdgeRow>,
}

impl Chunk {
    /// Reads `block`; `every` keeps each fault apart.
    pub(super) fn read(block: &[u8], every: bool) -> Self {
        let mut chunk = Self { faults: Faults::new(every), ..Self::default() };
        let mut runs_by_spelling: HashMap<Vec<u8>, usize> = HashMap::new();
        let mut run = 0;
        let mut cells = Cells::default();
        let mut layout = Layout::default();
        let mut last: Option<(&[u8], usize, i64)> = None;
        let mut rest = block;
        while !rest.is_empty() {
            chunk.lines += 1;
            let line = chunk.lines;
            let row = match chunk.scanner.read_alike(rest, &mut layout, &mut cells) {
                Some((row, after)) => {
                    rest = after;
                    chunk.go_on();
                    row
                }
                None => {
                    let (text, after) = match memchr::memchr(b'\n', rest) {
                        Some(at) => rest.split_at(at + 1),
                        None => (rest, &[][..]),
                    };
                    rest = after;
                    let row = text.trim_ascii();
                    if row.is_empty() {
                        layout.forget();
                        continue;
                    }
                    chunk.go_on();
                    if let Err(fault) = chunk.scanner.read_line(row, &mut layout, &mut cells) {
                        // Told in the words of those who read whole rows.
                        let fault = parse_line(row).err().unwrap_or(fault);
                        chunk.skipped += 1;
                        chunk.refused = Some(Refused::new(fault, row, line, text.ends_with(b"\n")));
                        continue;
                    }
                    row
                }
            };
            chunk.rows += 1;
            match last {
                Some((text, ..)) if text == row => note_repeated_row(&mut chunk.faults, line, cells.step),
                Some(_) => {}
                None => chunk.first_row = Some(EdgeRow { text: row.to_vec(), line, step: cells.step }),
            }
            last = Some((row, line, cells.step));
            note_oddities(&cells, line, &mut chunk.faults);
            if cells.duplicate_key {
                let kept: IndexMap<_, _> = cells.others.drain(..).collect();
                cells.others.extend(kept);
            }
            if !cells.same_identity || chunk.runs.is_empty() {
                run = chunk.run_of(cells.identity, &mut runs_by_spelling);
            }
            if let Some((_, (_, part))) = chunk.runs.get_index_mut(run)
                && part.push(&cells, line)
            {
                chunk.faults.note("origin_without_label", "", Some(line), Some(cells.step), || {
                    "a row has a `regime_origin` but no `regime_id`; it stays unlabelled".to_owned()
                });
            }
        }
        chunk.last_row = last.map(|(text, line, step)| EdgeRow { text: text.to_vec(), line, step });
        chunk
    }

    /// Another line follows that is not blank: the one before is not the last.
    #[inline]
    fn go_on(&mut self) {
        if let Some(refused) = self.refused.take() {
            refused.note(&mut self.faults);
        }
    }

    /// The place among the runs of the one with this identity.
    fn run_of(&mut self, identity: [&[u8]; 5], by_spelling: &mut HashMap<Vec<u8>, usize>) -> usize {
        let spelling = identity.join(&b'\n');
        if let Some(run) = by_spelling.get(&spelling) {
            return *run;
        }
        let identity = Identity::from_json(identity);
        let entry = self.runs.entry(identity.key());
        let run = entry.index();
        entry.or_insert_with(|| (identity, PartBuilder::default()));
        by_spelling.insert(spelling, run);
        run
    }
}

pub(super) fn note_repeated_row(faults: &mut Faults, line: usize, step: i64) {
    faults.note("repeated_rows", "", Some(line), Some(step), || {
        "a row is byte for byte the one before; both are kept".to_owned()
    });
}

/// Notes what is odd about a row that is kept.
#[inline]
fn note_oddities(cells: &Cells<'_>, line: usize, faults: &mut Faults) {
    /// Beyond this, other tools' floats no longer tell neighbouring steps apart.
    const EXACT: u64 = 1 << 53;
    let (line, step) = (Some(line), Some(cells.step));
    if cells.reward.is_nan() {
        faults.note("nonfinite_reward", "", line, step, || {
            "`reward` is not a finite number; the row counts, its reward does not".to_owned()
        });
    }
    if cells.step.unsigned_abs() > EXACT {
        faults.note("large_step", "", line, step, || "`step` is beyond 2^53; other tools round it".to_owned());
    }
    if cells.null_invalid_action {
        faults.note("null_invalid_action", "", line, step, || "`invalid_action` is null; taken as false".to_owned());
    }
    for (field, odd) in &cells.odd {
        let code = match *field {
            "effective_rank" => "bad_rank",
            "reward_components" => "bad_component",
            _ => "bad_field",
        };
        faults.note(code, field, line, step, || match code {
            "bad_component" if odd.0 != "not a map" => format!("a value of `{field}` is {}; it is left out", odd.0),
            _ => format!("`{field}` is {}; it is left out", odd.0),
        });
    }
    if cells.duplicate_key {
        faults.note("duplicate_key", "", line, step, || "a key stands twice in one row; the last holds".to_owned());
    }
}
