//! The candidate codec: seven parts that are all there, or none. What each step's proposal was
//! asked for, what each candidate means, and which criteria it met.
//!
//! Facts are read whole, one row a step; the other tables stand in the candidates' order and are
//! checked block by block.

mod criteria;
mod facts;
mod rows;

use std::collections::HashSet;

use super::findings::Findings;
use super::root::Root;
use super::states::States;
use super::tables::{Columns, Expected, Table, Tables, texts};
use crate::array::DType::{Bool, F32, I16, I32, I64};
use crate::rollouts::zarr::StoreReader;
use crate::text::json;
use crate::value::{Map, Value};

pub(super) use rows::check;

const VERSION: &str = "candidate-trace-v1";
const ROLE: &str = "audit_mixed_source_role_not_training_input";
const DICTIONARY: &str = "dictionaries/candidate_fact";

const FACTS: [Expected; 13] = [
    ("step_row_id", I64, 0),
    ("codec_version_id", I32, 0),
    ("candidate_program_hash_id", I32, 0),
    ("request_binding_hash_id", I32, 0),
    ("legacy_candidate_config_hash_id", I32, 0),
    ("candidate_substream_revision_id", I32, 0),
    ("action_order_revision_id", I32, 0),
    ("completion_mode_id", I32, 0),
    ("attempted_count", I32, 0),
    ("valid_count", I32, 0),
    ("action_count", I32, 0),
    ("proposal_key_revision_id", I32, 0),
    ("proposal_replica", I64, 0),
];

const SEMANTICS: [Expected; 13] = [
    ("candidate_row_id", I64, 0),
    ("semantic_group_id", I32, 0),
    ("center_family_id", I32, 0),
    ("gaze_family_id", I32, 0),
    ("candidate_family_id", I32, 0),
    ("center_id", I64, 0),
    ("attempt_round_id", I64, 0),
    ("draw_id", I64, 0),
    ("position_pair_id", I64, 0),
    ("gaze_variant_id", I64, 0),
    ("proposal_key_id", I32, 0),
    ("target_frame_identity_id", I32, 0),
    ("target_frame_availability_id", I32, 0),
];

const CRITERIA: [Expected; 13] = [
    ("candidate_row_id", I64, 0),
    ("criterion_index", I16, 0),
    ("criterion_id", I32, 0),
    ("legacy_cumulative_valid", Bool, 0),
    ("local_available", Bool, 0),
    ("applicable", Bool, 0),
    ("evaluated", Bool, 0),
    ("passed", Bool, 0),
    ("reason_code", I64, 0),
    ("margin", F32, 0),
    ("source_role", I64, 0),
    ("reason_revision_id", I32, 0),
    ("source_role_revision_id", I32, 0),
];

const ACTIONS: [Expected; 3] = [("step_row_id", I64, 0), ("action_position", I32, 0), ("shell_index", I32, 0)];
const VALIDS: [Expected; 3] = [("step_row_id", I64, 0), ("valid_position", I32, 0), ("shell_index", I32, 0)];

/// The tables, and the root attribute that counts their rows.
const TABLES: [(&str, &[Expected], &str); 5] = [
    ("step_candidate_facts", &FACTS, "candidate_trace_step_rows"),
    ("candidate_semantics", &SEMANTICS, "candidate_trace_semantic_rows"),
    ("candidate_criteria", &CRITERIA, "candidate_trace_criterion_rows"),
    ("candidate_actions", &ACTIONS, "candidate_trace_action_rows"),
    ("candidate_valids", &VALIDS, "candidate_trace_valid_rows"),
];

/// Whether the codec is there; parts of it, or one of another version, are told.
pub(super) fn presence(reader: &StoreReader, attributes: &Map, findings: &mut Findings) -> bool {
    let parts = || TABLES.iter().map(|(group, ..)| *group).chain([DICTIONARY]);
    let present = |path: &str| reader.is_there(path);
    let version = attributes.get("candidate_trace_codec_version");
    match version {
        None if !parts().any(present) => false,
        Some(version) if version.as_text() != Some(VERSION) => {
            let version = json::to_string(version);
            findings.add(format!("root attribute candidate_trace_codec_version: {version} is not known"));
            false
        }
        Some(_) if parts().all(present) => true,
        _ => {
            let missing: Vec<&str> = parts().filter(|path| !present(path)).collect();
            let version = if version.is_none() { " candidate_trace_codec_version" } else { "" };
            findings.add(format!("candidate codec: incomplete, there is no {}{version}", missing.join(", ")));
            false
        }
    }
}

