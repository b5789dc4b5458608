#!/usr/bin/env python3
"""Checks a rollout store with plain zarr-python and numpy, on nothing of skyfall's own.

Opens the store, binds the manifest by its digest, re-derives the q_h view from the tables, and
checks ids, shells, masks, reasons, sums, poses, lineage, and of the optional parts (store_parts.py)
depth, crops, the candidate codec, observed targets and campaigns. Prints `ok` and the counts, or the
first violation and exits 1.

    check_store.py STORE
"""

import hashlib
import json
import math
import os
import sys
import warnings

import numpy as np
import zarr

# The tests leave nothing beside their own files.
sys.dont_write_bytecode = True
from store_parts import CODEC, Violation, check_campaign, check_codec, check_crops, check_depth, need, observed_labels, texts

GROUPS = (
    "metadata dictionaries sources lineage targets rollouts steps candidates "
    "candidate_diagnostics selected_depth target_eval_crops q_h"
).split()

DICTIONARIES = (
    "scene snippet rollout target source_key source_shard target_source policy score_source split config "
    "class_name target_match_status descriptor_source descriptor_provenance descriptor_hash "
    "explicit_target_hash termination_reason"
).split()

# Every column, by dtype; a name with `*n` is a vector column.
COLUMNS = {
    "sources": {
        "i8": "source_row_id sample_index source_shard_row",
        "i4": "sample_key_id scene_id snippet_id split_id campaign_split_id source_cache_version_id "
        "source_offline_store_manifest_hash_id split_manifest_hash_id source_shard_id",
    },
    "rollouts": {
        "i8": "rollout_row_id source_row_id root_time_ns target_row_id random_seed",
        "i4": "rollout_id chain_id root_trajectory_index root_frame_index scene_id snippet_id policy_id "
        "termination_reason split_id",
        "i2": "horizon branch_factor beam_width",
        "f4": "root_pose_world*12 temperature final_cumulative_target_rri final_cumulative_scene_rri "
        "final_cumulative_target_root_gain final_cumulative_scene_root_gain",
    },
    "lineage": {
        "i8": "rollout_row_id",
        "i4": "candidate_config_id oracle_config_id rollout_config_id model_checkpoint_id mesh_version_id "
        "branch_schedule_id target_protocol_version_id target_crop_policy_id reason_code_version_id "
        "selection_rng_state_hash_id",
    },
    "steps": {
        "i8": "step_row_id rollout_row_id selected_candidate_row_id candidate_seed selection_seed",
        "i4": "selected_shell_index selected_compact_valid_index num_candidates num_valid_candidates",
        "i2": "step_index",
        "f4": "cumulative_target_rri cumulative_scene_rri cumulative_target_root_gain cumulative_scene_root_gain",
    },
    "candidates": {
        "i8": "candidate_row_id step_row_id rollout_row_id position_pair_id",
        "i4": "shell_index compact_valid_index strategy_id position_id mixture_id score_source_id",
        "i2": "step_index",
        "i1": "gaze_variant_id",
        "u4": "invalid_reason_bitset",
        "u2": "primary_invalid_reason",
        "b1": "actor_action_mask oracle_label_mask q_train_mask selected_mask",
        "f4": "pose_world_cam*12 pose_relative_root*12 sampler_probability scene_rri target_rri scene_root_gain "
        "target_root_gain scene_log_error_gain target_log_error_gain scene_pm_dist_before scene_pm_dist_after "
        "target_pm_dist_before target_pm_dist_after target_current_support target_candidate_support "
        "selection_logits selection_probabilities selection_log_probabilities",
    },
    "candidate_diagnostics": {
        "i8": "candidate_row_id",
        "i4": "position_id",
        "b1": "path_collision_mask path_collision_applicable_mask path_collision_evaluated_mask "
        "view_jitter_is_bounded target_in_fov_mask target_view_evaluated_mask",
        "f4": "mesh_distance_m path_min_clearance_m free_space_margin_m motion_step_length_m "
        "motion_height_delta_m motion_backward_step_m motion_yaw_delta_deg target_distance_m "
        "target_bearing_yaw_deg view_jitter_yaw_deg view_jitter_pitch_deg view_jitter_azimuth_limit_deg "
        "view_jitter_elevation_limit_deg target_view_angle_deg target_pixel_margin_px",
    },
    "targets": {
        "i8": "target_row_id matched_gt_target_row_id",
        "i4": "target_id target_selection_policy_id target_selection_rank target_source_id target_source_index "
        "descriptor_source_id descriptor_provenance_id descriptor_hash_id explicit_target_hash_id target_sem_id "
        "target_inst_id target_class_name_id target_semidense_support_count target_evl_support_count "
        "target_reason_code_version_id matched_gt_target_id gt_match_status_id target_crop_policy_id",
        "u4": "target_invalid_reason_bitset",
        "u2": "target_primary_invalid_reason",
        "b1": "target_valid_mask gt_label_valid_mask",
        "f4": "target_selection_score target_selection_probability target_selection_temperature "
        "target_confidence target_projected_area_pixels target_projected_area_fraction "
        "target_effective_support_count target_visibility_score target_support_score target_deficit_score "
        "gt_match_iou gt_match_score target_center_world*3 target_extents*3 target_pose_world_object*12 "
        "target_relative_pose_reference_object*12",
    },
}

