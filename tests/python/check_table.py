"""A sweep's table as DuckDB sees it: its columns and how many rows it has."""

import sys

import duckdb

cursor = duckdb.execute("select * from read_parquet(?)", [sys.argv[1]])
print([column[0] for column in cursor.description], len(cursor.fetchall()))
