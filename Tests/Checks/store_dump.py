#!/usr/bin/env python3
"""What a store holds, row by row: row ids, storage classes and the bytes of every column.

usage: store_dump.py digest STORE        SHA-256 of the user tables' content and schema
       store_dump.py text STORE          the same as text, a line per row
       store_dump.py bookkeeping STORE   rejects, ledger and error groups, without times
       store_dump.py result STORE        digest and bookkeeping
       store_dump.py count STORE         how many rows the user tables hold
       store_dump.py now STORE           the same of a store that is being written; nothing if it cannot be read now
       store_dump.py left STORE          the same as if who writes the store, and is stopped, were killed; nothing if there is none
       store_dump.py tables STORE        names of the user tables
       store_dump.py query STORE SQL     the rows of a query
       store_dump.py execute STORE SQL   runs statements

User tables are those whose names begin with neither `_import_` nor `sqlite_`.
"""
import hashlib
import os
import re
import shutil
import sqlite3
import struct
import sys
import tempfile
import urllib.parse


class Text(bytes):
    """A TEXT value's bytes; a BLOB's are plain `bytes`."""


def connect(store, timeout=60):
    """Opens a store for reading; never makes one."""
    connection = sqlite3.connect("file:" + urllib.parse.quote(store) + "?mode=rw", uri=True, timeout=timeout)
    connection.text_factory = Text
    return connection


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def name_of(value):
    return value.decode("utf-8", "surrogateescape")


def user_tables(connection):
    rows = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    names = [name_of(row[0]) for row in rows]
    return [n for n in names if not n.lower().startswith("_import_") and not n.lower().startswith("sqlite_")]


def row_count(connection):
    tables = [quoted(name) for name in user_tables(connection)]
    return sum(connection.execute("SELECT count(*) FROM " + name).fetchone()[0] for name in tables)


def rows_left(store):
    """Counts the rows of a copy: a program that is stopped keeps its locks, and SQLite waits for some of them for ten
    seconds whatever the timeout is. The shared memory is not copied, as what is left of it after a crash does not count."""
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "store")
        for suffix in ("", "-wal", "-journal"):
            if os.path.exists(store + suffix):
                shutil.copyfile(store + suffix, copy + suffix)
        connection = connect(copy)
        try:
            return row_count(connection)
        finally:
            connection.close()


def columns_of(connection, table):
    return [name_of(row[1]) for row in connection.execute("PRAGMA table_info(" + quoted(table) + ")")]


def encoded(value):
    """Storage class and bytes of a value, so that no two different ones look the same."""
    if value is None:
        return b"null:"
    if isinstance(value, int):
        return b"integer:%d" % value
    if isinstance(value, float):
        return b"real:" + struct.pack(">d", value).hex().encode()
    if isinstance(value, Text):
        return b"text:" + value.hex().encode()
    return b"blob:" + value.hex().encode()


def rowid_name(connection, table):
    """The name under which a table's row id can be asked for, or None where columns have taken all three or it has none."""
    if connection.execute("SELECT wr FROM pragma_table_list(?) WHERE schema = 'main'", (table,)).fetchone()[0]:
        return None
    taken = {name.lower() for name in columns_of(connection, table)}
    for name in ("rowid", "_rowid_", "oid"):
        if name not in taken:
            return name
    return None


def lines(connection):
    """The schema and the rows of the user tables, as lines of bytes, ordered by table and row id."""
    schema = connection.execute(
        "SELECT type, name, tbl_name, sql FROM sqlite_master"
        " WHERE name NOT LIKE '\\_import\\_%' ESCAPE '\\' AND tbl_name NOT LIKE '\\_import\\_%' ESCAPE '\\'"
        " AND name NOT LIKE 'sqlite\\_stat%' ESCAPE '\\' ORDER BY type, name"
    )
    for row in schema:
        yield b"schema " + b" ".join(encoded(value) for value in row)
    for table in user_tables(connection):
        rowid = rowid_name(connection, table)
        # A column may be called `rowid`: then all three names can mean columns, and the order read is the table's own.
        selected = (rowid + ", " if rowid else "") + "*"
        order = " ORDER BY " + rowid if rowid else ""
        prefix = b"row " + table.encode("utf-8", "surrogateescape").hex().encode() + b" "
        for row in connection.execute("SELECT " + selected + " FROM " + quoted(table) + order):
            yield prefix + b" ".join([encoded(value) for value in row])


