"""Tables that somebody else has made, with rows, constraints and triggers: random records are imported into them, on one night or two.

Python decides the column of each key, the identifier and what a value is in its column, by the rules of Coercion.md ("Tables that
exist"). What the table makes of that is SQLite's own INSERT or UPDATE, in a table that the same statements made.
"""
import json
import re
import sqlite3

from case import Found
from columns import COUNTED, DECLARED, FORMS, LOSSES, STRICT, UUIDS, Values, decided, nearness, shown, spellings, valued
from lines import Misfit, Number, members, store_dump

WORDS = [["kind"], ["country", "code"], ["created", "at"], ["n", "2"], ["order"], ["home", "page", "url"], ["note"], ["été"]]
CHECKS = ["length({0}) < 12", "{0} IS NULL OR typeof({0}) <> 'integer'", "{0} <> 7", "{0} NOT LIKE 'a%'"]
DEFAULTS = {"integer64": ["7", "-1", "(1 + 1)"], "string": ["'none'", "'a'", "('b')"], "double": ["0.5"], "boolean": ["TRUE", "0"]}
TRIGGERS = [
    "AFTER {event} ON t BEGIN {log}", "AFTER {event} ON t WHEN {when} BEGIN {log}", "BEFORE {event} ON t BEGIN {log}",
    "BEFORE {event} ON t WHEN {when} BEGIN SELECT RAISE(IGNORE)", "BEFORE {event} ON t WHEN {when} BEGIN {log}; SELECT RAISE(ABORT, 'no')",
    "AFTER {event} ON t WHEN {when} BEGIN {log}; SELECT RAISE(FAIL, 'no')", "AFTER UPDATE OF {one} ON t BEGIN {log}",
    "AFTER {event} ON t BEGIN UPDATE t SET {own} = {own} WHERE {two} IS NEW.{two}; {log}",
]  # fmt: skip
# What is not generated, or is expected as it is, while it is known: keys of identifiers in several spellings (`keys`), numbers in JSON
# columns (`numbers`), numbers in columns whose dates are texts (`dates`), and keys of a record for one column that are not counted with
# --model (`models`).
KNOWN = {"keys", "numbers", "models", "dates"}


# MARK: The table


class Column:
    def __init__(self, random, parts, types, names=None):
        self.parts, self.name = parts, random.choice(names or spellings(parts))
        self.quoted, self.kind = store_dump.quoted(self.name), random.choice(list(types))
        declared = random.choice(types[self.kind].split("|"))
        self.declared = random.choice([declared, declared, declared.lower(), declared.title()])
        self.rules, self.default, self.computed, self.required, self.unique = "", None, False, False, False
        # The form of its rows, what texts of a BLOB column mostly are, and how they become bytes.
        self.form = {"day": "day", "date": "sqlite", "uuid": "text"}.get(self.kind)
        self.mode, self.decided = random.choice(["uuid", "base64", "text", "mixed"]), None
        self.stored, self.are_midnights = self.kind, False

    def add_rules(self, random, others):
        if others:
            self.computed, one = True, random.choice(others).quoted
            self.rules = random.choice([" GENERATED ALWAYS", ""]) + f" AS ({random.choice([f'length({one})', f'typeof({one})', one])})"
            self.rules += random.choice(["", " STORED", " VIRTUAL"])
            return
        if random.random() < 0.25:
            self.default = random.choice(DEFAULTS.get(self.kind, []) + ["NULL"])
            self.rules += f" DEFAULT {self.default}"
        if random.random() < 0.15:
            self.required, self.rules = True, self.rules + " NOT NULL" + random.choice(["", "", " ON CONFLICT IGNORE"])
        if random.random() < 0.12:
            self.unique, self.rules = True, self.rules + " UNIQUE" + random.choice(["", "", " ON CONFLICT REPLACE"])
        if random.random() < 0.15:
            self.rules += f" CHECK ({random.choice(CHECKS).format(self.quoted)})"
        if self.kind == "string" and random.random() < 0.25:
            self.rules += random.choice([" COLLATE NOCASE", " COLLATE RTRIM"])