# Int columns that hold no dictionary id although their names end like one.
NOT_CODED = {"chain_id", "strategy_id", "position_id", "mixture_id", "target_sem_id", "target_inst_id"}

# Dictionaries whose columns are not named after them.
DICTIONARY_OF = {
    "sample_key_id": "source_key",
    "campaign_split_id": "split",
    "rollout_id": "rollout",
    "target_selection_policy_id": "policy",
    "target_class_name_id": "class_name",
    "matched_gt_target_id": "target",
    "gt_match_status_id": "target_match_status",
    "termination_reason": "termination_reason",
}

PRIORITY = [1, 6, 5, 2, 3, 7, 8, 9, 10, 16, 17, 12]


def same(a, b):
    """Equal, NaN to NaN; floats up to rounding."""
    if a.dtype.kind == "f":
        return np.isclose(a, b, rtol=1e-5, atol=1e-8, equal_nan=True)
    return a == b


def check_manifest(path, root):
    with open(f"{path}/{root['manifest_path']}", "rb") as file:
        raw = file.read()
    manifest = json.loads(raw)
    canonical = json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=True).encode()
    need(hashlib.sha256(canonical).hexdigest() == root["manifest_sha256"], "manifest digest differs")
    need(raw == canonical, "manifest.json is not in its canonical form")
    for key, value in manifest["root_attrs"].items():
        known = root.get(key)
        equal = known == value or (isinstance(value, float) and math.isnan(value) and known == "NaN")
        need(equal and type(known) in (type(value), str), f"root attribute {key} is not the manifest's")
    need(set(root) == set(manifest["root_attrs"]) | {"manifest_sha256"}, "root attributes are not the manifest's")
    for key, attribute in {
        "sources": "num_sources",
        "targets": "num_targets",
        "rollouts": "num_rollouts",
        "steps": "num_steps",
        "candidates": "num_candidates",
        "candidate_diagnostics": "num_candidate_diagnostics",
        "selected_depths": "num_selected_depths",
        "target_eval_crops": "target_eval_crops_num_rows",
        "q_h_states": "num_q_h_states",
        "q_h_max_candidates": "q_h_max_candidates",
    }.items():
        need(manifest["counts"][key] == root[attribute], f"manifest count {key} is not root {attribute}")
    return manifest


def read_tables(group, dictionaries):
    tables = {}
    for name, dtypes in COLUMNS.items():
        table, rows = {}, None
        for dtype, columns in dtypes.items():
            for column in columns.split():
                column, _, width = column.partition("*")
                array = group[f"{name}/{column}"][:]
                need(array.dtype == np.dtype(dtype), f"{name}/{column} is {array.dtype}")
                rows = array.shape[0] if rows is None else rows
                need(array.shape == ((rows, int(width)) if width else (rows,)), f"{name}/{column} is {array.shape}")
                coded = dtype == "i4" and (column.endswith("_id") or column == "termination_reason")
                if coded and column not in NOT_CODED:
                    size = len(dictionaries[dictionary_of(column)])
                    need((array >= -1) & (array < size), f"{name}/{column} has ids outside its dictionary")
                table[column] = array
        extra = set(group[name].array_keys()) - set(table) - {"target_protocol_version"}
        need(not extra, f"{name} has unknown columns {sorted(extra)}")
        tables[name] = table
    return tables


def dictionary_of(column):
    if column in DICTIONARY_OF:
        return DICTIONARY_OF[column]
    name = column.removesuffix("_id")
    return name if name in DICTIONARIES else "config"


def decode(dictionaries, table, column):
    names = dictionaries[dictionary_of(column)]
    return [names[index] if index >= 0 else "" for index in table[column]]