/// The codec of a store.
pub(super) struct Codec {
    facts: Columns,
    semantics: Table,
    criteria: Table,
    actions: Table,
    valids: Table,
    texts: Vec<String>,
    /// What each text is.
    kinds: Vec<u8>,
    /// Where each state's criteria, actions and valid candidates begin; the last one is the end.
    starts: [Vec<usize>; 3],
}

impl Codec {
    /// The codec, if its structure holds; checks the facts.
    pub(super) fn load(
        reader: &StoreReader,
        root: &Root,
        tables: &Tables,
        states: &States,
        findings: &mut Findings,
    ) -> Option<Self> {
        if !root.has_codec {
            return None;
        }
        let mut structure = Findings::default();
        let list = match texts(reader, DICTIONARY) {
            Ok(list) => list,
            Err(what) => {
                structure.add(what);
                Vec::new()
            }
        };
        if list.iter().collect::<HashSet<_>>().len() != list.len() {
            structure.add(format!("{DICTIONARY}: holds a text twice"));
        }
        let described = TABLES.map(|(group, schema, attribute)| {
            let table = Table::describe(reader, group, schema, &mut structure);
            for name in reader.arrays(group).iter().filter(|name| !schema.iter().any(|(own, ..)| own == name)) {
                structure.add(format!("{group}/{name}: is no column of the codec"));
            }
            let said = root.attributes.get(attribute);
            if said.and_then(Value::as_int).and_then(|said| usize::try_from(said).ok()) != Some(table.rows) {
                structure.add(format!("root attribute {attribute}: is not the {} rows of {group}", table.rows));
            }
            table
        });
        if root.text("candidate_trace_codec_role") != ROLE {
            structure.add(format!("root attribute candidate_trace_codec_role: is not `{ROLE}`"));
        }
        let [facts, semantics, criteria, actions, valids] = described;
        for (table, group, expected) in [
            (&facts, "step_candidate_facts", tables.steps.rows),
            (&semantics, "candidate_semantics", tables.candidates.rows),
        ] {
            if table.rows != expected {
                structure.add(format!("{group}: has {} rows, but there must be {expected}", table.rows));
            }
        }
        let sound = structure.is_empty();
        findings.merge(structure);
        if !sound || !states.ordered {
            return None;
        }
        let facts = facts.read(0..facts.rows, findings);
        let mut codec = Self {
            kinds: list.iter().map(|text| kind(text)).collect(),
            facts,
            semantics,
            criteria,
            actions,
            valids,
            texts: list,
            starts: Default::default(),
        };
        facts::check(&codec, root, tables, states, findings);
        let starts = [
            criteria::starts(&codec, states, findings),
            rows::starts(&codec, "action_count", codec.actions.rows, "candidate_actions", findings),
            rows::starts(&codec, "valid_count", codec.valids.rows, "candidate_valids", findings),
        ];
        codec.starts = starts;
        Some(codec)
    }

    /// The text of an id, or `None` out of range.
    fn text(&self, id: i32) -> Option<&str> {
        self.texts.get(usize::try_from(id).ok()?).map(String::as_str)
    }

    /// Whether an id's text is all of `kind`.
    fn is(&self, id: i32, kind: u8) -> bool {
        usize::try_from(id).ok().and_then(|id| self.kinds.get(id)).is_some_and(|own| own & kind == kind)
    }
}

/// A text that is not empty.
const FILLED: u8 = 1;
/// 64 lower-case hexadecimal digits.
const HASH: u8 = 2;
const AVAILABLE: u8 = 4;
const UNAVAILABLE: u8 = 8;
/// The revision of a criterion's reason or source role.
const REVISION: u8 = 16;
const EMPTY: u8 = 32;

/// What a text is, so that rows need not look at it again.
fn kind(text: &str) -> u8 {
    let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let hash = if text.len() == 64 && text.bytes().all(digit) { HASH } else { 0 };
    hash | match text {
        "" => EMPTY,
        "available" => FILLED | AVAILABLE,
        "unavailable" => FILLED | UNAVAILABLE,
        "unavailable_v1" | "candidate_admission_v1" => FILLED | REVISION,
        _ => FILLED,
    }
}
