"""A rollout store as plain zarr-python and NumPy see it.

The derived view is derived once more, state by state, from the tables; the sidecar's digest is
taken with Python's own json. Prints `ok N candidates`, or stops at the first violation.
"""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import zarr

STORE = Path(sys.argv[1])
ROOT = zarr.open_group(STORE, mode="r")
REASONS = 24
# The order in which one of several reasons becomes the main one.
PRIORITY = [1, 6, 5, 2, 3, 7, 8, 9, 10, 16, 17, 12]


def demand(holds, what):
    if not holds:
        sys.exit(f"{STORE}: {what}")


def column(path):
    return ROOT[path][...]


def texts(name):
    return json.loads(bytes(column(f"dictionaries/{name}")))


def check_manifest():
    manifest = json.loads((STORE / "manifest.json").read_text(encoding="utf-8"))
    canonical = json.dumps(manifest, indent=2, sort_keys=True, ensure_ascii=True)
    digest = hashlib.sha256(canonical.encode("utf-8")).hexdigest()
    demand(ROOT.attrs["manifest_sha256"] == digest, f"manifest.json has the digest {digest}")
    demand(manifest["schema_version"] == ROOT.attrs["schema_version"], "manifest.json is of another schema")
    rows = {name: len(column(path)) for name, path in {
        "sources": "sources/source_row_id",
        "targets": "targets/target_row_id",
        "rollouts": "rollouts/rollout_row_id",
        "steps": "steps/step_row_id",
        "candidates": "candidates/candidate_row_id",
    }.items()}
    for name, count in rows.items():
        demand(manifest["counts"][name] == count, f"manifest.json counts other {name} than {count}")
        demand(ROOT.attrs[f"num_{name}"] == count, f"num_{name} is not {count}")


def derive(gamma):
    """The 17 arrays of `q_h`, from the tables alone."""
    step_ids, owners = column("steps/step_row_id"), column("steps/rollout_row_id")
    indices, chosen = column("steps/step_index"), column("steps/selected_candidate_row_id")
    candidate_ids, parents = column("candidates/candidate_row_id"), column("candidates/step_row_id")
    actor, train = column("candidates/actor_action_mask"), column("candidates/q_train_mask")
    gain, rri = column("candidates/target_root_gain"), column("candidates/target_rri")
    position, reasons = column("candidates/position_id"), column("candidates/invalid_reason_bitset")
    rollout_ids = column("rollouts/rollout_row_id")
    rollout_sources, rollout_targets = column("rollouts/source_row_id"), column("rollouts/target_row_id")

    shells = [np.flatnonzero(parents == step) for step in step_ids]
    states, width = len(step_ids), max((len(shell) for shell in shells), default=0)
    follows = {(int(owner), int(index)): int(step) for owner, index, step in zip(owners, indices, step_ids)}

    def vector(value, dtype):
        return np.full(states, value, dtype)

    def matrix(value, dtype):
        return np.full((states, width), value, dtype)

    view = {
        "state_step_row_id": step_ids.astype(np.int64),
        "source_row_id": vector(-1, np.int64),
        "target_row_id": vector(0, np.int64),
        "candidate_row_id": matrix(-1, np.int64),
        "valid_action_mask": matrix(False, bool),
        "q_train_mask": matrix(False, bool),
        "position_id": matrix(-1, np.int32),
        "one_step_target_rri": matrix(np.nan, np.float32),
        "one_step_target_root_gain": matrix(np.nan, np.float32),
        "invalid_reason_bitset": matrix(0, np.uint32),
        "selected_candidate_index": vector(-1, np.int32),
        "td_selected_candidate_row_id": chosen.astype(np.int64),
        "td_reward": vector(np.nan, np.float32),
        "td_reward_target_rri": vector(np.nan, np.float32),
        "td_next_step_row_id": vector(-1, np.int64),
        "td_terminal_mask": vector(True, bool),
        "td_discount": vector(0.0, np.float32),
    }
    for state, rows in enumerate(shells):
        chain = np.flatnonzero(rollout_ids == owners[state])
        if len(chain) == 1:
            view["source_row_id"][state] = rollout_sources[chain[0]]
            view["target_row_id"][state] = rollout_targets[chain[0]]
        here = (state, slice(len(rows)))
        valid = actor[rows]
        view["candidate_row_id"][here] = candidate_ids[rows]
        view["valid_action_mask"][here] = valid
        view["q_train_mask"][here] = train[rows] & valid
        view["position_id"][here] = position[rows]
        view["one_step_target_rri"][here] = np.where(valid, rri[rows], np.nan)
        view["one_step_target_root_gain"][here] = np.where(valid, gain[rows], np.nan)
        view["invalid_reason_bitset"][here] = reasons[rows]
        slots = np.flatnonzero(candidate_ids[rows] == chosen[state])
        if len(slots) == 0:
            continue
        row = rows[slots[-1]]
        view["selected_candidate_index"][state] = slots[-1]
        view["td_reward"][state] = gain[row]
        view["td_reward_target_rri"][state] = rri[row]
        following = follows.get((int(owners[state]), int(indices[state]) + 1), -1)
        view["td_next_step_row_id"][state] = following
        view["td_terminal_mask"][state] = following < 0
        view["td_discount"][state] = gamma if following >= 0 else 0.0
    return view


