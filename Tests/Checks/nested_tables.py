#!/usr/bin/env python3
"""Compares a store that was imported with `--nested tables` with what the sources say by rules of this file's own.

usage: nested_tables.py [--depth N] [--identifier NAME] [--only PATH]... STORE ENTITY=PATH... -- SOURCE...

PATH is a record path. From the sources alone it works out which tables there are, their columns, rows, row ids and
references, and compares them with the store. Then it puts the rows of the store together again, by references and
positions, and compares that with the records: equal up to null and missing, arrays of objects that are empty, and
objects that hold nothing but these. Prints a line per table; every difference is printed (the first 20) and ends with
exit code 1.
"""
import re
import sys

sys.dont_write_bytecode = True

from records import Number, documents, parsed, records, steps, text_of
from roundtrip import Differences, instant, same
from store_dump import Text, columns_of, connect, quoted, user_tables

LANGUAGES = set(
    """aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el en
    eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka
    kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl
    nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw
    ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu""".split()
)
ID = re.compile(
    r"-?\d+(\.\d+)?|\d{4}-\d\d-\d\d([T ].*)?|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}", re.DOTALL | re.ASCII
)
LANGUAGE = re.compile(r"([a-z]{2})([-_]([A-Za-z]{2}|[A-Za-z]{4}|\d{3}))?", re.ASCII)


class Path:
    """What all values at one path have in common."""

    def __init__(self, level):
        self.level = level
        self.nulls = self.arrays = self.objects = self.others = self.members = 0
        self.is_hollow = False
        self.children = {}
        self.element = None
        self.has_other_elements = False

    def child(self, key):
        return self.children.setdefault(key, Path(self.level))

    def see(self, value, depth):
        if value is None:
            self.nulls += 1
        elif isinstance(value, dict):
            self.objects += 1
            self.members += len(value)
            self.is_hollow |= all(member is None for member in value.values())
            for key, member in value.items():
                self.child(key).see(member, depth)
        elif isinstance(value, list):
            self.arrays += 1
            for element in value:
                self.has_other_elements |= not isinstance(element, dict)
                if self.level < depth:
                    self.element = self.element or Path(self.level + 1)
                    self.element.see(element, depth)
        else:
            self.others += 1

    def is_dictionary(self):
        keys = list(self.children)
        if len(keys) >= 2 and all(ID.fullmatch(key) for key in keys):
            return True
        found = [LANGUAGE.fullmatch(key) for key in keys]
        if len(keys) >= 4 and all(match and match.group(1) in LANGUAGES for match in found):
            return True
        return len(keys) > 30 and self.members < self.objects * len(keys) * 0.2

    def is_flat(self):
        """Whether the objects become columns."""
        return self.objects > 0 and not (self.arrays or self.others or self.is_hollow or self.is_dictionary())

    def is_list(self):
        """Whether the arrays become a table."""
        element = self.element
        return (
            bool(self.arrays and element and element.objects and element.children)
            and not (self.objects or self.others or self.has_other_elements)
            and not element.is_dictionary()
        )


class Names:
    def __init__(self, reserved=()):
        self.used = {"rowid", "oid", "_rowid_"} | {folded(name) for name in reserved}

    def name(self, wanted):
        name, number = wanted, 1
        while folded(name) in self.used:
            number += 1
            name = f"{wanted}_{number}"
        self.used.add(folded(name))
        return name


def folded(name):
    return re.sub("[A-Z]", lambda match: match.group().lower(), name)


def joined(keys):
    return "_".join(key or "empty" for key in keys)