def check_ids(tables):
    for name, key in {
        "rollouts": "rollout_row_id",
        "steps": "step_row_id",
        "candidates": "candidate_row_id",
        "targets": "target_row_id",
    }.items():
        ids = tables[name][key]
        need(ids == np.arange(ids.size), f"{name}: ids are not dense")
    need(np.unique(tables["sources"]["source_row_id"]).size == tables["sources"]["source_row_id"].size, "source twice")
    need(np.array_equal(tables["lineage"]["rollout_row_id"], tables["rollouts"]["rollout_row_id"]), "lineage rows")
    diagnostics = tables["candidate_diagnostics"]
    need(np.array_equal(diagnostics["candidate_row_id"], tables["candidates"]["candidate_row_id"]), "diagnostics rows")
    need(diagnostics["position_id"] == tables["candidates"]["position_id"], "diagnostics: position_id differs")


def check_shells(tables):
    rollouts, steps, candidates = tables["rollouts"], tables["steps"], tables["candidates"]
    need(np.isin(steps["rollout_row_id"], rollouts["rollout_row_id"]), "steps: unknown rollout")
    for chain in range(rollouts["rollout_row_id"].size):
        rows = np.flatnonzero(steps["rollout_row_id"] == chain)
        need(rows.size and np.array_equal(rows, np.arange(rows[0], rows[0] + rows.size)), f"chain {chain}: scattered")
        need(steps["step_index"][rows] == np.arange(rows.size), f"chain {chain}: steps do not count from 0")
        need(rows.size <= rollouts["horizon"][chain], f"chain {chain}: longer than its horizon")
    start = 0
    for step, count in enumerate(steps["num_candidates"]):
        shell = slice(start, start + count)
        need(candidates["step_row_id"][shell] == step, f"step {step}: shell is not contiguous")
        need(candidates["shell_index"][shell] == np.arange(count), f"step {step}: shell order")
        need(candidates["rollout_row_id"][shell] == steps["rollout_row_id"][step], f"step {step}: rollout of shell")
        need(candidates["step_index"][shell] == steps["step_index"][step], f"step {step}: depth of shell")
        valid = candidates["actor_action_mask"][shell]
        need(steps["num_valid_candidates"][step] == valid.sum(), f"step {step}: num_valid_candidates")
        ranks = np.where(valid, np.cumsum(valid) - 1, -1)
        need(candidates["compact_valid_index"][shell] == ranks, f"step {step}: compact_valid_index")
        chosen = steps["selected_shell_index"][step]
        need(0 <= chosen < count and valid[chosen], f"step {step}: selection is not a valid candidate")
        need(steps["selected_candidate_row_id"][step] == start + chosen, f"step {step}: selected id")
        need(steps["selected_compact_valid_index"][step] == ranks[chosen], f"step {step}: selected rank")
        need(candidates["selected_mask"][shell] == (np.arange(count) == chosen), f"step {step}: selected_mask")
        start += count
    need(start == candidates["step_row_id"].size, "candidates beyond the last step")


def check_masks(tables, root):
    candidates, diagnostics = tables["candidates"], tables["candidate_diagnostics"]
    valid = candidates["actor_action_mask"]
    gain, rri = candidates["target_root_gain"], candidates["target_rri"]
    need(candidates["oracle_label_mask"] == (valid & np.isfinite(gain)), "oracle_label_mask")
    target = tables["rollouts"]["target_row_id"][candidates["rollout_row_id"]]
    trainable = (tables["targets"]["target_valid_mask"] & tables["targets"]["gt_label_valid_mask"])[target]
    need(candidates["q_train_mask"] == (candidates["oracle_label_mask"] & trainable), "q_train_mask")
    need(np.isfinite(rri[candidates["q_train_mask"]]), "target_rri is not finite where trained")
    for name in COLUMNS["candidates"]["f4"].split()[3:15]:
        need(np.isnan(candidates[name][~valid]), f"{name} on invalid rows")
    for name in ("strategy_id", "position_id", "mixture_id"):
        need(candidates[name][valid] >= 0, f"{name} of a valid row")
    need(np.isfinite(candidates["sampler_probability"][valid]), "sampler_probability of a valid row")
    pair, gaze = candidates["position_pair_id"], candidates["gaze_variant_id"]
    need(np.isin(gaze, (-1, 0, 1)) & ((pair < 0) == (gaze < 0)), "pair and gaze")

    bits, primary = candidates["invalid_reason_bitset"], candidates["primary_invalid_reason"]
    need((bits & 1).astype(bool) == valid, "bit 0 is not actor_action_mask")
    need(bits != 0, "no reason at all")
    expected = np.full(bits.shape, 12)
    for bit in reversed(PRIORITY):
        expected[(bits >> bit) & 1 == 1] = bit
    need(primary == np.where(valid, 0, expected), "primary_invalid_reason")
    collision = diagnostics["path_collision_mask"]
    evaluated = diagnostics["path_collision_evaluated_mask"]
    need(~evaluated | diagnostics["path_collision_applicable_mask"], "evaluated but not applicable")
    need(~collision | (evaluated & ~valid & ((bits >> 6) & 1 == 1)), "collision rules")
    if root["oracle_query_mode"] == "dense_valid":
        need(root["label_support_semantics"] == "equals_action_on_realized_steps_v1", "profile")
        need(candidates["q_train_mask"] == valid, "the dense profile labels every valid action")
    else:
        profile = (root["oracle_query_mode"], root["label_support_semantics"])
        need(profile == ("legacy_unspecified", "subset_of_action_v1"), "profile")


