//! Whether a store's chains can be learnt from, and where they are in it.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use super::{ChainError, ChainOptions, Part, Place, Small, ids, refused};
use crate::array::Array;
use crate::rollouts::schema::RETURN_SEMANTICS;
use crate::rollouts::target::{ORACLE_SOURCE, TargetInputProtocol};
use crate::rollouts::{Columns, Store, validate};
use crate::value::{Map, Value};

/// Violations that a refusal shows.
const SHOWN: usize = 5;

/// The splits that there are; `validation` is another name of `val`.
const STAGES: [&str; 3] = ["train", "val", "test"];

/// Opens, validates and admits one store.
pub(super) fn admit(path: &Path, options: &ChainOptions) -> Result<Part, ChainError> {
    let validation = validate(path)?;
    if !validation.ok() {
        let first: Vec<&str> = validation.errors.iter().take(SHOWN).map(String::as_str).collect();
        let (count, first) = (validation.errors.len(), first.join("; "));
        return Err(ChainError::Invalid { path: path.to_owned(), count, first });
    }
    let store = Store::open(path)?;
    protocol(&store)?;
    let all = 0..usize::MAX;
    let small = Small {
        rollouts: store.table(
            "rollouts",
            &["rollout_row_id", "source_row_id", "target_row_id", "horizon", "root_pose_world"],
            all.clone(),
        )?,
        targets: store.table(
            "targets",
            &[
                "target_row_id",
                "target_extents",
                "target_pose_world_object",
                "descriptor_source_id",
                "descriptor_provenance_id",
                "descriptor_hash_id",
                "explicit_target_hash_id",
            ],
            all.clone(),
        )?,
        sources: sources(&store)?,
        view: store.table("q_h", &["selected_candidate_index", "td_discount", "td_terminal_mask"], all.clone())?,
    };
    let steps = store.table("steps", &["rollout_row_id", "num_candidates"], all)?;
    geometry(&store, &small.targets)?;
    let mut starts = vec![0];
    for width in steps.get("num_candidates").and_then(Array::as_i32).unwrap_or_default() {
        starts.push(starts.last().copied().unwrap_or(0) + usize::try_from(*width).unwrap_or(0));
    }
    let chains = places(&store, &small, ids(&steps, "rollout_row_id"), options)?;
    let width = store.shape("q_h/valid_action_mask")?.1.get(1).copied().unwrap_or(0);
    let mut states = 0;
    let ends = chains.iter().map(|place| {
        states += place.states.len();
        states
    });
    let ends = ends.collect();
    Ok(Part { store, chains, ends, width, starts, small, kept: Default::default() })
}

/// The protocol is spelled as it is meant, and targets are of one source that it allows.
fn protocol(store: &Store) -> Result<(), ChainError> {
    let name = store.attribute("target_protocol_version").and_then(Value::as_text).unwrap_or_default();
    let Some(protocol) = TargetInputProtocol::from_name(name) else {
        return refused(store.directory(), format!("its target protocol `{name}` is not spelled canonically"));
    };
    let sources = store.dictionary("target_source")?;
    let allowed = match (protocol, sources.as_slice()) {
        (TargetInputProtocol::V0GtInput, [source]) => source == ORACLE_SOURCE,
        (TargetInputProtocol::V1Observed, [source]) => source != ORACLE_SOURCE,
        _ => false,
    };
    if !allowed {
        return refused(store.directory(), format!("{name} does not go with targets of {}", sources.join(", ")));
    }
    let returns = store.attribute("return_semantics").and_then(Value::as_text).unwrap_or_default();
    if returns != RETURN_SEMANTICS {
        return refused(store.directory(), format!("its return_semantics is `{returns}`, not `{RETURN_SEMANTICS}`"));
    }
    Ok(())
}

