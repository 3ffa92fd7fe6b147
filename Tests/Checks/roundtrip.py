#!/usr/bin/env python3
"""Compares a store that was imported with an inferred model with what Python reads in the sources.

usage: roundtrip.py STORE MODEL SOURCE... [--records PATH]

MODEL is what `importer infer` printed. PATH is used for an entity that names no record path (default `$`).
Equal up to: key order; how a number is spelled; missing and null; a number and the string of the same digits in a
column of strings. Dates are compared as instants. Prints a line per entity (rows, values that are there, sum of
its integers); every difference is printed (the first 20) and ends with exit code 1.
"""
import datetime
import json
import re
import sys
from decimal import Decimal

sys.dont_write_bytecode = True

from extended_json import taken_out
from records import MISSING, Number, attribute_path, documents, parsed, records, text_of
from store_dump import Text, columns_of, connect, quoted, user_tables


class Differences:
    def __init__(self):
        self.count = 0

    def add(self, text):
        self.count += 1
        if self.count <= 20:
            print("different: " + text.encode("unicode_escape").decode())


def looked_up(key, record, path):
    """The value at an attribute's path, MISSING where there is none; null counts as missing."""
    if path is None:
        return MISSING if key is None else key
    value = record
    for step in path:
        if not isinstance(value, dict) or step not in value:
            return MISSING
        value = value[step]
    return MISSING if value is None else value


def uncovered(value, path, covered):
    """Yields the paths of values that no attribute has."""
    if path in covered or value is None:
        return
    if isinstance(value, dict) and value:
        for name, member in value.items():
            yield from uncovered(member, path + (name,), covered)
    else:
        yield path


def same(left, right):
    """Whether two parsed JSON values are equal, numbers by their exact value."""
    if isinstance(left, Number) or isinstance(right, Number):
        both = isinstance(left, Number) and isinstance(right, Number)
        return both and (str(left) == str(right) or left.exact() == right.exact())
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[name], right[name]) for name in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right


