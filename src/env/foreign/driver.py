"""Drives one Gymnasium environment for skyfall, over standard input and output.

Handed to the interpreter by skyfall; the protocol is docs/environment-protocol.md. What the
environment prints goes to standard error, so that it cannot spoil the pipe. Standard input
ending is the sign to close the environment and end.
"""

import datetime
import importlib
import json
import math
import os
import platform
import select
import struct
import sys
import threading
import time
import traceback

VERSION = 1
PREFIX = struct.Struct("<II")
GRACE = 5.0


class Failure(Exception):
    """What is told as it stands, without the name of an exception."""


# --- the pipe ---------------------------------------------------------------------------------


class Pipe:
    """Frames in and out, on descriptors of their own."""

    def __init__(self):
        self.source, self.sink = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        sys.stdout.reconfigure(line_buffering=True)
        self.data = b""
        threading.Thread(target=self.end_with_the_reader, daemon=True).start()

    def end_with_the_reader(self):
        """An environment that hangs must not outlive the process that asked for it."""
        poll = select.poll()
        poll.register(self.source, 0)
        poll.poll()
        time.sleep(GRACE)
        os._exit(1)

    def fill(self, length):
        """Whether `self.data` holds `length` bytes, after reading as many as are missing."""
        if len(self.data) >= length:
            return True
        chunks, have = [self.data], len(self.data)
        while have < length:
            chunk = os.read(self.source, max(65536, length - have))
            if not chunk:
                return False
            chunks.append(chunk)
            have += len(chunk)
        self.data = b"".join(chunks)
        return True

    def receive(self):
        """The next question and its bytes; None at the end."""
        if not self.fill(8):
            return None
        head, extra = PREFIX.unpack_from(self.data)
        if not self.fill(8 + head + extra):
            return None
        data, end = self.data, 8 + head + extra
        self.data = data[end:]
        return json.loads(data[8 : 8 + head]), data[8 + head : end]

    def send(self, head, extra=b""):
        head = head.encode()
        data = b"".join((PREFIX.pack(len(head), len(extra)), head, extra))
        sent = os.write(self.sink, data)
        while sent < len(data):
            sent += os.write(self.sink, memoryview(data)[sent:])


# --- plain data -------------------------------------------------------------------------------


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
        if all(isinstance(key, str) for key in value):
            return {str(key): plain(item) for key, item in value.items()}
    elif isinstance(value, (datetime.datetime, datetime.date)):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} is not plain data")


def plain_entries(entries):
    """The entries of a mapping that are plain data."""
    kept = {}
    for key, value in entries.items():
        if isinstance(key, str):
            try:
                kept[key] = plain(value)
            except (TypeError, RecursionError):
                pass
    return kept


def json_float(value):
    return repr(value) if math.isfinite(value) else json.dumps(value)


# --- spaces -----------------------------------------------------------------------------------


def kind(space):
    """The name of the Gymnasium space that `space` is."""
    for cls in type(space).__mro__:
        if cls.__module__.split(".")[0] in ("gymnasium", "gym") and cls.__name__ in CODECS:
            return cls.__name__
    raise Failure(f"spaces of type {type(space).__name__} are not supported")


def encode_bounds(values, bounded, infinite):
    """Bounds as nested lists, the infinite ones as text."""
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


def mapping(space):
    parts = {key: codec(part) for key, part in space.spaces.items()}
    names = {key: json.dumps(str(key)) for key in parts}

    def write(value, extra):
        if set(value) != set(parts):
            raise Failure(f"the keys {sorted(map(str, value))} came where the space has {sorted(names)}")
        return "{" + ",".join(f"{names[key]}:{part[0](value[key], extra)}" for key, part in parts.items()) + "}"

    return write, lambda value, extra: {key: part[1](value[str(key)], extra) for key, part in parts.items()}


def tuples(space):
    parts = [codec(part) for part in space.spaces]

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
    write_part, read_part = codec(space.feature_space)

    def write(value, extra):
        if space.stack:
            value = gymnasium().vector.utils.iterate(space.stacked_feature_space, value)
        return "[" + ",".join(write_part(item, extra) for item in value) + "]"

    def read(value, extra):
        items = tuple(read_part(item, extra) for item in value)
        if not space.stack:
            return items
        utils = gymnasium().vector.utils
        out = utils.create_empty_array(space.feature_space, len(items))
        return utils.concatenate(space.feature_space, items, out)

    return write, read


def graph(space):
    def features(part):
        return array_codec(part.dtype, None) if part is not None else None

    nodes, edges, links = features(space.node_space), features(space.edge_space), array_codec(np.int32, None)

    def write(value, extra):
        parts = [("nodes", nodes, value.nodes), ("edges", edges, value.edges), ("edge_links", links, value.edge_links)]
        told = (f'"{name}":{part[0](item, extra) if item is not None else "null"}' for name, part, item in parts)
        return "{" + ",".join(told) + "}"

    def read(value, extra):
        parts = [("nodes", nodes), ("edges", edges), ("edge_links", links)]
        found = (part[1](value[name], extra) if value[name] is not None else None for name, part in parts)
        return gymnasium().spaces.GraphInstance(*found)

    return write, read


