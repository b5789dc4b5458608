//! The root's contract: versions, the sidecar and its digest, the groups, the profile.

use super::codec;
use super::findings::Findings;
use super::tables::{Tables, texts};
use crate::digest::sha256_hex;
use crate::rollouts::config::profile_is_known;
use crate::rollouts::schema::{GROUPS, MANIFEST_FILE, MANIFEST_VERSION, REASONS, SCHEMA_ID, SCHEMA_VERSION};
use crate::rollouts::zarr::StoreReader;
use crate::text::json;
use crate::value::{Map, Value};

/// The root's attributes and the sidecar.
pub(super) struct Root {
    pub(super) attributes: Map,
    pub(super) manifest: Map,
    /// Whether the store carries the candidate codec.
    pub(super) has_codec: bool,
}

impl Root {
    /// A text of the attributes, `""` for none.
    pub(super) fn text(&self, key: &str) -> &str {
        self.attributes.get(key).and_then(Value::as_text).unwrap_or_default()
    }

    /// Whether an attribute is `true`.
    pub(super) fn flag(&self, key: &str) -> bool {
        self.attributes.get(key) == Some(&Value::Bool(true))
    }

    /// Whether every valid action must be labelled.
    pub(super) fn is_dense(&self) -> bool {
        self.text("oracle_query_mode") == "dense_valid"
    }

    /// The campaign's split, `unknown` for none.
    pub(super) fn campaign_split(&self) -> &str {
        self.attributes.get("campaign_split").and_then(Value::as_text).unwrap_or("unknown")
    }
}

/// The root, if its contract holds.
pub(super) fn check(reader: &StoreReader, findings: &mut Findings) -> Option<Root> {
    let attributes = match reader.attributes("") {
        Ok(attributes) => attributes,
        Err(error) => {
            findings.add(error.to_string());
            return None;
        }
    };
    let has_codec = codec::presence(reader, &attributes, findings);
    for (key, expected) in [("schema_id", SCHEMA_ID), ("schema_version", SCHEMA_VERSION)] {
        is(&attributes, "root attribute", key, expected, findings);
    }
    let manifest = manifest(reader, &attributes, findings).unwrap_or_default();
    let text = |key: &str, absent| match attributes.get(key) {
        None => absent,
        Some(value) => value.as_text().unwrap_or_default(),
    };
    let mode = text("oracle_query_mode", "legacy_unspecified");
    let support = text("label_support_semantics", "subset_of_action_v1");
    if !profile_is_known(mode, support) {
        findings.add(format!(
            "root attributes: oracle_query_mode `{mode}` does not go with label_support_semantics `{support}`"
        ));
    }
    for group in GROUPS {
        match reader.group(group) {
            Ok(true) => {}
            Ok(false) => findings.add(format!("{group}: the group is missing")),
            Err(error) => findings.add(format!("{group}: {error}")),
        }
    }
    findings.is_empty().then_some(Root { attributes, manifest, has_codec })
}

fn is(map: &Map, whose: &str, key: &str, expected: &str, findings: &mut Findings) {
    let found = map.get(key);
    if found.and_then(Value::as_text) != Some(expected) {
        let found = found.map_or_else(|| "missing".to_owned(), json::to_string);
        findings.add(format!("{whose} {key}: is {found}, not \"{expected}\""));
    }
}

/// The sidecar, as far as it can be read.
fn manifest(reader: &StoreReader, attributes: &Map, findings: &mut Findings) -> Option<Map> {
    let before = "root attribute manifest_path";
    if attributes.get("manifest_path").and_then(Value::as_text) != Some(MANIFEST_FILE) {
        findings.add(format!("{before}: is not \"{MANIFEST_FILE}\""));
        return None;
    }
    let bytes = match reader.file(MANIFEST_FILE) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => {
            findings.add(format!("{MANIFEST_FILE}: is missing"));
            return None;
        }
        Err(error) => {
            findings.add(format!("{MANIFEST_FILE}: cannot be read: {error}"));
            return None;
        }
    };
    let parsed = String::from_utf8(bytes).map_err(|_| "it is not UTF-8".to_owned());
    let value = match parsed.and_then(|text| json::parse(&text).map_err(|error| error.to_string())) {
        Ok(value) => value,
        Err(what) => {
            findings.add(format!("{MANIFEST_FILE}: is not JSON: {what}"));
            return None;
        }
    };
    let digest = sha256_hex(json::to_canonical(&value).as_bytes());
    match attributes.get("manifest_sha256").and_then(Value::as_text) {
        None | Some("") => findings.add("root attribute manifest_sha256: is missing"),
        Some(bound) if bound != digest => {
            findings.add(format!("{MANIFEST_FILE}: its digest is {digest}, not the root's manifest_sha256 {bound}"));
        }
        Some(_) => {}
    }
    let Value::Map(manifest) = value else {
        findings.add(format!("{MANIFEST_FILE}: does not hold a map"));
        return None;
    };
    is(&manifest, MANIFEST_FILE, "manifest_version", MANIFEST_VERSION, findings);
    is(&manifest, MANIFEST_FILE, "schema_version", SCHEMA_VERSION, findings);
    match manifest.get("root_attrs").and_then(Value::as_map) {
        Some(copy) => copied(copy, attributes, findings),
        None => findings.add(format!("{MANIFEST_FILE} root_attrs: is missing")),
    }
    Some(manifest)
}

