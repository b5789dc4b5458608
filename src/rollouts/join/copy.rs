//! Taking rows over, column by column: ids are moved, texts get the ids of the new store, and
//! everything else stays as it is on disk.
//!
//! A block of states at a time, of as many bytes as the writer's memory allows; its columns are
//! read on every core while the writer encodes those of the block before.

use std::ops::Range;

use rayon::prelude::*;

use super::JoinError;
use super::columns::{Change, Known};
use super::contents::Contents;
use crate::rollouts::config::RolloutZarrStoreConfig;
use crate::rollouts::dictionary::{Dictionaries, Dictionary};
use crate::rollouts::rows::Rows;
use crate::rollouts::schema::{Depths, Lineage, Rollouts, StepFacts, Table};
use crate::rollouts::tables::{Tables, id};
use crate::rollouts::{StoreError, Writer};

/// States in a row whose ids all move as far.
struct Piece {
    states: Range<usize>,
    chains_by: i64,
    states_by: i64,
    candidates_by: i64,
}

/// Takes over the chains in `runs`, in that order, of a part; `owners` gives a chain's source and
/// target in the new store, `done` hears of every block of states.
pub(super) fn copy(
    contents: &mut Contents<'_>,
    runs: &[Range<usize>],
    owners: &dyn Fn(usize) -> (i64, i64),
    config: &RolloutZarrStoreConfig,
    writer: &mut Writer,
    done: &mut dyn FnMut(usize),
) -> Result<(), JoinError> {
    let refused = |contents: &Contents<'_>, what| contents.part.refuse(what);
    let pieces = pieces(contents, runs, writer.tables());
    take_chains(contents, runs, owners, writer.tables())?;
    let rows = Rows::new(config);
    let rows = if contents.has_codec() { rows.with_codec() } else { rows };
    let template = Known::all(&contents.reader, rows.columns()).map_err(|what| refused(contents, what))?;
    let depth = |known: &&Known| known.group == Depths::GROUP && known.rows() > 0;
    if !config.selected_depth_enabled && template.iter().any(|known| depth(&known)) {
        let what = "selected_depth has rows, though selected_depth_enabled is not set: they would be lost";
        return Err(refused(contents, what.to_owned()));
    }
    let limit = usize::try_from(config.memory_bytes / 8).unwrap_or(usize::MAX);
    for block in blocks(contents, &template, pieces, limit) {
        let read: Vec<Vec<u8>> = template
            .par_iter()
            .map(|known| known.read(&ranges(contents, known.group, &block)))
            .collect::<Result<_, StoreError>>()?;
        let tables = writer.tables();
        let mut columns = Vec::with_capacity(template.len());
        for (known, mut bytes) in template.iter().zip(read) {
            change(contents, known, &block, &mut bytes, tables);
            columns.push(known.column(bytes));
        }
        count(contents, &block, tables);
        writer.take(columns)?;
        done(block.iter().map(|piece| piece.states.len()).sum());
    }
    Ok(())
}

/// Where the states of each run of chains go, after what the new store has already.
fn pieces(contents: &Contents<'_>, runs: &[Range<usize>], tables: &Tables) -> Vec<Piece> {
    let mut chains = tables.rollouts.rollout_row_id.len();
    let (mut states, mut candidates) = (tables.totals.steps, tables.totals.candidates);
    let piece = |run: &Range<usize>| {
        let own = contents.states(run);
        let shells = contents.candidates_of(&own);
        let piece = Piece {
            chains_by: id(chains) - id(run.start),
            states_by: id(states) - id(own.start),
            candidates_by: id(candidates) - id(shells.start),
            states: own,
        };
        chains += run.len();
        states += piece.states.len();
        candidates += shells.len();
        piece
    };
    runs.iter().map(piece).collect()
}

/// The chains and how they were made, which wait in memory.
fn take_chains(
    contents: &mut Contents<'_>,
    runs: &[Range<usize>],
    owners: &dyn Fn(usize) -> (i64, i64),
    tables: &mut Tables,
) -> Result<(), JoinError> {
    let first = tables.rollouts.rollout_row_id.len();
    let ids = |of: &dyn Fn(usize, usize) -> i64| -> Vec<u8> {
        runs.iter().cloned().flatten().enumerate().flat_map(|(place, chain)| of(place, chain).to_le_bytes()).collect()
    };
    let (rollouts, lineage) = (Rollouts::default(), Lineage::default());
    for wanted in [rollouts.columns().collect(), lineage.columns().collect::<Vec<_>>()] {
        for known in Known::all(&contents.reader, wanted).map_err(|what| contents.part.refuse(what))? {
            let bytes = match (known.change, known.name) {
                (Change::Code(dictionary), _) => {
                    let mut bytes = known.read(runs)?;
                    contents.codes.recode(dictionary, &mut bytes, &mut tables.dictionaries);
                    bytes
                }
                (Change::Chains, _) => ids(&|place, _| id(first + place)),
                (_, "source_row_id") => ids(&|_, chain| owners(chain).0),
                (_, "target_row_id") => ids(&|_, chain| owners(chain).1),
                _ => known.read(runs)?,
            };
            match known.group {
                Rollouts::GROUP => tables.rollouts.extend(&[known.column(bytes)]),
                _ => tables.lineage.extend(&[known.column(bytes)]),
            }
        }
    }
    Ok(())
}

