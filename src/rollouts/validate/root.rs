//! The root's contract: schema, sidecar and digest, supervision profile.

use crate::digest::sha256_hex;
use crate::rollouts::config::profile_is_known;
use crate::rollouts::reader::Store;
use crate::rollouts::schema::{MANIFEST_FILE, MANIFEST_VERSION, SCHEMA_VERSION};
use crate::rollouts::target::TargetInputProtocol;
use crate::text::json;
use crate::value::{Map, Value};

pub(super) fn check(store: &Store) -> Vec<String> {
    let mut errors = Vec::new();
    let root = store.attributes();
    let text = |key: &str| root.get(key).and_then(Value::as_text).unwrap_or_default();
    if text("schema_version") != SCHEMA_VERSION {
        errors.push(format!("schema_version is `{}`, expected `{SCHEMA_VERSION}`", text("schema_version")));
    }
    if text("manifest_path") == MANIFEST_FILE {
        check_manifest(store, &root, &mut errors);
    } else {
        errors.push(format!("manifest_path is `{}`, expected `{MANIFEST_FILE}`", text("manifest_path")));
    }
    let (mode, support) = (text("oracle_query_mode"), text("label_support_semantics"));
    if !profile_is_known(mode, support) {
        errors.push(format!("supervision profile {mode}/{support} is not known"));
    }
    for key in ["source_offline_store_version", "split_manifest_hash", "reason_code_version"] {
        if text(key).is_empty() {
            errors.push(format!("root attribute {key} is missing or empty"));
        }
    }
    if TargetInputProtocol::from_name(text("target_protocol_version")).is_none() {
        errors.push(format!("target_protocol_version `{}` is not known", text("target_protocol_version")));
    }
    errors
}

fn check_manifest(store: &Store, root: &Map, errors: &mut Vec<String>) {
    let manifest = match store.manifest() {
        Ok(manifest) => manifest,
        Err(problem) => return errors.push(format!("{MANIFEST_FILE}: {problem}")),
    };
    let recorded = root.get("manifest_sha256").and_then(Value::as_text).unwrap_or_default();
    let digest = sha256_hex(json::to_canonical(&manifest).as_bytes());
    if recorded != digest {
        errors.push(format!("{MANIFEST_FILE}: its digest {digest} is not the root's manifest_sha256 `{recorded}`"));
    }
    let Some(manifest) = manifest.as_map() else { return errors.push(format!("{MANIFEST_FILE}: is not an object")) };
    for (key, expected) in [("manifest_version", MANIFEST_VERSION), ("schema_version", SCHEMA_VERSION)] {
        if manifest.get(key).and_then(Value::as_text) != Some(expected) {
            errors.push(format!("{MANIFEST_FILE}: {key} is not `{expected}`"));
        }
    }
    let Some(recorded) = manifest.get("root_attrs").and_then(Value::as_map) else {
        return errors.push(format!("{MANIFEST_FILE}: root_attrs is missing"));
    };
    for (key, value) in root.iter().filter(|(key, _)| *key != "manifest_sha256") {
        // Planes that are not given are NaN in one and its name in the other.
        let unset = |value: &Value| value.as_float().is_some_and(f64::is_nan) || value.as_text() == Some("NaN");
        match recorded.get(key) {
            Some(other) if other == value || (unset(other) && unset(value)) => {}
            _ => errors.push(format!("{MANIFEST_FILE}: root_attrs.{key} differs from the root attribute")),
        }
    }
}
