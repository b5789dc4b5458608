"""Plain data, spaces and their elements, as skyfall's protocol spells them.

The first half of the driver: driver.py follows in the same text.
"""

import datetime
import importlib
import json
import math

try:
    import numpy as np
except ModuleNotFoundError as missing:
    # Told as the answer to `make`, when someone listens.
    np, no_numpy = None, missing


RECORDED = ("invalid_action", "observed_at", "effective_rank", "ticket_snapshot", "verifier_snapshot")


class Failure(Exception):
    """What is told as it stands, without the name of an exception."""


def gymnasium():
    return importlib.import_module("gymnasium")


def number(value):
    """Whether `value` is a number or a truth value."""
    return isinstance(value, (bool, int, float, np.bool_, np.integer, np.floating))


def plain(value):
    """`value` as JSON knows it; raises TypeError when it is something else."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, (np.bool_, np.integer, np.floating, np.ndarray)):
        if value.dtype.kind in "biuf":
            return value.astype(float).tolist() if value.dtype.itemsize > 8 else value.tolist()
        if value.dtype.kind == "U":
            return value.tolist()
    elif isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    elif isinstance(value, dict):
        if all(isinstance(key, (str, int, np.integer)) for key in value):
            return {str(key): plain(item) for key, item in value.items()}
    elif isinstance(value, (datetime.datetime, datetime.date)):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} is not plain data")


def plain_entries(entries):
    """The entries of a mapping that are plain data; those that are recorded must be."""
    kept = {}
    for key, value in entries.items():
        if isinstance(key, str):
            try:
                kept[key] = plain(value)
            except (TypeError, RecursionError) as problem:
                if key in RECORDED:
                    raise Failure(f"info[{key!r}] cannot be recorded: {problem}") from problem
    return kept


def json_float(value):
    return repr(value) if math.isfinite(value) else json.dumps(value)


def kind(space):
    """The name of the Gymnasium space that `space` is."""
    for cls in type(space).__mro__:
        if cls.__module__.split(".")[0] in ("gymnasium", "gym") and cls.__name__ in CODECS:
            return cls.__name__
    raise Failure(f"spaces of type {type(space).__name__} are not supported")


def encode_bounds(values, bounded, infinite):
    """Bounds as nested lists, or one for all; the infinite ones as text."""
    if values.size > 1 and (values == values.flat[0]).all() and (bounded == bounded.flat[0]).all():
        values, bounded = values.flat[0], bounded.flat[0]
    if values.ndim:
        return [encode_bounds(*pair, infinite) for pair in zip(values, bounded)]
    return values.item() if bounded and math.isfinite(values.item()) else infinite


def encode(space):
    """The space as skyfall's manifest spells it."""
    name = kind(space)
    if name == "Box":
        fields = {
            "low": encode_bounds(space.low, np.asarray(space.bounded_below), "-inf"),
            "high": encode_bounds(space.high, np.asarray(space.bounded_above), "inf"),
            "shape": list(space.shape),
            "dtype": space.dtype.name,
        }
    elif name == "Discrete":
        fields = {"n": int(space.n), "start": int(space.start), "dtype": space.dtype.name}
    elif name == "MultiDiscrete":
        start = getattr(space, "start", np.zeros_like(space.nvec))
        fields = {"nvec": space.nvec.tolist(), "start": start.tolist(), "dtype": space.dtype.name}
    elif name == "MultiBinary":
        fields = {"n": space.n if isinstance(space.n, int) else [int(length) for length in space.n]}
    elif name == "Text":
        charset = "".join(space.character_list)
        fields = {"min_length": space.min_length, "max_length": space.max_length, "charset": charset}
    elif name == "Dict":
        fields = {"spaces": {str(key): encode(part) for key, part in space.spaces.items()}}
    elif name in ("Tuple", "OneOf"):
        fields = {"spaces": [encode(part) for part in space.spaces]}
    elif name == "Sequence":
        fields = {"space": encode(space.feature_space), "stack": bool(space.stack)}
    else:
        edges = space.edge_space
        fields = {"node_space": encode(space.node_space), "edge_space": edges and encode(edges)}
    return {"type": name, **fields}


# A codec is a pair of functions made for one space: one writes an element as JSON text (arrays
# into the frame's bytes), one reads it from parsed JSON.