def check_poses(tables):
    candidates = tables["candidates"]
    roots = tables["rollouts"]["root_pose_world"]
    need(np.isfinite(roots).all(axis=1), "root_pose_world")
    pose = candidates["pose_world_cam"].astype(np.float64)
    need(np.isfinite(pose[candidates["actor_action_mask"]]), "pose of a valid row")
    root = roots.astype(np.float64)[candidates["rollout_row_id"]]
    inverse = root[:, :9].reshape(-1, 3, 3).transpose(0, 2, 1)
    with np.errstate(invalid="ignore"):
        rotation = inverse @ pose[:, :9].reshape(-1, 3, 3)
        shift = (inverse @ (pose[:, 9:] - root[:, 9:])[:, :, None])[:, :, 0]
        expected = np.concatenate([rotation.reshape(-1, 9), shift], axis=1)
    finite = np.isfinite(pose).all(axis=1)
    scale = np.maximum(1, np.abs(np.concatenate([root, pose], axis=1)).max(axis=1, initial=0))[finite, None]
    close = np.abs(candidates["pose_relative_root"][finite] - expected[finite]) <= 1e-5 * scale
    need(close.all(axis=1), "pose_relative_root")


def check_sums(tables):
    rollouts, steps, candidates = tables["rollouts"], tables["steps"], tables["candidates"]
    for name in ("target_rri", "scene_rri", "target_root_gain", "scene_root_gain"):
        stored = steps[f"cumulative_{name}"]
        values = candidates[name][steps["selected_candidate_row_id"]].astype(np.float64)
        total = math.nan
        for row in range(stored.size):
            if steps["step_index"][row] == 0:
                total = math.nan
            if math.isfinite(values[row]):
                total = values[row] if math.isnan(total) else total + values[row]
            need(np.isclose(stored[row], total, rtol=1e-5, atol=1e-6, equal_nan=True), f"cumulative_{name}[{row}]")
            final = rollouts[f"final_cumulative_{name}"][steps["rollout_row_id"][row]]
            last = row + 1 == stored.size or steps["step_index"][row + 1] == 0
            need(not last or same(final, stored[row]), f"final_cumulative_{name}")


