"""The tables of a SQLite store and of a PostgreSQL schema, as descriptions and rows that `compare_stores.py` compares.

A table has the name that the model gives it, its columns those of the store; what a server calls them is known here alone. Rows
are spelled alike on both sides: a text or None for each column, in a way that tells all values apart.
"""
import hashlib
import json
import re
import sqlite3
import struct
import subprocess
import urllib.parse
from decimal import Decimal

import relationship_layout
import store_dump

LONGEST = 63
SYSTEM = ("ctid", "xmin", "xmax", "cmin", "cmax", "tableoid")
TYPES = {
    "string": "text", "uri": "text", "integer16": "smallint", "integer32": "integer", "integer64": "bigint", "bitfield": "bigint",
    "float": "real", "double": "double precision", "decimal": "numeric", "boolean": "boolean", "uuid": "uuid", "binary": "bytea",
    "json": "json",
}
ACTIONS = {"a": "NO ACTION", "r": "RESTRICT", "c": "CASCADE", "n": "SET NULL", "d": "SET DEFAULT"}
NUMBERS = ("smallint", "integer", "bigint")


class Failure(Exception):
    """What keeps two stores from being compared."""


def quoted(name):
    """A name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


# Names on a server


def fitting(name):
    """A name that a server does not cut."""
    data = name.encode()
    if len(data) <= LONGEST:
        return name
    digits = 0x811C9DC5
    for byte in data:
        digits = (digits ^ byte) * 0x01000193 & 0xFFFFFFFF
    return f"{data[:LONGEST - 9].decode(errors='ignore')}_{digits:08x}"


def server_columns(names):
    """What a server calls the columns of a table."""
    used, given = set(SYSTEM), [None] * len(names)
    for place, name in enumerate(names):
        if len(name.encode()) <= LONGEST and name not in used:
            given[place] = name
            used.add(name)
    for place, name in enumerate(names):
        number, free = 1, fitting(name)
        while given[place] is None:
            if free not in used:
                given[place] = free
                used.add(free)
            number += 1
            free = fitting(f"{name}_{number}")
    return given


# Descriptions


class ForeignKey:
    """A foreign key: columns, the table and columns that they name, and what deleting a row there does."""

    def __init__(self, columns, target, target_columns, action, timing, is_valid=True):
        self.columns, self.target, self.target_columns = tuple(columns), target, tuple(target_columns)
        self.action, self.timing, self.is_valid = action, timing, is_valid

    def __str__(self):
        text = f"({', '.join(self.columns)}) references {self.target} ({', '.join(self.target_columns)}) on delete {self.action}"
        return text.lower() + (f" {self.timing}" if self.timing else "")


class Table:
    """A table: its columns and types in order, its key, indexes as pairs of columns and whether they are unique, foreign keys."""

    def __init__(self, name):
        self.name = name
        self.columns, self.types, self.key = [], {}, ()
        self.indexes, self.foreign_keys = {}, []
        self.mandatory, self.row_id, self.remarks = set(), None, []


# SQLite


class StoreTables:
    """The tables of a SQLite store."""

    def __init__(self, path):
        try:
            self.connection = sqlite3.connect("file:" + urllib.parse.quote(path) + "?mode=ro", uri=True)
        except sqlite3.Error as error:
            raise Failure(f"{path}: {error}") from error
        self.connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
        text = self.connection.execute(
            "SELECT m.content FROM _import_job j JOIN _import_document m ON m.id = j.model ORDER BY j.id DESC LIMIT 1").fetchone()
        if text is None:
            raise Failure("the store has no model")
        self.model = json.loads(text[0])
        names = self.connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_import\\_%' ESCAPE '\\'"
            " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid")
        self.tables = {name: self.described(name) for name, in names.fetchall()}
        self.describe_model()

    def query(self, sql, *values):
        """The rows of a query."""
        return self.connection.execute(sql, values).fetchall()

    def described(self, name):
        """A table as it is in the store."""
        table = Table(name)
        places = {}
        for column, place in self.query("SELECT name, pk FROM pragma_table_info(?)", name):
            table.columns.append(column)
            places[column] = place
        table.key = tuple(sorted((column for column in table.columns if places[column]), key=places.get))
        if table.key:
            table.indexes[table.key] = True
        for index, is_unique, is_partial in self.query('SELECT name, "unique", partial FROM pragma_index_list(?)', name):
            columns = tuple(column for column, in self.query("SELECT name FROM pragma_index_info(?)", index))
            if is_partial or None in columns:
                table.remarks.append(f"the index {index} is on a part of the rows or on expressions, and not compared")
                continue
            table.indexes[columns] = bool(is_unique) or table.indexes.get(columns, False)
        deferred = self.deferred(name)
        keys = {}
        for number, target, column, other, action in self.query(
                'SELECT id, "table", "from", "to", on_delete FROM pragma_foreign_key_list(?) ORDER BY id, seq', name):
            keys.setdefault(number, (target, action, [], []))
            keys[number][2].append(column)
            keys[number][3].append(other)
        for _, (target, action, columns, others) in sorted(keys.items(), reverse=True):
            timing = "deferrable initially deferred" if tuple(columns) in deferred else ""
            table.foreign_keys.append(ForeignKey(columns, target, others, action, timing))
        broken = {number for number, in self.query("SELECT DISTINCT fkid FROM pragma_foreign_key_check(?)", name)}
        for number, key in zip(sorted(keys, reverse=True), table.foreign_keys):
            key.is_valid = number not in broken
        return table

    def deferred(self, name):
        """The columns of the foreign keys that are deferred: SQLite tells of them in the statement alone."""
        sql, = self.query("SELECT sql FROM sqlite_master WHERE name = ? AND type = 'table'", name)[0]
        found = set()
        for clause in sql.split("FOREIGN KEY (")[1:]:
            names = re.match('"(?:[^"]|"")*"(?:, "(?:[^"]|"")*")*', clause)
            if names and "DEFERRABLE INITIALLY DEFERRED" in clause:
                found.add(tuple(one.replace('""', '"') for one in re.findall('"((?:[^"]|"")*)"', names[0])))
        return found

    def describe_model(self):
        """Adds what only the model says: types on a server, and which tables' key is a row id."""
        model = relationship_layout.Model(self.model)
        for home in model.tables():
            table = self.tables.get(model.table(home))
            if table is None:
                continue
            table.row_id = model.row_ids.get(home)
            if table.row_id:
                table.types[table.row_id] = ("bigint",)
            if model.entity_column(home):
                table.types[model.entity_column(home)] = ("text",)
            chain = [entity for entity in model.entities if entity in set(model.residents(home)) | set(model.chain(home))]
            for entity in chain:
                for name, raw in model.raw[entity].get("attributes", {}).items():
                    table.types[raw.get("column", name.replace(".", "_"))] = server_types(raw)

    def rows(self, table, kinds):
        """The rows of a table, spelled; `kinds` has the type on the server of each column."""
        names = ", ".join(map(quoted, table.columns))
        for row in self.connection.execute(f"SELECT {names} FROM {quoted(table.name)}"):
            yield [spelled(value, kinds[column]) for value, column in zip(row, table.columns)]

    def bookkeeping(self):
        """The rejects with their bytes, and the ledger."""
        rejects = store_dump.answers(
            self.connection,
            "SELECT job, ordinal, entity, source, byte_offset, length, state, errors, hex(record) FROM _import_reject").fetchall()
        ledger = store_dump.answers(
            self.connection,
            "SELECT job, entity, attribute, kind, sum(count) FROM _import_ledger WHERE NOT is_error GROUP BY 1, 2, 3, 4").fetchall()
        return rejects, ledger, [job for job, in self.query("SELECT id FROM _import_job ORDER BY id")]