class Table:
    def __init__(self, random):
        self.random, self.is_strict = random, random.random() < 0.15
        types = STRICT if self.is_strict else DECLARED
        self.columns, self.own, self.key, rules, self.seen = [], [], [], [], set()
        for parts in random.sample(WORDS, random.randint(2, 6)):
            column = Column(random, parts, types)
            column.add_rules(random, self.own if not self.is_strict and random.random() < 0.1 else [])
            self.columns.append(column)
            self.own += [] if column.computed else [column]
        self.add_key(types, rules)
        if random.random() < 0.1:
            rules.append(f"UNIQUE ({', '.join(column.quoted for column in random.sample(self.own, min(2, len(self.own))))})")
        has_numbers = any("AUTOINCREMENT" in column.rules for column in self.key)
        self.has_row_id = not self.key or has_numbers or random.random() < 0.7
        self.row_id = "rowid" if self.has_row_id else ", ".join(column.quoted for column in self.key)
        self.quoted = ", ".join(column.quoted for column in self.columns)
        definitions = [f"{column.quoted} {column.declared}{column.rules}" for column in self.columns]
        ends = ["STRICT"] * self.is_strict + ["WITHOUT ROWID"] * (not self.has_row_id)
        self.script = [f"CREATE TABLE t ({', '.join(definitions + rules)}) " + ", ".join(ends), "CREATE TABLE log (what, one, two)"]
        if random.random() < 0.1:
            one = random.choice(self.own).quoted
            self.script.append(f"CREATE UNIQUE INDEX i ON t ({one}) WHERE {one} > 7")

    def add_key(self, types, rules):
        random, choice = self.random, self.random.random()
        if choice < 0.6:
            is_row_id = choice < 0.4
            column = Column(random, ["id"], {"integer64": "INTEGER"} if is_row_id else types, ["id", "ID", "Id"])
            ends = ["", "", " AUTOINCREMENT", " NOT NULL", " DESC"] if is_row_id else ["", "", " NOT NULL", " COLLATE NOCASE"]
            column.rules = " PRIMARY KEY" + random.choice(ends)
            column.required = "NOT NULL" in column.rules
            self.key = [column]
            self.columns.insert(0, column)
            self.own.insert(0, column)
        elif choice < 0.75:
            self.key = random.sample(self.own, min(2, len(self.own)))
            rules.append(f"PRIMARY KEY ({', '.join(column.quoted for column in self.key)})")
        elif choice < 0.85 and not self.own[0].unique and not self.own[0].required:
            self.own[0].required = self.own[0].unique = True
            self.own[0].rules += " NOT NULL UNIQUE"

    def add_triggers(self):
        random = self.random
        for number in range(random.choice([0, 0, 1, 2])):
            one, two = (random.choice(self.columns).quoted for _ in range(2))
            whens = [f"length(NEW.{one}) % 3 = 0", f"typeof(NEW.{one}) = 'integer' AND NEW.{one} % 3 = 0", f"NEW.{one} IS NULL"]
            log = f"INSERT INTO log VALUES ('{number}', NEW.{one}, NEW.{two})"
            names = {"event": random.choice(["INSERT", "UPDATE"]), "when": random.choice(whens), "log": log, "one": one, "two": two}
            what = random.choice(TRIGGERS).format(own=random.choice(self.own).quoted, **names)
            self.script.append(f"CREATE TRIGGER g{number} {what}; END")

    def identifier(self, complete):
        """The columns by which records are merged: `complete` are those that every record has a value for."""
        if self.key and all(column in complete for column in self.key):
            return self.key
        if any(column in self.seen for column in self.key):
            return []
        return [column for column in self.own if column.unique and column.required and column in complete][:1]

    def opened(self, path=":memory:"):
        database = sqlite3.connect(path, isolation_level=None)
        for statement in self.script:
            database.execute(*statement) if isinstance(statement, tuple) else database.execute(statement)
        return database