def check_lineage(tables, dictionaries, root):
    rollouts, lineage, sources, targets = (tables[name] for name in ("rollouts", "lineage", "sources", "targets"))
    for column in ("candidate_config_id", "oracle_config_id", "rollout_config_id", "target_crop_policy_id"):
        need(all(decode(dictionaries, lineage, column)), f"lineage: {column} is empty")
    for column, key in (
        ("target_protocol_version_id", "target_protocol_version"),
        ("reason_code_version_id", "reason_code_version"),
    ):
        need(set(decode(dictionaries, lineage, column)) == {root[key]}, f"lineage: {column} is not root {key}")
    for column in ("source_shard_id", "source_cache_version_id", "source_offline_store_manifest_hash_id"):
        need(all(decode(dictionaries, sources, column)), f"sources: {column} is empty")
    hashes = set(decode(dictionaries, sources, "split_manifest_hash_id"))
    need(hashes == {root["split_manifest_hash"]}, "sources: split_manifest_hash_id")
    need(sources["source_shard_row"] >= 0, "sources: source_shard_row")
    need(np.unique(rollouts["split_id"]).size == 1, "more than one split")
    need(set(decode(dictionaries, rollouts, "split_id")) == {root["source_split"]}, "source_split")
    need(np.isin(rollouts["source_row_id"], sources["source_row_id"]), "rollouts: unknown source")
    need(np.isin(rollouts["target_row_id"], targets["target_row_id"]), "rollouts: unknown target")
    for target in range(targets["target_row_id"].size):
        owners = np.unique(rollouts["source_row_id"][rollouts["target_row_id"] == target])
        need(owners.size == 1, f"target {target} belongs to {owners.size} sources")
    need(targets["target_valid_mask"] == (targets["target_invalid_reason_bitset"] == 1), "target_valid_mask")
    if root["target_protocol_version"] == "v0_gt_input":
        need(set(decode(dictionaries, targets, "target_source_id")) == {"gt_obbs_oracle"}, "target source")
        status = np.isin(decode(dictionaries, targets, "gt_match_status_id"), ("matched", "v0_gt_input"))
        labelled = targets["target_valid_mask"] & (targets["matched_gt_target_row_id"] >= 0) & status
    else:
        need(root["target_protocol_version"] == "v1_observed", "target_protocol_version")
        need(set(decode(dictionaries, targets, "target_source_id")) == {"detected_obbs"}, "target source")
        labelled = observed_labels(tables, lambda table, column: decode(dictionaries, tables[table], column))
    need(targets["gt_label_valid_mask"] == labelled, "gt_label_valid_mask")


def derive_q_h(tables, gamma):
    rollouts, steps, candidates = tables["rollouts"], tables["steps"], tables["candidates"]
    shells = [np.flatnonzero(candidates["step_row_id"] == step) for step in steps["step_row_id"]]
    states, width = len(shells), max((shell.size for shell in shells), default=0)
    valid = candidates["actor_action_mask"]
    padded = {
        "candidate_row_id": (candidates["candidate_row_id"], -1),
        "valid_action_mask": (valid, False),
        "q_train_mask": (candidates["q_train_mask"] & valid, False),
        "position_id": (candidates["position_id"], -1),
        "one_step_target_rri": (np.where(valid, candidates["target_rri"], np.float32("nan")), np.nan),
        "one_step_target_root_gain": (np.where(valid, candidates["target_root_gain"], np.float32("nan")), np.nan),
        "invalid_reason_bitset": (candidates["invalid_reason_bitset"], 0),
    }
    view = {}
    for name, (values, fill) in padded.items():
        view[name] = np.full((states, width), fill, dtype=values.dtype)
        for state, shell in enumerate(shells):
            view[name][state, : shell.size] = values[shell]
    parent = [int(np.flatnonzero(rollouts["rollout_row_id"] == chain)[0]) for chain in steps["rollout_row_id"]]
    chain_step = zip(steps["rollout_row_id"], steps["step_index"], steps["step_row_id"])
    after = {(chain, index): step for chain, index, step in chain_step}
    chosen = [np.flatnonzero(view["candidate_row_id"][s] == steps["selected_candidate_row_id"][s]) for s in range(states)]
    local = np.array([found[-1] if found.size else -1 for found in chosen], dtype=np.int32)
    row = np.array([shells[s][local[s]] for s in range(states)])
    succeeding = zip(steps["rollout_row_id"], steps["step_index"])
    following = np.array([after.get((chain, index + 1), -1) for chain, index in succeeding], dtype=np.int64)
    view |= {
        "state_step_row_id": steps["step_row_id"],
        "source_row_id": rollouts["source_row_id"][parent],
        "target_row_id": rollouts["target_row_id"][parent],
        "selected_candidate_index": local,
        "td_selected_candidate_row_id": steps["selected_candidate_row_id"],
        "td_reward": candidates["target_root_gain"][row],
        "td_reward_target_rri": candidates["target_rri"][row],
        "td_next_step_row_id": following,
        "td_terminal_mask": following < 0,
        "td_discount": np.where(following < 0, 0.0, gamma).astype(np.float32),
    }
    return view


