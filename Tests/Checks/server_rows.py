"""The rows of a table of a SQLite store, in the spelling of `PGDatabase.rows`.

usage: server_rows.py STORE TABLE COLUMN=TYPE...

TYPE is the one that PostgreSQL's information_schema has for the column there. Prints a JSON array of arrays of texts or nulls.
"""
import hashlib
import json
import sqlite3
import struct
import sys
from decimal import Decimal


def spelled(value, kind):
    if value is None:
        return None
    if kind in ("real", "double precision"):
        return struct.pack(">d", value).hex()
    if kind == "numeric":
        digits = Decimal(value).as_tuple()
        text = format(Decimal(value), "f")
        text = text.rstrip("0").rstrip(".") if "." in text else text
        return "0" if not any(digits.digits) else text
    if kind == "bytea":
        return value.hex()
    text = str(value)
    return text if len(text.encode()) <= 200 else hashlib.md5(text.encode()).hexdigest()


def main(store, table, *columns):
    pairs = [column.rsplit("=", 1) for column in columns]
    names = ", ".join('"' + name + '"' for name, _ in pairs)
    rows = sqlite3.connect(store).execute(f'SELECT {names} FROM "{table}"')
    print(json.dumps([[spelled(value, kind) for value, (_, kind) in zip(row, pairs)] for row in rows]))


main(*sys.argv[1:])