# MARK: The store, by SQLite's own statements


def same(value):
    return store_dump.encoded(store_dump.Text(value.encode()) if isinstance(value, str) else value)


class Reference:
    def __init__(self, random, table, values):
        self.table, self.database = table, table.opened()
        if random.random() < 0.6:
            self.fill(random, values)
        table.add_triggers()
        self.database = table.opened()
        declared = ", ".join(f"{column.quoted} {column.declared}" for column in table.columns)
        self.database.execute(f"CREATE TABLE shadow ({declared})" + " STRICT" * table.is_strict)

    def fill(self, random, values):
        forms = {"day": ["day", "day", "sqlite", "blank", "unix", None], "date": list(FORMS) + [None], "uuid": list(UUIDS) + [None]}
        forms["binary"] = ["uuid", "bytes", "text", "base64 texts", "uuid texts"]
        own, before = self.table.own, {column: column.form for column in self.table.own}
        for column in own:
            column.form = random.choice(forms.get(column.kind, [None]))
        midnights = {column: column.kind == "day" and column.form in ("sqlite", "blank") and random.random() < 0.8 for column in own}
        sql = f"INSERT OR IGNORE INTO t ({', '.join(column.quoted for column in own)}) VALUES ({', '.join('?' * len(own))})"
        for _ in range(random.randint(2, 5)):
            row = [values.row(column, midnights[column]) for column in own]
            try:
                if self.database.execute(sql, row).rowcount:
                    self.table.script.append((sql, row))
            except sqlite3.IntegrityError:
                pass
        for column in own:
            there = [value for value, in self.database.execute(f"SELECT {column.quoted} FROM t")]
            column.are_midnights = bool(there) and all(re.fullmatch(".{10} 00:00:00.*", str(value)) for value in there)
            # Most of its dates, or all of its UUIDs, have the form.
            others = there.count("soon") if column.kind in ("day", "date", "uuid") else 0
            if not there:
                column.form = before[column]
            elif others > (len(there) / 2 if column.kind != "uuid" else 0):
                column.stored = "numeric"

    def stored(self, column, value):
        """What the column makes of a value."""
        self.database.execute("DELETE FROM shadow")
        try:
            self.database.execute(f"INSERT INTO shadow ({column.quoted}) VALUES (?)", [value])
        except sqlite3.IntegrityError:
            return value
        return self.database.execute(f"SELECT {column.quoted} FROM shadow").fetchone()[0]

    def run(self, sql, values):
        """A statement on one row; a misfit if the table refuses it."""
        self.database.execute("SAVEPOINT one")
        try:
            self.database.execute(sql, values)
            if self.database.execute("SELECT changes()").fetchone()[0] == 0:
                raise Misfit
        except (sqlite3.IntegrityError, Misfit):
            self.database.execute("ROLLBACK TO one")
            raise Misfit from None
        finally:
            self.database.execute("RELEASE one")

    def apply(self, row, identifier, policy):
        """Gives back what becomes of a row, {column: value}."""
        found = None
        if identifier:
            condition = " AND ".join(f"{column.quoted} = ?" for column in identifier)
            keys = [row[column] for column in identifier]
            found = self.database.execute(f"SELECT {self.table.quoted} FROM t WHERE {condition}", keys).fetchone()
        if not found:
            names = ", ".join(column.quoted for column in row)
            values = f"({names}) VALUES ({', '.join('?' * len(row))})" if row else "DEFAULT VALUES"
            self.run(f"INSERT OR ABORT INTO t {values}", list(row.values()))
            return "inserted"
        if policy == "error":
            raise Misfit
        if policy == "ignore":
            return "ignored"
        if policy == "replace":
            for column in set(self.table.own) - set(row) - set(self.table.key):
                row[column] = self.database.execute(f"SELECT {column.default or 'NULL'}").fetchone()[0]
        there = dict(zip(self.table.columns, found))
        new = {column: self.stored(column, value) for column, value in row.items()}
        kept = identifier
        changed = [column for column, value in new.items() if column not in kept and same(value) != same(there[column])]
        if not changed:
            return "unchanged"
        sets = ", ".join(f"{column.quoted} = ?" for column in changed)
        self.run(f"UPDATE OR ABORT t SET {sets} WHERE {condition}", [row[column] for column in changed] + keys)
        return "updated"