def check_q_h(group, tables, root):
    derived = derive_q_h(tables, root["discount_gamma"])
    need(set(group["q_h"].array_keys()) == set(derived), "q_h does not hold its 17 arrays")
    states, width = derived["candidate_row_id"].shape
    rows = max(1, min(root["q_h_chunk_states"], states))
    for name, expected in derived.items():
        array = group[f"q_h/{name}"]
        need(array.dtype == expected.dtype and array.shape == expected.shape, f"q_h/{name}: {array.dtype}{array.shape}")
        need(same(array[:], expected), f"q_h/{name} is not what the tables give")
        need(array.chunks == ((rows, max(1, width)) if array.ndim == 2 else (rows,)), f"q_h/{name}: {array.chunks}")
    attributes = dict(group["q_h"].attrs)
    horizon = int(tables["rollouts"]["horizon"].max(initial=1))
    for key, value in {"state_count": states, "max_candidates": width, "horizon": horizon}.items():
        need(type(attributes[key]) is int and attributes[key] == value, f"q_h attribute {key}")
    need(type(attributes["discount_gamma"]) is float, "q_h attribute discount_gamma is no float")
    need(attributes["discount_gamma"] == root["discount_gamma"], "q_h attribute discount_gamma")
    need(attributes["td_semantics"] == "selected_transition_only", "q_h attribute td_semantics")
    need(attributes["reward_metric"] == "target_root_gain", "q_h attribute reward_metric")
    need(attributes["return_semantics"] == root["return_semantics"], "q_h attribute return_semantics")


def check_nodes(path, group, root):
    """Every chunk has its file, in codecs that every reader knows."""
    need(root["chunks_stored"] == "all", "chunks_stored")
    for name, node in group.members(max_depth=None):
        if not isinstance(node, zarr.Array):
            continue
        need(not dict(node.attrs), f"{name} has attributes")
        codecs = [codec.to_dict()["name"] for codec in node.metadata.codecs]
        need(codecs in (["bytes", "zstd"], ["bytes", "blosc", "crc32c"], ["sharding_indexed"]), f"{name}: codecs {codecs}")
        files = math.prod(-(-length // part) for length, part in zip(node.shape, node.shards or node.chunks))
        found = [file for _, _, files in os.walk(f"{path}/{name}/c") for file in files]
        need(len(found) == (0 if 0 in node.shape else files), f"{name}: {len(found)} of {files} files")


def check(path):
    group = zarr.open_group(path, mode="r")
    root = dict(group.attrs)
    need(root["schema_id"] == "aria_nbv.rollout_zarr_q_invalidity", "schema_id")
    need(root["schema_version"] == "2.0-target-rollout-provenance", "schema_version")
    codec = "candidate_trace_codec_version" in root
    groups = set(GROUPS) | (set(CODEC) if codec else set())
    need(set(group.group_keys()) == groups, f"groups are {sorted(group.group_keys())}")
    check_nodes(path, group, root)
    manifest = check_manifest(path, root)
    names = DICTIONARIES + (["candidate_fact"] if codec else [])
    need(set(group["dictionaries"].array_keys()) == set(names), "dictionaries")
    dictionaries = {name: texts(group[f"dictionaries/{name}"]) for name in names}
    for name, names in dictionaries.items():
        need(manifest["dictionary_sizes"][name] == len(names), f"dictionary_sizes of {name}")
        need(name == "rollout" or names == sorted(set(names)) or name == "config", f"dictionary {name} is not sorted")
    tables = read_tables(group, dictionaries)
    for name, key in (("rollouts", "rollout_row_id"), ("steps", "step_row_id"), ("candidates", "candidate_row_id")):
        need(tables[name][key].size == root[f"num_{name}"], f"root num_{name}")
    need(texts(group["targets/target_protocol_version"]) == [root["target_protocol_version"]], "protocol")
    need(group["metadata/reason_code_bits"][:] == np.arange(24), "reason_code_bits")
    need(len(texts(group["metadata/reason_code_names"])) == 24, "reason_code_names")
    check_ids(tables)
    check_shells(tables)
    check_masks(tables, root)
    check_poses(tables)
    check_sums(tables)
    check_lineage(tables, dictionaries, root)
    check_campaign(tables, lambda table, column: decode(dictionaries, tables[table], column), root)
    check_q_h(group, tables, root)
    check_depth(group, tables, root)
    check_crops(group, tables, dictionaries, root)
    if codec:
        check_codec(group, tables, dictionaries, root, manifest)
    return {name: root[f"num_{name}"] for name in ("rollouts", "steps", "candidates")}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    # The manifest is no node of the hierarchy, which zarr-python mentions each time it lists one.
    warnings.filterwarnings("ignore", message="Object at .* is not recognized")
    try:
        counts = check(sys.argv[1])
    except Violation as violation:
        print(violation)
        sys.exit(1)
    print("ok:", ", ".join(f"{count} {name}" for name, count in counts.items()))


if __name__ == "__main__":
    main()
