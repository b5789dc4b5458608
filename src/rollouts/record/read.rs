//! Reading a record from plain data: every key known, every vector of the right length.

use super::{
    Candidates, Datum, Extras, Recipe, RecordError, RolloutRecord, SelectedDepth, Source, Step, Target, TargetEval,
    TraceFacts, Trajectory,
};
use crate::rollouts::datum::{Fields, booleans, items, mistake};
use crate::rollouts::schema::{BOOL_EXTRAS, FLOAT_EXTRAS};

type Read<T> = Result<T, RecordError>;

impl RolloutRecord {
    /// Reads a record.
    ///
    /// # Errors
    /// The record, the way to the field at fault, what was expected and what came.
    pub fn from_datum(datum: &Datum) -> Read<Self> {
        const KEYS: [&str; 13] = [
            "rollout_id_prefix",
            "root_pose_world",
            "root_time_ns",
            "root_trajectory_index",
            "root_frame_index",
            "horizon",
            "branch_factor",
            "beam_width",
            "selection_policy",
            "source",
            "target",
            "policy",
            "trajectories",
        ];
        let prefix = match datum {
            Datum::Map(map) => match map.get("rollout_id_prefix") {
                Some(Datum::Value(crate::value::Value::Text(prefix))) => prefix.clone(),
                _ => "record".to_owned(),
            },
            _ => "record".to_owned(),
        };
        let root = format!("{prefix}: ");
        let fields = Fields::of(datum, &root, &KEYS)?;
        let Some(root_pose_world) = fields.vector("root_pose_world")? else {
            return mistake(fields.at("root_pose_world"), "is missing");
        };
        let mut trajectories = Vec::new();
        for (index, trajectory) in fields.items("trajectories")?.iter().enumerate() {
            trajectories.push(read_trajectory(trajectory, &format!("{prefix}: trajectories[{index}]"))?);
        }
        let record = Self {
            rollout_id_prefix: fields.required_text("rollout_id_prefix")?,
            root_pose_world,
            root_time_ns: fields.integer("root_time_ns")?,
            root_trajectory_index: fields.integer("root_trajectory_index")?,
            root_frame_index: fields.integer("root_frame_index")?,
            horizon: fields.required_integer("horizon")?,
            branch_factor: fields.required_integer("branch_factor")?,
            beam_width: fields.integer("beam_width")?,
            selection_policy: fields.required_text("selection_policy")?,
            source: read_source(fields.required("source")?, &fields.at("source"))?,
            target: read_target(fields.required("target")?, &fields.at("target"))?,
            policy: read_recipe(fields.required("policy")?, &fields.at("policy"))?,
            trajectories,
        };
        record.check()?;
        Ok(record)
    }
}

/// Reads the fields of a flat struct, each by the reader its type has, and refuses other keys.
macro_rules! flat {
    ($datum:expr, $path:expr, $kind:ident { $($reader:ident: $($name:ident)+;)+ }) => {{
        let fields = Fields::of($datum, $path, &[$($(stringify!($name)),+),+])?;
        $kind { $($($name: fields.$reader(stringify!($name))?),+),+ }
    }};
}

fn read_source(datum: &Datum, path: &str) -> Read<Source> {
    Ok(flat!(datum, path, Source {
        text: scene_id snippet_id split campaign_split source_sample_key source_shard_id source_cache_version
            source_offline_store_manifest_hash split_manifest_hash mesh_version;
        integer: source_row_id source_sample_index source_shard_row;
    }))
}

fn read_target(datum: &Datum, path: &str) -> Read<Target> {
    Ok(flat!(datum, path, Target {
        text: target_id target_protocol_version target_crop_policy target_selection_policy target_source
            descriptor_source descriptor_provenance descriptor_hash explicit_target_hash target_class_name
            target_reason_code_version matched_gt_target_id gt_match_status;
        integer: target_row_id target_selection_rank target_source_index target_sem_id target_inst_id
            target_semidense_support_count target_evl_support_count target_invalid_reason_bitset
            target_primary_invalid_reason matched_gt_target_row_id;
        float: target_selection_score target_selection_probability target_selection_temperature target_confidence
            target_projected_area_pixels target_projected_area_fraction target_effective_support_count
            target_visibility_score target_support_score target_deficit_score gt_match_iou gt_match_score;
        vector: target_center_world target_extents target_pose_world_object target_relative_pose_reference_object;
    }))
}

