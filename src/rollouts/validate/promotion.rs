//! Promoted shards: the markers that a promotion leaves in a store agree with each other, with the
//! sidecar, with the tables, and with the digest of everything the store holds.

use std::path::Path;

use super::findings::Findings;
use super::root::Root;
use super::tables::Tables;
use crate::digest::sha256_hex;
use crate::rollouts::content;
use crate::rollouts::schema::MANIFEST_FILE;
use crate::rollouts::shard::ShardEntry;
use crate::rollouts::zarr::StoreReader;
use crate::text::json;
use crate::unit::MARKER as SUCCESS;
use crate::value::{Map, Value};

/// The marker of a promoted store's owner.
pub(crate) const OWNER: &str = "_owner.json";

/// A marker is at most this long.
const LONGEST: u64 = 1 << 20;

/// What both markers say of the shard. They agree on the digests of what was written, too.
pub(crate) const OWNERSHIP: [&str; 9] = [
    "shard_id",
    "writer_config_hash",
    "source_manifest_hash",
    "split_manifest_hash",
    "generation_revision_hash",
    "source_cache_version",
    "split",
    "num_source_rows",
    "campaign_binding",
];

/// Checks the markers; where there is no success marker, `success` stands for it.
pub(super) fn check(reader: &StoreReader, root: &Root, tables: &Tables, success: Option<Map>, findings: &mut Findings) {
    match (reader.has_file(OWNER), reader.has_file(SUCCESS) || success.is_some()) {
        (false, false) => return,
        (true, true) => {}
        (true, false) => return findings.add(format!("{SUCCESS}: is missing beside {OWNER}")),
        (false, true) => return findings.add(format!("{OWNER}: is missing beside {SUCCESS}")),
    }
    let mut found = |name| match read(reader, name) {
        Ok(map) => Some(map),
        Err(what) => {
            findings.add(format!("{name}: {what}"));
            None
        }
    };
    let owner = found(OWNER);
    let (Some(owner), Some(success)) = (owner, success.or_else(|| found(SUCCESS))) else { return };
    let mut own = Findings::default();
    markers(&owner, &success, root, tables, &mut own);
    entry(&owner, root, &mut own);
    // What does not fit by its own words need not be read once more.
    if own.is_empty() {
        let said = text(&owner, "rollout_store_content_sha256");
        let bytes = reader.file(MANIFEST_FILE).ok().flatten().unwrap_or_default();
        match content::digest(reader, &bytes) {
            Ok(digest) if digest == said => {}
            Ok(digest) => {
                own.add(format!(
                    "{OWNER} rollout_store_content_sha256: is {said}, but the store's content gives {digest}"
                ));
            }
            Err(error) => own.add(error.to_string()),
        }
        strangers(reader, &mut own);
    }
    findings.merge(own);
}

/// The map of a marker beside the nodes.
pub(in crate::rollouts) fn read(reader: &StoreReader, name: &str) -> Result<Map, String> {
    match reader.local(name) {
        Some(path) => marker(&path),
        None => match reader.file(name) {
            Ok(bytes) => parse_marker(&bytes.unwrap_or_default()),
            Err(error) => Err(format!("cannot be read: {error}")),
        },
    }
}

/// What the digest does not see must not be there.
fn strangers(reader: &StoreReader, findings: &mut Findings) {
    match reader.strangers(&[MANIFEST_FILE, OWNER, SUCCESS]) {
        Ok(keys) => {
            let more = keys.len().saturating_sub(1);
            let more = if more == 0 { String::new() } else { format!(" (and {more} more)") };
            findings.extend(keys.first().map(|key| format!("{key}{more}: is no part of a store")));
        }
        Err(error) => findings.add(error.to_string()),
    }
}

/// A marker's map: of a regular file that is not too long.
///
/// # Errors
/// What is wrong with the file, without its name.
pub(crate) fn marker(path: &Path) -> Result<Map, String> {
    let metadata = path.symlink_metadata().map_err(|error| format!("cannot be read: {error}"))?;
    if !metadata.is_file() {
        return Err("is not a regular file".to_owned());
    }
    if metadata.len() > LONGEST {
        return Err(format!("has {} bytes, more than {LONGEST}", metadata.len()));
    }
    parse_marker(&std::fs::read(path).map_err(|error| format!("cannot be read: {error}"))?)
}

