"""Environments that tests/foreign.rs drives: each does one thing that real ones do."""

import datetime
import os
import sys
import time

import gymnasium
import numpy as np
from gymnasium import spaces


class World(gymnasium.Env):
    """Counts steps; subclasses misbehave."""

    observation_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
    action_space = spaces.Discrete(2)
    LIMIT = 1000

    def __init__(self, at=3):
        self.at = at
        self.count = 0

    def observation(self):
        return np.zeros(2, np.float32)

    def event(self):
        """What happens at step `at`."""

    def info(self):
        return {}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.observation(), {}

    def step(self, action):
        self.count += 1
        if self.count == self.at:
            self.event()
        return self.observation(), 1.0, False, False, self.info()


class Raises(World):
    def event(self):
        raise ValueError("the floor is lava")


class Exits(World):
    def event(self):
        print("last words", file=sys.stderr, flush=True)
        os._exit(7)


class Killed(World):
    def event(self):
        os.kill(os.getpid(), 9)


class Hangs(World):
    def event(self):
        while True:
            time.sleep(0.01)


class Spoils(World):
    """Writes to every descriptor it can find: one of them is the pipe."""

    def event(self):
        for descriptor in range(3, 10):
            try:
                os.write(descriptor, b"Hello from a library\n")
            except OSError:
                pass


class Talks(World):
    """Prints, in Python and below it, and reads from standard input."""

    def info(self):
        print("printed", self.count)
        os.write(1, b"written\n")
        sys.stderr.write("x" * 100_000 + "\n")
        return {"read": sys.stdin.read()}


class Nan(World):
    def observation(self):
        return np.array([np.nan, np.inf], np.float32)

    def step(self, action):
        return self.observation(), float("nan"), False, False, {}


class WrongShape(World):
    def observation(self):
        return np.zeros(3 if self.count else 2, np.float32)


class Wide(World):
    """Observations wider than their space, as careless environments return them."""

    def observation(self):
        return [0.1, 1 / 3] if self.count % 2 else np.array([0.1, 1 / 3])


class Reports(World):
    """What MORPHEUS-like worlds report."""

    def info(self):
        told = {
            "observed_at": datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc),
            "effective_rank": np.float32(2.5),
            "ticket_snapshot": {"open": np.int64(self.count), "ids": np.arange(2), 7: None},
            "verifier_snapshot": {"passed": np.bool_(True)},
            "speed": np.float64(0.5),
            "large": 2**62 + 1,
            "handle": object(),
            "mixed": [1, object()],
        }
        if self.count % 2 == 0:
            told["invalid_action"] = np.True_
        return told

    def describe(self):
        return {"adapter": "reports", "tickets": np.int64(3)}


class Mutters(World):
    def info(self):
        return {"ticket_snapshot": {"open": object()}}


class Shifts(World):
    """Parameters of every kind; the reward shows them."""

    gain = 2

    def __init__(self):
        super().__init__()
        self.open = False
        self.mass = np.float32(0.5)
        self._hidden = 1.0
        self.name = "shifts"
        self.drag = 1.5

    @property
    def drag(self):
        return self._drag

    @drag.setter
    def drag(self, value):
        self._drag, self._derived = value, 10 * value

    def step(self, action):
        told = {"kinds": [type(value).__name__ for value in (self.gain, self.open, self.mass, self._drag)]}
        return self.observation(), self.gain + self.open + float(self.mass) + self._derived, False, False, told


class Echo(gymnasium.Env):
    """Hands every action back as the observation; resets to a sample of its space."""

    def __init__(self, which):
        self.action_space = self.observation_space = SPACES[which]

    def reset(self, *, seed=None, options=None):
        if seed is not None:
            self.observation_space.seed(seed)
        return self.observation_space.sample(), {}

    def step(self, action):
        assert self.action_space.contains(action), f"{action!r} is not in {self.action_space}"
        return action, 0.0, False, False, {"kind": type(action).__name__}


def not_a_world():
    return 42


SPACES = {
    "box": spaces.Box(np.array([[-1, -np.inf]], np.float32), np.array([[np.inf, 4.8]], np.float32)),
    "box0": spaces.Box(-2.0, 2.0, (), np.float64),
    "box_empty": spaces.Box(-2.0, 2.0, (0, 3), np.float32),
    "bytes": spaces.Box(0, 255, (3, 4, 2), np.uint8),
    "image": spaces.Box(0, 255, (200, 150, 4), np.uint8),
    "long": spaces.Box(-(2**63), 2**63 - 2, (2,), np.int64),
    "discrete": spaces.Discrete(5, start=-2),
    "discrete32": spaces.Discrete(2**31 - 1, dtype=np.int32),
    "multi_discrete": spaces.MultiDiscrete(np.array([[2, 3], [4, 5]]), start=np.array([[1, 0], [-3, 2]])),
    "multi_binary": spaces.MultiBinary([2, 3]),
    "multi_binary_flat": spaces.MultiBinary(4),
    "text": spaces.Text(min_length=0, max_length=6, charset="zyé\"\\01"),
    "dict": spaces.Dict([("z", spaces.Discrete(3)), ("a", spaces.Box(0.0, 1.0, (2,), np.float16))]),
    "tuple": spaces.Tuple([spaces.Discrete(32), spaces.Dict(x=spaces.MultiBinary(2)), spaces.Text(3)]),
    "sequence": spaces.Sequence(spaces.Box(0.0, 1.0, (2,))),
    "stacked": spaces.Sequence(spaces.Box(0.0, 1.0, (2,)), stack=True),
    "stacked_parts": spaces.Sequence(spaces.Dict(n=spaces.Discrete(7), x=spaces.Box(0.0, 1.0, (2,))), stack=True),
    "graph": spaces.Graph(spaces.Box(-1.0, 1.0, (3,)), spaces.Discrete(4, start=1)),
    "graph_nodes": spaces.Graph(spaces.Discrete(4), None),
    "one_of": spaces.OneOf([spaces.Discrete(3), spaces.Box(0.0, 1.0, (2,)), spaces.Text(4)]),
}


class Unsigned(Echo):
    def __init__(self):
        self.action_space = self.observation_space = spaces.Box(0, 2**64 - 1, (1,), np.uint64)
