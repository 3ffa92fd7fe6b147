#!/usr/bin/env bash
# SQLite 3.40.1 (as apsw 3.40.1.0 has it) checks the wrong columns of a table that is WITHOUT ROWID and whose primary key does not
# consist of its first columns, in their order: PRAGMA quick_check, and for columns NOT NULL also PRAGMA integrity_check, find
# "NULL value in …" where no value is null.
#
# Expected: "ok", as of the same table with row ids.
# Seen: a complaint for each row. A program that takes that for damage gives up a sound file. SQLite 3.54.1 says "ok".

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv python
python/bin/pip install --quiet --disable-pip-version-check apsw==3.40.1.0 ||
    { echo "apsw 3.40.1.0 cannot be had here" >&2 && exit 69; }

python/bin/python - <<'PYTHON'
import apsw

def checks(columns, end="WITHOUT ROWID"):
    database = apsw.Connection(":memory:").cursor()
    database.execute(f"CREATE TABLE t ({columns}) {end}; INSERT INTO t VALUES (1, 2, 3)")
    nulls = database.execute("SELECT count(*) FROM t WHERE a IS NULL OR b IS NULL OR c IS NULL").fetchone()[0]
    found = nulls, *(database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("quick_check", "integrity_check"))
    print(f"({columns}) {end}: nulls, quick_check, integrity_check:", *found)
    return found

print("SQLite", apsw.sqlitelibversion())
assert checks("a, b, c, PRIMARY KEY (a, b)") == (0, "ok", "ok")
assert checks("a, b, c, PRIMARY KEY (c, b, a)") == (0, "NULL value in t.a", "ok")
assert checks("a, b NOT NULL, c, PRIMARY KEY (a, c)") == (0, "NULL value in t.b", "NULL value in t.b")
assert checks("a, b NOT NULL, c, PRIMARY KEY (a, c)", end="") == (0, "ok", "ok")
PYTHON