def digest(store):
    connection = connect(store)
    connection.execute("BEGIN")
    hasher = hashlib.sha256()
    for line in lines(connection):
        hasher.update(line)
        hasher.update(b"\n")
    connection.close()
    return hasher.hexdigest()


def bookkeeping(store):
    """Rejects, ledger and error groups: all columns but those that tell the time and the numbers of rows, which tell when
    something was found: the rejects of records that wait are found at the end. Rows are in an order of their own."""
    connection = connect(store)
    result = []
    for table in ("_import_reject", "_import_ledger"):
        names = columns_of(connection, table)
        if not names:
            continue
        kept = [n for n in names if n != "id" and not any(word in n.lower() for word in ("time", "date", "_at"))]
        selected = ", ".join(quoted(name) for name in kept)
        rows = [b" ".join(encoded(v) for v in row) for row in connection.execute(f"SELECT {selected} FROM {table}")]
        result += [table + ": " + ", ".join(kept)] + [row.decode() for row in sorted(rows)]
    connection.close()
    return "\n".join(result)


def bookkeeping_table(name):
    """What comes after the name in the statement that makes a bookkeeping table; None where there is no such table."""
    schema = os.path.join(os.path.dirname(__file__), "../../Sources/ImportSQLite/Bookkeeping/BookkeepingSchema.swift")
    with open(schema, encoding="utf-8") as file:
        lines = [line.split("--")[0].rstrip().removeprefix(" " * 8) for line in file]
    found = re.search(f"CREATE TABLE IF NOT EXISTS {name} (.*?);", "\n".join(filter(None, lines)), re.DOTALL)
    return found and found[1]


def answers(connection, query):
    """The rows of a query; a bookkeeping table that has not been made holds nothing."""
    while True:
        try:
            return connection.execute(query)
        except sqlite3.OperationalError as error:
            name = re.search("no such table: (_import_[a-z_]+)$", str(error))
            table = name and bookkeeping_table(name[1])
            if not table:
                raise
            connection.execute(f"CREATE TEMP TABLE {name[1]} {table}")


def execute(connection, statements):
    """Runs statements; bookkeeping tables that rows are put into are made first."""
    for name in re.findall("INSERT INTO (_import_[a-z_]+)", statements):
        connection.execute(f"CREATE TABLE IF NOT EXISTS {name} {bookkeeping_table(name)}")
    connection.executescript(statements)


def main(arguments):
    if len(arguments) < 2 or arguments[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if arguments and arguments[0] in ("-h", "--help") else 64
    command, store = arguments[0], arguments[1]
    if command == "digest":
        print(digest(store))
    elif command == "text":
        for line in lines(connect(store)):
            sys.stdout.buffer.write(line + b"\n")
    elif command == "bookkeeping":
        print(bookkeeping(store))
    elif command == "result":
        print(digest(store))
        print(bookkeeping(store))
    elif command == "count":
        print(row_count(connect(store)))
    elif command == "now":
        try:
            print(row_count(connect(store, timeout=0)))
        except sqlite3.Error:
            pass
    elif command == "left":
        if os.path.exists(store):
            print(rows_left(store))
    elif command == "tables":
        print("\n".join(user_tables(connect(store))))
    elif command == "query":
        for row in answers(connect(store), arguments[2]):
            texts = [v if isinstance(v, bytes) else b"" if v is None else str(v).encode() for v in row]
            sys.stdout.buffer.write(b"|".join(texts) + b"\n")
    elif command == "execute":
        execute(sqlite3.connect(store), arguments[2])
    else:
        print(__doc__, file=sys.stderr)
        return 64
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
