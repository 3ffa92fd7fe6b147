"""The documents of frames, as Python's json reads them by their shapes, and what they lack of the frames."""

import datetime
import json
import math
import re
from decimal import Decimal

from records import Number

# The writers' shapes, each with how Python reads it.
SHAPES = {
    "pandas": {
        "records": "records",
        "split": "rows",
        "index": "keyed",
        "columns": "turned",
        "values": "values",
        "table": "data",
        "lines": "lines",
        "default": "turned",
        "tight": "rows",
        "dict": "turned",
        "list": "columns",
    },  # fmt: skip
    "polars": {"records": "records", "lines": "lines", "columns": "columns", "values": "values"},
    "duckdb": {"array": "records", "lines": "lines"},
    "clickhouse": {
        "JSON": "data",
        "JSONCompact": "described",
        "JSONStrings": "data",
        "JSONCompactStrings": "described",
        "JSONEachRow": "lines",
        "JSONColumns": "columns",
        "JSONColumnsWithMetadata": "data-columns",
        "JSONCompactColumns": "turned-values",
        "JSONCompactEachRow": "value-lines",
        "JSONCompactEachRowWithNames": "header",
        "JSONCompactEachRowWithNamesAndTypes": "header-types",
        "JSONObjectEachRow": "keyed",
        "JSONStringsEachRow": "lines",
    },  # fmt: skip
    "jsonlite": {"rows": "records", "columns": "columns", "values": "values", "lines": "lines"},
    "php": {"rows": "rows-or-keyed", "columns": "columns", "values": "values", "lines": "lines"},
}
# What a writer's document does not have of the frame, or has in another form.
LOSSES = {
    "pandas": {"integer as double", "digits", "not finite", "null as text"},
    "polars": {"not finite", "digits", "null list"},
    "duckdb": {"not finite", "digits"},
    "clickhouse": {"not finite", "digits", "null list", "null as text"},
    "jsonlite": {"integer as double", "digits", "not finite", "names", "null list", "milliseconds", "null as text"},
    "php": {"integer as double", "digits", "names", "not finite"},
}
DATA_KEY = re.compile(r"\d+|\d{4}-\d\d-\d\d|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


# MARK: The document, as Python reads it


class Reading:
    """The rows of a document: (key, record), and whether it must be read so."""

    def __init__(self, how, text, frame, name, others=()):
        self.how, self.rows, self.is_certain, self.options = how, [], True, []
        parse = json.JSONDecoder(
            parse_int=Number, parse_float=Number, parse_constant=lambda name: None, object_pairs_hook=self.members
        ).decode
        self.lines = (
            [parse(line) for line in text.split("\n") if line] if how in ("lines", "value-lines", "header", "header-types") else None
        )
        self.document = self.lines if self.lines is not None else parse(text)
        self.names = [column["name"] for column in frame["columns"]]
        # Keys of rows and columns have a column like any other; those of objects are found by `.*`.
        self.is_short, self.has_key_column = False, how in ("rows", "turned")
        getattr(self, "read_" + how.replace("-", "_"))()
        # One line in a file that is not of lines is a document of its own.
        if how == "lines" and name.endswith(".json") and len(self.lines) == 1 and not are_scalars(getattr(self.lines[0], "values", list)()):
            self.is_certain = False

    def members(self, pairs):
        if len({name for name, _ in pairs}) < len(pairs):
            raise ValueError("a key twice")
        return dict(pairs)

    def read_records(self):
        self.rows = [(None, record) for record in self.document]

    def read_lines(self):
        self.read_records()
        if any(isinstance(record, list) for record in self.document):  # PHP, where the names are 0, 1, 2 …
            self.read_value_lines()

    def read_rows(self):
        keys = self.document["index"]
        counts = all(str(key) == str(at) for at, key in enumerate(keys))
        self.named(self.document["columns"], self.document["data"], [None] * len(keys) if counts else keys)

    def named(self, names, rows, keys):
        # One column is an array of arrays like any other.
        self.is_certain = all(isinstance(name, str) and not isinstance(name, Number) for name in names)
        self.rows = [(key, dict(zip(map(str, names), row))) for key, row in zip(keys, rows)]

    def read_described(self):
        self.named([column["name"] for column in self.document["meta"]], self.document["data"], [None] * len(self.document["data"]))

    def read_data(self):
        self.rows = [(None, record) for record in self.document["data"]]

    def read_keyed(self):
        self.rows = list(self.document.items())
        inner = {name for _, record in self.rows for name in record}
        # Also what columns look like; and one object within another is no collection.
        self.is_certain = len(self.rows) > 1 and not any(map(DATA_KEY.fullmatch, inner))
        self.is_certain = self.is_certain and all(map(DATA_KEY.fullmatch, self.document)) and not are_objects(self.rows)

    def read_turned(self):
        columns = {name: list(column.values()) for name, column in self.document.items()}
        keys = [list(column) for column in self.document.values()]
        keys = keys[0] if keys else []
        self.turned(columns, [None] * len(keys) if keys == [str(at) for at in range(len(keys))] else keys)
        # Keys that count from 0, others that are data.
        self.is_certain = self.is_certain and all(map(DATA_KEY.fullmatch, keys)) and not any(map(DATA_KEY.fullmatch, columns))

    def read_columns(self):
        if isinstance(self.document, list):  # PHP, where the names are 0, 1, 2 …
            if not any(self.document):
                raise ValueError("no rows")
            self.read_values()
            return
        columns = self.document
        self.turned(columns, [None] * max(map(len, columns.values()), default=0))
        two = len(self.rows) == 2 and len({type(column[0]) for column in columns.values()}) > 1
        self.is_short = len(self.rows) < 3 and not two
        self.is_certain = self.is_certain and not self.is_short

    def read_data_columns(self):
        self.document = self.document["data"]
        self.read_columns()

    def turned(self, columns, keys):
        if any(len(column) != len(keys) for column in columns.values()):
            self.is_certain = False
            return
        self.is_certain = len(columns) > 1
        if any(isinstance(value, dict) for column in columns.values() for value in column):
            self.is_certain = False
        self.rows = [(key, {name: column[at] for name, column in columns.items()}) for at, key in enumerate(keys)]

    def read_values(self):
        """Arrays without names: rows, or if there are arrays or objects in them, values."""
        if not all(are_scalars(row) and len(row) < 1000 for row in self.document):
            self.is_certain = False
        rows = self.document
        self.rows = [(None, {f"column_{at}": value for at, value in enumerate(row, 1)}) for row in rows]

    read_turned_values = read_values

    def read_value_lines(self):
        # A line alone is an array of its elements.
        self.read_values()
        self.is_short = len(self.rows) < 2
        self.is_certain = self.is_certain and not self.is_short

    def read_header(self):
        names, *rows = self.lines
        self.options = ["--header-row"]
        self.named(names, rows, [None] * len(rows))

    def read_header_types(self):
        names, _, *rows = self.lines
        self.options = ["--header-row", "--skip", "1"]
        self.named(names, rows, [None] * len(rows))

    def read_rows_or_keyed(self):
        if isinstance(self.document, list):
            self.read_records()
            if not all(isinstance(record, dict) for record in self.document):
                self.read_values()
        elif all(isinstance(record, dict) for record in self.document.values()):
            self.read_keyed()
        else:  # Names that count from 0: objects of arrays.
            self.rows, self.is_certain = [], False


def are_scalars(values):
    return not any(isinstance(value, (dict, list)) for value in values)


def are_objects(rows):
    """Whether all members are objects: collections by key."""
    return any(record and all(isinstance(value, dict) for value in record.values()) for _, record in rows)


# MARK: The frame and the document


def lost(kind, value, got):
    """What the document's value lacks of the frame's: None for nothing."""
    if kind == "float" and value is not None:
        value = float(value)
        if not math.isfinite(value):
            return None if str(got).lower().replace("infinity", "inf") == str(value) else "not finite"
        if isinstance(got, str) and NUMERAL.fullmatch(got):
            return None if float(got) == value else "digits" if math.isclose(float(got), value, rel_tol=1e-9, abs_tol=1e-14) else "value"
        return "value"
    if value is None:
        return (
            None
            if got is None
            else "null list"
            if got == []
            else "null as text"
            if got in ("NA", "NaT", "<NA>", "ᴺᵁᴸᴸ")
            else "not finite"
            if got in ("NaN", "nan")
            else "value"
        )
    if kind in ("int", "big"):
        if isinstance(got, str) and NUMERAL.fullmatch(got):
            return (
                None
                if str(got) == str(value)
                else "integer as double"
                if float(got) == float(value)
                else "digits"
                if math.isclose(float(got), value, rel_tol=1e-13)
                else "value"
            )
        return "value"
    if kind == "decimal":
        if isinstance(got, str) and NUMERAL.fullmatch(got):
            return (
                None
                if Decimal(got) == Decimal(value)
                else "digits"
                if float(got) == float(value) or math.isclose(float(got), float(value), rel_tol=1e-14)
                else "value"
            )
        return "value"
    if kind == "bool":
        return None if got is value or str(got) == str(value).lower() else "value"
    if kind in ("text", "uuid"):
        return None if got == value and not isinstance(got, Number) else "value"
    if kind == "day":
        return None if str(got)[:10] == value else "value"
    if kind == "instant":
        text = str(got).replace(" ", "T").removesuffix("Z").split("+")[0]
        text = (text if "." in text else text + ".").ljust(23, "0")[:23]
        return (
            None
            if text == value
            else "milliseconds"
            if text[:19] == value[:19] or isinstance(got, str) and abs(gap(text, value)) < 2
            else "value"
        )
    if kind == "object":
        if isinstance(got, str) and not isinstance(got, Number):
            return None if str(value["p"]) in got else "value"
        return None if isinstance(got, dict) and lost("int", value["p"], got.get("p")) is None and got.get("q") == value["q"] else "value"
    if kind == "texts" and isinstance(got, str) or kind in ("ints", "floats") and isinstance(got, str):
        return None  # ClickHouse's own text of an array
    if not isinstance(got, list) or len(got) != len(value):
        return "value"
    found = {lost(kind[:-1], one, other) for one, other in zip(value, got)} - {None}
    return min(found) if found else None


NUMERAL = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?")


def gap(left, right):
    try:
        return (datetime.datetime.fromisoformat(left) - datetime.datetime.fromisoformat(right)).total_seconds()
    except ValueError:
        return 1e9


def with_key(key, record):
    """The record with its key under a name that is free."""
    taken, name, number = {name.lower() for name in record}, "key", 1
    while name in taken:
        number += 1
        name = f"key_{number}"
    return record if key is None else {name: key} | record
