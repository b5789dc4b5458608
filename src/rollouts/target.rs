//! Targets: which may enter a store, and which can be trained on.

use super::record::Target;
use crate::digest::sha256_hex;
use crate::text::json;
use crate::value::{Map, Value};

/// The oracle's own source of targets.
pub(super) const ORACLE_SOURCE: &str = "gt_obbs_oracle";
const OBSERVED_SOURCE: &str = "detected_obbs";
const OBSERVED_PROVENANCE: &str = "actor_visible_detector";
/// A match counts from here, exclusively.
const LEAST_IOU: f64 = 0.20;

/// The contract between target inputs and oracle labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TargetInputProtocol {
    /// The target is given by the oracle.
    #[default]
    V0GtInput,
    /// The target is what the actor observed.
    V1Observed,
}

impl TargetInputProtocol {
    /// Its name on disk.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::V0GtInput => "v0_gt_input",
            Self::V1Observed => "v1_observed",
        }
    }

    /// The protocol of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::V0GtInput, Self::V1Observed].into_iter().find(|protocol| protocol.name() == name)
    }

    /// What [`Self::admits`] admits, for people.
    pub(super) fn admitted(self) -> &'static str {
        match self {
            Self::V0GtInput => {
                "target_source must be `gt_obbs_oracle`; descriptor_source, if it is given, the same; and \
                 descriptor_provenance, if it is given, `oracle_gt`"
            }
            Self::V1Observed => {
                "target_source and descriptor_source must be `detected_obbs`, and descriptor_provenance \
                 `actor_visible_detector`"
            }
        }
    }

    /// Whether targets of `source` may enter a store under this protocol.
    pub(super) fn admits(self, source: &str, descriptor_source: Option<&str>, provenance: Option<&str>) -> bool {
        match self {
            Self::V0GtInput => {
                source == ORACLE_SOURCE
                    && descriptor_source.is_none_or(|own| own == source)
                    && provenance.is_none_or(|own| own == "oracle_gt")
            }
            Self::V1Observed => {
                source == OBSERVED_SOURCE
                    && descriptor_source == Some(source)
                    && provenance == Some(OBSERVED_PROVENANCE)
            }
        }
    }
}

/// What decides whether a target's labels can be trained on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Evidence<'a> {
    pub(super) target_valid: bool,
    pub(super) target_source: Option<&'a str>,
    pub(super) descriptor_source: Option<&'a str>,
    pub(super) descriptor_provenance: Option<&'a str>,
    pub(super) descriptor_hash: Option<&'a str>,
    pub(super) explicit_target_hash: Option<&'a str>,
    pub(super) matched_gt_target_row_id: i64,
    pub(super) matched_gt_target_id: Option<&'a str>,
    pub(super) gt_match_status: Option<&'a str>,
    pub(super) gt_match_iou: f32,
}

impl<'a> Evidence<'a> {
    pub(super) fn of(target: &'a Target, protocol: TargetInputProtocol) -> Self {
        Self {
            target_valid: valid_bitset(target, protocol) == 1,
            target_source: target.target_source.as_deref(),
            descriptor_source: target.descriptor_source.as_deref(),
            descriptor_provenance: target.descriptor_provenance.as_deref(),
            descriptor_hash: target.descriptor_hash.as_deref(),
            explicit_target_hash: target.explicit_target_hash.as_deref(),
            matched_gt_target_row_id: target.matched_gt_target_row_id.unwrap_or(-1),
            matched_gt_target_id: target.matched_gt_target_id.as_deref(),
            gt_match_status: target.gt_match_status.as_deref(),
            gt_match_iou: target.gt_match_iou.unwrap_or(f32::NAN),
        }
    }

    /// Whether the target is matched with ground truth well enough to be trained on.
    pub(super) fn trainable(&self, protocol: TargetInputProtocol) -> bool {
        if !self.target_valid || self.matched_gt_target_row_id < 0 {
            return false;
        }
        match protocol {
            TargetInputProtocol::V0GtInput => matches!(self.gt_match_status, Some("matched" | "v0_gt_input")),
            TargetInputProtocol::V1Observed => {
                let hexadecimal = |text: Option<&str>, length: usize| {
                    text.is_some_and(|text| text.len() == length && text.bytes().all(|byte| byte.is_ascii_hexdigit()))
                };
                protocol.admits(
                    self.target_source.unwrap_or_default(),
                    self.descriptor_source,
                    self.descriptor_provenance,
                ) && hexadecimal(self.descriptor_hash, 64)
                    && hexadecimal(self.explicit_target_hash, 16)
                    && self.gt_match_status == Some("admitted")
                    && self.matched_gt_target_id.is_some_and(|id| !id.is_empty())
                    && self.gt_match_iou.is_finite()
                    && f64::from(self.gt_match_iou) > LEAST_IOU
            }
        }
    }
}

/// A target's invalidity bits: given, or what the protocol takes silence for.
pub(super) fn valid_bitset(target: &Target, protocol: TargetInputProtocol) -> u32 {
    target.target_invalid_reason_bitset.unwrap_or(match protocol {
        TargetInputProtocol::V0GtInput => 1,
        TargetInputProtocol::V1Observed => 0,
    })
}

/// The identity of an explicitly observed target: 16 hexadecimal digits over its fields, the
/// overlap being the stored float32.
pub(super) fn explicit_hash(
    sample_key: &str,
    target_id: &str,
    (detected_row, gt_row, gt_id): (i64, i64, &str),
    iou: f32,
    descriptor_hash: &str,
) -> String {
    let fields: [(&str, Value); 7] = [
        ("sample_key", sample_key.into()),
        ("target_id", target_id.into()),
        ("detected_source_row", detected_row.into()),
        ("gt_match_row", gt_row.into()),
        ("gt_match_id", gt_id.into()),
        ("oriented_iou", f64::from(iou).into()),
        ("descriptor_hash", descriptor_hash.into()),
    ];
    let map: Map = fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    short_hash(&Value::Map(map))
}

/// The first 16 hexadecimal digits of the SHA-256 of `value` in msgspec's JSON.
pub(super) fn short_hash(value: &Value) -> String {
    let mut digest = sha256_hex(json::to_msgspec(value).as_bytes());
    digest.truncate(16);
    digest
}

#[cfg(test)]
mod tests {
    use super::explicit_hash;

    #[test]
    fn the_explicit_hash_is_the_reference_s() {
        let hash =
            explicit_hash("fixture:smoke:0", "fixture-target-0", (0, 100, "fixture-gt-target-0"), 0.7, &"c".repeat(64));
        assert_eq!(hash, "b249a06f2aa34b26");
    }
}
