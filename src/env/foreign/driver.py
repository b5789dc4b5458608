"""Drives one Gymnasium environment for skyfall, over standard input and output.

Handed to the interpreter by skyfall; the protocol is docs/environment-protocol.md. What the
environment prints goes to standard error, so that it cannot spoil the pipe. Standard input
ending is the sign to close the environment and end.
"""

import importlib
import json
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
DECODER = json.JSONDecoder()


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
        return DECODER.decode(str(data[8 : 8 + head], "utf-8")), data[8 + head : end]

    def send(self, head, extra=b""):
        head = head.encode()
        data = b"".join((PREFIX.pack(len(head), len(extra)), head, extra))
        sent = os.write(self.sink, data)
        while sent < len(data):
            sent += os.write(self.sink, memoryview(data)[sent:])


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


class Parameters:
    """The public numbers of an environment: of its own, of its class, and properties with a setter."""

    def __init__(self, env):
        self.env = inner(env)
        self.kinds = {}

    def names(self):
        names = {}
        for cls in reversed(type(self.env).__mro__):
            for name, value in vars(cls).items():
                if number(value) or (isinstance(value, property) and value.fset):
                    names[name] = None
        names.update(dict.fromkeys(getattr(self.env, "__dict__", {})))
        return [name for name in names if not name.startswith("_")]

    def list(self):
        found = {}
        for name in self.names():
            try:
                value = getattr(self.env, name)
            except Exception:
                continue  # a property that has no value yet
            if number(value):
                found[name] = plain(value)
        return found

    def set(self, name, value):
        """Sets `name` to `value`, in the type that it had first: an integer may become a float and return."""
        kind = self.kinds.setdefault(name, type(getattr(self.env, name)))
        if kind is not int or float(value).is_integer():
            value = kind(value)
        setattr(self.env, name, value)


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

    def hello(self, asked, extra):
        return json.dumps({"version": VERSION, "raw": True}), b""

    def make(self, asked, extra):
        if np is None:
            raise no_numpy
        env = self.env = make(asked["id"], asked["kwargs"])
        self.numbers = Parameters(env)
        self.write = codec(env.observation_space)[0]
        self.read = codec(env.action_space)[1]
        told = {
            "observation_space": encode(env.observation_space),
            "action_space": encode(env.action_space),
            "describe": describe(env),
            "parameters": self.numbers.list(),
        }
        return json.dumps(told), b""

    def reset(self, asked, extra):
        observation, info = self.env.reset(**asked)
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
        return json.dumps({"parameters": self.numbers.list()}), b""

    def set_parameter(self, asked, extra):
        self.numbers.set(asked["name"], asked["value"])
        return "{}", b""

    ANSWERS = {
        "hello": hello,
        "make": make,
        "reset": reset,
        "step": step,
        "parameters": parameters,
        "set_parameter": set_parameter,
    }


def excuse(problem):
    """What went wrong, as an answer; the traceback goes to standard error."""
    if isinstance(problem, Failure):
        return json.dumps({"error": str(problem)})
    if isinstance(problem, ModuleNotFoundError) and problem.name in ("numpy", "gymnasium"):
        install = f"install it with `{os.path.basename(sys.executable)} -m pip install {problem.name}`"
        return json.dumps(
            {"error": f"Python has no module `{problem.name}` ({install}, or name another interpreter in SKYFALL_PYTHON)"}
        )
    told = {"error": f"{type(problem).__name__}: {problem}".strip()}
    if type(problem).__module__ != "gymnasium.error":
        traceback.print_exception(type(problem), problem, problem.__traceback__)
        frames = [frame for frame in traceback.extract_tb(problem.__traceback__) if frame.filename != "<string>"]
        if frames:
            told["at"] = f"{os.path.basename(frames[-1].filename)}:{frames[-1].lineno} in {frames[-1].name}"
    return json.dumps(told)


def main():
    pipe, session = Pipe(), Session()
    while True:
        frame = pipe.receive()
        if frame is None:
            break
        question, extra = frame
        try:
            answer = session.ANSWERS[question["ask"]](session, question["with"], extra)
        except Exception as problem:
            answer = excuse(problem), b""
        pipe.send(*answer)
    if hasattr(session.env, "close"):
        session.env.close()


main()
