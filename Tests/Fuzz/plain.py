"""Two states of a plain database whose tables refer to one another in any way: what leads from one to the other is a change set that
`patch` takes, and makes the other state of the one.

Keys are of one or several columns, or there are none where rows are parts of others; foreign keys have all actions, and lead in circles and
to their own table.
"""
import shutil
import sqlite3

from case import Found

ACTIONS = ["CASCADE", "CASCADE", "SET NULL", "SET DEFAULT", "RESTRICT", "NO ACTION"]
TYPES = ["INTEGER", "TEXT", "REAL", "BLOB", "", "NUMERIC"]


class Table:
    def __init__(self, case, number, count):
        random = case.random
        self.name = random.choice(["t{}", "a{}", "Order {}"]).format(number)
        kind = random.choice(["integer", "integer", "text", "composite", "none"])
        self.keys = {"integer": ["id"], "text": ["id"], "composite": ["k1", "k2"], "none": []}[kind]
        self.isInteger = kind == "integer"
        self.withoutRowID = kind in ("text", "composite") and random.random() < 0.3
        self.values = [(f"v{place}", random.choice(TYPES)) for place in range(random.randint(0, 3))]
        self.unique = random.random() < 0.2
        # Of a foreign key: the table it leads to, its columns, its action.
        self.references = []
        self.wanted = [(random.randrange(count), random.choice(ACTIONS)) for _ in range(random.choice([0, 1, 1, 2, 3]))]

    def refer(self, tables, random):
        for place, (other, action) in enumerate(self.wanted):
            parent = tables[other]
            if not parent.keys:
                continue
            # The name of a column may be that of a table.
            name = random.choice([f"r{place}", f"r{place}", parent.name])
            columns = [name] if len(parent.keys) == 1 else [f"{name}_{key}" for key in parent.keys]
            if any(column in self.columns for column in columns):
                columns = [f"r{place}_{key}" for key in parent.keys]
            self.references.append((parent, columns, action))
        # Without a key it is a part of something, or cannot be compared.
        if not self.keys and not any(action == "CASCADE" for _, _, action in self.references):
            self.keys, self.isInteger = ["id"], True

    @property
    def columns(self):
        references = [column for _, columns, _ in self.references for column in columns]
        return self.keys + [name for name, _ in self.values] + references + (["u"] if self.unique else [])

    def sql(self):
        parts = []
        for key in self.keys:
            parts.append(f'"{key}" ' + ("INTEGER PRIMARY KEY" if self.isInteger else "TEXT NOT NULL"))
        parts += [f'"{name}" {kind}' for name, kind in self.values]
        owner = next((place for place, (_, _, action) in enumerate(self.references) if action == "CASCADE"), None)
        for place, (parent, columns, _) in enumerate(self.references):
            kind = "INTEGER" if parent.isInteger else "TEXT"
            isPart = not self.keys and place == owner
            parts += [f'"{column}" {kind}' + (" NOT NULL" if isPart else "") for column in columns]
        if self.unique:
            parts.append("u INTEGER UNIQUE")
        if self.keys and not self.isInteger:
            parts.append("PRIMARY KEY (" + ", ".join(f'"{key}"' for key in self.keys) + ")")
        for parent, columns, action in self.references:
            own = ", ".join(f'"{column}"' for column in columns)
            others = ", ".join(f'"{key}"' for key in parent.keys)
            parts.append(f'FOREIGN KEY ({own}) REFERENCES "{parent.name}" ({others}) ON DELETE {action} DEFERRABLE INITIALLY DEFERRED')
        return f'CREATE TABLE "{self.name}" ({", ".join(parts)})' + (" WITHOUT ROWID" if self.withoutRowID else "")


