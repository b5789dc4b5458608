//! Criteria: for every candidate of a shell the same ones in the same order, each with what it
//! says by itself and what all so far say together.

use std::collections::HashSet;
use std::ops::Range;

use super::{Codec, FILLED, REVISION, rows};
use crate::rollouts::validate::block::Block;
use crate::rollouts::validate::findings::Findings;
use crate::rollouts::validate::states::States;
use crate::rollouts::validate::tables::Columns;

/// How many rows' candidates are read at once.
const ROWS: usize = 1 << 20;

/// Where each state's criteria begin, if they stand in the candidates' order.
pub(super) fn starts(codec: &Codec, states: &States, findings: &mut Findings) -> Vec<usize> {
    let total = codec.criteria.rows;
    let path = "candidate_criteria/candidate_row_id";
    let mut starts = vec![0];
    let mut before = 0;
    for start in (0..total).step_by(ROWS) {
        let Some(column) = codec.criteria.column("candidate_row_id") else { return Vec::new() };
        let part = match column.rows(start..total.min(start + ROWS)) {
            Ok(part) => part,
            Err(error) => {
                findings.add(error.to_string());
                return Vec::new();
            }
        };
        for (row, id) in part.as_slice::<i64>().unwrap_or_default().iter().enumerate() {
            let Ok(candidate) = usize::try_from(*id) else {
                findings.rows(path, [start + row], "there is no such candidate");
                return Vec::new();
            };
            if candidate < before {
                findings.rows(path, [start + row], "belongs to an earlier candidate than the row before");
                return Vec::new();
            }
            before = candidate;
            // The end of every state that is passed.
            while states.starts.get(starts.len()).is_some_and(|end| candidate >= *end) {
                starts.push(start + row);
            }
            if starts.len() >= states.starts.len() {
                findings.rows(path, [start + row], "there is no such candidate");
                return Vec::new();
            }
        }
    }
    starts.resize(states.starts.len(), total);
    starts
}

/// Checks the criteria of a block's states, which are `parts` of `rows`.
pub(super) fn check(
    codec: &Codec,
    block: &Block,
    rows: Range<usize>,
    parts: &[Range<usize>],
    damage: &mut Findings,
) -> Findings {
    let mut findings = Findings::from(rows.start);
    if rows.is_empty() {
        return findings;
    }
    let Some(columns) = rows::read(&codec.criteria, rows, damage) else { return findings };
    evidence(codec, &columns, &mut findings);
    let mut wrong = Wrong::default();
    let ids = columns.get::<i64>("candidate_row_id");
    for (part, shell) in parts.iter().zip(&block.shells) {
        if part.is_empty() {
            continue;
        }
        let count = part.len() / shell.len().max(1);
        let candidates = (shell.start + block.rows.start..).take(shell.len());
        let expected = candidates.flat_map(|candidate| std::iter::repeat_n(candidate, count));
        let own = ids.get(part.clone()).unwrap_or_default();
        if part.len() != count * shell.len() || !own.iter().map(|id| usize::try_from(*id).ok()).eq(expected.map(Some)) {
            wrong.shape.push(part.start);
            continue;
        }
        wrong.shell(&columns, block, part, shell, count);
    }
    wrong.tell(&mut findings);
    findings
}

