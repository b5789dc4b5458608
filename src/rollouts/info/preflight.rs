//! Whether a store is fit to be trained from, and what stands against it.

use super::stats::count;
use super::{Profile, Validation};
use crate::rollouts::Store;
use crate::rollouts::schema::SCHEMA_VERSION;
use crate::value::{Map, Value};

/// A store may have so many files, or so many a candidate.
const FILES: u64 = 2000;
const FILES_A_CANDIDATE: u64 = 20;
/// And so many bytes a candidate.
const BYTES_A_CANDIDATE: u64 = 2_000_000;

/// The preflight of a store, and whether it is fit.
pub(super) fn preflight(
    store: &Store,
    manifest: &Value,
    validation: &Validation,
    (stats, rewards): (&Value, Value),
    profile: Profile,
) -> (Value, bool) {
    let attributes = store.attributes();
    let get = |key: &str| attributes.get(key).cloned().unwrap_or(Value::Null);
    let below = |value: &Value, key: &str| value.as_map().and_then(|map| map.get(key)).cloned().unwrap_or(Value::Null);
    let actual = get("schema_version");
    let current = actual.as_text() == Some(SCHEMA_VERSION);
    let coverage = below(manifest, "source_coverage");
    let family = below(&below(manifest, "generation"), "candidate_family_preflight");
    let held = store.held();
    let storage = Storage { files: held.files, bytes: held.bytes, candidates: validation.num_candidates as u64 };

    let mut blockers = Vec::new();
    if !current {
        blockers.push(format!("stale_schema:{}", actual.as_text().unwrap_or("missing")));
    }
    if !validation.ok() {
        blockers.push("invalid_store".to_owned());
    }
    let mut doubts = Vec::new();
    let validity = below(stats, "candidate_validity");
    if below(&validity, "trainable").as_int() == Some(0) {
        doubts.push("no_trainable_candidates".to_owned());
    }
    if unnamed(&coverage) {
        doubts.push("missing_scene_split_metadata".to_owned());
    }
    let against = below(&family, "blockers");
    let against = against.as_list().unwrap_or_default().iter().filter_map(Value::as_text);
    doubts.extend(against.map(|blocker| format!("candidate_family:{blocker}")));
    if storage.bloated() {
        doubts.push("excessive_chunk_file_bloat".to_owned());
    }
    let mut warnings = Vec::new();
    if profile == Profile::Production { &mut blockers } else { &mut warnings }.extend(doubts);
    let go = blockers.is_empty();
    let list = |lines: Vec<String>| Value::List(lines.into_iter().map(Value::from).collect());
    let lineage = [
        "source_offline_store_version",
        "split_manifest_hash",
        "target_protocol_version",
        "reason_code_version",
        "return_semantics",
        "source_split",
        "campaign_split",
    ];
    let retained = ["selected_depth_enabled", "q_h_view_persisted", "target_eval_crops_enabled"];
    let some = |keys: &[&str]| Value::Map(keys.iter().map(|key| ((*key).to_owned(), get(key))).collect::<Map>());
    let value = Value::map([
        ("profile", profile.name().into()),
        ("go", go.into()),
        ("blockers", list(blockers)),
        ("warnings", list(warnings)),
        ("schema", Value::map([("ok", current.into()), ("actual", actual), ("expected", SCHEMA_VERSION.into())])),
        ("validation", super::validation(validation)),
        ("lineage", some(&lineage)),
        ("coverage", coverage),
        ("validity", validity),
        ("candidate_family", family),
        ("rewards", rewards),
        ("retention", some(&retained)),
        ("storage", storage.value()),
    ]);
    (value, go)
}

/// Whether a source has no scene or split.
fn unnamed(coverage: &Value) -> bool {
    ["scene_counts", "split_counts"].iter().any(|key| {
        let counts = coverage.as_map().and_then(|map| map.get(*key)).and_then(Value::as_map);
        counts.is_none_or(|counts| counts.is_empty() || counts.contains_key("unknown"))
    })
}

/// What a store takes on disk.
struct Storage {
    files: u64,
    bytes: u64,
    candidates: u64,
}

impl Storage {
    fn most_files(&self) -> u64 {
        FILES.max(FILES_A_CANDIDATE.saturating_mul(self.candidates))
    }

    fn bloated(&self) -> bool {
        self.files > self.most_files() || self.bytes > BYTES_A_CANDIDATE.saturating_mul(self.candidates.max(1))
    }

    fn value(&self) -> Value {
        #[expect(clippy::cast_precision_loss, reason = "a ratio")]
        let each = (self.candidates > 0).then(|| self.bytes as f64 / self.candidates as f64);
        Value::map([
            ("file_count", count(self.files)),
            ("total_bytes", count(self.bytes)),
            ("bytes_per_candidate", each.into()),
            ("bytes_per_candidate_reason", each.is_none().then_some("no_candidates").into()),
            ("file_count_limit", count(self.most_files())),
            ("bytes_per_candidate_limit", count(BYTES_A_CANDIDATE)),
        ])
    }
}
