"""Stores that were tampered with, and what lies beside them.

Whatever a store says of itself, each command ends in an orderly way, and nothing that belongs to others is changed: not the
source, not the files of other directories, not another database.
"""
import hashlib
import json
import os
import shutil
import sqlite3

from case import Found

MODEL = {
    "entities": {
        "t": {
            "identifier": ["code"],
            "attributes": {
                "code": {"type": "string"},
                "age": {"type": "integer16", "optional": True},
                "born": {"type": "date", "optional": True},
                "price": {"type": "decimal", "optional": True},
                "tags": {"type": "json", "optional": True},
            },
        }
    }
}
# The names by which the importer knows its own files, and others.
OTHERS = ["chunk-000001.ndjson", "chunk-000002.ndjson.partial", "manifest.ndjson", "notes.txt", "t.sqlite.retry.ndjson"]


def records(random, count):
    lines = []
    for number in range(count):
        record = {"code": f"c{random.randrange(count)}", "age": random.choice([1, 2, 3, 70000, None])}
        if random.random() < 0.5:
            record["born"] = random.choice(["2024-02-29", "2024-02-29T10:00:00+02:00", "never"])
        if random.random() < 0.5:
            record["price"] = random.choice([1, 2.50, "3.10"])
        if random.random() < 0.3:
            record["tags"] = [number, {"a": None}]
        if random.random() < 0.2:
            record["unknown"] = "x"
        lines.append(json.dumps(record))
    return lines


# MARK: What there is before


