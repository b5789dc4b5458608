"""A trace as Python's json sees it: printing each row that was read gives the same line."""

import json
import sys

with open(sys.argv[1], encoding="utf-8", newline="") as file:
    for number, line in enumerate(file, 1):
        row = json.loads(line)
        if json.dumps(row) + "\n" != line:
            sys.exit(f"line {number}: Python prints the row differently")
        if sum(row["reward_components"].values()) != row["reward"]:
            sys.exit(f"line {number}: the components do not add up to the reward")
print("ok")
