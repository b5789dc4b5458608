"""The optional parts of a rollout store, checked with numpy: depth, crops, the candidate codec,
observed targets, and the hash that binds a campaign's split. Used by check_store.py."""

import hashlib
import json
import math

import numpy as np

CODEC = {
    "step_candidate_facts": {
        "i8": "step_row_id proposal_replica",
        "i4": "codec_version_id candidate_program_hash_id request_binding_hash_id legacy_candidate_config_hash_id "
        "candidate_substream_revision_id action_order_revision_id completion_mode_id attempted_count valid_count "
        "action_count proposal_key_revision_id",
    },
    "candidate_semantics": {
        "i8": "candidate_row_id center_id attempt_round_id draw_id position_pair_id gaze_variant_id",
        "i4": "semantic_group_id center_family_id gaze_family_id candidate_family_id proposal_key_id "
        "target_frame_identity_id target_frame_availability_id",
    },
    "candidate_criteria": {
        "i8": "candidate_row_id reason_code source_role",
        "i2": "criterion_index",
        "i4": "criterion_id reason_revision_id source_role_revision_id",
        "b1": "legacy_cumulative_valid local_available applicable evaluated passed",
        "f4": "margin",
    },
    "candidate_actions": {"i8": "step_row_id", "i4": "action_position shell_index"},
    "candidate_valids": {"i8": "step_row_id", "i4": "valid_position shell_index"},
}

CONSTANT = {
    "codec_version_id": "candidate-trace-v1",
    "candidate_substream_revision_id": "shipped_mixture_seed_paths_v1",
    "action_order_revision_id": "ordered_hard_valid_v1",
    "completion_mode_id": "fixed_attempts",
}


class Violation(Exception):
    pass


def need(condition, what):
    if not np.all(condition):
        rows = np.flatnonzero(~np.atleast_1d(np.asarray(condition, dtype=bool)).reshape(-1))
        raise Violation(f"{what} (first at {rows[0]}, {rows.size} in all)")


def texts(array):
    return json.loads(bytes(array[:].tobytes()).decode("utf-8"))