def rows_of(database, table, log=True):
    rows = list(database.execute(f"SELECT {table.row_id}, {table.quoted} FROM t ORDER BY {table.row_id}"))
    return [list(map(same, row)) for row in rows + (list(database.execute("SELECT * FROM log ORDER BY rowid")) if log else [])]


# MARK: The records


class Records:
    """Keys and JSON of records, which are changed for another night."""

    def __init__(self, random, table, values):
        self.random, self.table, self.values, self.paths = random, table, values, {}
        self.share, self.is_array = random.choice([1, 0.9, 0.6]), random.random() < 0.2
        names = [column.name for column in table.columns]
        for column in table.columns:
            paths, known = {}, spellings(column.parts)
            for key in random.sample(known, min(len(known), random.choice([1, 1, 2, 4]))) + [column.name]:
                near = nearness(names, [key])
                if near and names[near[0]] == column.name and random.random() < 0.7:
                    paths.setdefault(near[1], (key,))
            near = nearness(names, column.parts) if len(column.parts) == 2 else None
            if near and not column.computed and not nearness(names, column.parts[:1]) and random.random() < 0.15:
                paths[near[1]] = tuple(column.parts)
            self.paths[column] = list(paths.values()) or [(column.name,)]
            if self.is_key(column) and "keys" in KNOWN:
                del self.paths[column][1:]
        self.records = [self.record() for _ in range(random.choice([1, 3, 8, 25]))]
        for column in table.own:
            if column.kind == "binary" and random.random() < 0.3:
                self.records = [{path: "null" if path in self.paths[column] else text for path, text in record.items()} for record in self.records]

    def is_key(self, column):
        return column in self.table.key or column.required

    def value(self, column):
        text = self.values.text(column)
        if column.kind in ("day", "date") and "dates" in KNOWN and column.form not in ("unix", "unixMilliseconds"):
            text = json.dumps(text) if text[0] in "-0123456789" else text
        return f"[{text}]" if column.kind == "json" and "numbers" in KNOWN and text[0] in "-0123456789" else text

    def record(self):
        random, record = self.random, {}
        for column in self.table.columns:
            if random.random() >= (0.97 if self.is_key(column) and self.share < 1 else self.share):
                continue
            for path in random.sample(self.paths[column], 2 if len(self.paths[column]) > 1 and random.random() < 0.1 else 1):
                if len(path) == 2 and random.random() < 0.1:
                    record[path[:1]] = "null"
                else:
                    record[path] = "null" if random.random() < (0.005 if self.is_key(column) else 0.08) else self.value(column)
        if random.random() < 0.15:
            record[(random.choice(["extra", "other_one", "zz"]),)] = random.choice(["1", '"x"', "[1]", "null"])
        return dict(random.sample(list(record.items()), len(record)))

    def change(self):
        for record in self.records:
            for column in self.table.columns:
                for path in set(self.paths[column]) & set(record):
                    if self.random.random() < 0.15:
                        record[path] = self.value(column)
        self.records += [self.record() for _ in range(self.random.choice([0, 0, 2]))]

    def texts(self):
        for record in self.records:
            outer = {path[0]: text if len(path) == 1 else f"{{{json.dumps(path[1])}:{text}}}" for path, text in record.items()}
            yield "{" + ", ".join(f"{json.dumps(key)}: {text}" for key, text in outer.items()) + "}"


