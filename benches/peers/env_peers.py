"""The worlds' speed beside Gymnasium's own, from one run: steps per second and ratios.

    python3 benches/peers/env_peers.py [SECONDS]      (about 1 second a task unless told)

Every task runs in a process of its own, three times; the fastest counts. Both sides take the same
number of random actions drawn beforehand, and reset where episodes end. A single environment is
timed in CPU seconds; copies in CPU seconds and, on two threads, in wall seconds (which other
work on the machine lengthens).
"""

import json
import os
import subprocess
import sys

IDS = (
    "Acrobot-v1", "Blackjack-v1", "CartPole-v0", "CartPole-v1", "CliffWalking-v1", "FrozenLake-v1", "FrozenLake8x8-v1",
    "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1", "Taxi-v4",
)
POOL = 1024
ROUNDS = 3
# Rough rates, to give every task about the same time.
OURS, THEIRS = 6_000_000, 60_000
COPIES, ROLLOUT = 2048, 128


def single(name, steps):
    import time

    import gymnasium

    gymnasium.logger.min_level = gymnasium.logger.ERROR
    environment = gymnasium.make(name)
    environment.action_space.seed(1)
    actions = [environment.action_space.sample() for _ in range(POOL)]
    environment.reset(seed=1)
    start = time.process_time()
    for step in range(steps):
        _, _, terminated, truncated, _ = environment.step(actions[step % POOL])
        if terminated or truncated:
            environment.reset()
    print(time.process_time() - start)


def vector(name, copies, calls):
    import time

    import gymnasium

    gymnasium.logger.min_level = gymnasium.logger.ERROR
    environment = gymnasium.make_vec(name, num_envs=copies, vectorization_mode="sync")
    environment.action_space.seed(1)
    actions = [environment.action_space.sample() for _ in range(POOL)]
    environment.reset(seed=1)
    start = time.process_time()
    for call in range(calls):
        environment.step(actions[call % POOL])
    print(time.process_time() - start)


def fastest(command, environment=None):
    """What the command printed, and its CPU seconds, at best."""
    printed, cpu = [], []
    for _ in range(ROUNDS):
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})})
        printed.append(float(child.stdout.read()))
        _, status, usage = os.wait4(child.pid, 0)
        if status:
            raise SystemExit(f"failed: {' '.join(command)}")
        cpu.append(usage.ru_utime + usage.ru_stime)
    return min(printed), min(cpu)


def native():
    """The path of the bench that does one task a run."""
    built = subprocess.run(
        ["cargo", "bench", "--bench", "env_once", "--no-run", "--message-format=json"],
        stdout=subprocess.PIPE, check=True, text=True,
    ).stdout
    messages = [json.loads(line) for line in built.splitlines() if line.startswith("{")]
    return next(m["executable"] for m in messages if m.get("target", {}).get("name") == "env_once" and m.get("executable"))


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    bench, me = native(), [sys.executable, __file__, "--task"]
    few, many = int(THEIRS * seconds), int(OURS * seconds)
    print(f"\nA single environment, thousands of steps per CPU second\n{'':<26}{'gymnasium':>10}{'skyfall':>10}{'ratio':>8}")
    for name in IDS:
        theirs = few / fastest([*me, "single", name, str(few)])[0]
        # The whole process's CPU time: start-up, drawing the actions and all.
        ours = many / fastest([bench, "single", name, str(many)])[1]
        print(f"{name:<26}{theirs / 1e3:>10.1f}{ours / 1e3:>10.0f}{ours / theirs:>7.0f}x", flush=True)
    print(
        f"\nCopies, thousands of steps per second: SyncVectorEnv(8) in CPU seconds; {COPIES} copies, {ROLLOUT} steps a call\n"
        f"{'':<26}{'gymnasium':>10}{'CPU':>10}{'ratio':>8}{'2 threads':>10}{'ratio':>8}"
    )
    calls = max(1, many // (COPIES * ROLLOUT))
    for name in IDS:
        theirs = few // 8 * 8 / fastest([*me, "vector", name, "8", str(few // 8)])[0]
        task = [bench, "vector", name, str(COPIES), str(ROLLOUT)]
        done = calls * COPIES * ROLLOUT
        two, one = {"RAYON_NUM_THREADS": "2"}, {"RAYON_NUM_THREADS": "1"}
        cpu = done / fastest([*task, str(calls)], one)[1]
        wall = done * 2 / fastest([*task, str(calls * 2)], two)[0]
        print(
            f"{name:<26}{theirs / 1e3:>10.1f}{cpu / 1e3:>10.0f}{cpu / theirs:>7.0f}x{wall / 1e3:>10.0f}{wall / theirs:>7.0f}x",
            flush=True,
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--task"]:
        {"single": single, "vector": vector}[sys.argv[2]](sys.argv[3], *map(int, sys.argv[4:]))
    else:
        main()