def make(case):
    """A store in one of the states that an import leaves, and the files beside it. Gives back the job's options."""
    random = case.random
    os.mkdir(case.path("others"))
    for name in OTHERS:
        case.write(os.path.join("others", name), f"the only copy of {name}\n".encode())
    other = sqlite3.connect(case.path("others", "other.sqlite"))
    other.executescript("CREATE TABLE precious (a TEXT); INSERT INTO precious VALUES ('one'), ('two');")
    other.close()
    case.write("model.json", json.dumps(MODEL).encode())

    lines = records(random, random.choice([3, 60, 60, 300]))
    shape = random.choice(["lines", "array", "lines"])
    text = "\n".join(lines) + "\n" if shape == "lines" else "[" + ",\n".join(lines) + "]"
    state = random.choice(["finished", "finished", "stopped", "cut off", "cut off", "retry"])
    options = ["--entity", "t", "--chunk-size", random.choice(["1K", "4K", "8M"]), "--commit-every", random.choice([1, 7, 10000])]
    options += ["--progress", "none"]
    if random.random() < 0.7:
        options += ["--model", "model.json", "--on-conflict", random.choice(["merge", "replace", "ignore", "error"])]
    if random.random() < 0.3:
        options += ["--index", "age"]
    if random.random() < 0.3:
        options += ["--keep-chunks"]
    if state == "stopped":
        options += ["--on-error", "stop"]
    if state == "cut off":
        text = text[: random.randrange(len(text) // 2, len(text))]
    case.write("t.json", text.encode())
    if random.random() < 0.3:
        # A table of somebody's own, with an index that goes while its table is filled.
        made = sqlite3.connect(case.path("t.sqlite"))
        made.executescript(
            "CREATE TABLE t (code TEXT, age INTEGER CHECK (age < 4), born TEXT, price TEXT, tags TEXT, more TEXT DEFAULT 'x');"
            "CREATE INDEX t_price ON t (price COLLATE NOCASE DESC, age); CREATE INDEX t_some ON t (age) WHERE age > 1;"
        )
        made.close()
    case.importer("import", "t.json", "--into", "t.sqlite", *options)
    if state == "retry":
        case.importer("rejects", "t.sqlite", "--to", "fix.ndjson")
        if os.path.exists(case.path("fix.ndjson")):
            with open(case.path("fix.ndjson")) as file:
                fixed = file.read().replace("70000", "7").replace('"never"', "null")
            case.write("fix.ndjson", fixed.encode())
            case.importer("retry", "t.sqlite", "fix.ndjson", "--progress", "none")
    return options


# MARK: What is done to it

NUMBERS = [-1, 0, 1, 2, 3, 255, 2**31, 2**53 + 1, 2**62, 2**63 - 1, 1 - 2**63, -(2**63), -3000]
TEXTS = ["", "x", "{}", "{", "[", "[]", "[[", "null", "0", "-1", '"a"', '{"a":', "[1,2,{}]", "a\0b", "\x1b[31m", "‮abc"]
TEXTS += ["[" * 5000, '{"a":' * 2000, "9" * 400, "1e999", "$", "$[*]", "$.a.*", "$['", "running", "finished", "failed", "t", "T"]
TEXTS += ["_import_job", "sqlite_master", "../others", "others/manifest.ndjson", "/dev/null", "/proc/self/mem", "é" * 3000]
TEXTS += ["interrupted", "open", "repaired", "retried", "integer64", "0" * 16, "ffffffffffffffff", "18446744073709551616"]


def statements(case):
    """SQL texts that must never run."""
    other = case.path("others", "other.sqlite")
    return [
        f"ATTACH '{other}' AS o",
        f"ATTACH '{other}' AS o; DELETE FROM o.precious",
        f"CREATE INDEX t_age ON t (age); ATTACH '{other}' AS o; UPDATE o.precious SET a = 'gone'",
        f"VACUUM INTO '{case.path('others', 'made.sqlite')}'",
        "DROP TABLE t",
        "DELETE FROM t",
        "CREATE TRIGGER x AFTER INSERT ON t BEGIN DELETE FROM t; END",
        "CREATE INDEX i ON _import_job (id)",
        "CREATE UNIQUE INDEX i ON t (load_extension('x'))",
        "PRAGMA writable_schema = 1",
        f"CREATE INDEX i ON t (writefile('{case.path('others', 'made')}', code))",
        "CREATE INDEX i ON t (age) WHERE age IN (SELECT a FROM o.precious)",
    ]


def edited_json(random, text, case):
    """The JSON of a column with something in it that is not as it was; the text itself where it is none."""
    try:
        value = json.loads(text)
    except ValueError:
        return text[: random.randrange(len(text) + 1)]
    places = []

    def walk(inner):
        for key in inner if isinstance(inner, dict) else range(len(inner)):
            places.append((inner, key))
            if isinstance(inner[key], (dict, list)):
                walk(inner[key])

    if isinstance(value, (dict, list)):
        walk(value)
    if not places:
        return random.choice(TEXTS)
    inner, key = random.choice(places)
    if random.random() < 0.2:
        del inner[key]
    else:
        inner[key] = random.choice(NUMBERS + TEXTS + [None, True, 1e300, [], {}, case.path("others", "notes.txt")])
    return json.dumps(value)


def edit_rows(case, connection):
    """A few values of bookkeeping tables, whatever their types allow; rows that go, and rows that come twice."""
    random = case.random
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    filled = [name for name in tables if connection.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0]]
    for _ in range(random.choice([1, 1, 1, 2, 4])):
        table = random.choice(filled) if random.random() < 0.9 else random.choice(tables)
        columns = connection.execute(f'SELECT name, type FROM pragma_table_info("{table}")').fetchall()
        column, kind = random.choice(columns)
        rows = connection.execute(f'SELECT "{column}" FROM "{table}" ORDER BY 1').fetchall()
        try:
            choice = random.randrange(10)
            if choice == 0:
                connection.execute(f'DELETE FROM "{table}"')
            elif choice == 1 and rows:
                connection.execute(f'DELETE FROM "{table}" WHERE "{column}" IS ?', random.choice(rows))
            elif choice == 2 and rows:
                names = ", ".join(f'"{name}"' for name, _ in columns)
                shifted = ", ".join(f'"{name}" + 1' if name == column else f'"{name}"' for name, _ in columns)
                connection.execute(f'INSERT INTO "{table}" ({names}) SELECT {shifted} FROM "{table}" LIMIT 1')
            else:
                old = random.choice(rows)[0] if rows else None
                if random.random() < 0.3 and isinstance(old, str):
                    new = edited_json(random, old, case)
                elif isinstance(old, int) and random.random() < 0.4:
                    new = old + random.choice([-1, 1, 2**32])
                elif isinstance(old, bytes) and old and random.random() < 0.7:
                    new = mutated(random, old)
                elif kind in ("INTEGER", "REAL"):
                    new = random.choice(NUMBERS)
                else:
                    new = random.choice(TEXTS + [case.path("others"), case.path("others") + "/", case.path(), case.path("t.json")])
                if kind == "BLOB" and isinstance(new, str):
                    new = new.encode()
                connection.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE "{column}" IS ?', (new, old))
        except (sqlite3.Error, OverflowError):
            continue


def add_texts(case, connection):
    """SQL texts and directories of others, where the store keeps texts and directories."""
    random = case.random
    statement = random.choice(statements(case))
    attempts = [
        ("UPDATE _import_job SET chunk_directory = ?", (random.choice([case.path("others"), "others", case.path(), "/"]),)),
        ("UPDATE _import_job SET state = 'interrupted', finished = NULL", ()),
        ("UPDATE _import_entity SET table_name = ?", (random.choice(["_import_job", "sqlite_master", "t\"; DROP TABLE t; --", "others"]),)),
        ("UPDATE _import_entity SET entity = ?", (random.choice(["_import_job", 't"', "", "x"]),)),
        ("INSERT INTO _import_index VALUES ((SELECT max(id) FROM _import_job), 9, ?)", (random.choice(["age", '["age"]', statement, "[]"]),)),
    ]
    # Tables that keep the parts of what the statement would have been.
    for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE '%index%'").fetchall():
        for _, column, kind, *_ in connection.execute(f'PRAGMA table_info("{table}")').fetchall():
            if kind == "TEXT":
                attempts.append((f'UPDATE "{table}" SET "{column}" = ?', (statement,)))
    for text, arguments in random.sample(attempts, random.randint(1, 3)):
        try:
            connection.execute(text, arguments)
        except sqlite3.Error:
            continue


def edit_schema(case, connection):
    random = case.random
    other = case.path("others", "other.sqlite")
    texts = [
        "CREATE TRIGGER h1 AFTER INSERT ON t BEGIN INSERT INTO t (code) VALUES (new.code || 'x'); END",
        "CREATE TRIGGER h2 BEFORE INSERT ON t BEGIN SELECT raise(ABORT, 'no'); END",
        "CREATE TRIGGER h3 BEFORE INSERT ON t BEGIN SELECT raise(ROLLBACK, 'no'); END",
        "CREATE TRIGGER h4 AFTER INSERT ON t BEGIN DELETE FROM _import_document; END",
        "CREATE TRIGGER h5 AFTER UPDATE ON _import_document BEGIN DELETE FROM t; END",
        "CREATE TRIGGER h6 AFTER UPDATE ON _import_job BEGIN SELECT raise(IGNORE); END",
        "CREATE TRIGGER h7 BEFORE UPDATE ON _import_entity BEGIN SELECT raise(FAIL, 'no'); END",
        "ALTER TABLE t RENAME TO tt; CREATE VIEW t AS SELECT * FROM tt",
        "ALTER TABLE _import_addition RENAME TO r; CREATE VIEW _import_addition AS SELECT * FROM r",
        "ALTER TABLE _import_document RENAME TO r; CREATE VIEW _import_document AS SELECT * FROM r, r AS q",
        "ALTER TABLE _import_job ADD COLUMN more TEXT",
        "ALTER TABLE t ADD COLUMN g INT GENERATED ALWAYS AS (age + 9223372036854775807) VIRTUAL",
        "ALTER TABLE t ADD COLUMN g TEXT GENERATED ALWAYS AS (json_extract(code, '$')) VIRTUAL",
        "CREATE INDEX h8 ON t (abs(age - 9223372036854775807))",
        "CREATE INDEX h9 ON t (json_extract(code, '$.a'))",
        "DROP TABLE t",
        "DROP TABLE t; CREATE TABLE t (code BLOB, age BLOB)",
        "DROP TABLE t; CREATE VIRTUAL TABLE t USING fts5(code, age)",
        "DROP TABLE t; CREATE VIEW t AS SELECT 1 AS code, 2 AS age",
        "DROP TABLE t; CREATE VIEW t AS WITH RECURSIVE c(code, age) AS (SELECT 1, 1 UNION ALL SELECT code + 1, 2 FROM c) SELECT * FROM c",
        "DROP TABLE _import_document",
        "DROP TABLE IF EXISTS _import_ledger; CREATE TABLE _import_ledger (x)",
        "DROP TABLE IF EXISTS _import_meta",
        "ALTER TABLE t RENAME COLUMN code TO kode",
        "CREATE TABLE temp_x (a); CREATE TABLE sqlitex (b); CREATE TABLE _import_more (c)",
        "PRAGMA user_version = -1; PRAGMA application_id = 7",
        "PRAGMA auto_vacuum = 1; VACUUM",
        "PRAGMA journal_mode = DELETE",
        "PRAGMA encoding = 'UTF-16'; VACUUM",
    ]
    schema = [
        "UPDATE sqlite_master SET sql = 'CREATE TABLE t (' WHERE name = 't'",
        "UPDATE sqlite_master SET rootpage = 999999 WHERE name = 't'",
        "UPDATE sqlite_master SET rootpage = 1 WHERE name = '_import_addition'",
        "UPDATE sqlite_master SET rootpage = (SELECT rootpage FROM sqlite_master WHERE name = 't') WHERE name = '_import_document'",
        "UPDATE sqlite_master SET sql = replace(sql, 'INTEGER', 'TEXT') WHERE name LIKE '\\_import%' ESCAPE '\\'",
        f"UPDATE sqlite_master SET sql = 'ATTACH ''{other}'' AS o' WHERE type = 'index'",
        "UPDATE sqlite_master SET sql = NULL WHERE name = '_import_job'",
        "INSERT INTO sqlite_master VALUES ('trigger', 'h', 't', 0, 'CREATE TRIGGER h AFTER INSERT ON t BEGIN SELECT load_extension(''x''); END')",
    ]
    try:
        if random.random() < 0.25:
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute(random.choice(schema))
        else:
            connection.executescript(random.choice(texts))
    except sqlite3.Error:
        return


def mutated(random, content):
    content = bytearray(content)
    for _ in range(random.choice([1, 1, 2, 8])):
        at = random.randrange(len(content))
        content[at] = random.choice([0, 1, 0x7F, 0x80, 0xFF, random.randrange(256), content[at] ^ (1 << random.randrange(8))])
    return bytes(content)


def edit_file(case):
    random = case.random
    name = random.choice(["t.sqlite"] * 6 + ["t.sqlite-wal", "t.sqlite-shm", "t.sqlite-journal", "t.sqlite.lock"])
    path = case.path(name)
    content = b""
    if os.path.exists(path):
        with open(path, "rb") as file:
            content = file.read()
    choice = random.randrange(6)
    if not content:
        content = bytes(random.randrange(256) for _ in range(random.choice([0, 32, 512, 5000])))
    elif choice == 0:
        content = content[: random.choice([0, 50, 100, 1024, 4096, random.randrange(len(content))])]
    elif choice == 1:
        page = random.randrange((len(content) + 4095) // 4096) * 4096
        content = content[:page] + bytes(4096) + content[page + 4096 :]
    elif choice == 2:
        content = mutated(random, content[:100]) + content[100:]
    elif choice == 3:
        # Where cells and their pointers are.
        page = random.randrange((len(content) + 4095) // 4096) * 4096
        content = content[:page] + mutated(random, content[page : page + 64]) + content[page + 64 :]
    else:
        content = mutated(random, content)
    case.write(name, content)


def tamper(case):
    random = case.random
    choice = random.randrange(10)
    if choice < 7:
        connection = sqlite3.connect(case.path("t.sqlite"), isolation_level=None)
        try:
            if choice < 4:
                edit_rows(case, connection)
            if choice in (3, 4, 5):
                add_texts(case, connection)
            if choice in (5, 6):
                edit_schema(case, connection)
        finally:
            connection.close()
    else:
        edit_file(case)


# MARK: The case


def state_of(folder):
    """What is in a folder: names, and the content of each file."""
    state = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as file:
            state[name] = hashlib.sha256(file.read()).hexdigest()
    return state


def run(case):
    random = case.random
    options = make(case)
    shutil.copy(case.path("t.sqlite"), case.path("before.sqlite"))
    tamper(case)
    kept = {"others": state_of(case.path("others"))}
    with open(case.path("t.json"), "rb") as file:
        source = file.read()
    case.write("u.json", b'[{"code": "new", "age": 1}, {"code": "newer", "age": 70000}]')
    commands = [
        ["status", "t.sqlite"] + random.choice([[], ["--json"]]),
        ["verify", "t.sqlite"] + random.choice([[], ["--json"]]),
        ["fetch", "t.sqlite", "t", "--format", random.choice(["json", "ndjson", "csv", "table"]), "--limit", 1000],
        ["fetch", "t.sqlite", "t", "--where", "age > 1 or code like 'c%'", "--sort", "age:desc", "--limit", 5],
        ["rejects", "t.sqlite"] + random.choice([[], ["--json", "--show-values"], ["--all"], ["--raw"]]),
        ["rejects", "t.sqlite", "--to", "rejects.ndjson", "--force"],
        ["resume", "t.sqlite", "--progress", "none"],
        ["import", "t.json", "--into", "t.sqlite"] + options + random.choice([[], ["--again"], ["--restart"]]),
        ["import", "u.json", "--into", "t.sqlite"] + options,
        ["retry", "t.sqlite", "--model", "model.json", "--progress", "none"],
        ["retry", "t.sqlite", "rejects.ndjson", "--progress", "none"],
    ]
    # Reading comes first, half of the time: resuming may mend or finish what was tampered with.
    chosen = sorted(random.sample(range(len(commands)), 5)) if random.random() < 0.5 else random.sample(range(len(commands)), 5)
    for number in chosen:
        case.importer(*commands[number])
        found = state_of(case.path("others"))
        if found != kept["others"]:
            changed = sorted(set(found.items()) ^ set(kept["others"].items()))
            raise Found(f"files of others have changed: {changed}")
        with open(case.path("t.json"), "rb") as file:
            if file.read() != source:
                raise Found("the source has changed")
