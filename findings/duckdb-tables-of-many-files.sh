#!/usr/bin/env bash
# DuckDB 2.0.1 (Python package, Linux): a table that is made of many small JSON files takes about 20 KB of memory for each file, however
# little is in it, as long as the order of the rows is kept, which is the default.
#
# Expected: the memory that CREATE TABLE ... AS SELECT * FROM read_json('folder/*') takes depends on the rows, not on the files they are in.
# Seen: 8,000 rows of two columns, 190 KB of JSON, two threads. In one file, the process grows by 13 MB; in 8,000 files of one row each, by
# 153 MB; the same with SET preserve_insertion_order = false by 28 MB; a SELECT with sums over these
# files by 26 MB. The rows are right each time.

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet duckdb==2.0.1
cat >"$folder/grow.py" <<'PYTHON'
import os, resource, sys

import duckdb

folder, mode = sys.argv[1:]
count = 8_000
rows = ['{"id": %d, "t": "x"}\n' % number for number in range(count)]
os.mkdir(folder)
for name, text in [("all", "".join(rows))] if mode == "one" else enumerate(rows):
    with open(f"{folder}/{name}.json", "w") as file:
        file.write(text)
connection = duckdb.connect()
connection.execute("SET threads = 2")
if mode == "unordered":
    connection.execute("SET preserve_insertion_order = false")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
source = f"read_json('{folder}/*')"
if mode != "query":
    connection.execute(f"CREATE TABLE t AS SELECT * FROM {source}")
    source = "t"
found = connection.execute(f"SELECT count(*), sum(id) FROM {source}").fetchone()
assert found == (count, count * (count - 1) // 2), found
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)
PYTHON
grown() { "$folder/venv/bin/python" "$folder/grow.py" "$folder/$1" "$1"; }
one=$(grown one) many=$(grown many) unordered=$(grown unordered) query=$(grown query)
echo "MB more: a table of one file $one, of 8,000 files $many, without the order of rows $unordered; a query of these files $query"
[ "$many" -gt $((4 * one)) ] && [ "$many" -gt $((3 * unordered)) ] && [ "$many" -gt $((3 * query)) ]
