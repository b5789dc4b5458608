"""Steps a second of CartPole-v1: Gymnasium by itself, and driven by skyfall in another process.

    cargo build --release
    SKYFALL_PYTHON=python3 python3 benches/peers/foreign_peers.py [STEPS]      (100,000 unless told)

Wall-clock time, since two processes take turns; the start of both is measured apart and taken off.
Needs Gymnasium in the interpreter that runs this and in SKYFALL_PYTHON.
"""

import os
import subprocess
import sys
import time

import gymnasium

SKYFALL = os.path.join(os.path.dirname(__file__), "../../target/release/skyfall")
CODE = """
local id, steps = ...
local env = require("skyfall").env.make(id)
env:reset { seed = 1 }
for step = 1, steps do
  local _, _, terminated, truncated = env:step(step % 2)
  if terminated or truncated then env:reset() end
end
"""
ROUNDS = 3


def plain(steps):
    env = gymnasium.make("CartPole-v1")
    env.reset(seed=1)
    begun = time.perf_counter()
    for step in range(1, steps + 1):
        _, _, terminated, truncated, _ = env.step(step % 2)
        if terminated or truncated:
            env.reset()
    return time.perf_counter() - begun


def driven(env_id, steps):
    def run(steps):
        begun = time.perf_counter()
        subprocess.run([SKYFALL, "script", "--allow-run", "-e", CODE, "--", env_id, str(steps)], check=True)
        return time.perf_counter() - begun

    return run(steps) - run(1)


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    tasks = {
        "gymnasium, plain": lambda: plain(steps),
        "python:gymnasium/CartPole-v1": lambda: driven("python:gymnasium/CartPole-v1", steps),
        "native CartPole-v1": lambda: driven("CartPole-v1", steps),
    }
    for name, task in tasks.items():
        seconds = min(task() for _ in range(ROUNDS))
        print(f"{name:32} {steps / seconds:12,.0f} steps/s {1e6 * seconds / steps:8.2f} us a step")


main()