class Table:
    """A table that there is to be: its columns and child tables, and the rows that it gets."""

    def __init__(self, name, path, expected, parent=None, keys=(), identifier=None, keyed=False):
        self.name, self.parent, self.keys, self.identifier = name, parent, keys, identifier
        self.columns, self.lists, self.rows, self.is_keyed = [], [], [], keyed
        self.trail = (parent.trail if parent else ()) + keys
        self.expected = expected
        reserved = (f"{parent.name}_{parent.key()}", f"{parent.name}_position") if parent else ()
        self.names = Names(reserved)
        if keyed:
            self.columns.append((self.names.name("key"), None))
        self.found = []
        members = list(self.members(path, ()))
        # A key that is a name itself keeps it.
        own = [bool(len(keys) == 1 and keys[0]) for keys, _ in members]
        given = {}
        for wanted in (True, False):
            for (keys, _), is_own in zip(members, own):
                if is_own == wanted:
                    given[keys] = self.names.name(joined(keys))
        for keys, child in members:
            if child.is_list() and expected.allows(self.trail + keys):
                self.found.append((keys, child))
            else:
                self.columns.append((given[keys], keys))
        expected.tables.append(self)
        for keys, path in self.found:
            table = expected.names.name(f"{name}_{joined(keys)}")
            self.lists.append((keys, table, path))
        self.lists = [(keys, Table(table, path.element, expected, self, keys)) for keys, table, path in self.lists]

    def members(self, path, keys):
        for key, child in path.children.items():
            if child.is_flat():
                yield from self.members(child, keys + (key,))
            else:
                yield keys + (key,), child

    def key(self):
        """The column by which its rows are referred to."""
        if self.identifier:
            return self.identifier
        name, number = "row_id", 1
        while folded(name) in {folded(column) for column, _ in self.columns}:
            number += 1
            name = f"row_id_{number}"
        return name

    def all_columns(self):
        columns = [self.key()] if self.lists and not self.identifier else []
        columns += [name for name, _ in self.columns]
        if self.parent:
            columns += [f"{self.parent.name}_{self.parent.key()}", f"{self.parent.name}_position"]
        return columns

    def take(self, record, key=None, parent=None, position=None):
        values = {name: key if keys is None else looked_up(record, keys) for name, keys in self.columns}
        number = len(self.rows) + 1
        reference = values[self.identifier] if self.identifier else number
        if self.parent:
            values[f"{self.parent.name}_{self.parent.key()}"] = parent
            values[f"{self.parent.name}_position"] = position
        if self.lists and not self.identifier:
            values[self.key()] = number
        self.rows.append(values)
        for keys, table in self.lists:
            for index, element in enumerate(looked_up(record, keys) or []):
                table.take(element, parent=reference, position=index)


class Expected:
    """The tables of a job."""

    def __init__(self, roots, only):
        self.names, self.tables, self.only = Names(), [], only
        for name in roots:
            self.names.name(name)

    def allows(self, trail):
        return not self.only or any(tuple(path[: len(trail)]) == trail for path in self.only)


def looked_up(record, keys):
    for key in keys:
        if not isinstance(record, dict) or key not in record:
            return None
        record = record[key]
    return record


def equal(value, stored):
    """Whether what is stored is a value of the JSON, whatever the column's type."""
    if value is None or stored is None:
        return value is None and stored is None
    text = stored.decode() if isinstance(stored, Text) else None
    if isinstance(value, (dict, list)):
        return text is not None and same(value, parsed(text))
    if isinstance(value, bool):
        return text == ("true" if value else "false") if text is not None else stored == int(value)
    if isinstance(value, int):
        return stored == value
    if isinstance(value, Number):
        if text is None:
            return value.exact() == stored or float(value) == stored
        return text == str(value) or value.exact() == Number(text).exact()
    if text is None:
        return False
    if text == value or instant(value) is not None and instant(value) == instant(text):
        return True
    return text.startswith('"') and parsed(text) == value


def compare_rows(table, connection, differences):
    if table.name not in user_tables(connection):
        return differences.add(f"there is no table {table.name}")
    columns = table.all_columns()
    if columns_of(connection, table.name) != columns:
        return differences.add(f"{table.name} has {columns_of(connection, table.name)}, not {columns}")
    selected = ", ".join(quoted(column) for column in columns)
    rows = connection.execute(f"SELECT rowid, {selected} FROM {quoted(table.name)} ORDER BY rowid").fetchall()
    if len(rows) != len(table.rows):
        differences.add(f"{table.name} has {len(rows)} rows, not {len(table.rows)}")
    # An integer identifier is the row id.
    own = sorted(table.rows, key=lambda values: int(values[table.identifier])) if table.identifier else table.rows
    for number, (row, expected) in enumerate(zip(rows, own), 1):
        if not table.identifier and row[0] != number:
            differences.add(f"{table.name}: row {number} has the row id {row[0]}")
        for column, stored in zip(columns, row[1:]):
            if not equal(expected[column], stored):
                differences.add(f"{table.name}.{column} of row {number}: {expected[column]!r:.80} is {stored!r:.80}")


