"""Spaces as Gymnasium has them: built from our YAML, printed again, sampled, and spelled otherwise.

    check_spaces.py SPACES.yaml SAMPLES.json

SPACES.yaml is our list of encoded spaces, SAMPLES.json what we sampled from them: for each space
a list of [seed, samples]. Writes `theirs.yaml` (the encoding of the built spaces), `other.yaml`
(infinities as YAML's floats, integers as floats) and `other.json` (Python's JSON).
"""

import json
import math
import struct
import sys
from collections import OrderedDict

import numpy as np
import yaml
from gymnasium import logger, spaces

logger.min_level = logger.ERROR


def bounds(data, dtype, shape):
    """Nested lists of numbers and of the text of infinities as an array, or one of them for all.

    In an array of bounds Gymnasium cannot leave an int64 unbounded, whose limits float64 lacks.
    """
    endless = []

    def number(item):
        if isinstance(item, list):
            return [number(part) for part in item]
        if item in ("inf", "-inf"):
            endless.append(item)
            return float(item)
        return item

    numbers = number(data)
    if endless and dtype.kind != "f":
        array = np.array(numbers, dtype=np.float64)
        return array if dtype != np.int64 else float(array.ravel()[0])
    return np.array(numbers, dtype=dtype).reshape(shape)


def build(data):
    kind = data["type"]
    if kind == "Box":
        dtype, shape = np.dtype(data["dtype"]), tuple(data["shape"])
        low, high = (bounds(data[name], dtype, shape) for name in ("low", "high"))
        return spaces.Box(low, high, shape=shape, dtype=dtype)
    if kind == "Discrete":
        return spaces.Discrete(data["n"], start=data["start"], dtype=np.dtype(data.get("dtype", "int64")).type)
    if kind == "MultiDiscrete":
        nvec, start = (np.array(data[name], dtype=data["dtype"]) for name in ("nvec", "start"))
        shape = data.get("shape", nvec.shape)
        return spaces.MultiDiscrete(nvec.reshape(shape), dtype=data["dtype"], start=start.reshape(shape))
    if kind == "MultiBinary":
        return spaces.MultiBinary(data["n"])
    if kind == "Text":
        return spaces.Text(data["max_length"], min_length=data["min_length"], charset=data["charset"])
    if kind == "Dict":
        return spaces.Dict(OrderedDict((name, build(part)) for name, part in data["spaces"].items()))
    if kind in ("Tuple", "OneOf"):
        return getattr(spaces, kind)([build(part) for part in data["spaces"]])
    if kind == "Sequence":
        return spaces.Sequence(build(data["space"]), stack=data["stack"])
    edges = data["edge_space"]
    return spaces.Graph(build(data["node_space"]), None if edges is None else build(edges))


def encode(space):
    """The manifest's encoding, from the built space alone."""
    kind = type(space).__name__
    if kind == "Box":
        def listed(array, bounded, endless):
            flat = [number if kept else endless for number, kept in zip(array.ravel().tolist(), bounded.ravel())]
            return nest(iter(flat), space.shape)

        rest = {
            "low": listed(space.low, space.bounded_below, "-inf"),
            "high": listed(space.high, space.bounded_above, "inf"),
            "shape": list(space.shape),
            "dtype": str(space.dtype),
        }
    elif kind == "Discrete":
        rest = {"n": int(space.n), "start": int(space.start)}
        if space.dtype != np.int64:
            rest["dtype"] = str(space.dtype)
    elif kind == "MultiDiscrete":
        rest = {"nvec": space.nvec.tolist(), "start": space.start.tolist()}
        if np.array(rest["nvec"]).shape != space.shape:
            rest["shape"] = list(space.shape)
        rest["dtype"] = str(space.dtype)
    elif kind == "MultiBinary":
        rest = {"n": space.n if isinstance(space.n, int) else list(space.n)}
    elif kind == "Text":
        charset = "".join(space.character_list)
        rest = {"min_length": space.min_length, "max_length": space.max_length, "charset": charset}
    elif kind == "Dict":
        assert all(isinstance(name, str) for name in space.spaces)
        rest = {"spaces": {name: encode(part) for name, part in space.spaces.items()}}
    elif kind in ("Tuple", "OneOf"):
        rest = {"spaces": [encode(part) for part in space.spaces]}
    elif kind == "Sequence":
        rest = {"space": encode(space.feature_space), "stack": space.stack}
    else:
        edges = space.edge_space
        rest = {"node_space": encode(space.node_space), "edge_space": None if edges is None else encode(edges)}
    return {"type": kind, **rest}


def nest(leaves, shape):
    return [nest(leaves, shape[1:]) for _ in range(shape[0])] if shape else next(leaves)


def spelled(sample):
    """A sample as SAMPLES.json spells it: numbers by their bits, with their dtype and shape."""
    if isinstance(sample, spaces.GraphInstance):
        parts = {"nodes": sample.nodes, "edges": sample.edges, "edge_links": sample.edge_links}
        return {"m": {name: spelled(part) for name, part in parts.items() if part is not None}}
    if isinstance(sample, str):
        return {"t": sample}
    if isinstance(sample, dict):
        return {"m": {name: spelled(part) for name, part in sample.items()}}
    if isinstance(sample, tuple):
        return {"l": [spelled(part) for part in sample]}
    if isinstance(sample, np.ndarray):
        flat = sample.ravel().astype(np.float64) if sample.dtype.kind == "f" else sample.ravel().astype(np.int64)
        numbers = [struct.pack(">d", number).hex() if isinstance(number, float) else number for number in flat.tolist()]
        return {"a": [str(sample.dtype), list(sample.shape), numbers]}
    return {"d": int(sample)}


def otherwise(data):
    """The same data with floats for integers, and for the text of infinities."""
    if isinstance(data, dict):
        return {
            name: part if name in ("charset", "stack", "dtype", "type") else otherwise(part)
            for name, part in data.items()
        }
    if isinstance(data, list):
        return [otherwise(part) for part in data]
    if data in ("inf", "-inf"):
        return float(data)
    exact = type(data) is int and abs(data) < 2**53
    return float(data) if exact else data


with open(sys.argv[1], encoding="utf-8") as file:
    ours = file.read()
with open(sys.argv[2], encoding="utf-8") as file:
    samples = json.load(file)
built = [build(data) for data in yaml.safe_load(ours)]
encoded = [encode(space) for space in built]
theirs = yaml.safe_dump(encoded, sort_keys=False)
with open("theirs.yaml", "w", encoding="utf-8") as file:
    file.write(theirs)
if theirs != ours:
    sys.exit("PyYAML prints the spaces that Gymnasium built differently: see theirs.yaml\n" + theirs)
with open("other.yaml", "w", encoding="utf-8") as file:
    yaml.safe_dump(otherwise(encoded), file, sort_keys=False)
with open("other.json", "w", encoding="utf-8") as file:
    json.dump(otherwise(encoded), file)
assert math.inf in [number for space in built if isinstance(space, spaces.Box) for number in space.high.ravel()]

for space, seeds in zip(built, samples, strict=True):
    for seed, drawn in seeds:
        space.seed(seed)
        for index, sample in enumerate(drawn):
            drawn_there = space.sample()
            if isinstance(space, (spaces.Box, spaces.MultiDiscrete)):
                drawn_there = np.asarray(drawn_there)  # some are scalars where the shape is ()
            expected = spelled(drawn_there)
            if sample != expected:
                sys.exit(f"{space}, seed {seed}, sample {index}: {expected}, ours {sample}")
print("ok", len(built))