class Source:
    """The columns of the keys of all records, and what follows from all of them."""

    def __init__(self, table, texts):
        self.table, self.names = table, [column.name for column in table.columns]
        self.paths, records = {}, [members(text) for text in texts]
        for record in records:
            for key, (value, text) in record.items():
                for path in [(key, inner) for inner in value] if isinstance(value, dict) and not nearness(self.names, [key]) else [(key,)]:
                    self.paths[path] = nearness(self.names, path)
        self.nested = {path[0] for path, near in self.paths.items() if len(path) == 2 and near}
        # The nearest value and its text of each column of each record, and what is counted of its keys.
        self.rows = [self.row(record) for record in records]
        table.seen |= {table.columns[near[0]] for near in self.paths.values() if near}

    def row(self, record):
        found, notes, row = {}, [], {}
        for key, (value, text) in record.items():
            parts = [((key,), value, text)]
            if key in self.nested:
                inner = members(text) if isinstance(value, dict) else {}
                covered = [path for path, near in self.paths.items() if near and path[0] == key and len(path) == 2]
                parts = [((key, name), *inner[name]) for name in inner] or [(path, None, "null") for path in covered]
            for path, value, text in parts:
                near = self.paths.get(path)
                if near and not self.table.columns[near[0]].computed:
                    distance = near[1] if isinstance(record[key][0], dict) or len(path) == 1 else 99
                    found.setdefault(self.table.columns[near[0]], []).append((distance, value, text, path))
                else:
                    notes.append((shown(path), "unknownKey"))
        for column, values in found.items():
            values.sort(key=lambda one: one[0])
            row[column] = values[0][1:3]
            notes += [(shown(other[3]), "duplicateKey") for other in values[1:]]
        return row, notes

    def complete(self):
        return [column for column in self.table.own if all(row.get(column, (None,))[0] is not None for row, _ in self.rows)]

    def texts(self, column):
        values = [row[column][0] for row, _ in self.rows if column in row]
        return [value for value in values if isinstance(value, str) and not isinstance(value, Number)]


# MARK: The case


class Night:
    """What an import must give, as the reference has it."""

    def __init__(self, table, reference, texts, policy, job):
        source = Source(table, texts)
        self.counts = {"inserted": 0, "updated": 0, "unchanged": 0, "ignored": 0, "rejected": 0}
        self.rejects, self.ledger = [], {}
        for column in table.own:
            if column.kind == "binary" and column.decided is None and source.texts(column):
                column.decided = decided(column, source.texts(column))
        identifier = [] if "none" in job else table.identifier(source.complete())
        for ordinal, (row, notes) in enumerate(source.rows, 1):
            what, bound, misfits = "rejected", {}, 0
            for column, (value, text) in row.items():
                own = set()
                try:
                    bound[column] = None if value is None else valued(column, value, text, own, lambda one: reference.stored(column, one))
                except Misfit:
                    if "null" in job and column not in identifier:
                        own, bound[column] = {"nulled"}, None
                    else:
                        misfits += 1
                misfits += column in identifier and not own.isdisjoint({"digitsLost", "subMillisecondLost"})
                notes += [(column.name, kind) for kind in own]
            if not misfits and not ("--lossless" in job and any(kind in LOSSES for _, kind in notes)):
                for note in notes:
                    self.ledger[note] = self.ledger.get(note, 0) + 1
                try:
                    what = reference.apply(bound, identifier, policy)
                except Misfit:
                    pass
            self.counts[what] += 1
            self.rejects += [ordinal] if what == "rejected" else []


