"""Documents of every framing, imported as people do: without a model, and mostly without saying where the records are.

After exit code 0 every value of a source is in the store: in a column, within one of JSON, as the key of its record; or the report
names where it is as outside of the records. What a record path does not cover may be any part of a document, so the framings whose
reading is laid down (Sources.md) are compared with that as well. A second night's document of the same kind goes into the same table,
and takes nothing away. A refusal changes nothing.
"""
import collections
import json
import os
import re
import sys
from decimal import ROUND_HALF_EVEN, Context, Decimal

from case import Found
from framings import ASKED, LINES, OBJECTS, Framing, Values

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Checks"))

import store_dump  # noqa: E402
from records import Number, documents, steps  # noqa: E402

# What means the same when it comes as a number and as a text of its digits, and when it is a boolean's 0 or 1.
NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d{1,4})?\Z")
LOSSES = {"digitsLost", "timeZoneLost", "subMillisecondLost", "nulled", "notAnObject", "unknownKey"}
SPELLINGS = {"respelled", "trimmed"}
ZEROS = re.compile(r"-?0\d+(\.\d+)?$")
INSTANT = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d{1,3})?Z\Z")


# MARK: What a value is, however it is spelled


def is_print(text):
    """Whether the number is what its double is written as with that many digits."""
    exact = Decimal(text)
    if not exact:
        return True
    # A text of zeros in front has no more digits for them; those at its end count.
    digits = len(exact.as_tuple().digits)
    try:
        printed = Context(prec=max(digits, 20) if digits > 18 else digits, rounding=ROUND_HALF_EVEN).create_decimal(Decimal(float(text)))
        # SQLite's shell is up to six units of the 20th digit off.
        units = 6 if 18 < digits < 21 else 0
        return abs(printed - exact) <= units * Decimal(10) ** (printed.adjusted() - 19)
    except (ArithmeticError, ValueError):
        return False


def canonical(value):
    """A text that equal scalars share, whether they come from a source, a cell, or JSON in a cell."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return canonical(repr(value))
    text = str(value)
    if NUMBER.match(text):
        exact = Decimal(repr(float(text))) if is_print(text) else Decimal(text)
        exact = Context(prec=400).normalize(exact) if exact.is_finite() else Decimal(text)
        return str(exact) if exact else "0"
    instant = INSTANT.match(text)
    if instant:
        return f"{instant[1]} {instant[2]}{(instant[3] or '').rstrip('0').rstrip('.')}"
    return text


def scalars(value):
    if isinstance(value, dict):
        for member in value.values():
            yield from scalars(member)
    elif isinstance(value, list):
        for element in value:
            yield from scalars(element)
    elif value is not None:
        yield canonical(value)


def cells(row):
    """What a row has: its texts, and what is in those that are JSON."""
    for cell in row:
        if isinstance(cell, bytes):
            cell = cell.decode("utf-8", "surrogateescape")
        if cell is None:
            continue
        yield canonical(cell)
        if isinstance(cell, str) and cell[:1] in ('{', '[', '"', "t", "f"):
            try:
                yield from scalars(json.loads(cell, parse_int=Number, parse_float=Number))
            except ValueError:
                pass


# MARK: What is where


class Source:
    """The values of a source, taken apart by its record paths."""

    def __init__(self, text, paths):
        self.values = list(documents(text))
        self.records = {path: [] for path in paths}
        self.outside = []
        for value in self.values:
            self.walk(value, {path: steps(path) for path in paths}, (), "$")

    def walk(self, value, left, keys, at):
        """Takes what is here for the paths that have come this far."""
        ends = [path for path, rest in left.items() if not rest]
        for path in ends:
            self.records[path].append((keys, value))
        if ends:
            return
        if isinstance(value, dict) and any(rest[0] != 0 for rest in left.values()):
            is_key = any(rest[0] == 1 for rest in left.values())
            for name, member in value.items():
                inner = {path: rest[1:] for path, rest in left.items() if rest[0] in (name, 1)}
                self.walk(member, inner, keys + ((name,) if is_key else ()), (at, name))
        elif isinstance(value, list) and any(rest[0] == 0 for rest in left.values()):
            inner = {path: rest[1:] for path, rest in left.items() if rest[0] == 0}
            for element in value:
                self.walk(element, inner, keys, (at, 0))
        else:
            self.outside.append((at, value))


def place(at):
    """The steps that lead to a place."""
    found = []
    while at != "$":
        at, step = at
        found.append(step)
    return found[::-1]


def is_named(at, named):
    """Whether a path of the report is that of the place, or of one around it."""
    return len(named) <= len(at) and all(n == a or n in (0, 1) and not isinstance(n, str) for n, a in zip(named, at))


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


class Store:
    """The rows of a store's tables, and where its last job has looked for the records."""

    def __init__(self, path):
        self.tables, self.columns, self.sources, self.table_of = {}, {}, [], {}
        self.rejected = 0
        if not os.path.exists(path):
            return
        connection = store_dump.connect(path)
        try:
            tables = store_dump.user_tables(connection)
            connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
            for table in tables:
                cursor = connection.execute(f"SELECT * FROM {quoted(table)} ORDER BY _rowid_")
                self.columns[table] = [column[0] for column in cursor.description]
                self.tables[table] = cursor.fetchall()
            names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
            if "_import_source" in names:
                job = "(SELECT max(id) FROM _import_job)"
                asked = f"SELECT content FROM _import_source JOIN _import_document ON id = layout WHERE job = {job} ORDER BY position"
                listed = [json.loads(row[0]) for row in connection.execute(asked)]
                self.sources = [(source["shape"].get("paths", []), source["entities"]) for source in listed]
                self.table_of = dict(connection.execute(f"SELECT entity, table_name FROM _import_entity WHERE job = {job}"))
        finally:
            connection.close()


