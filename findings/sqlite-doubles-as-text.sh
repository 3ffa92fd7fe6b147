#!/usr/bin/env bash
# SQLite 3.40.1 (Debian 3.40.1-2+deb12u2) reads some decimal numbers of 16 digits as the double beside the nearest one, and
# its shell writes 20 digits of which the last are not those of the double.
#
# Expected: a text becomes the nearest double, as in C, Python and JSON's readers; digits are the double's own.
# Seen: x = 116.2308715097356 is false for the row that has this very double, bound as 8 bytes; 1/3 is written with the
# digits 82 at its end, where the double's are 83.

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
version=3.40.1-2+deb12u2
apt-get download "sqlite3=$version" "libsqlite3-0=$version" >/dev/null 2>&1 ||
    { echo "the packages of $version cannot be had here" >&2 && exit 69; }
for package in ./*.deb; do dpkg -x "$package" root; done
library=$(dirname "$(find root -name 'libsqlite3.so.0' | head -n 1)")

python3 - <<'PYTHON'
import sqlite3
connection = sqlite3.connect("doubles.sqlite")
connection.execute("CREATE TABLE t (x REAL)")
connection.executemany("INSERT INTO t VALUES (?)", [(1 / 3,), (116.2308715097356,)])
connection.commit()
PYTHON
shell() { LD_LIBRARY_PATH=$library root/usr/bin/sqlite3 "$@"; }
shell --version
found=$(shell doubles.sqlite "SELECT count(*) FROM t WHERE x = 116.2308715097356")
written=$(shell -json doubles.sqlite "SELECT x FROM t LIMIT 1")
exact=$(python3 -c 'print(f"{1 / 3:.20g}")')
echo "rows with x = 116.2308715097356: $found of 1"
echo "1/3 is $exact, written as $written"
[ "$found" = 0 ]
[ "$exact" = 0.33333333333333331483 ]
[ "$written" = '[{"x":0.33333333333333331482}]' ]
