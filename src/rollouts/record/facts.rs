//! What a candidate generator recorded of a shell: the candidate codec's facts of one step.
//!
//! Keys are the columns of the codec's tables, without `_id` where a column holds a text.

use super::{RecordError, Step};
use crate::rollouts::datum::{Datum, Fields, booleans, mistake};

type Read<T> = Result<T, RecordError>;
type Checked = Read<()>;

/// The only versions that there are.
pub(in crate::rollouts) const CODEC_VERSION: &str = "candidate-trace-v1";
const SUBSTREAMS: &str = "shipped_mixture_seed_paths_v1";
const ACTION_ORDER: &str = "ordered_hard_valid_v1";
const COMPLETION: &str = "fixed_attempts";
const REVISIONS: [&str; 2] = ["unavailable_v1", "candidate_admission_v1"];

/// How one shell was made, candidate by candidate, N of them.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "each field is named after its column of the codec's tables")]
pub struct TraceFacts {
    pub candidate_program_hash: String,
    pub request_binding_hash: String,
    pub legacy_candidate_config_hash: Option<String>,
    pub candidate_substream_revision: String,
    pub action_order_revision: String,
    pub completion_mode: String,
    pub proposal_key_revision: Option<String>,
    pub proposal_replica: Option<i64>,
    pub semantic_group: Vec<String>,
    pub center_family: Vec<String>,
    pub gaze_family: Vec<String>,
    pub candidate_family: Vec<String>,
    pub center_id: Vec<i64>,
    pub attempt_round_id: Vec<i64>,
    pub draw_id: Vec<i64>,
    pub position_pair_id: Vec<i64>,
    pub gaze_variant_id: Vec<i64>,
    pub proposal_key: Vec<String>,
    /// Empty exactly where it is unavailable.
    pub target_frame_identity: Vec<String>,
    /// Whether the target's frame was available.
    pub target_frame_available: Vec<bool>,
    /// Shell indices of the valid candidates, in order.
    pub valid_indices: Vec<i32>,
    /// Shell indices of the actions, in order.
    pub action_indices: Vec<i32>,
    pub criteria: Vec<Criterion>,
}

/// One admission criterion, over the shell. Local values count where they are available.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "each field is named after its column of `candidate_criteria`")]
pub struct Criterion {
    pub criterion: String,
    pub reason_revision: String,
    pub source_role_revision: String,
    pub legacy_cumulative_valid: Vec<bool>,
    pub local_available: Vec<bool>,
    pub applicable: Vec<bool>,
    pub evaluated: Vec<bool>,
    pub passed: Vec<bool>,
    pub reason_code: Vec<i64>,
    pub margin: Vec<f32>,
    pub source_role: Vec<i64>,
}