def put(record, keys, value):
    for key in keys[:-1]:
        record = record.setdefault(key, {})
    record[keys[-1]] = value


def nested(table, connection, rows):
    """The objects of a table, put together from its rows and those of its child tables, by the key of their parents."""
    columns = [column for column, keys in table.columns if keys is not None]
    extra = [table.key()] if table.lists else []
    if table.parent:
        extra += [f"{table.parent.name}_{table.parent.key()}", f"{table.parent.name}_position"]
    selected = ", ".join(quoted(column) for column in extra + columns)
    order = "rowid" if not table.parent else f"{quoted(extra[-2])}, {quoted(extra[-1])}"
    children = [(keys, nested(child, connection, rows)) for keys, child in table.lists]
    found = {}
    for row in connection.execute(f"SELECT {selected} FROM {quoted(table.name)} ORDER BY {order}"):
        record = {}
        for keys, stored in zip([keys for _, keys in table.columns if keys is not None], row[len(extra):]):
            if stored is not None:
                put(record, keys, stored)
        for keys, lists in children:
            if row[0] in lists:
                put(record, keys, lists[row[0]])
        found.setdefault(row[len(extra) - 2] if table.parent else None, []).append(record)
    return found


def comes_back(record, stored, table, keys=()):
    """Whether an object of the JSON is what was put together."""
    if not isinstance(stored, dict):
        return False
    columns = {path for _, path in table.columns}
    lists = dict(table.lists)
    left = set(stored)
    for key, value in record.items():
        path = keys + (key,)
        left.discard(key)
        if path in lists:
            elements, back = value or [], stored.get(key, [])
            if len(elements) != len(back) or not all(map(lambda a, b: comes_back(a, b, lists[path]), elements, back)):
                return False
        elif path in columns:
            if not equal(value, stored.get(key)):
                return False
        elif value is not None and not comes_back(value, stored.get(key, {}), table, path):
            return False
    return not left


def main(arguments):
    depth, identifier, only = 2, None, []
    while arguments and arguments[0].startswith("--"):
        option, value = arguments[0], arguments[1] if len(arguments) > 1 else ""
        if option == "--depth":
            depth = int(value)
        elif option == "--identifier":
            identifier = value
        elif option == "--only":
            only.append(steps(value))
        else:
            break
        del arguments[:2]
    if "--" not in arguments or arguments.index("--") < 2:
        print(__doc__)
        return 64
    at = arguments.index("--")
    store, roots, sources = arguments[0], [root.split("=", 1) for root in arguments[1:at]], arguments[at + 1 :]
    read = [(name, key, record) for source in sources for document in documents(text_of(source))
            for name, path in roots for key, record in records(document, path)]
    expected = Expected([name for name, _ in roots], only)
    differences = Differences()
    connection = connect(store)
    tables = {}
    for name, _ in roots:
        path = Path(0)
        for other, _, record in read:
            if other == name:
                assert isinstance(record, dict), "records are objects"
                path.see(record, depth)
        is_keyed = any(other == name and key is not None for other, key, _ in read)
        tables[name] = Table(name, path, expected, identifier=identifier, keyed=is_keyed)
    for name, key, record in read:
        tables[name].take(record, key)
    names = {table.name for table in expected.tables}
    for name in sorted(set(user_tables(connection)) - names):
        differences.add(f"there is a table {name}")
    for table in expected.tables:
        compare_rows(table, connection, differences)
    for name in tables if not differences.count else ():
        back = nested(tables[name], connection, {}).get(None, [])
        own = [record for other, _, record in read if other == name]
        if identifier:
            own.sort(key=lambda record: int(record[identifier]))
        for number, (record, stored) in enumerate(zip(own, back), 1):
            if not comes_back(record, stored, tables[name]):
                differences.add(f"{name}: record {number} does not come back: {record!r:.200} is {stored!r:.200}")
    if connection.execute("PRAGMA foreign_key_check").fetchone():
        differences.add("PRAGMA foreign_key_check finds something")
    for table in expected.tables:
        print(f"{table.name}: {len(table.rows)} rows")
    if differences.count:
        print(f"{differences.count} differences")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