/// What each row says by itself.
fn evidence(codec: &Codec, columns: &Columns, findings: &mut Findings) {
    let place = |name: &str| format!("candidate_criteria/{name}");
    let flags = |name: &str| columns.get::<bool>(name).iter().copied();
    let wrong = flags("evaluated").zip(flags("applicable")).map(|(evaluated, applicable)| evaluated && !applicable);
    findings.flagged(&place("evaluated"), wrong, "is set where the criterion is not applicable");
    let wrong = flags("passed").zip(flags("evaluated")).map(|(passed, evaluated)| passed && !evaluated);
    findings.flagged(&place("passed"), wrong, "is set where the criterion was not evaluated");
    for name in ["applicable", "evaluated", "passed"] {
        let wrong = flags(name).zip(flags("local_available")).map(|(flag, available)| flag && !available);
        findings.flagged(&place(name), wrong, "is set where nothing is available");
    }
    let reasons = || columns.get::<i64>("reason_code").iter().zip(flags("local_available"));
    let wrong = reasons().map(|(reason, available)| if available { !(-1..=7).contains(reason) } else { *reason != -1 });
    findings.flagged(&place("reason_code"), wrong, "is no reason, or is given where nothing is available");
    let wrong =
        reasons().zip(flags("passed")).map(|((reason, available), passed)| available && passed != (*reason == 0));
    findings.flagged(&place("reason_code"), wrong, "is not 0 exactly where the criterion passed");
    let wrong = reasons().zip(flags("evaluated"));
    let wrong = wrong.map(|((reason, available), evaluated)| available && evaluated == (*reason == -1));
    findings.flagged(&place("reason_code"), wrong, "is not -1 exactly where the criterion was not evaluated");
    let roles = columns.get::<i64>("source_role").iter().zip(flags("local_available"));
    let wrong = roles.map(|(role, available)| if available { ![1, 2].contains(role) } else { *role != -1 });
    findings.flagged(&place("source_role"), wrong, "is no role, or is given where nothing is available");
    let margins = columns.get::<f32>("margin").iter().zip(flags("local_available"));
    let wrong = margins.map(|(margin, available)| margin.is_finite() != available);
    findings.flagged(&place("margin"), wrong, "is not finite exactly where something is available");
    let wrong = columns.get::<i32>("criterion_id").iter().map(|id| !codec.is(*id, FILLED));
    findings.flagged(&place("criterion_id"), wrong, "names no text of the dictionary");
    for name in ["reason_revision_id", "source_role_revision_id"] {
        let wrong = columns.get::<i32>(name).iter().map(|id| !codec.is(*id, REVISION));
        findings.flagged(&place(name), wrong, "is no known revision");
    }
}

/// Rows that are wrong as part of their shell.
#[derive(Default)]
struct Wrong {
    shape: Vec<usize>,
    index: Vec<usize>,
    identity: Vec<usize>,
    repeated: Vec<usize>,
    cumulative: Vec<usize>,
    last: Vec<usize>,
}

impl Wrong {
    /// One shell of `count` criteria a candidate.
    fn shell(&mut self, columns: &Columns, block: &Block, part: &Range<usize>, shell: &Range<usize>, count: usize) {
        fn of<'a, T: crate::array::Item>(columns: &'a Columns, name: &str, part: &Range<usize>) -> &'a [T] {
            columns.get(name).get(part.clone()).unwrap_or_default()
        }
        let index = of::<i16>(columns, "criterion_index", part);
        let identities = ["criterion_id", "reason_revision_id", "source_role_revision_id"]
            .map(|name| of::<i32>(columns, name, part));
        let flags = |name: &str| of::<bool>(columns, name, part);
        let (together, available) = (flags("legacy_cumulative_valid"), flags("local_available"));
        let (evaluated, passed) = (flags("evaluated"), flags("passed"));
        let ranks = block.candidates.get::<i32>("compact_valid_index");
        let first = identities.map(|ids| ids.get(..count).unwrap_or_default());
        let mut seen = HashSet::new();
        for (place, id) in first.first().copied().unwrap_or_default().iter().enumerate() {
            if !seen.insert(*id) {
                self.repeated.push(part.start + place);
            }
        }
        let flag = |flags: &[bool], row: usize| flags.get(row).copied().unwrap_or(false);
        for slot in 0..shell.len() {
            let mut before = true;
            for place in 0..count {
                let row = slot * count + place;
                if index.get(row).is_none_or(|index| usize::try_from(*index) != Ok(place)) {
                    self.index.push(part.start + row);
                }
                if identities.iter().zip(&first).any(|(ids, first)| ids.get(row) != first.get(place)) {
                    self.identity.push(part.start + row);
                }
                let now = flag(together, row);
                let local = !flag(evaluated, row) || flag(passed, row);
                if now && !before || flag(available, row) && now != (before && local) {
                    self.cumulative.push(part.start + row);
                }
                before = now;
            }
            if ranks.get(shell.start + slot).is_none_or(|rank| (*rank >= 0) != before) {
                self.last.push(part.start + slot * count + count.saturating_sub(1));
            }
        }
    }

    fn tell(self, findings: &mut Findings) {
        for (name, rows, what) in [
            ("candidate_row_id", self.shape, "the step's rows are not every candidate of the shell by every criterion"),
            ("criterion_index", self.index, "does not count up from 0"),
            ("criterion_id", self.identity, "criterion or revisions change within the shell"),
            ("criterion_id", self.repeated, "the criterion stands twice"),
            ("legacy_cumulative_valid", self.cumulative, "is not what was left before and what the criterion says"),
            ("legacy_cumulative_valid", self.last, "the last one disagrees with compact_valid_index"),
        ] {
            findings.rows(&format!("candidate_criteria/{name}"), rows, what);
        }
    }
}