def report_of(case):
    with open(case.path("report.json"), encoding="utf-8") as file:
        return json.load(file)


def check(case, texts, before, store, report, nested=False):
    """Every value of the sources is in the rows that were added, or is named."""
    if len(store.sources) != len(texts):
        raise Found(f"the store has {len(store.sources)} sources of the job, not {len(texts)}")
    ledger = report["ledger"]
    named = {path: counts["outside"] for path, counts in ledger.get("", {}).items() if "outside" in counts}
    losses = collections.Counter()
    # Where the columns are those of an object, the whole of something else is left out and counted once.
    in_children = any("notAnObject" in kinds for entity, counts in ledger.items() if entity not in ("", "t") for kinds in counts.values())
    others = [steps("$" + "." * (path[:1] != "[") + path)
              for entity, counts in ledger.items() if entity for path, kinds in counts.items() if "notAnObject" in kinds]
    for entity, counts in ledger.items():
        for kinds in counts.values() if entity else ():
            losses.update({kind: number for kind, number in kinds.items() if kind in LOSSES | SPELLINGS})
    # A new table has the types that its records need. Into one that is there, values are coerced, which is counted.
    is_new = not any(before.tables.values())
    if is_new and LOSSES & set(losses):
        raise Found(f"counted: {dict(losses)} in a new table, which loses nothing")
    changed = 0 if is_new else sum(losses.values())
    by_table = collections.defaultdict(list)
    outside = []
    for text, (paths, entities) in zip(texts, store.sources):
        source = Source(text, paths)
        for path, entity in zip(paths, entities):
            by_table[store.table_of[entity]] += [(path, *record) for record in source.records[path]]
        outside += source.outside
    changed += sum(len(list(scalars(member_at(record[2], path)))) for taken in by_table.values() for record in taken for path in others)
    if not is_new:
        # In a column of numbers, "007" is 7, which is counted as another kind.
        zeros = sum(bool(ZEROS.match(text)) for taken in by_table.values() for record in taken for text in scalars(record[2]))
        kinds = [kinds.get("kindChanged", 0) for entity, counts in ledger.items() if entity for kinds in counts.values()]
        changed += min(zeros, sum(kinds))
    total = sum(map(len, by_table.values()))
    if report["records_read"] != total:
        raise Found(f"{report['records_read']} records are read, not {total} at {[paths for paths, _ in store.sources]}")
    check_outside(outside, named)
    if nested or report["rejected"]:
        # Which rows a record has become is not asked; those that were rejected are kept as they are.
        wanted = collections.Counter(s for taken in by_table.values() for r in taken for s in needed(r))
        has = collections.Counter(c for table, rows in store.tables.items() for row in rows for c in cells(row))
        has -= collections.Counter(c for table, rows in before.tables.items() for row in rows for c in cells(row))
        if not report["rejected"] and not in_children:
            say_lost(wanted - has, changed, "all")
        return
    for table, taken in by_table.items():
        rows = store.tables.get(table, [])[len(before.tables.get(table, [])) :]
        if len(rows) != len(taken):
            raise Found(f"{table} has {len(rows)} new rows, not {len(taken)}")
        if changed:
            wanted = collections.Counter(s for record in taken for s in needed(record))
            say_lost(wanted - collections.Counter(c for row in rows for c in cells(row)), changed, table)
            continue
        for number, (record, row) in enumerate(zip(taken, rows), 1):
            has = collections.Counter(cells(row))
            say_lost(collections.Counter(needed(record)) - has, 0, f"{table}, record {number} at {record[0]}")
            if is_new:
                check_names(table, number, record[2], dict(zip(store.columns[table], row)))