class State:
    """The rows of all tables, changed at random, with every reference to something that is there."""

    def __init__(self, path, tables, random):
        self.database = sqlite3.connect(path, isolation_level=None)
        self.tables, self.random = tables, random
        self.uniques = 0

    def key(self, table):
        if table.isInteger:
            return [self.random.randint(1, 40)]
        return [self.random.choice(["a", "b", "é", "", "7", "long text"]) + str(self.random.randint(0, 9)) for _ in table.keys]

    def value(self, kind):
        random = self.random
        choices = [None, random.randint(-5, 5), random.random(), random.choice(["x", "7", "", "y'z"]), b"\x00\xff"]
        return random.choice(choices[: {"": 5, "BLOB": 5}.get(kind, 4)])

    def reference(self, table, parent, columns):
        keys = self.database.execute(f"SELECT {', '.join(quoted(parent.keys))} FROM {quoted([parent.name])[0]}").fetchall()
        is_part = not table.keys
        if not keys or not is_part and self.random.random() < 0.2:
            return [None] * len(columns)
        return list(self.random.choice(keys))

    def insert(self, table):
        row = self.key(table) if table.keys else []
        row += [self.value(kind) for _, kind in table.values]
        for parent, columns, _ in table.references:
            row += self.reference(table, parent, columns)
        if table.unique:
            self.uniques += 1
            row.append(self.random.choice([None, self.uniques]))
        marks = ", ".join("?" for _ in row)
        try:
            self.database.execute(f'INSERT INTO "{table.name}" ({", ".join(quoted(table.columns))}) VALUES ({marks})', row)
        except sqlite3.IntegrityError:
            pass

    def change(self, times):
        for _ in range(times):
            table = self.random.choice(self.tables)
            name = quoted([table.name])[0]
            condition = f"rowid = (SELECT rowid FROM {name} ORDER BY random() LIMIT 1)"
            if table.withoutRowID:
                keys = ", ".join(quoted(table.keys))
                condition = f"({keys}) = (SELECT {keys} FROM {name} LIMIT 1 OFFSET {self.random.randint(0, 9)})"
            else:
                condition = f"rowid = (SELECT rowid FROM {name} LIMIT 1 OFFSET {self.random.randint(0, 9)})"
            kind = self.random.choice(["insert", "insert", "update", "refer", "delete"])
            try:
                if kind == "insert":
                    self.insert(table)
                elif kind == "delete":
                    self.database.execute(f"DELETE FROM {name} WHERE {condition}")
                elif kind == "update" and table.values:
                    column, type_ = self.random.choice(table.values)
                    self.database.execute(f'UPDATE {name} SET "{column}" = ? WHERE {condition}', [self.value(type_)])
                elif kind == "refer" and table.references:
                    parent, columns, _ = self.random.choice(table.references)
                    columns_ = ", ".join(f"{column} = ?" for column in quoted(columns))
                    self.database.execute(f"UPDATE {name} SET {columns_} WHERE {condition}", self.reference(table, parent, columns))
            except sqlite3.IntegrityError:
                pass

    def fill(self, times):
        """Rows with any references, and then none that leads nowhere."""
        self.database.execute("PRAGMA foreign_keys = ON")
        self.database.execute("BEGIN")
        self.change(times)
        while True:
            bad = self.database.execute("PRAGMA foreign_key_check").fetchall()
            if not bad:
                break
            for name in {row[0] for row in bad}:
                table = next(table for table in self.tables if table.name == name)
                for parent, columns, _ in table.references:
                    own = " AND ".join(f"{column} IS NOT NULL" for column in quoted(columns))
                    same = " AND ".join(f"parent.{key} = child.{column}" for key, column in zip(quoted(parent.keys), quoted(columns)))
                    missing = f'{own} AND NOT EXISTS (SELECT 1 FROM "{parent.name}" AS parent WHERE {same})'
                    if table.keys:
                        nulls = ", ".join(f"{column} = NULL" for column in quoted(columns))
                        self.database.execute(f'UPDATE "{name}" AS child SET {nulls} WHERE {missing}')
                    else:
                        self.database.execute(f'DELETE FROM "{name}" AS child WHERE {missing}')
        self.database.execute("COMMIT")


def quoted(names):
    return [f'"{name}"' for name in names]


def rows(path, tables):
    database = sqlite3.connect(path)
    found = {}
    for table in tables:
        columns = ", ".join(f"{part}({column})" for column in quoted(table.columns) for part in ("typeof", "quote"))
        found[table.name] = sorted(map(str, database.execute(f'SELECT {columns} FROM "{table.name}"')))
    violations = database.execute("PRAGMA foreign_key_check").fetchall()
    database.close()
    return found, violations


def run(case):
    random = case.random
    count = random.randint(1, 4)
    tables = [Table(case, number, count) for number in range(count)]
    for table in tables:
        table.refer(tables, random)
    # What leads to a table whose key was made just now was left out; what leads to one without a key is not there.
    old, new = case.path("old.sqlite"), case.path("new.sqlite")
    state = State(old, tables, random)
    for table in tables:
        state.database.execute(table.sql())
    case.commands += [table.sql() + ";" for table in tables]
    state.fill(random.choice([5, 20, 60]))
    state.database.close()
    shutil.copy(old, new)
    state = State(new, tables, random)
    state.uniques = 1000
    state.fill(random.choice([3, 10, 40]))
    state.database.close()
    want, _ = rows(new, tables)
    options = random.choice([[], [], ["--old", "all"]])
    made = case.importer("diff", "old.sqlite", "new.sqlite", "--output", "changes.ndjson", *options)
    if made.code != 0:
        raise Found(f"diff: {made}")
    leaves_out = b", in no change" in made.messages
    before, _ = rows(old, tables)
    done = case.importer("patch", "old.sqlite", "changes.ndjson", *random.choice([[], [], ["--atomic"]]))
    if done.code != 0:
        raise Found(f"patch: {done}")
    got, violations = rows(old, tables)
    if violations:
        raise Found(f"foreign keys: {violations[:3]}")
    if got != want and not leaves_out:
        name = next(name for name in want if got[name] != want[name])
        more, less = set(got[name]) - set(want[name]), set(want[name]) - set(got[name])
        raise Found(f"{name}: has {sorted(more)[:3]}, and not {sorted(less)[:3]}")
    again = case.importer("diff", "old.sqlite", "new.sqlite", "--exit-code", allowed={0, 1})
    if again.code != 0 and not leaves_out:
        raise Found(f"diff again: {again}")
    undone = case.importer("undo", "old.sqlite")
    if undone.code not in (0, 65):
        raise Found(f"undo: {undone}")
    if undone.code == 0 and rows(old, tables)[0] != before:
        raise Found("undo has not brought back what was there")