fn read_recipe(datum: &Datum, path: &str) -> Read<Recipe> {
    Ok(flat!(datum, path, Recipe {
        text: candidate_config_hash oracle_config_hash rollout_config_hash model_checkpoint_hash branch_schedule_id
            reason_code_version selection_rng_state_hash;
        integer: random_seed;
    }))
}

fn read_trajectory(datum: &Datum, path: &str) -> Read<Trajectory> {
    let fields = Fields::of(datum, path, &["terminated_early", "steps"])?;
    let mut steps = Vec::new();
    for (index, step) in fields.items("steps")?.iter().enumerate() {
        steps.push(read_step(step, &format!("{path}.steps[{index}]"))?);
    }
    Ok(Trajectory { terminated_early: fields.boolean("terminated_early")?.unwrap_or(false), steps })
}

fn read_step(datum: &Datum, path: &str) -> Read<Step> {
    const KEYS: [&str; 15] = [
        "step_index",
        "selected_shell_index",
        "selection_score_label",
        "selection_policy",
        "selection_temperature",
        "selection_rng_seed",
        "candidate_rng_seed",
        "candidates",
        "labels",
        "selection_logits",
        "selection_probabilities",
        "selection_log_probabilities",
        "selected_depth",
        "target_eval",
        "candidate_trace_facts",
    ];
    let fields = Fields::of(datum, path, &KEYS)?;
    let candidates = read_candidates(fields.required("candidates")?, &fields.at("candidates"))?;
    let expand = |name: &str, missing: f32| -> Read<Option<Vec<f32>>> {
        let Some(given) = fields.floats(name)? else { return Ok(None) };
        expanded(given, &candidates.mask_valid, missing, &fields.at(name)).map(Some)
    };
    let mut labels = Vec::new();
    if let Some(datum) = fields.get("labels") {
        let at = fields.at("labels");
        let Datum::Map(map) = datum else { return mistake(at, "must be a map from metric to vector") };
        let keys: Vec<&str> = map.keys().map(String::as_str).collect();
        let own = Fields::of(datum, &at, &keys)?;
        for name in keys {
            if let Some(given) = own.floats(name)? {
                let mut values = expanded(given, &candidates.mask_valid, f32::NAN, &own.at(name))?;
                // A label of a candidate that cannot be taken is no label.
                for (value, valid) in values.iter_mut().zip(&candidates.mask_valid) {
                    if !valid {
                        *value = f32::NAN;
                    }
                }
                labels.push((name.to_owned(), values));
            }
        }
    }
    let valid = candidates.mask_valid.iter().filter(|valid| **valid).count();
    Ok(Step {
        step_index: fields.required_integer("step_index")?,
        selected_shell_index: fields.required_integer("selected_shell_index")?,
        selection_score_label: fields.required_text("selection_score_label")?,
        selection_policy: fields.required_text("selection_policy")?,
        selection_temperature: fields.float("selection_temperature")?,
        selection_rng_seed: fields.integer("selection_rng_seed")?,
        candidate_rng_seed: fields.integer("candidate_rng_seed")?,
        selection_logits: expand("selection_logits", f32::NAN)?,
        selection_probabilities: expand("selection_probabilities", 0.0)?,
        selection_log_probabilities: expand("selection_log_probabilities", f32::NEG_INFINITY)?,
        labels,
        selected_depth: fields
            .get("selected_depth")
            .map(|datum| SelectedDepth::read(datum, &fields.at("selected_depth")))
            .transpose()?,
        target_eval: fields
            .get("target_eval")
            .map(|datum| TargetEval::read(datum, &fields.at("target_eval"), valid))
            .transpose()?,
        candidate_trace_facts: fields
            .get("candidate_trace_facts")
            .map(|datum| TraceFacts::read(datum, &fields.at("candidate_trace_facts")))
            .transpose()?,
        candidates,
    })
}