def member_at(value, path):
    """What is not an object at a place of a record."""
    for step in path:
        if not isinstance(value, dict):
            return None
        value = value.get(step)
    return None if isinstance(value, dict) else value


def needed(record):
    _, keys, value = record
    yield from map(canonical, keys)
    yield from scalars(value)


def say_lost(lost, allowed, where):
    count = sum(lost.values())
    if count > allowed:
        raise Found(f"lost, {where}: {dict(list(lost.items())[:5])}; {allowed} are counted as changed")


def check_names(table, number, record, row):
    """A key that could have its own name has it."""
    for name, value in record.items() if isinstance(record, dict) else ():
        if name in row and isinstance(value, (str, bool)) and name not in ("key", "files_key", "value"):
            if canonical(value) not in set(cells([row[name]])):
                raise Found(f"name, {table}, record {number}: the column {name!r} has {row[name]!r}, not that key's {value!r}")


def check_outside(outside, named):
    paths = [(steps(path), count) for path, count in named.items()]
    for at, value in outside:
        if next(scalars(value), None) is None:
            continue
        where = place(at)
        if not any(is_named(where, path) for path, _ in paths):
            raise Found(f"lost, outside: {where} is neither in a record nor named as outside ({sorted(named)})")
    if len(outside) != sum(named.values()):
        raise Found(f"outside: {len(outside)} values, and {sum(named.values())} are counted")


def same_rows(case, before, after, columns=False):
    """What was there before is there still."""
    for table, rows in before.tables.items():
        if not rows and not columns:
            continue
        if table not in after.tables:
            raise Found(f"gone: the table {table}")
        old = before.columns[table]
        if after.columns[table][: len(old)] != old or columns and after.columns[table] != old:
            raise Found(f"columns: {table} had {old}, and has {after.columns[table]}")
        if [row[: len(old)] for row in after.tables[table][: len(rows)]] != rows:
            raise Found(f"gone: rows of {table} that were there before")


def unchanged(case, before, after, result):
    same_rows(case, before, after, columns=True)
    if after.columns != before.columns:
        raise Found(f"refused, and there are tables {sorted(after.tables)}: {result}")
    if after.tables != before.tables:
        raise Found(f"refused, and there are new rows: {result}")


# MARK: The case


def run(case):
    random = case.random
    values = Values(random)
    framing = Framing(random, values)
    mode = random.choice(["first"] * 6 + ["second"] * 4 + ["asked", "asked", "cut", "several"])
    options = ["--nested", "tables"] if random.random() < 0.2 else []
    nested = bool(options)
    if mode == "asked":
        options += ["--records", random.choice(ASKED.get(framing.name, ["$"]))]
    if mode == "several":
        several(case, framing, options, nested)
    elif mode == "cut":
        cut(case, framing, options, nested)
    else:
        first(case, framing, options, nested, mode == "second")


def imported(case, names, options):
    fixed = ["--into", "s.sqlite", "--entity", "t", "--report", "report.json", "--progress", "none"]
    return case.importer("import", *names, *fixed, *options)


def suggested(result):
    """The record paths that a refusal names."""
    text = result.messages.decode("utf-8", "replace")
    return [path.replace("'\\''", "'") for path in re.findall(r"--records '((?:[^']|'\\'')+)'", text)]


def is_empty(text):
    return not text.strip()


def expected_path(framing, text):
    """The record path that the rules leave no choice about."""
    lines = [line for line in text.splitlines() if line.strip()]
    if framing.extension in LINES and framing.name in OBJECTS:
        return "$"
    if framing.name == "lines" and len(lines) > 1:
        return "$"
    return None


def taken(case, names, texts, framing, options, nested, before):
    """Imports, answers a refusal as it says, and checks. Gives back the store, and the options that were taken."""
    result = imported(case, names, options)
    after = Store(case.path("s.sqlite"))
    if result.code == 64:
        unchanged(case, before, after, result)
        paths = suggested(result)
        if not paths or "--records" in options:
            return None, options
        options = options + ["--records", paths[0]]
        result = imported(case, names, options)
        after = Store(case.path("s.sqlite"))
        if result.code == 64:
            raise Found(f"typed: the record path that the importer names is refused: {result}")
    if result.code != 0:
        if result.code in (65, 66) and all(map(is_empty, texts)):
            unchanged(case, before, after, result)
            return None, options
        if result.code in (65, 66) and before.tables:
            same_rows(case, before, after)
            if report_of(case)["rejected"] == 0:
                unchanged(case, before, after, result)
            return None, options
        raise Found(f"refused: {result}")
    report = report_of(case)
    same_rows(case, before, after)
    check(case, texts, before, after, report, nested)
    return after, options