def array_codec(dtype, shape):
    """Arrays of `dtype`; `shape` is None where it may vary."""
    dtype = np.dtype(dtype)
    little = dtype.newbyteorder("<")
    text = None if shape is None else json.dumps(shape)

    def write(value, extra):
        array = value
        if type(array) is not np.ndarray or array.dtype != dtype:
            array = np.asarray(value)
            if array.size and not np.can_cast(array.dtype, dtype, "same_kind"):
                if array.dtype.kind not in "biu" or (array.astype(dtype) != array).any():
                    raise Failure(f"an array of {array.dtype} came where the space has {dtype}")
            array = array.astype(dtype)
        if shape is not None and array.shape != shape:
            raise Failure(f"an array of shape {array.shape} came where the space has {shape}")
        at = len(extra)
        extra += array.astype(little, copy=False).tobytes()
        return f'{{"raw":{at},"shape":{text or json.dumps(array.shape)}}}'

    def read(value, extra):
        if isinstance(value, dict):
            count = math.prod(value["shape"])
            flat = np.frombuffer(extra, little, count, value["raw"])
            return flat.reshape(value["shape"]).astype(dtype)
        return np.array(value, dtype) if shape is None else np.array(value, dtype).reshape(shape)

    return write, read


def box(space):
    return array_codec(space.dtype, space.shape)


def discrete(space):
    def write(value, extra):
        if isinstance(value, np.ndarray) and value.size == 1:
            value = value.item()
        if not isinstance(value, (int, np.integer, np.bool_)):
            raise Failure(f"{type(value).__name__} came where the space has an integer")
        return str(int(value))

    return write, lambda value, extra: space.dtype.type(value)


def text(space):
    def write(value, extra):
        if not isinstance(value, str):
            raise Failure(f"{type(value).__name__} came where the space has text")
        return json.dumps(str(value))

    return write, lambda value, extra: value


def mapping(parts):
    names = {key: json.dumps(str(key)) for key in parts}

    def write(value, extra):
        if set(value) != set(parts):
            raise Failure(f"the keys {sorted(map(str, value))} came where the space has {sorted(names)}")
        return "{" + ",".join(f"{names[key]}:{part[0](value[key], extra)}" for key, part in parts.items()) + "}"

    return write, lambda value, extra: {key: part[1](value[str(key)], extra) for key, part in parts.items()}


def tuples(parts):
    def write(value, extra):
        if len(value) != len(parts):
            raise Failure(f"{len(value)} parts came where the space has {len(parts)}")
        return "[" + ",".join(part[0](item, extra) for part, item in zip(parts, value)) + "]"

    return write, lambda value, extra: tuple(part[1](item, extra) for part, item in zip(parts, value))


def one_of(space):
    parts = [codec(part) for part in space.spaces]

    def write(value, extra):
        index, item = value
        return f"[{int(index)},{parts[index][0](item, extra)}]"

    return write, lambda value, extra: (np.int64(value[0]), parts[value[0]][1](value[1], extra))


def sequence(space):
    return stacked(space.feature_space) if space.stack else row(space.feature_space)


def row(space):
    """Tuples of any number of elements of `space`."""
    write_part, read_part = codec(space)

    def write(value, extra):
        return "[" + ",".join(write_part(item, extra) for item in value) + "]"

    return write, lambda value, extra: tuple(read_part(item, extra) for item in value)


def stacked(space):
    """Any number of elements of `space` as Gymnasium's vector utilities batch them."""
    name = kind(space)
    if name in ("Box", "Discrete", "MultiDiscrete", "MultiBinary"):
        return array_codec(space.dtype, None)
    if name == "Dict":
        return mapping({key: stacked(part) for key, part in space.spaces.items()})
    if name == "Tuple":
        return tuples([stacked(part) for part in space.spaces])
    return row(space)


def graph(space):
    parts = {"nodes": stacked(space.node_space)}
    if space.edge_space is not None:
        parts |= {"edges": stacked(space.edge_space), "edge_links": array_codec(np.int32, None)}

    def write(value, extra):
        told = {name: part[0](getattr(value, name), extra) for name, part in parts.items() if getattr(value, name) is not None}
        return "{" + ",".join(f'"{name}":{text}' for name, text in told.items()) + "}"

    def read(value, extra):
        found = {name: parts[name][1](item, extra) for name, item in value.items() if item is not None}
        return gymnasium().spaces.GraphInstance(found["nodes"], found.get("edges"), found.get("edge_links"))

    return write, read


CODECS = {
    "Box": box,
    "Discrete": discrete,
    "MultiDiscrete": box,
    "MultiBinary": box,
    "Text": text,
    "Dict": lambda space: mapping({key: codec(part) for key, part in space.spaces.items()}),
    "Tuple": lambda space: tuples([codec(part) for part in space.spaces]),
    "OneOf": one_of,
    "Sequence": sequence,
    "Graph": graph,
}


def codec(space):
    return CODECS[kind(space)](space)