_INSTANT = re.compile(r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(Z|z|[+-]00(?::?00)?)$")


def instant(text):
    """Milliseconds since 1970 of a UTC instant in ISO 8601; None for anything else."""
    match = _INSTANT.match(text)
    if not match:
        return None
    fraction = (match.group(7) or "").ljust(3, "0")
    if fraction[3:].strip("0"):
        return None
    try:
        moment = datetime.datetime(*(int(match.group(i)) for i in range(1, 7)))
    except ValueError:
        return None
    return (moment - datetime.datetime(1970, 1, 1)) // datetime.timedelta(milliseconds=1) + int(fraction[:3])


def fits(kind, value, stored):
    """Whether what is stored is the source's value, in the storage class that the type asks for."""
    text = stored.decode() if isinstance(stored, Text) else None
    number = isinstance(value, Number)
    string = isinstance(value, str) and not number
    if kind in ("integer16", "integer32", "integer64"):
        return number and type(stored) is int and value.exact() == stored
    if kind == "double":
        return number and type(stored) is float and float(value) == stored
    if kind == "decimal":
        return number and text is not None and value.exact() == Decimal(text)
    if kind == "boolean":
        return isinstance(value, bool) and type(stored) is int and stored == int(value)
    if kind == "date":
        if not string or text is None or not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", text):
            return False
        return instant(value) is not None and instant(value) == instant(text)
    if kind == "binary":
        return isinstance(value, bytes) and stored == value
    if kind == "json":
        return text is not None and same(value, parsed(text))
    if text is None:
        return False
    if kind == "uuid":
        return string and text == value and value == value.lower()
    if kind == "string" and number:
        return text == str(value)
    return string and text == value


class Entity:
    def __init__(self, name, description, connection):
        self.name = name
        self.table = description.get("table", name)
        self.path = description.get("records")
        self.attributes = []
        for attribute, properties in description.get("attributes", {}).items():
            source = properties.get("from")
            if isinstance(source, list):
                assert len(source) == 1, "an inferred attribute has one source"
                source = source[0]
            path = [attribute] if source is None else attribute_path(source)
            column = properties.get("column", attribute)
            self.attributes.append((attribute, column, properties["type"], properties.get("optional", False), path))
        self.covered = {tuple(path) for *_, path in self.attributes if path is not None}
        self.key_taken = any(path is None for *_, path in self.attributes)
        self.rows, self.values, self.total = 0, 0, 0
        self.sums = {column: 0 for _, column, kind, *_ in self.attributes if kind == "integer64"}
        self.cursor = None
        if self.table in user_tables(connection):
            present = set(columns_of(connection, self.table))
            missing = [column for _, column, *_ in self.attributes if column not in present]
            assert not missing, f"{self.table} lacks the columns {missing}"
            selected = ", ".join(quoted(column) for _, column, *_ in self.attributes) or "1"
            self.cursor = connection.execute(f"SELECT {selected} FROM {quoted(self.table)}")

    def compare(self, key, record, differences):
        row = self.cursor.fetchone() if self.cursor else None
        self.rows += 1
        if isinstance(record, list) and ("column_1",) in self.covered:
            record = {f"column_{index}": element for index, element in enumerate(record, 1)}
        where = f"{self.name} record {self.rows}"
        if row is None:
            differences.add(f"{where}: no row")
            return
        is_whole = any(path == [] and stored is not None for (*_, path), stored in zip(self.attributes, row))
        for (name, column, kind, optional, path), stored in zip(self.attributes, row):
            value = looked_up(key, record, path)
            if kind != "json" and path:
                value = taken_out(value)
                value = MISSING if value is None else value
            if path == [] and isinstance(record, dict) and stored is None:
                continue  # an object's members have columns of their own
            if stored is None and not optional:
                differences.add(f"{where} {name}: null, but not optional")
            if value is MISSING or stored is None:
                if (value is MISSING) != (stored is None):
                    differences.add(f"{where} {name} ({kind}): {shown(value)} is stored as {shown(stored)}")
                continue
            self.values += 1
            if column in self.sums and type(stored) is int:
                self.sums[column] += int(value) if isinstance(value, Number) else 0
            if not fits(kind, value, stored):
                differences.add(f"{where} {name} ({kind}): {shown(value)} is stored as {shown(stored)}")
        if key is not None and not self.key_taken:
            differences.add(f"{where}: no attribute has the record's key {key}")
        members = record.items() if isinstance(record, dict) and not is_whole else ()
        missed = [path for name, member in members for path in uncovered(member, (name,), self.covered)]
        if not isinstance(record, dict) and record is not None and not is_whole:
            missed.append(())
        for path in missed:
            differences.add(f"{where}: no attribute has {path}")


def shown(value):
    return "nothing" if value is MISSING or value is None else repr(value)[:80]


def main(arguments):
    if "-h" in arguments or "--help" in arguments or len(arguments) < 3:
        print(__doc__)
        return 0 if "-h" in arguments or "--help" in arguments else 64
    default = "$"
    if "--records" in arguments:
        at = arguments.index("--records")
        default = arguments[at + 1]
        del arguments[at : at + 2]
    store, model, *sources = arguments
    connection = connect(store)
    with open(model, encoding="utf-8") as file:
        described = json.load(file)["entities"]
    entities = [Entity(name, description, connection) for name, description in described.items()]
    differences = Differences()
    for source in sources:
        for document in documents(text_of(source)):
            for entity in entities:
                for key, record in records(document, entity.path or default):
                    entity.compare(key, record, differences)
    for entity in entities:
        stored = 0
        if entity.cursor:
            stored = connection.execute(f"SELECT count(*) FROM {quoted(entity.table)}").fetchone()[0]
        if stored != entity.rows:
            differences.add(f"{entity.name}: {entity.rows} records, {stored} rows")
        for column, total in entity.sums.items():
            if entity.cursor and abs(total) < 2**62:
                found = connection.execute(
                    f"SELECT coalesce(sum({quoted(column)}), 0) FROM {quoted(entity.table)}"
                ).fetchone()[0]
                if found != total:
                    differences.add(f"{entity.name} {column}: sum {found}, not {total}")
        integers = sum(entity.sums.values())
        print(f"{entity.name}: {entity.rows} records, {entity.values} values, integers add up to {integers}")
    if not entities:
        differences.add("the model has no entities")
    if differences.count:
        print(f"{differences.count} differences")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