/// The rows of a group that the block's states have, piece by piece.
fn ranges(contents: &Contents<'_>, group: &str, block: &[Piece]) -> Vec<Range<usize>> {
    block
        .iter()
        .map(|piece| contents.place(group, piece.states.start)..contents.place(group, piece.states.end))
        .collect()
}

/// Cuts pieces into blocks of about `limit` bytes.
fn blocks(contents: &Contents<'_>, template: &[Known], pieces: Vec<Piece>, limit: usize) -> Vec<Vec<Piece>> {
    let mut groups: Vec<(&str, usize)> = Vec::new();
    for known in template {
        match groups.last_mut() {
            Some((group, bytes)) if *group == known.group => *bytes += known.row(),
            _ => groups.push((known.group, known.row())),
        }
    }
    let bytes = |state: usize| -> usize {
        let rows = |group: &str| contents.place(group, state + 1) - contents.place(group, state);
        groups.iter().map(|(group, bytes)| bytes * rows(group)).sum()
    };
    let (mut blocks, mut block, mut held) = (Vec::new(), Vec::new(), 0);
    for piece in pieces {
        let mut start = piece.states.start;
        for state in piece.states.clone() {
            let more = bytes(state);
            if held > 0 && held + more > limit {
                if start < state {
                    block.push(Piece { states: start..state, ..piece });
                }
                blocks.push(std::mem::take(&mut block));
                (start, held) = (state, 0);
            }
            held += more;
        }
        block.push(Piece { states: start..piece.states.end, ..piece });
    }
    blocks.push(block);
    blocks
}

/// Makes the part's cells those of the new store.
fn change(contents: &mut Contents<'_>, known: &Known, block: &[Piece], bytes: &mut [u8], tables: &mut Tables) {
    match known.change {
        Change::None => {}
        Change::Code(dictionary) => {
            if known.group == StepFacts::GROUP {
                note(contents, known.name, bytes, tables);
            }
            contents.codes.recode(dictionary, bytes, &mut tables.dictionaries);
        }
        Change::Count => {
            for (cell, row) in bytes.as_chunks_mut().0.iter_mut().zip(tables.totals.crops..) {
                *cell = id(row).to_le_bytes();
            }
        }
        Change::Chains | Change::States | Change::Candidates => {
            let mut cells = bytes.as_chunks_mut().0.iter_mut();
            for (piece, rows) in block.iter().zip(ranges(contents, known.group, block)) {
                let by = match known.change {
                    Change::Chains => piece.chains_by,
                    Change::States => piece.states_by,
                    _ => piece.candidates_by,
                };
                for cell in cells.by_ref().take(rows.len()) {
                    let own = i64::from_le_bytes(*cell);
                    *cell = if own < 0 { own } else { own + by }.to_le_bytes();
                }
            }
        }
    }
}

/// Notes the programs, requests and revisions that the candidate codec names, for the sidecar.
fn note(contents: &Contents<'_>, name: &str, bytes: &[u8], tables: &mut Tables) {
    const NAMED: [&str; 3] = ["candidate_program_hash_id", "request_binding_hash_id", "proposal_key_revision_id"];
    let Some(named) = NAMED.iter().position(|named| *named == name) else { return };
    let Some(hashes) = tables.codec_hashes.get_mut(named) else { return };
    let mut ids: Vec<i32> = bytes.as_chunks().0.iter().map(|cell| i32::from_le_bytes(*cell)).collect();
    ids.sort_unstable();
    ids.dedup();
    hashes
        .extend(ids.into_iter().filter_map(|id| contents.codes.text(Dictionary::CandidateFact, id)).map(str::to_owned));
}

/// Counts the block's rows.
fn count(contents: &Contents<'_>, block: &[Piece], tables: &mut Tables) {
    let rows = |group: &str| ranges(contents, group, block).iter().map(ExactSizeIterator::len).sum::<usize>();
    let widest = block
        .iter()
        .flat_map(|piece| piece.states.clone())
        .map(|state| contents.candidates_of(&(state..state + 1)).len());
    let totals = &mut tables.totals;
    totals.max_candidates = totals.max_candidates.max(widest.max().unwrap_or(0));
    totals.steps += rows("steps");
    totals.candidates += rows("candidates");
    totals.depths += rows(Depths::GROUP);
    totals.crops += rows("target_eval_crops");
    if contents.has_codec() {
        for (total, group) in totals.codec.iter_mut().zip(crate::rollouts::schema::CODEC_GROUPS) {
            *total += rows(group);
        }
    }
}

impl super::texts::Codes {
    /// Gives a column's texts the ids of the new store.
    fn recode(&mut self, dictionary: usize, bytes: &mut [u8], to: &mut Dictionaries) {
        for cell in bytes.as_chunks_mut().0 {
            *cell = self.code(dictionary, i32::from_le_bytes(*cell), to).to_le_bytes();
        }
    }
}
