"""A trace's Parquet as DuckDB sees it: column by column what Python's json finds in the trace."""

import json
import sys

import duckdb


def look(row, name):
    """The value that a column stands for."""
    for key in name.split("."):
        row = row.get(key) if isinstance(row, dict) else None
    return row


trace, parquet = sys.argv[1:]
cursor = duckdb.execute("select * from read_parquet(?)", [parquet])
names = [column[0] for column in cursor.description]
with open(trace, encoding="utf-8") as lines:
    rows = [json.loads(line) for line in lines]
cells = cursor.fetchall()
if len(cells) != len(rows):
    sys.exit(f"{len(cells)} rows, not {len(rows)}")
for number, (row, found) in enumerate(zip(rows, cells), 1):
    for name, cell in zip(names, found):
        if cell != look(row, name):
            sys.exit(f"line {number}: {name} is {cell!r}, not {look(row, name)!r}")
print("ok", len(rows), *names)
