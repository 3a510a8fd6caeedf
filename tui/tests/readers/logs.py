"""Asks logs that `meshscope scan` wrote the same SQL, with DuckDB, as the manual says.

Below the folder are `logs`, and the answers of `meshscope scan --json`, a file each. Prints a line for each:
its name and the number of rows, which are the same. Fails at the first that differ.
"""

import datetime
import glob
import json
import os
import sys
import time

try:
    import duckdb
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(0)

VIEW = """create view log as select * from read_parquet('{}/logs/**/*.parquet',
        hive_partitioning = true,
        hive_types = {{'day': date, 'host': varchar}});"""


def alike(ours, theirs):
    """Times are texts in JSON."""
    if isinstance(theirs, datetime.date) and isinstance(ours, str):
        ours = type(theirs).fromisoformat(ours)
    return ours == theirs


folder = sys.argv[1]
connection = duckdb.connect()
connection.execute(VIEW.format(folder))
for path in sorted(glob.glob(f"{folder}/*.json")):
    with open(path) as file:
        answer = json.load(file)
    begun = time.monotonic()
    asked = connection.execute(answer["sql"])
    names = [column[0] for column in asked.description]
    rows = asked.fetchall()
    seconds = time.monotonic() - begun
    name = os.path.basename(path)
    assert names == answer["columns"], (name, names, answer["columns"])
    assert len(rows) == len(answer["rows"]), (name, len(rows), len(answer["rows"]))
    for ours, theirs in zip(answer["rows"], rows):
        assert all(map(alike, ours, theirs)), (name, ours, theirs)
    print(name.removesuffix(".json"), len(rows))
    print(f"{name}: DuckDB took {seconds:.2f} s", file=sys.stderr)