/// A vector over the shell, or over its valid candidates only, as one over the shell.
fn expanded(given: Vec<f32>, valid: &[bool], missing: f32, path: &str) -> Read<Vec<f32>> {
    let count = valid.iter().filter(|valid| **valid).count();
    if given.len() == valid.len() {
        return Ok(given);
    }
    if given.len() != count {
        return mistake(
            path,
            format!("must hold {} numbers, or {count} for the valid candidates, got {}", valid.len(), given.len()),
        );
    }
    let mut next = given.into_iter();
    Ok(valid.iter().map(|valid| if *valid { next.next().unwrap_or(missing) } else { missing }).collect())
}

fn read_candidates(datum: &Datum, path: &str) -> Read<Candidates> {
    const KEYS: [&str; 10] = [
        "shell_poses",
        "mask_valid",
        "masks",
        "strategy_id",
        "position_id",
        "mixture_id",
        "position_pair_id",
        "gaze_variant_id",
        "sampler_probability",
        "extras",
    ];
    let fields = Fields::of(datum, path, &KEYS)?;
    let Some(shell_poses) = fields.rows("shell_poses")? else { return mistake(fields.at("shell_poses"), "is missing") };
    let Some(mask_valid) = fields.booleans("mask_valid")? else {
        return mistake(fields.at("mask_valid"), "is missing");
    };
    if mask_valid.len() != shell_poses.len() {
        let (n, length) = (shell_poses.len(), mask_valid.len());
        return mistake(fields.at("mask_valid"), format!("must have one element a candidate ({n}), got {length}"));
    }
    let mut masks = Vec::new();
    if let Some(datum) = fields.get("masks") {
        for (index, entry) in items(datum, &fields.at("masks"))?.iter().enumerate() {
            let place = format!("{}[{index}]", fields.at("masks"));
            let pair = items(entry, &place)?;
            let (Some(Datum::Value(crate::value::Value::Text(rule))), Some(mask), 2) =
                (pair.first(), pair.get(1), pair.len())
            else {
                return mistake(place, "must be a pair of the rule's name and its mask");
            };
            masks.push((rule.clone(), booleans(mask, &place)?));
        }
    }
    Ok(Candidates {
        strategy_id: fields.integers("strategy_id")?,
        position_id: fields.integers("position_id")?,
        mixture_id: fields.integers("mixture_id")?,
        position_pair_id: fields.integers("position_pair_id")?,
        gaze_variant_id: fields.integers("gaze_variant_id")?,
        sampler_probability: fields.floats("sampler_probability")?,
        extras: read_extras(fields.required("extras")?, &fields.at("extras"))?,
        shell_poses,
        mask_valid,
        masks,
    })
}

/// The diagnostics; of collisions all three are required.
fn read_extras(datum: &Datum, path: &str) -> Read<Extras> {
    const COLLISION: [&str; 3] =
        ["path_collision_mask", "path_collision_applicable_mask", "path_collision_evaluated_mask"];
    let known: Vec<&str> = COLLISION
        .into_iter()
        .chain(FLOAT_EXTRAS.iter().map(|(key, ..)| *key))
        .chain(BOOL_EXTRAS.iter().copied())
        .collect();
    let fields = Fields::of(datum, path, &known)?;
    let required = |name: &str| -> Read<Vec<bool>> {
        fields.required(name)?;
        Ok(fields.booleans(name)?.unwrap_or_default())
    };
    let [collision, applicable, evaluated] = COLLISION;
    let mut extras = Extras {
        path_collision_mask: required(collision)?,
        path_collision_applicable_mask: required(applicable)?,
        path_collision_evaluated_mask: required(evaluated)?,
        ..Extras::default()
    };
    for (key, ..) in FLOAT_EXTRAS {
        if let Some(values) = fields.floats(key)? {
            extras.floats.push((*key, values));
        }
    }
    for key in BOOL_EXTRAS {
        if let Some(values) = fields.booleans(key)? {
            extras.booleans.push((*key, values));
        }
    }
    Ok(extras)
}
