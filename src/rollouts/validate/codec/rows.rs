//! What the codec says of a block's candidates: their meaning, and the ordered lists of valid
//! ones and of actions.

use std::ops::Range;

use super::{AVAILABLE, Codec, EMPTY, FILLED, UNAVAILABLE, criteria};
use crate::rollouts::validate::block::Block;
use crate::rollouts::validate::findings::Findings;
use crate::rollouts::validate::tables::{Columns, Table, Tables};

/// Where each state's rows of an ordered list begin, by the counts that facts give; nothing where
/// the counts do not make the table.
pub(super) fn starts(codec: &Codec, count: &str, rows: usize, group: &str, findings: &mut Findings) -> Vec<usize> {
    let mut starts = vec![0];
    let mut total = 0_usize;
    for count in codec.facts.get::<i32>(count) {
        total = total.saturating_add(usize::try_from(*count).unwrap_or(usize::MAX));
        starts.push(total);
    }
    if total == rows {
        return starts;
    }
    findings.add(format!("{group}: has {rows} rows, but step_candidate_facts/{count} makes {total}"));
    Vec::new()
}

/// The rows of some states, by where each state's begin; and by state within them.
pub(super) fn part(starts: &[usize], states: &Range<usize>) -> Option<(Range<usize>, Vec<Range<usize>>)> {
    let own = starts.get(states.start..=states.end)?;
    let first = *own.first()?;
    let parts = own.windows(2).map(|pair| match pair {
        [start, end] => start - first..end - first,
        _ => 0..0,
    });
    Some((first..*own.last()?, parts.collect()))
}

/// Checks a block.
pub(in crate::rollouts::validate) fn check(codec: &Codec, tables: &Tables, block: &Block) -> Findings {
    let mut damage = Findings::default();
    let semantics = codec.semantics.read(block.rows.clone(), &mut damage);
    let mut found = if damage.is_empty() { meaning(codec, block, &semantics) } else { Findings::default() };
    let [criteria_starts, actions, valids] = &codec.starts;
    for (starts, table, group, position, mask) in [
        (actions, &codec.actions, "candidate_actions", "action_position", true),
        (valids, &codec.valids, "candidate_valids", "valid_position", false),
    ] {
        let Some((rows, parts)) = part(starts, &block.states) else { continue };
        let columns = table.read(rows.clone(), &mut damage);
        if damage.is_empty() {
            let list = List { group, position, actions: mask, rows, parts };
            found.merge(list.check(tables, block, &columns));
        }
    }
    if let Some((rows, parts)) = part(criteria_starts, &block.states) {
        found.merge(criteria::check(codec, block, rows, &parts, &mut damage));
    }
    found.with(damage)
}

/// What each candidate means.
fn meaning(codec: &Codec, block: &Block, semantics: &Columns) -> Findings {
    let mut findings = Findings::from(block.rows.start);
    let place = |name: &str| format!("candidate_semantics/{name}");
    let ids = semantics.get::<i64>("candidate_row_id").iter().zip(block.candidates.get::<i64>("candidate_row_id"));
    let wrong = ids.map(|(own, id)| own != id);
    findings.flagged(&place("candidate_row_id"), wrong, "is not candidates/candidate_row_id, row for row");
    for name in ["semantic_group_id", "center_family_id", "gaze_family_id", "candidate_family_id", "proposal_key_id"] {
        let wrong = semantics.get::<i32>(name).iter().map(|id| !codec.is(*id, FILLED));
        findings.flagged(&place(name), wrong, "names no text of the dictionary");
    }
    for name in ["center_id", "attempt_round_id", "draw_id"] {
        let wrong = semantics.get::<i64>(name).iter().map(|id| *id < 0);
        findings.flagged(&place(name), wrong, "is negative");
    }
    let pairs = semantics.get::<i64>("position_pair_id").iter().zip(semantics.get::<i64>("gaze_variant_id"));
    let wrong = pairs.map(|(pair, gaze)| !(*pair >= 0 && *gaze >= 0 || *pair == -1 && *gaze == -1));
    findings.flagged(&place("gaze_variant_id"), wrong, "is not given exactly where position_pair_id is");
    let frames = semantics.get::<i32>("target_frame_availability_id").iter();
    let wrong = frames.zip(semantics.get::<i32>("target_frame_identity_id")).map(|(availability, identity)| {
        let here = codec.is(*availability, AVAILABLE) && codec.is(*identity, FILLED);
        !(here || codec.is(*availability, UNAVAILABLE) && codec.is(*identity, EMPTY))
    });
    let what = "is neither `available` with an identity nor `unavailable` without one";
    findings.flagged(&place("target_frame_availability_id"), wrong, what);
    findings
}

/// An ordered list of shell indices.
struct List<'a> {
    group: &'a str,
    position: &'a str,
    /// Whether it lists actions, and not valid candidates.
    actions: bool,
    rows: Range<usize>,
    parts: Vec<Range<usize>>,
}

impl List<'_> {
    fn check(&self, tables: &Tables, block: &Block, columns: &Columns) -> Findings {
        let mut findings = Findings::from(self.rows.start);
        let steps = columns.get::<i64>("step_row_id");
        let positions = columns.get::<i32>(self.position);
        let indices = columns.get::<i32>("shell_index");
        let (shell_index, actor) =
            (block.candidates.get::<i32>("shell_index"), block.candidates.get::<bool>("actor_action_mask"));
        let ranks = block.candidates.get::<i32>("compact_valid_index");
        let (mut foreign, mut sparse, mut other) = (Vec::new(), Vec::new(), Vec::new());
        let own = block.steps::<i64>(tables, "step_row_id");
        for ((part, shell), step) in self.parts.iter().zip(&block.shells).zip(own) {
            let listed =
                steps.get(part.clone()).unwrap_or_default().iter().zip(positions.get(part.clone()).unwrap_or_default());
            for (place, (id, position)) in listed.enumerate() {
                if id != step {
                    foreign.push(part.start + place);
                }
                if usize::try_from(*position) != Ok(place) {
                    sparse.push(part.start + place);
                }
            }
            let mut expected: Vec<(i32, i32)> = shell
                .clone()
                .filter_map(|row| {
                    let rank = *ranks.get(row)?;
                    let listed = if self.actions { *actor.get(row)? } else { rank >= 0 };
                    listed.then_some((if self.actions { 0 } else { rank }, *shell_index.get(row)?))
                })
                .collect();
            expected.sort_by_key(|(rank, _)| *rank);
            if !expected.iter().map(|(_, index)| index).eq(indices.get(part.clone()).unwrap_or_default()) {
                other.push(part.start);
            }
        }
        findings.rows(&format!("{}/step_row_id", self.group), foreign, "is not the step that the counts give");
        findings.rows(&format!("{}/{}", self.group, self.position), sparse, "positions do not count up from 0");
        let what =
            if self.actions { "are not the shell's valid actions" } else { "are not the shell's valid candidates" };
        findings.rows(&format!("{}/shell_index", self.group), other, what);
        findings
    }
}

/// A table's rows, with what could not be read.
pub(super) fn read(table: &Table, rows: Range<usize>, damage: &mut Findings) -> Option<Columns> {
    let before = damage.is_empty();
    let columns = table.read(rows, damage);
    (before && damage.is_empty()).then_some(columns)
}