CODECS = {
    "Box": box,
    "Discrete": discrete,
    "MultiDiscrete": box,
    "MultiBinary": box,
    "Text": text,
    "Dict": mapping,
    "Tuple": tuples,
    "OneOf": one_of,
    "Sequence": sequence,
    "Graph": graph,
}


def codec(space):
    return CODECS[kind(space)](space)


# --- the environment --------------------------------------------------------------------------


def gymnasium():
    return importlib.import_module("gymnasium")


def make(name, kwargs):
    """The environment called `name`: `gymnasium/ID` or `MODULE:NAME`."""
    if name.startswith("gymnasium/"):
        return gymnasium().make(name[len("gymnasium/") :], **kwargs)
    module, _, attribute = name.partition(":")
    found = importlib.import_module(module)
    for part in attribute.split("."):
        found = getattr(found, part)
    env = found(**kwargs)
    for needed in ("observation_space", "action_space", "reset", "step"):
        if not hasattr(env, needed):
            raise Failure(f"{name} gave {type(env).__name__}, which has no `{needed}`: not an environment")
    return env


def inner(env):
    return getattr(env, "unwrapped", env)


def describe(env):
    """The environment's own description, or where it comes from."""
    env_itself = inner(env)
    own = getattr(env_itself, "describe", None)
    if callable(own):
        told = plain(own())
        if not isinstance(told, dict):
            raise Failure(f"describe() must return a mapping of plain data, got {type(told).__name__}")
        return told
    told = {"environment": f"{type(env_itself).__module__}:{type(env_itself).__qualname__}"}
    for library in ("gymnasium", "numpy"):
        if library in sys.modules:
            told[library] = sys.modules[library].__version__
    told["python"] = platform.python_version()
    return told


def parameters(env):
    """The public numbers of the environment, by name."""
    env = inner(env)
    names = {}
    for cls in reversed(type(env).__mro__):
        for name, value in vars(cls).items():
            if number(value) or (isinstance(value, property) and value.fset):
                names[name] = None
    names.update(dict.fromkeys(getattr(env, "__dict__", {})))
    found = {}
    for name in names:
        value = None if name.startswith("_") else getattr(env, name, None)
        if number(value):
            found[name] = plain(value)
    return found


def set_parameter(env, name, value):
    env = inner(env)
    old = getattr(env, name)
    if isinstance(old, np.generic):
        value = type(old)(value)
    elif isinstance(old, float):
        value = float(value)
    setattr(env, name, value)


def info_text(info):
    if not info:
        return "{}"
    info = plain_entries(info)
    if "invalid_action" in info:
        info["invalid_action"] = bool(info["invalid_action"])
    return json.dumps(info)


class Session:
    """One environment and the questions about it."""

    def __init__(self):
        self.env = None

    def make(self, asked, extra):
        env = self.env = make(asked["id"], asked["kwargs"])
        self.write = codec(env.observation_space)[0]
        self.read = codec(env.action_space)[1]
        told = {
            "observation_space": encode(env.observation_space),
            "action_space": encode(env.action_space),
            "describe": describe(env),
            "parameters": parameters(env),
        }
        return json.dumps(told), b""

    def reset(self, asked, extra):
        observation, info = self.env.reset(seed=asked["seed"])
        extra = bytearray()
        return f'{{"observation":{self.write(observation, extra)},"info":{info_text(info)}}}', extra

    def step(self, asked, extra):
        action = self.read(asked["action"], extra)
        observation, reward, terminated, truncated, info = self.env.step(action)
        extra = bytearray()
        return (
            f'{{"observation":{self.write(observation, extra)},"reward":{json_float(float(reward))},'
            f'"terminated":{"true" if terminated else "false"},"truncated":{"true" if truncated else "false"},'
            f'"info":{info_text(info)}}}'
        ), extra

    def parameters(self, asked, extra):
        return json.dumps({"parameters": parameters(self.env)}), b""

    def set_parameter(self, asked, extra):
        set_parameter(self.env, asked["name"], asked["value"])
        return "{}", b""


def excuse(problem):
    """What went wrong, as an answer."""
    told = {"error": str(problem) if isinstance(problem, Failure) else f"{type(problem).__name__}: {problem}".strip()}
    if isinstance(problem, ModuleNotFoundError) and problem.name in ("numpy", "gymnasium"):
        told["error"] = (
            f"Python has no module `{problem.name}` (install it with `{os.path.basename(sys.executable)} -m pip "
            f"install {problem.name}`, or name another interpreter in SKYFALL_PYTHON)"
        )
    elif not isinstance(problem, Failure):
        traceback.print_exception(type(problem), problem, problem.__traceback__)
        frames = [frame for frame in traceback.extract_tb(problem.__traceback__) if frame.filename != "<string>"]
        if frames:
            told["at"] = f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno} in {frames[-1].name}"
    return json.dumps(told)


def main():
    global np
    pipe, session = Pipe(), Session()
    while True:
        frame = pipe.receive()
        if frame is None:
            break
        question, extra = frame
        try:
            if question["ask"] == "hello":
                answer = json.dumps({"version": VERSION, "raw": True}), b""
            else:
                if session.env is None:
                    import numpy as np
                answer = getattr(session, question["ask"])(question["with"], extra)
        except Exception as problem:
            answer = excuse(problem), b""
        pipe.send(*answer)
    if hasattr(session.env, "close"):
        session.env.close()


main()
