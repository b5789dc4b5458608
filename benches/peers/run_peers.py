"""The run loop's speed: its parts, what reward terms in Lua add, and the same experiment in Python.

    python3 benches/peers/run_peers.py [STEPS]      (2,000,000 unless told; a peer does a fiftieth)

Every task runs in a process of its own, three times; the median of the CPU times counts, which
other work on the machine hardly moves. Starting up is not the task: the difference between a run
and one of a tenth of its steps is.
"""

import json
import math
import os
import subprocess
import sys
import tempfile

ROUNDS = 3
SCRIPT = """
local skyfall = require "skyfall"
local reward = skyfall.reward
local steps, terms, traces = tonumber(arg[1]), tonumber(arg[2]), arg[3]

local scalar = reward.term("scalar", function(s) return s.env_reward end)
local upright = reward.term("upright", function(s) return math.cos(s.next_observation[3]) end)
local centred = reward.term("centred", function(s)
  return 1 - math.abs(s.next_observation[1]) / s.params.half_width
end, { half_width = 2.4 })
local detailed = reward.term("detailed", function(s)
  local x = s.next_observation[1]
  return 1 - math.abs(x) / s.params.half_width, { distance = math.abs(x) }
end, { half_width = 2.4 })
local compositions = {
  [1] = { { upright } }, [2] = { { upright, weight = 0.8 }, { centred, weight = 0.2 } },
  [3] = { { scalar } }, [4] = { { detailed } },
}

skyfall.run_experiment({
  env = { id = "CartPole-v1" },
  algorithm = { name = "none", policy = { id = "linear_menu", kwargs = { n_actions = 2, seed = 1 } } },
  reward = compositions[terms] and reward.compose(compositions[terms]),
  rollout = { total_steps = steps, window_steps = 1000 },
  run = { name = "bench", seed = 1 },
}, { traces = traces })
"""


def python_run(steps, out):
    """The two-term experiment as a Python user writes it."""
    import gymnasium
    import numpy

    environment = gymnasium.make("CartPole-v1")
    weights = numpy.random.default_rng(1).standard_normal((2, 4))
    terms = [
        ("upright", 0.8, lambda step: math.cos(step["next_observation"][2])),
        ("centred", 0.2, lambda step: 1 - abs(step["next_observation"][0]) / 2.4),
    ]
    observation, _ = environment.reset(seed=1)
    with open(out, "w", encoding="utf-8") as trace:
        for index in range(steps):
            action = int(numpy.argmax(weights @ observation))
            after, env_reward, terminated, truncated, info = environment.step(action)
            step = {
                "step": index, "observation": observation, "action": action, "next_observation": after,
                "env_reward": env_reward, "terminated": terminated, "truncated": truncated, "info": info,
            }
            components = {name: weight * float(term(step)) for name, weight, term in terms}
            row = {
                "run_id": "bench", "seed": 1, "policy_id": "linear_menu", "algorithm_id": "none", "step": index,
                "regime_id": None, "regime_origin": None, "observed_at": None, "action": {"index": action},
                "reward": sum(components.values()), "reward_components": components, "reward_detail": {},
                "invalid_action": False, "effective_rank": None, "ticket_snapshot": {}, "verifier_snapshot": {},
            }
            trace.write(json.dumps(row) + "\n")
            observation = environment.reset()[0] if terminated or truncated else after


def cpu(command):
    """The median CPU seconds of a command."""
    seconds = []
    for _ in range(ROUNDS):
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        told = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        if status:
            raise SystemExit(f"failed: {' '.join(command)}\n{told}")
        seconds.append(usage.ru_utime + usage.ru_stime)
    return sorted(seconds)[ROUNDS // 2]


def nanoseconds(command, steps):
    """What a step costs; `command` makes the command for a number of steps."""
    few = max(1, steps // 10)
    return (cpu(command(steps)) - cpu(command(few))) / (steps - few) * 1e9


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    subprocess.run(["cargo", "build", "--release", "--quiet"], check=True)
    target = json.loads(subprocess.run(
        ["cargo", "metadata", "--format-version=1", "--no-deps"], stdout=subprocess.PIPE, check=True, text=True,
    ).stdout)["target_directory"]
    skyfall = os.path.join(target, "release", "skyfall")
    with tempfile.TemporaryDirectory() as directory:
        script, out = os.path.join(directory, "run.lua"), os.path.join(directory, "traces.jsonl")
        with open(script, "w", encoding="utf-8") as file:
            file.write(SCRIPT)

        def native(terms, *traces):
            def command(count):
                given = ["--", str(count), str(terms), *traces]
                return [skyfall, "script", script, "--quiet", "--allow-path", directory, *given]
            return nanoseconds(command, steps)

        bare, scalar, one, two, detailed = native(0), native(3), native(1), native(2), native(4)
        traced, both = native(0, out), native(2, out)
        peer = nanoseconds(lambda count: [sys.executable, __file__, "--task", str(count), out], steps // 50)
    print(f"\nCartPole-v1, linear_menu, no algorithm: ns of CPU a step ({steps:,} steps)")
    for name, cost, of in (
        ("world, policy and loop", bare, 0), ("with a trace", traced, 0),
        ("one Lua term of one scalar", scalar, 1), ("one Lua term of an observation", one, 1),
        ("one Lua term with detail", detailed, 1), ("two Lua terms", two, 2), ("two Lua terms and a trace", both, 0),
    ):
        each = f"{(cost - bare) / of:>8.0f} a term" if of else ""
        print(f"  {name:<34}{cost:>8.0f}{each}")
    print(f"  {'the last in Python, Gymnasium':<34}{peer:>8.0f}{peer / both:>8.1f} times as much")
    print(f"  {1e3 / traced:.2f} M steps/s with a trace, {1e3 / both:.2f} M with two Lua terms as well")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--task"]:
        python_run(int(sys.argv[2]), sys.argv[3])
    else:
        main()
