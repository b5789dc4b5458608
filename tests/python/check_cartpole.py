"""Walks Gymnasium's CartPole-v1 beside a recorded walk and compares every bit."""

import sys

import gymnasium

with open(sys.argv[1], encoding="utf-8") as file:
    rows = [line.split() for line in file]
environment = gymnasium.make("CartPole-v1")
seed = None
for row in rows:
    if int(row[0]) != seed:
        seed = int(row[0])
        environment.reset(seed=seed)
    step = int(row[1])
    observation, reward, terminated, _, _ = environment.step((step + seed) % 2)
    ours = [float(number) for number in row[2:6]]
    if [float(number) for number in observation] != ours or float(row[6]) != reward or (row[7] == "true") != terminated:
        sys.exit(f"seed {seed}, step {step}: {list(observation)} {reward} {terminated}, ours {row[2:]}")
print("ok")