def check_view():
    view = derive(float(ROOT.attrs["discount_gamma"]))
    demand(sorted(ROOT["q_h"].array_keys()) == sorted(view), "q_h holds other arrays than the 17 of the format")
    for name, derived in view.items():
        stored = column(f"q_h/{name}")
        demand(stored.dtype == derived.dtype, f"q_h/{name}: dtype is {stored.dtype}, not {derived.dtype}")
        demand(stored.shape == derived.shape, f"q_h/{name}: shape is {stored.shape}, not {derived.shape}")
        same = np.isclose(stored, derived, equal_nan=True) if derived.dtype.kind == "f" else stored == derived
        demand(same.all(), f"q_h/{name}: is not what the tables give")
    attributes = ROOT["q_h"].attrs
    states, width = view["candidate_row_id"].shape
    demand(attributes["state_count"] == states and attributes["max_candidates"] == width, "q_h: counts are wrong")


def trainable(row):
    """Whether a target's evidence makes it one to train on (observed ones bind their hash too)."""
    def text(name, dictionary):
        known, index = texts(dictionary), int(column(f"targets/{name}")[row])
        return known[index] if 0 <= index < len(known) else ""

    if not column("targets/target_valid_mask")[row] or column("targets/matched_gt_target_row_id")[row] < 0:
        return False
    status = text("gt_match_status_id", "target_match_status")
    if ROOT.attrs["target_protocol_version"] == "v0_gt_input":
        return status in ("matched", "v0_gt_input")
    overlap = float(column("targets/gt_match_iou")[row])
    return status == "admitted" and overlap > 0.20 and text("matched_gt_target_id", "target") != ""


def check_candidates():
    actor, oracle = column("candidates/actor_action_mask"), column("candidates/oracle_label_mask")
    train, selected = column("candidates/q_train_mask"), column("candidates/selected_mask")
    finite = np.isfinite(column("candidates/target_root_gain"))
    demand((oracle == (actor & finite)).all(), "oracle_label_mask is not: valid with a finite root gain")

    target_ids = column("targets/target_row_id")
    labels = np.array([trainable(row) for row in range(len(target_ids))], bool)
    demand((column("targets/gt_label_valid_mask") == labels).all(), "gt_label_valid_mask is not what evidence gives")
    by_target = dict(zip(target_ids.tolist(), labels.tolist()))
    by_rollout = dict(zip(column("rollouts/rollout_row_id").tolist(), column("rollouts/target_row_id").tolist()))
    owners = column("candidates/rollout_row_id").tolist()
    allowed = np.array([by_target.get(by_rollout.get(owner), False) for owner in owners], bool)
    demand((train == (actor & oracle & allowed)).all(), "q_train_mask is not: actor, oracle and target together")

    demand(not (selected & ~actor).any(), "a selected candidate is not valid")
    parents, chosen = column("candidates/step_row_id"), column("steps/selected_candidate_row_id")
    by_step = dict(zip(column("steps/step_row_id").tolist(), chosen.tolist()))
    said = np.array([by_step.get(parent) for parent in parents.tolist()]) == column("candidates/candidate_row_id")
    demand((selected == said).all(), "selected_mask is not what steps say")

    bits, primary = column("candidates/invalid_reason_bitset"), column("candidates/primary_invalid_reason")
    demand((bits != 0).all() and (bits < 1 << REASONS).all(), "a candidate has no reason, or an unknown one")
    demand(((bits & 1 != 0) == actor).all(), "the reason VALID is not actor_action_mask")
    for own, main, valid in zip(bits.tolist(), primary.tolist(), actor.tolist()):
        expected = 0 if valid else next((bit for bit in PRIORITY if own >> bit & 1), 12)
        demand(main == expected, f"the main reason of {own:#x} is {expected}, not {main}")
    return len(actor)


def main():
    check_manifest()
    check_view()
    print(f"ok {check_candidates()} candidates")


main()
