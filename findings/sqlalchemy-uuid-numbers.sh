#!/usr/bin/env bash
# SQLAlchemy 2.0.36 with SQLite: the type UUID, unlike Uuid, makes a column that is declared UUID and writes UUIDs without hyphens.
# SQLite gives a column of that name NUMERIC affinity, so that a UUID of digits alone, or of digits around one "e", becomes a number:
# about one in 850,000 random ones.
#
# Expected: both types read back what was written, as they do for nearly all UUIDs.
# Seen: of three UUIDs one is refused as a duplicate of another, two are stored as REAL, one of them as infinity, and to read
# them ends with an AttributeError.

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv environment
environment/bin/pip install --quiet --disable-pip-version-check SQLAlchemy==2.0.36 typing-extensions==4.12.2 ||
    { echo "the package cannot be had here" >&2 && exit 69; }

environment/bin/python - <<'PYTHON'
import uuid

import sqlalchemy
from sqlalchemy import Column, Integer, MetaData, Table, create_engine, select

written = [
    uuid.UUID(digits)
    for digits in (
        "12345678123412341234123456789012",
        "12345678123412341234123456789013",
        "1234567812341234e234123456789012",
    )
]
engine = create_engine("sqlite:///:memory:")
metadata = MetaData()
tables = [
    Table(name, metadata, Column("id", kind(), primary_key=True), Column("n", Integer))
    for name, kind in (("upper", sqlalchemy.UUID), ("mixed", sqlalchemy.Uuid))
]
metadata.create_all(engine)
print("SQLAlchemy", sqlalchemy.__version__)
seen = {}
with engine.begin() as connection:
    for table in tables:
        refused = 0
        for number, value in enumerate(written):
            try:
                with connection.begin_nested():
                    connection.execute(table.insert(), {"id": value, "n": number})
            except sqlalchemy.exc.IntegrityError:
                refused += 1
        stored = connection.exec_driver_sql(f'SELECT id, typeof(id) FROM "{table.name}" ORDER BY n').fetchall()
        try:
            read = [row.id for row in connection.execute(select(table).order_by(table.c.n))] == written
        except AttributeError as error:
            read = str(error)
        declared = connection.exec_driver_sql(f"SELECT type FROM pragma_table_info('{table.name}')").scalar()
        seen[table.name] = (declared, refused, [tuple(row) for row in stored], read)
        print(table.name, *seen[table.name], sep=": ")
assert seen["upper"] == (
    "UUID",
    1,
    [(1.234567812341234e31, "real"), (float("inf"), "real")],
    "'float' object has no attribute 'replace'",
)
assert seen["mixed"] == ("CHAR(32)", 0, [(value.hex, "text") for value in written], True)
PYTHON