/// The sidecar repeats the root's attributes, all but its own digest.
fn copied(copy: &Map, attributes: &Map, findings: &mut Findings) {
    let said = |map: &Map, key: &str| match map.get(key) {
        None if key == "campaign_split" => "\"unknown\"".to_owned(),
        None => "missing".to_owned(),
        // What is not a number goes by its name in strict JSON.
        Some(Value::Float(number)) if number.is_nan() => "\"NaN\"".to_owned(),
        Some(value) => json::to_string(value),
    };
    for key in attributes.keys().chain(copy.keys().filter(|key| !attributes.contains_key(*key))) {
        let (own, other) = (said(attributes, key), said(copy, key));
        if key != "manifest_sha256" && own != other {
            findings.add(format!("{MANIFEST_FILE} root_attrs.{key}: is {other}, but the root's is {own}"));
        }
    }
}

/// What stands beside the tables: the reasons' names and the protocol, as the root has it.
pub(super) fn beside(reader: &StoreReader, root: &Root, findings: &mut Findings) {
    for (path, expected) in [
        ("metadata/reason_code_names", REASONS.to_vec()),
        ("metadata/field_retention_policy", vec![root.text("field_retention_policy")]),
        ("targets/target_protocol_version", vec![root.text("target_protocol_version")]),
    ] {
        match texts(reader, path) {
            Ok(found) if found == expected => {}
            Ok(found) => findings.add(format!("{path}: is {found:?}, not {expected:?}")),
            Err(what) => findings.add(what),
        }
    }
    match reader.array("metadata/reason_code_bits") {
        Ok(bits) if bits.numbers().eq((0_u32..).map(f64::from).take(REASONS.len())) => {}
        Ok(_) => findings.add("metadata/reason_code_bits: does not count up from 0 to the last reason"),
        Err(error) => findings.add(error.to_string()),
    }
}

/// What root and sidecar count is what the tables have.
pub(super) fn counts(root: &Root, tables: &Tables, shells: usize, findings: &mut Findings) {
    for (attribute, key, rows) in [
        ("num_sources", "sources", tables.sources.rows),
        ("num_targets", "targets", tables.targets.rows),
        ("num_rollouts", "rollouts", tables.rollouts.rows),
        ("num_steps", "steps", tables.steps.rows),
        ("num_candidates", "candidates", tables.candidates.rows),
        ("num_candidate_diagnostics", "candidate_diagnostics", tables.diagnostics.rows),
        ("num_q_h_states", "q_h_states", tables.steps.rows),
        ("q_h_max_candidates", "q_h_max_candidates", shells),
    ] {
        root.counts(attribute, key, rows, findings);
    }
}

impl Root {
    /// The root's `attribute` and the sidecar's count `key` are `rows`.
    pub(super) fn counts(&self, attribute: &str, key: &str, rows: usize, findings: &mut Findings) {
        let expected = i64::try_from(rows).ok().map(Value::Int);
        let counted = self.manifest.get("counts").and_then(Value::as_map).and_then(|counts| counts.get(key));
        for (whose, key, found) in
            [("root attribute", attribute, self.attributes.get(attribute)), ("manifest.json counts", key, counted)]
        {
            if found != expected.as_ref() {
                let found = found.map_or_else(|| "missing".to_owned(), json::to_string);
                findings.add(format!("{whose} {key}: is {found}, but there are {rows}"));
            }
        }
    }
}