/// Every target has a place and a size, and says where its description comes from.
fn geometry(store: &Store, targets: &Columns) -> Result<(), ChainError> {
    for name in ["target_extents", "target_pose_world_object"] {
        let numbers = targets.get(name).and_then(Array::as_f32).unwrap_or_default();
        if !numbers.iter().all(|number| number.is_finite()) {
            return refused(store.directory(), format!("targets/{name} is not finite"));
        }
    }
    for name in ["descriptor_source", "descriptor_provenance", "descriptor_hash", "explicit_target_hash"] {
        let texts = store.dictionary(name)?.len();
        let ids = targets.get(&format!("{name}_id")).and_then(Array::as_i32).unwrap_or_default();
        if !ids.iter().all(|id| usize::try_from(*id).is_ok_and(|id| id < texts)) {
            return refused(store.directory(), format!("targets/{name}_id names no text of its dictionary"));
        }
    }
    Ok(())
}

/// Where each source's sample comes from.
fn sources(store: &Store) -> Result<Vec<Map>, ChainError> {
    const TEXTS: [(&str, &str, &str); 6] = [
        ("sample_key", "sample_key_id", "source_key"),
        ("scene_id", "scene_id", "scene"),
        ("snippet_id", "snippet_id", "snippet"),
        ("split", "split_id", "split"),
        ("campaign_split", "campaign_split_id", "split"),
        ("source_shard_id", "source_shard_id", "source_shard"),
    ];
    let table = store.table("sources", &[], 0..usize::MAX)?;
    let mut sources: Vec<Map> = Vec::new();
    for row in 0..ids(&table, "source_row_id").len() {
        let int = |name: &str| Value::Int(ids(&table, name).get(row).copied().unwrap_or_default());
        sources.push(
            ["source_row_id", "sample_index", "source_shard_row"].map(|name| (name.to_owned(), int(name))).into(),
        );
    }
    for (key, column, dictionary) in TEXTS {
        let texts = store.dictionary(dictionary)?;
        let ids = table.get(column).and_then(Array::as_i32).unwrap_or_default();
        for (source, id) in sources.iter_mut().zip(ids) {
            let text = usize::try_from(*id).ok().and_then(|id| texts.get(id)).map_or("", String::as_str);
            source.insert(key.to_owned(), text.into());
        }
    }
    Ok(sources)
}

/// The stage of a split's name.
fn stage(split: &str) -> &str {
    if split == "validation" { "val" } else { split }
}

/// The chains of the wanted split: each owns the run of states that has its id.
fn places(store: &Store, small: &Small, owners: &[i64], options: &ChainOptions) -> Result<Vec<Place>, ChainError> {
    let wanted = options.campaign_split.as_deref().map(stage).filter(|split| *split != "all");
    let index = |ids: &[i64]| -> HashMap<i64, usize> { ids.iter().enumerate().map(|(row, id)| (*id, row)).collect() };
    let targets = index(ids(&small.targets, "target_row_id"));
    let own = small.sources.iter().map(|source| source.get("source_row_id").and_then(Value::as_int).unwrap_or(-1));
    let sources = index(&own.collect::<Vec<_>>());
    let of_rollout = |name: &str, row: usize| ids(&small.rollouts, name).get(row).copied().unwrap_or(-1);
    let mut unknown = BTreeSet::new();
    let mut places = Vec::new();
    let mut at = 0;
    for (rollout, id) in ids(&small.rollouts, "rollout_row_id").iter().enumerate() {
        let count = owners.get(at..).unwrap_or_default().iter().take_while(|owner| *owner == id).count();
        let states = at..at + count;
        at += count;
        let (target, source) = (of_rollout("target_row_id", rollout), of_rollout("source_row_id", rollout));
        let (Some(target), Some(source)) = (targets.get(&target).copied(), sources.get(&source).copied()) else {
            return refused(store.directory(), format!("rollout {id} has no target or source"));
        };
        let text = |key: &str| {
            small.sources.get(source).and_then(|map| map.get(key)).and_then(Value::as_text).unwrap_or_default()
        };
        let split = match text("campaign_split") {
            "unknown" => stage(text("split")),
            campaign => stage(campaign),
        };
        if !STAGES.contains(&split) {
            unknown.insert(split.to_owned());
        }
        if wanted.is_none_or(|wanted| wanted == split) {
            places.push(Place { rollout, target, source, states });
        }
    }
    if at != owners.len() {
        return refused(store.directory(), "its steps do not stand by rollout");
    }
    match unknown.first() {
        Some(split) => {
            refused(store.directory(), format!("`{split}` is no split to learn from: {}", STAGES.join(", ")))
        }
        None => Ok(places),
    }
}