def run_night(case, table, reference, records, number, policy, job, is_last):
    random, texts = case.random, list(records.texts())
    night = Night(table, reference, texts, policy, job)
    name = f"{number}.json" if records.is_array else f"{number}.ndjson"
    case.write(name, ("[" + ",\n".join(texts) + "]" if records.is_array else "\n".join(texts) + "\n").encode())
    # With a given model, keys that it does not name are left out from then on.
    if is_last and not ("--lossless" in job and "models" in KNOWN) and random.random() < 0.15:
        none = ["--identifier", "none"] * ("none" in job)
        model = case.importer("infer", name, "--into", "t.sqlite", "--entity", "t", *none, allowed={0})
        case.write("model.json", model.output)
        job = [option for option in job if option not in none] + ["--model", "model.json"]
    if random.random() < 0.1:
        case.importer("import", name, "--into", "t.sqlite", "--entity", "t", *job, "--dry-run", allowed={0, 65})
    options = ["--chunk-size", random.choice(["100", "8M"]), "--workers", random.choice([1, 2, 4]), "--progress", "none", "--json"]
    options += ["--commit-every", random.choice([1, 3, 10000])]
    undo = ["--undo"] if random.random() < 0.4 else []
    result = case.importer("import", name, "--into", "t.sqlite", "--entity", "t", *job, *options, *undo)
    if result.code != (65 if len(night.rejects) == len(texts) else 0):
        raise Found(f"{name}: {night.counts}, and yet: {result}")
    report = json.loads(result.output)
    connection = store_dump.connect(case.path("t.sqlite"))
    query = f"SELECT ordinal, errors FROM _import_reject WHERE job = {report['job']} ORDER BY ordinal"
    errors = list(store_dump.answers(connection, query))
    connection.close()
    counts, rejects = {key: report[key] for key in night.counts}, [row[0] for row in errors]
    if counts != night.counts or rejects != night.rejects:
        raise Found(f"{name}: {counts}, not {night.counts}; rejects {rejects}, not {night.rejects}; {errors[:3]}")
    compare(case, table, name, rows_of(reference.database, table))
    kinds = report["ledger"].get("t", {}).items()
    ledger = {(column, kind): count for column, found in kinds for kind, count in found.items() if kind in COUNTED}
    if "--model" in job and "models" in KNOWN:
        night.ledger = {note: count for note, count in night.ledger.items() if note[1] != "duplicateKey"}
    if ledger != night.ledger:
        more, fewer = sorted(ledger.items() - night.ledger.items()), sorted(night.ledger.items() - ledger.items())
        raise Found(f"{name}: the ledger has {more}, not {fewer}")
    return bool(undo)


def compare(case, table, what, expected, log=True):
    connection = store_dump.connect(case.path("t.sqlite"))
    found = rows_of(connection, table, log)
    connection.close()
    if found != expected:
        differing = [pair for pair in zip(found, expected) if pair[0] != pair[1]]
        raise Found(f"{what}: {len(found)} rows, {len(expected)} by SQLite; {differing[:1]}")


def run(case):
    random = case.random
    values, table = Values(random), Table(random)
    reference = Reference(random, table, values)
    table.opened(case.path("t.sqlite")).close()
    case.write("t.sql", "\n".join(map(str, table.script)).encode())
    records = Records(random, table, values)
    last = random.choice([1, 1, 2])
    policy = random.choice(["merge", "merge", "merge", "replace", "ignore", "error"])
    job = ["--on-conflict", policy] + ["--lossless"] * (random.random() < 0.1) + ["--identifier", "none"] * (random.random() < 0.08)
    job += ["--on-error", "null"] * ("--lossless" not in job and random.random() < 0.1)
    for number in range(1, last + 1):
        before = rows_of(reference.database, table, log=False)
        undo = run_night(case, table, reference, records, number, policy, job, number == last)
        case.importer("verify", "t.sqlite", allowed={0})
        records.change()
    if undo and random.random() < 0.8:
        case.importer("undo", "t.sqlite", "--progress", "none", allowed={0})
        # What triggers have written into other tables stays.
        compare(case, table, "undone", before, log=False)
