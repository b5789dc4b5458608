"""A rollout store as a Python reader sees it: opened by zarr-python, the padded view derived
again from the tables, the manifest's digest taken with Python's json, the masks checked."""

import hashlib
import json
import pathlib
import sys

import numpy
import zarr


def fail(message):
    sys.exit(f"violation: {message}")


def expect(condition, message):
    if not condition:
        fail(message)


def table(root, name):
    return {key: array[...] for key, array in root[name].arrays()}


def same(left, right):
    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    if left.dtype.kind == "f":
        return numpy.allclose(left, right, rtol=1e-5, atol=1e-8, equal_nan=True)
    return bool((left == right).all())


def view(steps, candidates, rollouts, gamma):
    """The 17 arrays, state by state."""
    states = len(steps["step_row_id"])
    shells = [numpy.flatnonzero(candidates["step_row_id"] == step) for step in steps["step_row_id"]]
    width = max(len(shell) for shell in shells)
    empty = {
        "candidate_row_id": numpy.full((states, width), -1, "i8"),
        "valid_action_mask": numpy.zeros((states, width), bool),
        "q_train_mask": numpy.zeros((states, width), bool),
        "position_id": numpy.full((states, width), -1, "i4"),
        "one_step_target_rri": numpy.full((states, width), numpy.nan, "f4"),
        "one_step_target_root_gain": numpy.full((states, width), numpy.nan, "f4"),
        "invalid_reason_bitset": numpy.zeros((states, width), "u4"),
        "state_step_row_id": steps["step_row_id"].copy(),
        "source_row_id": numpy.full(states, -1, "i8"),
        "target_row_id": numpy.zeros(states, "i8"),
        "selected_candidate_index": numpy.full(states, -1, "i4"),
        "td_selected_candidate_row_id": steps["selected_candidate_row_id"].copy(),
        "td_reward": numpy.full(states, numpy.nan, "f4"),
        "td_reward_target_rri": numpy.full(states, numpy.nan, "f4"),
        "td_next_step_row_id": numpy.full(states, -1, "i8"),
        "td_terminal_mask": numpy.ones(states, bool),
        "td_discount": numpy.zeros(states, "f4"),
    }
    following = {
        (rollout, index): step
        for rollout, index, step in zip(steps["rollout_row_id"], steps["step_index"], steps["step_row_id"])
    }
    for state, shell in enumerate(shells):
        valid = candidates["actor_action_mask"][shell]
        slots = slice(0, len(shell))
        empty["candidate_row_id"][state, slots] = candidates["candidate_row_id"][shell]
        empty["valid_action_mask"][state, slots] = valid
        empty["q_train_mask"][state, slots] = candidates["q_train_mask"][shell] & valid
        empty["position_id"][state, slots] = candidates["position_id"][shell]
        empty["invalid_reason_bitset"][state, slots] = candidates["invalid_reason_bitset"][shell]
        for column in ("target_rri", "target_root_gain"):
            labels = numpy.where(valid, candidates[column][shell], numpy.nan)
            empty[f"one_step_{column}"][state, slots] = labels
        rollout = numpy.flatnonzero(rollouts["rollout_row_id"] == steps["rollout_row_id"][state])
        empty["source_row_id"][state] = rollouts["source_row_id"][rollout[0]]
        empty["target_row_id"][state] = rollouts["target_row_id"][rollout[0]]
        chosen = numpy.flatnonzero(candidates["candidate_row_id"][shell] == steps["selected_candidate_row_id"][state])
        if len(chosen):
            row = shell[chosen[-1]]
            empty["selected_candidate_index"][state] = chosen[-1]
            empty["td_reward"][state] = candidates["target_root_gain"][row]
            empty["td_reward_target_rri"][state] = candidates["target_rri"][row]
            key = (steps["rollout_row_id"][state], steps["step_index"][state] + 1)
            if key in following:
                empty["td_next_step_row_id"][state] = following[key]
                empty["td_terminal_mask"][state] = False
                empty["td_discount"][state] = gamma
    return empty


def main(path):
    root = zarr.open_group(path, mode="r")
    manifest = json.loads(pathlib.Path(path, "manifest.json").read_text("utf-8"))
    canonical = json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=True).encode("utf-8")
    expect(hashlib.sha256(canonical).hexdigest() == root.attrs["manifest_sha256"], "manifest digest")
    expect(
        {key: value for key, value in root.attrs.items() if key != "manifest_sha256"} == manifest["root_attrs"],
        "root attributes differ from the manifest's",
    )
    steps, candidates = table(root, "steps"), table(root, "candidates")
    rollouts, targets = table(root, "rollouts"), table(root, "targets")
    for name, expected in view(steps, candidates, rollouts, root.attrs["discount_gamma"]).items():
        expect(same(root[f"q_h/{name}"][...], expected), f"q_h/{name} is not what the tables say")
    actor, oracle = candidates["actor_action_mask"], candidates["oracle_label_mask"]
    usable = targets["target_valid_mask"] & targets["gt_label_valid_mask"]
    target = rollouts["target_row_id"][candidates["rollout_row_id"]]
    expect((oracle == (actor & numpy.isfinite(candidates["target_root_gain"]))).all(), "oracle_label_mask")
    expect((candidates["q_train_mask"] == (oracle & usable[target])).all(), "q_train_mask")
    expect(not (candidates["selected_mask"] & ~actor).any(), "a selected candidate is invalid")
    expect((actor == (candidates["invalid_reason_bitset"] == 1)).all(), "invalid reasons")
    for name, array in root["dictionaries"].arrays():
        texts = json.loads(bytes(array[...]).decode("utf-8"))
        expect(all(isinstance(text, str) for text in texts), f"dictionary {name}")
    print(f"ok {len(actor)} candidates")


main(sys.argv[1])