impl TraceFacts {
    pub(super) fn read(datum: &Datum, path: &str) -> Read<Self> {
        const KEYS: [&str; 24] = [
            "codec_version",
            "candidate_program_hash",
            "request_binding_hash",
            "legacy_candidate_config_hash",
            "candidate_substream_revision",
            "action_order_revision",
            "completion_mode",
            "proposal_key_revision",
            "proposal_replica",
            "semantic_group",
            "center_family",
            "gaze_family",
            "candidate_family",
            "center_id",
            "attempt_round_id",
            "draw_id",
            "position_pair_id",
            "gaze_variant_id",
            "proposal_key",
            "target_frame_identity",
            "target_frame_availability",
            "valid_indices",
            "action_indices",
            "criteria",
        ];
        let fields = Fields::of(datum, path, &KEYS)?;
        let texts = |name: &str| -> Read<Vec<String>> {
            fields.required(name)?;
            Ok(fields.texts(name)?.unwrap_or_default())
        };
        let ids = |name: &str| -> Read<Vec<i64>> {
            fields.required(name)?;
            Ok(fields.integers(name)?.unwrap_or_default())
        };
        let indices = |name: &str| -> Read<Vec<i32>> {
            fields.required(name)?;
            Ok(fields.integers(name)?.unwrap_or_default())
        };
        let constant =
            |name: &str, only: &str| -> Read<String> { Ok(fields.text(name)?.unwrap_or_else(|| only.to_owned())) };
        let version = constant("codec_version", CODEC_VERSION)?;
        if version != CODEC_VERSION {
            return mistake(fields.at("codec_version"), format!("must be {CODEC_VERSION}, got {version}"));
        }
        let availability = texts("target_frame_availability")?;
        let available = availability.iter().enumerate().map(|(index, text)| match text.as_str() {
            "available" => Ok(true),
            "unavailable" => Ok(false),
            other => {
                let place = format!("{}[{index}]", fields.at("target_frame_availability"));
                mistake(place, format!("must be available or unavailable, got {other}"))
            }
        });
        let mut criteria = Vec::new();
        if fields.get("criteria").is_some() {
            for (index, datum) in fields.items("criteria")?.iter().enumerate() {
                criteria.push(Criterion::read(datum, &format!("{}[{index}]", fields.at("criteria")))?);
            }
        }
        Ok(Self {
            candidate_program_hash: fields.required_text("candidate_program_hash")?,
            request_binding_hash: fields.required_text("request_binding_hash")?,
            legacy_candidate_config_hash: fields.text("legacy_candidate_config_hash")?,
            candidate_substream_revision: constant("candidate_substream_revision", SUBSTREAMS)?,
            action_order_revision: constant("action_order_revision", ACTION_ORDER)?,
            completion_mode: constant("completion_mode", COMPLETION)?,
            proposal_key_revision: fields.text("proposal_key_revision")?,
            proposal_replica: fields.integer("proposal_replica")?,
            semantic_group: texts("semantic_group")?,
            center_family: texts("center_family")?,
            gaze_family: texts("gaze_family")?,
            candidate_family: texts("candidate_family")?,
            center_id: ids("center_id")?,
            attempt_round_id: ids("attempt_round_id")?,
            draw_id: ids("draw_id")?,
            position_pair_id: ids("position_pair_id")?,
            gaze_variant_id: ids("gaze_variant_id")?,
            proposal_key: texts("proposal_key")?,
            target_frame_identity: texts("target_frame_identity")?,
            target_frame_available: available.collect::<Read<_>>()?,
            valid_indices: indices("valid_indices")?,
            action_indices: indices("action_indices")?,
            criteria,
        })
    }

    /// Checks the facts against the step they are of and the chain's own candidate hash.
    pub(in crate::rollouts) fn check(&self, step: &Step, candidate_config_hash: Option<&str>, path: &str) -> Checked {
        self.check_versions(candidate_config_hash, path)?;
        self.check_shell(step, path)?;
        let mut before = vec![true; step.candidates.len()];
        for (index, criterion) in self.criteria.iter().enumerate() {
            let path = format!("{path}.criteria[{index}]");
            if self.criteria.iter().take(index).any(|earlier| earlier.criterion == criterion.criterion) {
                return mistake(format!("{path}.criterion"), format!("`{}` is there twice", criterion.criterion));
            }
            criterion.check(&before, &path)?;
            before.clone_from(&criterion.legacy_cumulative_valid);
        }
        if !self.criteria.is_empty() && before != step.candidates.mask_valid {
            let message = "the last criterion's legacy_cumulative_valid must be candidates.mask_valid";
            return mistake(format!("{path}.criteria"), message);
        }
        Ok(())
    }