/// The map in a marker's bytes.
///
/// # Errors
/// What is wrong with them.
pub(crate) fn parse_marker(bytes: &[u8]) -> Result<Map, String> {
    if bytes.len() as u64 > LONGEST {
        return Err(format!("has {} bytes, more than {LONGEST}", bytes.len()));
    }
    let text = std::str::from_utf8(bytes).map_err(|_| "is not UTF-8".to_owned())?;
    match json::parse(text) {
        Ok(Value::Map(map)) => Ok(map),
        Ok(_) => Err("does not hold a map".to_owned()),
        Err(error) => Err(format!("is not JSON: {error}")),
    }
}

fn text<'a>(map: &'a Map, key: &str) -> &'a str {
    map.get(key).and_then(Value::as_text).unwrap_or_default()
}

fn printed(value: Option<&Value>) -> String {
    value.map_or_else(|| "missing".to_owned(), json::to_string)
}

/// Adds a line where `found` is not `expected`.
fn is(whose: &str, found: Option<&Value>, expected: Option<&Value>, findings: &mut Findings) {
    let (found, expected) = (printed(found), printed(expected));
    if found != expected {
        findings.add(format!("{whose}: is {found}, not {expected}"));
    }
}

/// Both markers, by each other and by the tables.
fn markers(owner: &Map, success: &Map, root: &Root, tables: &Tables, findings: &mut Findings) {
    for (name, map, kind) in [(OWNER, owner, "rollout_shard_owner"), (SUCCESS, success, "rollout_shard_success")] {
        is(&format!("{name} sidecar_kind"), map.get("sidecar_kind"), Some(&kind.into()), findings);
        let bound = root.attributes.get("manifest_sha256");
        is(&format!("{name} rollout_manifest_sha256"), map.get("rollout_manifest_sha256"), bound, findings);
        let digest = text(map, "rollout_store_content_sha256");
        if digest.len() != 64 || !digest.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            findings.add(format!("{name} rollout_store_content_sha256: is not 64 hexadecimal digits"));
        }
    }
    for key in OWNERSHIP.into_iter().chain(["rollout_store_content_sha256"]) {
        is(&format!("{SUCCESS} {key}"), success.get(key), owner.get(key), findings);
    }
    let digest = sha256_hex(json::to_canonical(&Value::Map(owner.clone())).as_bytes());
    is(&format!("{SUCCESS} owner_sha256"), success.get("owner_sha256"), Some(&digest.as_str().into()), findings);
    let counts = owner.get("counts").and_then(Value::as_map);
    for (key, rows) in
        [("rollouts", tables.rollouts.rows), ("steps", tables.steps.rows), ("candidates", tables.candidates.rows)]
    {
        let expected = Value::Int(i64::try_from(rows).unwrap_or(i64::MAX));
        is(&format!("{OWNER} counts.{key}"), counts.and_then(|counts| counts.get(key)), Some(&expected), findings);
    }
}

/// The shard that the sidecar names is the owner's, and sound.
fn entry(owner: &Map, root: &Root, findings: &mut Findings) {
    let shard = root.manifest.get("generation").and_then(Value::as_map).and_then(|map| map.get("shard")?.as_map());
    let Some(shard) = shard else {
        return findings.add(format!("{MANIFEST_FILE} generation.shard: is missing in a promoted store"));
    };
    for (key, of) in [
        ("shard_id", "shard_id"),
        ("writer_config_hash", "writer_config_hash"),
        ("source_manifest_hash", "source_manifest_hash"),
        ("split_manifest_hash", "split_manifest_hash"),
        ("source_cache_version", "source_cache_version"),
        ("split", "split"),
        ("num_source_rows", "num_rows"),
    ] {
        is(&format!("{OWNER} {key}"), owner.get(key), shard.get(of), findings);
    }
    let revision = shard.get("generation_revision_hash").cloned().unwrap_or_else(|| "".into());
    is(&format!("{OWNER} generation_revision_hash"), owner.get("generation_revision_hash"), Some(&revision), findings);
    // A binding that is null may be left out.
    let bare = |map: &Map| {
        let mut map = map.clone();
        map.retain(|key, value| !(key == "campaign_binding" && value.is_null()));
        json::to_canonical(&Value::Map(map))
    };
    if owner.get("shard_entry").and_then(Value::as_map).map(bare) != Some(bare(shard)) {
        findings.add(format!("{OWNER} shard_entry: is not {MANIFEST_FILE} generation.shard"));
    }
    let sound = ShardEntry::from_value(&Value::Map(shard.clone())).and_then(|shard| shard.validate());
    if let Err(what) = sound {
        findings.add(format!("{MANIFEST_FILE} generation.shard: {what}"));
    }
}
