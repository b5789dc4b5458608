//! A step's facts: counts, hashes and revisions, and what chain and sidecar say of them.

use std::collections::BTreeSet;

use super::{Codec, FILLED, HASH};
use crate::rollouts::dictionary::Dictionary;
use crate::rollouts::validate::findings::Findings;
use crate::rollouts::validate::root::Root;
use crate::rollouts::validate::states::States;
use crate::rollouts::validate::tables::Tables;
use crate::value::Value;

/// Columns whose text is the same in every store.
const CONSTANT: [(&str, &str); 4] = [
    ("codec_version_id", super::VERSION),
    ("candidate_substream_revision_id", "shipped_mixture_seed_paths_v1"),
    ("action_order_revision_id", "ordered_hard_valid_v1"),
    ("completion_mode_id", "fixed_attempts"),
];

pub(super) fn check(codec: &Codec, root: &Root, tables: &Tables, states: &States, findings: &mut Findings) {
    let facts = &codec.facts;
    let place = |name: &str| format!("step_candidate_facts/{name}");
    let steps = facts.get::<i64>("step_row_id").iter().zip(tables.steps.get::<i64>("step_row_id"));
    findings.flagged(&place("step_row_id"), steps.map(|(own, id)| own != id), "is not steps/step_row_id, row for row");
    for (name, expected) in CONSTANT {
        let constant = codec.texts.iter().position(|text| text == expected);
        let wrong = facts.get::<i32>(name).iter().map(|id| constant.is_none() || usize::try_from(*id).ok() != constant);
        findings.flagged(&place(name), wrong, &format!("is not `{expected}`"));
    }
    for name in ["candidate_program_hash_id", "request_binding_hash_id"] {
        let wrong = facts.get::<i32>(name).iter().map(|id| !codec.is(*id, HASH));
        findings.flagged(&place(name), wrong, "is not 64 hexadecimal digits");
    }
    for name in ["legacy_candidate_config_hash_id", "proposal_key_revision_id"] {
        let wrong = facts.get::<i32>(name).iter().map(|id| *id != -1 && !codec.is(*id, FILLED));
        findings.flagged(&place(name), wrong, "is neither -1 nor a text of the dictionary");
    }
    let replicas = facts.get::<i64>("proposal_replica").iter().zip(facts.get::<i32>("proposal_key_revision_id"));
    let wrong = replicas.map(|(replica, revision)| *replica < -1 || (*replica < 0) != (*revision < 0));
    findings.flagged(&place("proposal_replica"), wrong, "is not given exactly where proposal_key_revision_id is");

    let widths = states.starts.windows(2).map(|pair| match pair {
        [start, end] => end - start,
        _ => 0,
    });
    let wrong = facts.get::<i32>("attempted_count").iter().zip(widths);
    let wrong = wrong.map(|(said, width)| usize::try_from(*said) != Ok(width));
    findings.flagged(&place("attempted_count"), wrong, "is not the shell's width");
    legacy(codec, tables, states, findings);
    hashes(codec, root, findings);
}

/// Every step was proposed under its chain's candidate configuration.
fn legacy(codec: &Codec, tables: &Tables, states: &States, findings: &mut Findings) {
    let configs = tables.lineage.get::<i32>("candidate_config_id");
    let ids = codec.facts.get::<i32>("legacy_candidate_config_hash_id").iter().zip(&states.chain);
    let wrong = ids.map(|(id, chain)| {
        let owning = chain.and_then(|row| configs.get(row)).and_then(|id| tables.text(Dictionary::Config, *id));
        codec.text(*id) != owning
    });
    let what = "is not the candidate_config of the owning rollout's lineage";
    findings.flagged("step_candidate_facts/legacy_candidate_config_hash_id", wrong, what);
}

/// The sidecar lists exactly the hashes that steps have.
fn hashes(codec: &Codec, root: &Root, findings: &mut Findings) {
    let Some(listed) = root.manifest.get("config_hashes").and_then(Value::as_map) else {
        return findings.add("manifest.json config_hashes: is not a map");
    };
    for (key, column) in [
        ("candidate_program", "candidate_program_hash_id"),
        ("candidate_request", "request_binding_hash_id"),
        ("candidate_proposal_revision", "proposal_key_revision_id"),
        ("candidate", "legacy_candidate_config_hash_id"),
    ] {
        let said: Option<BTreeSet<&str>> =
            listed.get(key).and_then(Value::as_list).and_then(|list| list.iter().map(Value::as_text).collect());
        let of = codec.facts.get::<i32>(column).iter().filter_map(|id| codec.text(*id)).collect();
        if said != Some(of) {
            findings.add(format!("manifest.json config_hashes.{key}: is not what step_candidate_facts/{column} has"));
        }
    }
}