    fn check_versions(&self, candidate_config_hash: Option<&str>, path: &str) -> Checked {
        for (name, text, only) in [
            ("candidate_substream_revision", &self.candidate_substream_revision, SUBSTREAMS),
            ("action_order_revision", &self.action_order_revision, ACTION_ORDER),
            ("completion_mode", &self.completion_mode, COMPLETION),
        ] {
            if text != only {
                return mistake(format!("{path}.{name}"), format!("must be {only}, got {text}"));
            }
        }
        for (name, hash) in [
            ("candidate_program_hash", &self.candidate_program_hash),
            ("request_binding_hash", &self.request_binding_hash),
        ] {
            let hexadecimal = hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
            if hash.len() != 64 || !hexadecimal {
                return mistake(format!("{path}.{name}"), "must be 64 lowercase hexadecimal digits");
            }
        }
        let legacy = self.legacy_candidate_config_hash.as_deref().unwrap_or_default();
        if legacy.is_empty() || Some(legacy) != candidate_config_hash {
            let own = candidate_config_hash.unwrap_or_default();
            let message = format!("must be policy.candidate_config_hash, `{own}`, got `{legacy}`");
            return mistake(format!("{path}.legacy_candidate_config_hash"), message);
        }
        match (&self.proposal_key_revision, self.proposal_replica) {
            (None, None) => Ok(()),
            (Some(revision), Some(0..)) if !revision.is_empty() => Ok(()),
            _ => {
                let message = "and proposal_replica must both be given, the replica not negative, or neither";
                mistake(format!("{path}.proposal_key_revision"), message)
            }
        }
    }

    fn check_shell(&self, step: &Step, path: &str) -> Checked {
        let valid = &step.candidates.mask_valid;
        let (n, at) = (valid.len(), |name: &str| format!("{path}.{name}"));
        let texts = [
            ("semantic_group", &self.semantic_group),
            ("center_family", &self.center_family),
            ("gaze_family", &self.gaze_family),
            ("candidate_family", &self.candidate_family),
            ("proposal_key", &self.proposal_key),
        ];
        let ids = [
            ("center_id", &self.center_id),
            ("attempt_round_id", &self.attempt_round_id),
            ("draw_id", &self.draw_id),
            ("position_pair_id", &self.position_pair_id),
            ("gaze_variant_id", &self.gaze_variant_id),
        ];
        let lengths = texts.iter().map(|(name, texts)| (*name, texts.len()));
        let lengths = lengths.chain(ids.iter().map(|(name, ids)| (*name, ids.len()))).chain([
            ("target_frame_identity", self.target_frame_identity.len()),
            ("target_frame_availability", self.target_frame_available.len()),
        ]);
        for (name, length) in lengths {
            sized(length, n, || at(name))?;
        }
        for (name, texts) in texts {
            if let Some(index) = texts.iter().position(String::is_empty) {
                return mistake(at(&format!("{name}[{index}]")), "must not be empty");
            }
        }
        for (name, ids) in ids.iter().take(3) {
            if let Some(index) = ids.iter().position(|id| *id < 0) {
                return mistake(at(&format!("{name}[{index}]")), "must not be negative");
            }
        }
        let pairs = self.position_pair_id.iter().zip(&self.gaze_variant_id);
        let joint = |(pair, gaze): (&i64, &i64)| (*pair >= 0 && *gaze >= 0) || (*pair == -1 && *gaze == -1);
        if let Some(index) = pairs.map(joint).position(|joint| !joint) {
            let message = "and position_pair_id must both be given, or both be -1";
            return mistake(at(&format!("gaze_variant_id[{index}]")), message);
        }
        let frames = self.target_frame_identity.iter().zip(&self.target_frame_available);
        if let Some(index) =
            frames.map(|(identity, available)| identity.is_empty() == *available).position(|wrong| wrong)
        {
            let message = "must be given where the target's frame is available, and only there";
            return mistake(at(&format!("target_frame_identity[{index}]")), message);
        }
        let expected = (0..).zip(valid).filter_map(|(index, valid)| valid.then_some(index));
        let expected: Vec<i32> = expected.collect();
        for (name, indices) in [("valid_indices", &self.valid_indices), ("action_indices", &self.action_indices)] {
            if *indices != expected {
                return mistake(at(name), "must be the shell indices of the valid candidates, ascending");
            }
        }
        Ok(())
    }
}

