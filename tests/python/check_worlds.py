"""Walks Gymnasium's worlds beside recorded walks (tests/data/env/walk.lua) and compares every bit.

A continuous action was rounded to float32 on its way in; here it is, too.
"""

import json
import sys
import warnings

import gymnasium
import numpy

warnings.simplefilter("ignore")
gymnasium.logger.min_level = gymnasium.logger.ERROR


def numbers(observation):
    """The observation's numbers, a batch's copy by copy."""
    if isinstance(observation, tuple):
        observation = numpy.stack(observation, axis=-1)
    return numpy.asarray(observation).tolist()


def make(case):
    kwargs = case.get("kwargs") or {}
    if "n" in case:
        return gymnasium.make_vec(case["id"], num_envs=case["n"], vectorization_mode="sync")
    environment = gymnasium.make(case["id"], disable_env_checker=True, **kwargs)
    world = environment.unwrapped
    for name, value in (case.get("shift") or {}).items():
        attribute = name.upper() if hasattr(world, name.upper()) else name
        if not hasattr(world, attribute):
            sys.exit(f"{case['id']} has no {name}")
        setattr(world, attribute, value)
    if case["id"].startswith("CartPole"):
        world.total_mass = world.masspole + world.masscart
        world.polemass_length = world.masspole * world.length
    return environment


def fail(place, what, ours, theirs):
    sys.exit(f"{place}: {what} is {ours}, Gymnasium's is {theirs}")


walks, steps, environment, case = 0, 0, None, None
with open(sys.argv[1], encoding="utf-8") as lines:
    for line in lines:
        row = json.loads(line)
        if "id" in row:
            case, walks, step = row, walks + 1, 0
            environment = make(case)
            space = getattr(environment, "single_action_space", environment.action_space)
            continuous = isinstance(space, gymnasium.spaces.Box)
            first, _ = environment.reset(seed=case["seed"], options=case.get("options"))
            if repr(numbers(first)) != repr(case["first"]):
                fail(case, "the first observation", case["first"], numbers(first))
            continue
        place = f"{case}, step {step}"
        action = row["action"]
        if continuous:
            action = numpy.reshape(numpy.float32(action), (case.get("n", 1), 1) if "n" in case else (1,))
        observation, reward, terminated, truncated, _ = environment.step(action)
        for what, theirs in (
            ("observation", numbers(observation)),
            ("reward", numpy.asarray(reward, dtype=numpy.float64).tolist()),
            ("terminated", numpy.asarray(terminated).tolist()),
            ("truncated", numpy.asarray(truncated).tolist()),
        ):
            # As text: -0.0 is not 0.0, and 1 is not 1.0.
            if repr(row[what]) != repr(theirs):
                fail(place, what, row[what], theirs)
        if "again" in row:
            again, _ = environment.reset()
            if repr(numbers(again)) != repr(row["again"]):
                fail(place, "the next episode's first observation", row["again"], numbers(again))
        step, steps = step + 1, steps + 1
print("ok", walks, "walks", steps, "steps")