def server_types(raw):
    """The types that an attribute's column may have on a server."""
    if raw["type"] != "date":
        return (TYPES[raw["type"]],)
    if raw.get("storage", "iso8601") != "iso8601":
        return ("bigint", "double precision")
    return ("timestamp(3) without time zone",) if raw.get("wallClock") else ("timestamp(3) with time zone",)


def spelled(value, kind):
    """A value of SQLite in the spelling that `ServerTables.rows` has for a type."""
    if value is None:
        return None
    try:
        if kind in ("real", "double precision"):
            return struct.pack(">d", value).hex()
        if kind.startswith("numeric"):
            text = format(Decimal(value), "f")
            text = text.rstrip("0").rstrip(".") if "." in text else text
            return "0" if not any(Decimal(value).as_tuple().digits) else text
        if kind == "bytea":
            return value.hex()
    except (ArithmeticError, AttributeError, struct.error, TypeError):
        return f"{value!r}, which is no {kind}"
    text = str(value)
    data = text.encode("utf-8", "surrogateescape")
    return text if len(data) <= 200 else hashlib.md5(data).hexdigest()


# PostgreSQL


class ServerTables:
    """The tables of the schema that a connection of psql to `url` has."""

    def __init__(self, url, psql="psql"):
        self.command = [psql, "-qAtX", "-v", "ON_ERROR_STOP=1", "-d", url]
        here = "c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')"
        names = self.query(f"SELECT relname FROM pg_class c WHERE {here}")
        own = sorted(name for name, in names)
        # Staging tables are the importer's, and must be gone.
        self.left = [name for name in own if name.startswith("_import_stage_")]
        self.tables = {name: Table(name) for name in own if not name.startswith("_import_")}
        self.describe(here)

    def query(self, sql):
        """The rows of a query, as JSON has their values."""
        result = subprocess.run(
            [*self.command, "-c", f"SELECT coalesce(json_agg(to_json(q)), '[]') FROM ({sql}) AS q"], capture_output=True, text=True)
        if result.returncode:
            raise Failure(result.stderr.strip())
        # Rows are the only objects; columns of the same name are told apart by their places.
        return json.loads(result.stdout, object_pairs_hook=lambda pairs: [value for _, value in pairs])

    def describe(self, here):
        """Reads the catalogue; `here` is what tables are asked for."""
        for name, column, kind, is_mandatory in self.query(
                "SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull FROM pg_attribute a"
                f" JOIN pg_class c ON c.oid = a.attrelid WHERE {here} AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"):
            if name in self.tables:
                self.tables[name].columns.append(column)
                self.tables[name].types[column] = kind
                if is_mandatory:
                    self.tables[name].mandatory.add(column)
        # `indnullsnotdistinct` is there from PostgreSQL 15 on.
        for name, index, columns, is_unique, is_primary, is_whole in self.query(
                "SELECT c.relname, x.relname AS index, (SELECT json_agg(pg_get_indexdef(i.indexrelid, n, true) ORDER BY n)"
                " FROM generate_series(1, i.indnkeyatts) AS n) AS columns, i.indisunique, i.indisprimary,"
                " i.indpred IS NULL AND i.indisvalid AND i.indisready"
                " AND to_jsonb(i)->>'indnullsnotdistinct' IS DISTINCT FROM 'true'"
                f" FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_class x ON x.oid = i.indexrelid WHERE {here}"):
            if name not in self.tables:
                continue
            table = self.tables[name]
            columns = tuple(unquoted(column) for column in columns)
            if not is_whole:
                table.remarks.append(f"the index {index} is invalid, partial, or takes nulls for the same")
                continue
            if is_primary:
                table.key = columns
            table.indexes[columns] = is_unique or table.indexes.get(columns, False)
        for name, constraint, kind, columns, target, others, action, is_deferrable, is_deferred, is_valid in self.query(
                "SELECT c.relname, k.conname, k.contype, (SELECT json_agg(a.attname ORDER BY p.place) FROM unnest(k.conkey)"
                " WITH ORDINALITY AS p (number, place) JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = p.number)"
                " AS columns, (SELECT relname FROM pg_class WHERE oid = k.confrelid) AS target,"
                " (SELECT json_agg(a.attname ORDER BY p.place) FROM unnest(k.confkey) WITH ORDINALITY AS p (number, place)"
                " JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = p.number) AS others, k.confdeltype, k.condeferrable, k.condeferred, k.convalidated"
                f" FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid WHERE {here} ORDER BY k.oid"):
            if name not in self.tables or kind in ("p", "u", "n"):
                continue
            if kind != "f":
                self.tables[name].remarks.append(f"the constraint {constraint} is none of the model's")
                continue
            timing = f"deferrable initially {'deferred' if is_deferred else 'immediate'}" if is_deferrable else ""
            self.tables[name].foreign_keys.append(ForeignKey(columns, target, others, ACTIONS[action], timing, is_valid))
        for name, trigger in self.query(
                "SELECT c.relname, t.tgname FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid"
                f" WHERE {here} AND NOT tgisinternal"):
            if name in self.tables:
                self.tables[name].remarks.append(f"there is a trigger {trigger}")

    def rows(self, table):
        """The rows of a table, spelled, in no order."""
        values = ", ".join(self.spelling(column, table.types[column]) for column in table.columns)
        # Arrays have no limit as functions' arguments have; nothing in their JSON is a control character.
        copy = (f"COPY (SELECT to_json(ARRAY[{values}]::text[]) FROM {quoted(table.name)}) TO STDOUT"
                " (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02')")
        process = subprocess.Popen([*self.command, "-c", copy], stdout=subprocess.PIPE, text=True, encoding="utf-8")
        with process.stdout:
            for line in process.stdout:
                yield json.loads(line)
        if process.wait():
            raise Failure(f"psql cannot read {table.name}")

    @staticmethod
    def spelling(column, kind):
        """SQL that spells a column."""
        name = quoted(column)
        if kind in ("real", "double precision"):
            return f"encode(float8send({name}::float8), 'hex')"
        if kind.startswith("numeric"):
            return f"trim_scale({name})::text"
        if kind == "boolean":
            return f"{name}::int::text"
        if kind == "bytea":
            return f"encode({name}, 'hex')"
        if kind.startswith("timestamp"):
            name += " AT TIME ZONE 'UTC'" if kind.endswith("with time zone") else ""
            return f"to_char({name}, 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"
        return f"CASE WHEN octet_length({name}::text) > 200 THEN md5({name}::text) ELSE {name}::text END"

    def bookkeeping(self):
        """The rejects with their bytes, and the ledger."""
        rejects = self.query(
            "SELECT job, ordinal, entity, source, byte_offset, length, state, errors, upper(encode(record, 'hex'))"
            " FROM _import_reject")
        ledger = self.query("SELECT job, entity, attribute, kind, sum(count) FROM _import_ledger GROUP BY 1, 2, 3, 4")
        jobs = [job for job, in self.query("SELECT id FROM _import_job ORDER BY id")]
        return [tuple(row) for row in rejects], [tuple(row) for row in ledger], jobs


def unquoted(text):
    """The column that an index is on, where it is on its text, too."""
    text = re.sub(r"::text\)*$", "", text.lstrip("(")) if "::text" in text else text
    return text[1:-1].replace('""', '"') if text.startswith('"') else text