impl Criterion {
    fn read(datum: &Datum, path: &str) -> Read<Self> {
        const KEYS: [&str; 11] = [
            "criterion",
            "reason_revision",
            "source_role_revision",
            "legacy_cumulative_valid",
            "local_available",
            "applicable",
            "evaluated",
            "passed",
            "reason_code",
            "margin",
            "source_role",
        ];
        let fields = Fields::of(datum, path, &KEYS)?;
        let flags = |name: &str| -> Read<Vec<bool>> { booleans(fields.required(name)?, &fields.at(name)) };
        let ids = |name: &str| -> Read<Vec<i64>> {
            fields.required(name)?;
            Ok(fields.integers(name)?.unwrap_or_default())
        };
        fields.required("margin")?;
        Ok(Self {
            criterion: fields.required_text("criterion")?,
            reason_revision: fields.required_text("reason_revision")?,
            source_role_revision: fields.required_text("source_role_revision")?,
            legacy_cumulative_valid: flags("legacy_cumulative_valid")?,
            local_available: flags("local_available")?,
            applicable: flags("applicable")?,
            evaluated: flags("evaluated")?,
            passed: flags("passed")?,
            reason_code: ids("reason_code")?,
            margin: fields.floats("margin")?.unwrap_or_default(),
            source_role: ids("source_role")?,
        })
    }

    /// Checks the criterion against who was left `before` it.
    fn check(&self, before: &[bool], path: &str) -> Checked {
        let at = |name: &str| format!("{path}.{name}");
        for (name, text) in [
            ("criterion", &self.criterion),
            ("reason_revision", &self.reason_revision),
            ("source_role_revision", &self.source_role_revision),
        ] {
            if text.is_empty() {
                return mistake(at(name), "must not be empty");
            }
            if name != "criterion" && !REVISIONS.contains(&text.as_str()) {
                return mistake(at(name), format!("must be {}, got {text}", REVISIONS.join(" or ")));
            }
        }
        for (name, length) in [
            ("legacy_cumulative_valid", self.legacy_cumulative_valid.len()),
            ("local_available", self.local_available.len()),
            ("applicable", self.applicable.len()),
            ("evaluated", self.evaluated.len()),
            ("passed", self.passed.len()),
            ("reason_code", self.reason_code.len()),
            ("margin", self.margin.len()),
            ("source_role", self.source_role.len()),
        ] {
            sized(length, before.len(), || at(name))?;
        }
        for (index, before) in before.iter().enumerate() {
            let flag = |flags: &[bool]| flags.get(index).copied().unwrap_or(false);
            let after = flag(&self.legacy_cumulative_valid);
            if after && !before {
                return mistake(
                    at(&format!("legacy_cumulative_valid[{index}]")),
                    "was rejected by an earlier criterion",
                );
            }
            if !flag(&self.local_available) {
                continue;
            }
            let (applicable, evaluated, passed) = (flag(&self.applicable), flag(&self.evaluated), flag(&self.passed));
            if (evaluated && !applicable) || (passed && !evaluated) {
                let message = "what passed must have been evaluated, and what is evaluated must be applicable";
                return mistake(at(&format!("evaluated[{index}]")), message);
            }
            if after != (*before && (!evaluated || passed)) {
                let message = "contradicts what was left before and whether the candidate passed";
                return mistake(at(&format!("legacy_cumulative_valid[{index}]")), message);
            }
            let reason = self.reason_code.get(index).copied().unwrap_or(-1);
            let (none, zero) = (!evaluated, passed);
            if !(-1..=7).contains(&reason) || (reason == -1) != none || (reason == 0) != zero {
                let message = "must be 0 for what passed, 1 to 7 for what did not, -1 for what was not evaluated";
                return mistake(at(&format!("reason_code[{index}]")), message);
            }
            if !self.margin.get(index).is_some_and(|margin| margin.is_finite()) {
                return mistake(at(&format!("margin[{index}]")), "must be finite where the criterion is available");
            }
            if !matches!(self.source_role.get(index), Some(1 | 2)) {
                let message = "must be 1 (actor-visible) or 2 (oracle) where the criterion is available";
                return mistake(at(&format!("source_role[{index}]")), message);
            }
        }
        Ok(())
    }
}

fn sized(length: usize, n: usize, path: impl Fn() -> String) -> Checked {
    if length == n { Ok(()) } else { mistake(path(), format!("must have one element a candidate ({n}), got {length}")) }
}
