"""A manifest as PyYAML sees it: printing what was read gives the same bytes."""

import sys

import yaml

with open(sys.argv[1], encoding="utf-8") as file:
    text = file.read()
printed = yaml.safe_dump(yaml.safe_load(text), sort_keys=False)
if printed != text:
    sys.exit(f"PyYAML prints the manifest differently:\n{printed}")
print("ok")