def short_hash(value):
    """16 digits over compact UTF-8 JSON; no float here is small or large enough to be printed otherwise."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def check_depth(group, tables, root):
    depth = group["selected_depth"]
    attributes = dict(depth.attrs)
    for key, value in attributes.items():
        known = root["selected_depth_" + {"depth_dtype": "dtype"}.get(key, key)]
        need(known == value or known != known, f"selected_depth attribute {key}")
    height, width = root["selected_depth_height_px"], root["selected_depth_width_px"]
    states = tables["steps"]["step_row_id"].size
    rows = states if root["selected_depth_enabled"] else depth["depth_m"].shape[0]
    need(root["num_selected_depths"] == rows, "num_selected_depths")
    for name, dtype, shape in (
        ("step_row_id", "i8", (rows,)),
        ("candidate_row_id", "i8", (rows,)),
        ("focal_px", "f4", (rows, 2)),
        ("principal_point_px", "f4", (rows, 2)),
        ("image_size_hw", "i4", (rows, 2)),
        ("depth_m", "f2", (rows, height, width)),
        ("valid_mask", "b1", (rows, height, width)),
    ):
        array = depth[name]
        need(array.dtype == np.dtype(dtype) and array.shape == shape, f"selected_depth/{name}: {array.dtype}{array.shape}")
    if not root["selected_depth_enabled"]:
        return
    near, far = np.float32(root["selected_depth_znear_m"]), np.float32(root["selected_depth_zfar_m"])
    need(0 < near < far < math.inf, "clip planes")
    need(depth["step_row_id"][:] == tables["steps"]["step_row_id"], "selected_depth/step_row_id")
    need(depth["candidate_row_id"][:] == tables["steps"]["selected_candidate_row_id"], "selected_depth/candidate_row_id")
    focal = depth["focal_px"][:]
    need(np.isfinite(focal) & (focal > 0), "focal_px")
    need(np.isfinite(depth["principal_point_px"][:]), "principal_point_px")
    need(depth["image_size_hw"][:] == (height, width), "image_size_hw")
    metres, valid = depth["depth_m"][:].astype(np.float32), depth["valid_mask"][:]
    need(metres[~valid] == np.float32(root["selected_depth_invalid_fill_value"]), "an invalid pixel is not the fill value")
    need((metres[valid] >= near) & (metres[valid] <= far), "a valid pixel lies outside the clip planes")


def check_crops(group, tables, dictionaries, root):
    crops, points = group["target_eval_crops"], root["target_eval_crops_max_points"]
    rows = crops["crop_row_id"].shape[0]
    need(root["target_eval_crops_num_rows"] == rows, "target_eval_crops_num_rows")
    need(texts(crops["source_role_names"]) == ["current_eval", "candidate_eval"], "source_role_names")
    need(texts(crops["crop_policy_dictionary"]) == dictionaries["config"], "crop_policy_dictionary")
    for name, dtype, shape in (
        ("crop_row_id", "i8", (rows,)),
        ("step_row_id", "i8", (rows,)),
        ("candidate_row_id", "i8", (rows,)),
        ("source_role_id", "i4", (rows,)),
        ("crop_policy_id", "i4", (rows,)),
        ("voxel_size_m", "f4", (rows,)),
        ("max_points", "i4", (rows,)),
        ("lengths", "i4", (rows,)),
        ("points_world", "f4", (rows, points, 3)),
        ("mask", "b1", (rows, points)),
    ):
        array = crops[name]
        need(array.dtype == np.dtype(dtype) and array.shape == shape, f"target_eval_crops/{name}: {array.dtype}{array.shape}")
    need(root["target_eval_crops_enabled"] or rows == 0, "crops that are not enabled")
    need(crops["crop_row_id"][:] == np.arange(rows), "crop_row_id")
    roles, candidate, step = (crops[name][:] for name in ("source_role_id", "candidate_row_id", "step_row_id"))
    need(np.isin(roles, (0, 1)), "source_role_id")
    need(candidate[roles == 0] == -1, "candidate_row_id of a state's own crop")
    of = candidate[roles == 1]
    need((of >= 0) & (of < tables["candidates"]["step_row_id"].size), "candidate_row_id of a candidate's crop")
    need(tables["candidates"]["step_row_id"][of] == step[roles == 1], "a candidate's crop is of another step")
    lengths, mask, cloud = crops["lengths"][:], crops["mask"][:], crops["points_world"][:]
    need((lengths >= 0) & (lengths <= points), "lengths")
    need(mask == (np.arange(points) < lengths[:, None]), "mask")
    need(np.isfinite(cloud), "points_world")
    need(cloud[~mask] == 0, "points beyond the crop's length")


def check_codec(group, tables, dictionaries, root, manifest):
    codec = {}
    for name, dtypes in CODEC.items():
        columns = {column: dtype for dtype, names in dtypes.items() for column in names.split()}
        need(set(group[name].array_keys()) == set(columns), f"{name}: columns")
        codec[name] = {column: group[f"{name}/{column}"][:] for column in columns}
        for column, dtype in columns.items():
            need(codec[name][column].dtype == np.dtype(dtype), f"{name}/{column}: dtype")
        need(len({column.shape for column in codec[name].values()}) == 1, f"{name}: lengths differ")
    names = dictionaries["candidate_fact"]
    need(names == sorted(set(names)), "candidate_fact is not sorted and unique")
    facts, semantics, criteria = (codec[f"{name}"] for name in ("step_candidate_facts", "candidate_semantics", "candidate_criteria"))
    rows = {"step": facts, "semantic": semantics, "criterion": criteria, "action": codec["candidate_actions"], "valid": codec["candidate_valids"]}
    for name, table in rows.items():
        need(root[f"candidate_trace_{name}_rows"] == next(iter(table.values())).size, f"candidate_trace_{name}_rows")
    need(root["candidate_trace_codec_role"] == "audit_mixed_source_role_not_training_input", "codec role")

    def decoded(column):
        need((column >= 0) & (column < len(names)), "an id outside candidate_fact")
        return np.array([names[index] for index in column], dtype=object)

    for column, text in CONSTANT.items():
        need(decoded(facts[column]) == text, column)
    for column in ("candidate_program_hash_id", "request_binding_hash_id"):
        need([len(text) == 64 and set(text) <= set("0123456789abcdef") for text in decoded(facts[column])], column)
    for column in ("semantic_group_id", "center_family_id", "gaze_family_id", "candidate_family_id", "proposal_key_id"):
        need(decoded(semantics[column]) != "", column)
    steps, candidates, rollouts = tables["steps"], tables["candidates"], tables["rollouts"]
    need(np.array_equal(facts["step_row_id"], steps["step_row_id"]), "facts are not one a step")
    need(np.array_equal(semantics["candidate_row_id"], candidates["candidate_row_id"]), "semantics are not one a candidate")
    need(facts["attempted_count"] == steps["num_candidates"], "attempted_count")
    need((facts["proposal_replica"] >= -1) & ((facts["proposal_replica"] < 0) == (facts["proposal_key_revision_id"] < 0)), "proposal")
    for column in ("center_id", "attempt_round_id", "draw_id"):
        need(semantics[column] >= 0, column)
    pair, gaze = semantics["position_pair_id"], semantics["gaze_variant_id"]
    need(((pair >= 0) & (gaze >= 0)) | ((pair == -1) & (gaze == -1)), "pair and gaze")
    availability = decoded(semantics["target_frame_availability_id"])
    need(np.isin(availability.astype(str), ("available", "unavailable")), "availability")
    need((decoded(semantics["target_frame_identity_id"]) != "") == (availability == "available"), "frame identity")
    owner = rollouts["rollout_row_id"].searchsorted(steps["rollout_row_id"])
    config = tables["lineage"]["candidate_config_id"][owner]
    need(decoded(facts["legacy_candidate_config_hash_id"]) == [dictionaries["config"][index] for index in config], "legacy hash")
    for key, column in (
        ("candidate_program", "candidate_program_hash_id"),
        ("candidate_request", "request_binding_hash_id"),
        ("candidate_proposal_revision", "proposal_key_revision_id"),
        ("candidate", "legacy_candidate_config_hash_id"),
    ):
        of = facts[column][facts[column] >= 0]
        need(set(manifest["config_hashes"][key]) == set(decoded(of)), f"config_hashes.{key}")

    for kind, position, mask in (("valid", "valid_position", candidates["compact_valid_index"] >= 0), ("action", "action_position", candidates["actor_action_mask"])):
        table, counts = codec[f"candidate_{kind}s"], facts[f"{kind}_count"]
        need(np.array_equal(table["step_row_id"], np.repeat(steps["step_row_id"], counts)), f"{kind} rows")
        need(np.array_equal(table[position], np.concatenate([np.arange(count) for count in counts] or [[]])), position)
        need(np.array_equal(table["shell_index"], candidates["shell_index"][mask]), f"{kind} list")
    check_criteria(criteria, candidates, steps, decoded)


def check_criteria(criteria, candidates, steps, decoded):
    if criteria["candidate_row_id"].size == 0:
        return
    local, reason = criteria["local_available"], criteria["reason_code"]
    applicable, evaluated, passed = (criteria[name] for name in ("applicable", "evaluated", "passed"))
    need((evaluated <= applicable) & (passed <= evaluated) & (applicable <= local), "evidence masks")
    need(np.isfinite(criteria["margin"]) == local, "margin")
    need(np.where(local, (reason >= -1) & (reason <= 7), reason == -1), "reason_code")
    need((passed == (reason == 0)) & (evaluated == (reason != -1)) | ~local, "reason and mask")
    need(np.where(local, np.isin(criteria["source_role"], (1, 2)), criteria["source_role"] == -1), "source_role")
    for column in ("reason_revision_id", "source_role_revision_id"):
        need(np.isin(decoded(criteria[column]).astype(str), ("unavailable_v1", "candidate_admission_v1")), column)
    at = 0
    of_step = np.searchsorted(candidates["step_row_id"], steps["step_row_id"])
    owner = candidates["step_row_id"][criteria["candidate_row_id"]]
    for step, start, width in zip(steps["step_row_id"], of_step, steps["num_candidates"]):
        count = int((owner == step).sum()) // int(width)
        rows = slice(at, at + count * width)
        at += count * width
        need(np.array_equal(criteria["candidate_row_id"][rows], np.repeat(np.arange(start, start + width), count)), "criteria rows")
        need(np.array_equal(criteria["criterion_index"][rows], np.tile(np.arange(count), width)), "criterion_index")
        for column in ("criterion_id", "reason_revision_id", "source_role_revision_id"):
            table = criteria[column][rows].reshape(width, count)
            need(table == table[:1], f"{column} changes within a shell")
        need(np.unique(criteria["criterion_id"][rows][:count]).size == count, "a criterion twice")
        if count == 0:
            continue
        together = criteria["legacy_cumulative_valid"][rows].reshape(width, count)
        before = np.concatenate([np.ones((width, 1), dtype=bool), together[:, :-1]], axis=1)
        need(together <= before, "criteria are not cumulative")
        own = (~evaluated | passed)[rows].reshape(width, count)
        need(~local[rows].reshape(width, count) | (together == (before & own)), "a criterion contradicts its evidence")
        valid = candidates["compact_valid_index"][start : start + width] >= 0
        need(together[:, -1] == valid, "the last criterion is not the candidate's validity")
    need(at == criteria["candidate_row_id"].size, "criteria beyond the last step")


def observed_labels(tables, decoded):
    """Which targets can be trained on under v1_observed; `decoded(table, column)` gives texts."""
    targets, rollouts, sources = tables["targets"], tables["rollouts"], tables["sources"]
    text = {name: decoded("targets", f"{name}_id") for name in ("target", "target_source", "descriptor_source", "descriptor_provenance", "descriptor_hash", "explicit_target_hash", "matched_gt_target", "gt_match_status")}
    keys = dict(zip(sources["source_row_id"], decoded("sources", "sample_key_id")))
    labels = []
    for row in range(targets["target_row_id"].size):
        of = {name: values[row] for name, values in text.items()}
        iou = float(targets["gt_match_iou"][row])
        users = set(rollouts["source_row_id"][rollouts["target_row_id"] == targets["target_row_id"][row]])
        admitted = of["target_source"] == of["descriptor_source"] == "detected_obbs" and of["descriptor_provenance"] == "actor_visible_detector"
        label = bool(targets["target_valid_mask"][row]) and targets["matched_gt_target_row_id"][row] >= 0 and admitted
        label = label and of["gt_match_status"] == "admitted" and of["matched_gt_target"] != "" and math.isfinite(iou) and iou > 0.2
        label = label and len(of["descriptor_hash"]) == 64 and len(users) == 1
        if label:
            identity = {
                "sample_key": keys[next(iter(users))],
                "target_id": of["target"],
                "detected_source_row": int(targets["target_source_index"][row]),
                "gt_match_row": int(targets["matched_gt_target_row_id"][row]),
                "gt_match_id": of["matched_gt_target"],
                "oriented_iou": iou,
                "descriptor_hash": of["descriptor_hash"],
            }
            label = short_hash(identity) == of["explicit_target_hash"]
        labels.append(label)
    return np.array(labels, dtype=bool)


def check_campaign(tables, decoded, root):
    campaign = decoded("sources", "campaign_split_id")
    if all(split == "unknown" for split in campaign):
        need(root["campaign_split"] == "unknown", "campaign_split of the root")
        return
    columns = {key: decoded("sources", f"{key}_id") for key in ("sample_key", "scene", "snippet", "split", "source_shard", "source_offline_store_manifest_hash")}
    sources, records = tables["sources"], []
    for row, split in enumerate(campaign):
        record = {
            "order": row,
            "sample_index": int(sources["sample_index"][row]),
            "sample_key": columns["sample_key"][row],
            "scene_id": columns["scene"][row],
            "snippet_id": columns["snippet"][row],
            "split": columns["split"][row],
            "source_shard_id": columns["source_shard"][row],
            "source_shard_row": int(sources["source_shard_row"][row]),
        }
        if split != "unknown":
            record["campaign_split"] = split
        records.append(record)
    bound = {"source_manifest_hash": columns["source_offline_store_manifest_hash"][0], "split": columns["split"][0], "records": records}
    need(short_hash(bound) == root["split_manifest_hash"], "split_manifest_hash is not that of the sources")