def first(case, framing, options, nested, is_second):
    random = case.random
    name = f"a{framing.extension}"
    text = framing.text()
    case.write(name, text.encode())
    store, used = taken(case, [name], [text], framing, options, nested, Store(""))
    if store is None:
        return
    is_asked = "--records" in options
    path = expected_path(framing, text)
    if path and not is_asked and used == options and store.sources[0][0] != [path]:
        raise Found(f"path: {framing.name} in {framing.extension}: records at {store.sources[0][0]}, not {path}")
    if framing.name == "described" and not is_asked and used == options and store.sources[0][0] == ["$.meta[*]"]:
        raise Found("path: the descriptions of the columns are taken for the records")
    if is_second:
        second(case, framing, options, used, nested, store, random)
    elif used == options and not is_asked and random.random() < 0.15 and store.sources[0][0]:
        again(case, name, options, store)


def again(case, name, options, store):
    """The record paths that were found may as well be typed."""
    typed = [word for path in store.sources[0][0] for word in ("--records", path)]
    result = case.importer("import", name, "--into", "other.sqlite", "--progress", "none", *options, *typed,
                           *(["--entity", "t"] if len(typed) == 2 else []))
    other = Store(case.path("other.sqlite"))
    if result.code != 0 or other.tables != store.tables:
        raise Found(f"typed: {typed} has another result than what was found: {result}")


def second(case, framing, options, used, nested, before, random):
    kind = random.choice(["empty", "bare", "one", "same", "more"])
    name = f"b{framing.extension}"
    if kind == "more":
        framing.values.names = framing.values.names + ["late"]
    text = framing.text({"empty": 0, "bare": 0, "one": 1}.get(kind))
    if kind == "bare":
        text = random.choice(["", "\n", "[]", "{}"])
    case.write(name, text.encode())
    known = before.sources[0][0]
    asked = options if random.random() < 0.7 else used
    store, now = taken(case, [name], [text], framing, asked, nested, before)
    if store is None:
        return
    there = Source(text, known).records if known else {}
    # Where none of the records has a key of the table, they may be elsewhere.
    columns = [column for names in before.columns.values() for column in names]
    has_values = any(isinstance(value, dict) and next(scalars(value), None) is not None
                     and any(column == key or column.startswith(key + "_") for key in value for column in columns)
                     for found in there.values() for _, value in found)
    if any(before.tables.values()) and now == options and "--records" not in options and has_values and sorted(store.sources[0][0]) != sorted(known):
        raise Found(f"path: records at {store.sources[0][0]}, but {known} the night before, where there are some")
    is_empty_again = not any(there.values()) and next(scalars(list(documents(text))), None) is None
    if now == asked and any(before.tables.values()) and framing.extension not in LINES and is_empty_again:
        same_rows(case, before, store, columns=True)
        if kind == "empty" and known != ["$"] and store.tables != before.tables:
            raise Found(f"path: an empty document has become rows at {store.sources[0][0]}")


def several(case, framing, options, nested):
    """Several sources for one entity, some of them empty."""
    random = case.random
    names, texts = [], []
    for number in range(random.randint(2, 3)):
        text = framing.text(random.choice([None, None, 0, 1]))
        if random.random() < 0.25:
            text = random.choice(["", "\n", " \n", "[]"])
        names.append(f"a{number}{framing.extension}")
        texts.append(text)
        case.write(names[-1], text.encode())
    taken(case, names, texts, framing, options, nested, Store(""))


def cut(case, framing, options, nested):
    """A source that breaks off, and the whole of it afterwards."""
    random = case.random
    name = f"a{framing.extension}"
    text = framing.text()
    content = text.encode()
    end = random.randint(0, len(content))
    case.write(name, content[:end])
    first = imported(case, [name], options)
    before = Store(case.path("s.sqlite"))
    case.write(name, content)
    if first.code == 64:
        return
    result = imported(case, [name], options)
    after = Store(case.path("s.sqlite"))
    if result.code != 0:
        if result.code not in (65, 66) or not is_empty(text):
            same_rows(case, before, after)
        return
    if first.code == 0 and before.sources[0][0]:
        # It broke off behind a value: what has come since is imported.
        if before.tables != after.tables or content[end:].strip():
            check(case, [content[end:].decode()], before, after, report_of(case), nested)
        return
    # What the first attempt has committed belongs to the same job, which may decide its table anew.
    check(case, [text], Store(""), after, report_of(case), nested)
