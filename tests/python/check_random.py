"""NumPy's draws beside those of `skyfall.random`, by the bits of their floats.

    check_random.py DRAWS.txt

Each line of DRAWS.txt is a seed, the name of a kind of draw, and what our stream gave.
"""

import struct
import sys

import numpy as np

P = [0.1, 0.25, 0.0, 0.4, 0.05, 0.2]


def spawned(rng):
    first, second = rng.spawn(2)
    return [first.random(), second.random(), first.spawn(1)[0].random(), rng.random()]


def state(rng):
    rng.integers(0, 9)
    state = rng.bit_generator.state
    return [state["state"]["state"], state["state"]["inc"], state["has_uint32"], state["uinteger"]]


KINDS = {
    "uniform": lambda rng: rng.uniform(-3, 8.5, 9),
    "normal": lambda rng: rng.normal(1.5, 0.25, 400),
    "exponential": lambda rng: rng.exponential(2.5, 400),
    "geometric": lambda rng: rng.geometric(0.02, 40),
    "geometric_search": lambda rng: rng.geometric(0.4, 40),
    "integers": lambda rng: [rng.integers(-7, high) for high in (3, 1000, 2**31, 2**32 - 7, 2**32 - 6, 2**40, 2**62)],
    "bool": lambda rng: rng.integers(0, 2, 70, dtype=bool),
    "int8": lambda rng: rng.integers(-128, 128, 11, dtype=np.int8),
    "uint8": lambda rng: rng.integers(3, 103, 11, dtype=np.uint8),
    "int16": lambda rng: rng.integers(-300, 299, 11, dtype=np.int16),
    "uint16": lambda rng: rng.integers(0, 65536, 11, dtype=np.uint16),
    "int32": lambda rng: rng.integers(-(2**31), 2**31, 11, dtype=np.int32),
    "uint32": lambda rng: rng.integers(5, 3 * 2**30, 11, dtype=np.uint32),
    "choice": lambda rng: [rng.choice(6), *rng.choice(6, 9)],
    "choice_p": lambda rng: [rng.choice(6, p=P), *rng.choice(6, 9, p=P)],
    "choice_once": lambda rng: [*rng.choice(6, 4, replace=False), *rng.choice(6, 6, replace=False)],
    "choice_once_p": lambda rng: [*rng.choice(6, 5, replace=False, p=P), *rng.choice(6, 2, replace=False, p=P)],
    "permutation": lambda rng: [*rng.permutation(17), *rng.permutation(6)],
    "shuffle": lambda rng: shuffled(rng, list(range(6))),
    "spawn": spawned,
    "state": state,
}


def shuffled(rng, items):
    rng.shuffle(items)
    return items


def spelled(number):
    number = number.item() if isinstance(number, np.generic) else number
    return struct.pack(">d", number).hex() if isinstance(number, float) else str(int(number))


seen = set()
with open(sys.argv[1], encoding="utf-8") as file:
    for line in file:
        seed, kind, *ours = line.split()
        expected = [spelled(number) for number in KINDS[kind](np.random.default_rng(int(seed)))]
        if ours != expected:
            sys.exit(f"seed {seed}, {kind}:\n  NumPy {expected}\n  ours  {ours}")
        seen.add(kind)
if seen != set(KINDS):
    sys.exit(f"never drawn: {set(KINDS) - seen}")
print("ok")
