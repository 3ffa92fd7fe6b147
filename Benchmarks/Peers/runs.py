"""What is run: one class per program, one object per way in which it is called."""
import json
import os
import shlex
import sqlite3

import fields
import orders
import shapes
from machine import ROOT, Failure, done, measure

COMMIT_EVERY = 10_000
MODEL = os.path.join(ROOT, "scripts", "people.model.json")
# As Sources/ImportSQLite/Connection/StoreConnection.swift has them; the page size is compared with that of a store.
PAGE_SIZE = 16384
PRAGMAS = (f"PRAGMA page_size = {PAGE_SIZE}; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
           " PRAGMA cache_size = -4000; PRAGMA wal_autocheckpoint = 1000")
DUCKDB_COLUMNS = (
    "{id: 'BIGINT', guid: 'UUID', name: 'VARCHAR', age: 'INTEGER', score: 'DOUBLE', balance: 'DOUBLE',"
    " active: 'BOOLEAN', created: 'TIMESTAMP', address: 'STRUCT(street VARCHAR, city VARCHAR, zip VARCHAR)',"
    " tags: 'JSON', note: 'VARCHAR'}")
JQ = ("[.id, .guid, .name, .age, .score, .balance, if .active then 1 else 0 end, .created, .address.street,"
      " .address.city, .address.zip, (.tags | tojson), .note] | @csv")
SHELL = (
    "INSERT INTO people SELECT value->>'id', value->>'guid', value->>'name', value->>'age', value->>'score',"
    " value->>'balance', value->>'active', value->>'created', value->>'$.address.street', value->>'$.address.city',"
    " value->>'$.address.zip', value->'tags', value->>'note' FROM json_each(readfile('{}'))")


class Run:
    """One program called in one way. A subclass says how, and checks the result."""

    is_importer = False
    # Runs that this one must follow in the same round.
    after = ()

    def __init__(self, name, title, data):
        self.name = name
        self.title = title
        self.data = data
        self.source = data.array

    def lacking(self, machine):
        """Why it cannot be run here; None where it can. Installs what it needs."""

    def prepare(self, machine, work):
        """What is not timed."""

    def command(self, machine, work):
        raise NotImplementedError

    def check(self, machine, work, measurement):
        """Throws a `Failure` unless the run did what it should."""
        self.compare(self.sums(os.path.join(work, self.store())))

    def store(self):
        return self.name + ".sqlite"

    def leftovers(self):
        """What the next round must not find."""
        return [self.store(), self.store() + "-wal", self.store() + "-shm", self.store() + ".chunks"]

    def sums(self, store):
        connection = sqlite3.connect(store)
        try:
            cursor = connection.execute(fields.SQLITE_QUERY)
            return dict(zip([column[0] for column in cursor.description], cursor.fetchone()))
        except sqlite3.Error as error:
            raise Failure(f"the store cannot be read: {error}") from error
        finally:
            connection.close()

    def compare(self, found):
        wrong = fields.differences(found, self.data.facts()["sums"])
        if wrong:
            raise Failure("wrong result: " + wrong)

    def measured(self, machine, work):
        """Runs it once: a `Measurement`, or a `Failure`."""
        self.prepare(machine, work)
        measurement = measure(machine, self.command(machine, work), work)
        self.check(machine, work, measurement)
        return measurement


class Import(Run):
    """`importer import` with its defaults; the whole process is timed."""

    is_importer = True

    def __init__(self, name, title, data, is_ndjson=False, has_model=True, identifier=None):
        super().__init__(name, title, data)
        if is_ndjson:
            self.source = data.ndjson
        self.has_model = has_model
        self.identifier = identifier

    def command(self, machine, work):
        command = [machine.importer, "import", self.source, "--into", os.path.join(work, self.store()), "--json"]
        return command + (["--model", self._model(work)] if self.has_model else [])

    def check(self, machine, work, measurement):
        self.check_report(measurement, "inserted")
        super().check(machine, work, measurement)
        connection = sqlite3.connect(os.path.join(work, self.store()))
        page_size = connection.execute("PRAGMA page_size").fetchone()[0]
        connection.close()
        if page_size != PAGE_SIZE:
            raise Failure(f"the store has pages of {page_size} bytes and those of floor_sqlite have {PAGE_SIZE}:"
                          " bring PRAGMAS in runs.py up to date")

    def check_report(self, measurement, kind):
        report = measurement.printed()
        if report.get("state") != "finished" or report.get(kind) != self.data.records:
            raise Failure(f"state {report.get('state')}, {kind} {report.get(kind)} of {self.data.records}")

    def _model(self, work):
        if self.identifier is None:
            return MODEL
        path = os.path.join(work, "model.json")
        with open(MODEL, encoding="utf-8") as file:
            model = json.load(file)
        model["entities"]["people"]["identifier"] = [self.identifier]
        with open(path, "w", encoding="utf-8") as file:
            json.dump(model, file)
        return path


class ImportAgain(Import):
    """The same file once more, into the store that `first` has just made."""

    def __init__(self, name, title, data, first):
        super().__init__(name, title, data, identifier=first.identifier)
        self.first = first
        self.after = (first,)

    def store(self):
        return self.first.store()

    def command(self, machine, work):
        return super().command(machine, work) + ["--again"]

    def check(self, machine, work, measurement):
        self.check_report(measurement, "unchanged")
        Run.check(self, machine, work, measurement)


class ImportPartial(Import):
    """A file of which some records are partial duplicates of earlier ones, each of which changes its object."""

    def __init__(self, name, title, data):
        super().__init__(name, title, data, identifier="guid")

    def check_report(self, measurement, kind):
        report, duplicates = measurement.printed(), self.data.duplicates
        expected = {"state": "finished", "inserted": self.data.records - duplicates, "updated": duplicates, "rejected": 0}
        wrong = [f"{name} {report.get(name)}, not {value}" for name, value in expected.items() if report.get(name) != value]
        if wrong:
            raise Failure(", ".join(wrong))


class ImportOrders(Run):
    """`importer import` of orders into related tables; the whole process is timed."""

    is_importer = True

    def command(self, machine, work):
        return [machine.importer, "import", self.source, "--into", os.path.join(work, self.store()), "--json",
                "--entity", "order", "--model", self.data.model]

    def check(self, machine, work, measurement):
        report = measurement.printed()
        if report.get("state") != "finished" or report.get("inserted") != self.data.records:
            raise Failure(f"state {report.get('state')}, inserted {report.get('inserted')} of {self.data.records}")
        self.compare(self.sums(os.path.join(work, self.store())))

    def sums(self, store):
        connection = sqlite3.connect(store)
        try:
            cursor = connection.execute(orders.QUERY.format(order='"order"'))
            return dict(zip([column[0] for column in cursor.description], cursor.fetchone()))
        except sqlite3.Error as error:
            raise Failure(f"the store cannot be read: {error}") from error
        finally:
            connection.close()

    def compare(self, found):
        expected = self.data.facts()
        # A sum of prices is rounded twice.
        wrong = [f"{name} {found.get(name)}, not {value}" for name, value in expected.items()
                 if abs((found.get(name) or 0) - value) > (1 if name == "prices" else 0)]
        if wrong:
            raise Failure("wrong result: " + "; ".join(wrong))


class ImportFlatOrders(Run):
    """The same orders as flat records, into one table."""

    is_importer = True

    def __init__(self, name, title, data):
        super().__init__(name, title, data)
        self.source = data.flat

    def command(self, machine, work):
        return [machine.importer, "import", self.source, "--into", os.path.join(work, self.store()), "--json",
                "--model", self.data.flat_model, "--entity", "orders"]

    def check(self, machine, work, measurement):
        if measurement.printed().get("inserted") != self.data.records:
            raise Failure(f"inserted {measurement.printed().get('inserted')} of {self.data.records}")


class ImportShape(Run):
    """`importer import` of records of another shape, with a model; the whole process is timed."""

    is_importer = True

    def command(self, machine, work):
        return [machine.importer, "import", self.source, "--into", os.path.join(work, self.store()), "--json",
                "--model", self.data.model]

    def sums(self, store):
        connection = sqlite3.connect(store)
        try:
            cursor = connection.execute(shapes.QUERIES[self.data.name])
            return dict(zip([column[0] for column in cursor.description], cursor.fetchone()))
        except sqlite3.Error as error:
            raise Failure(f"the store cannot be read: {error}") from error
        finally:
            connection.close()

    def compare(self, found):
        if found != self.data.facts():
            raise Failure(f"wrong result: {found}, not {self.data.facts()}")


class DuckDBOrders(ImportOrders):
    """`read_json` and a `CREATE TABLE … AS SELECT unnest(…)` a table, without Python's start."""

    is_importer = False

    def store(self):
        return self.name + ".duckdb"

    def leftovers(self):
        return [self.store(), self.store() + ".wal", self.store() + ".tmp"]

    def command(self, machine, work):
        return machine.script("peer_duckdb_orders.py", self.source, os.path.join(work, self.store()))

    def check(self, machine, work, measurement):
        store = os.path.join(work, self.store())
        self.compare(json.loads(done(
            machine.script("peer_duckdb_orders.py", "check", store, orders.QUERY.format(order="orders")),
            "the DuckDB file cannot be read")))


class SQLiteUtilsOrders(ImportOrders):
    """sqlite-utils' `insert_all`, a table each, without Python's start."""

    is_importer = False

    def command(self, machine, work):
        return machine.script("peer_sqlite_utils_orders.py", self.source, os.path.join(work, self.store()), str(COMMIT_EVERY))

    def check(self, machine, work, measurement):
        self.compare(self.sums(os.path.join(work, self.store())))


class FloorOrderIndexes(Run):
    """SQLite alone makes the indexes of links in the store that `first` has just made; the whole process is timed."""

    def __init__(self, name, title, data, first):
        super().__init__(name, title, data)
        self.first = first
        self.after = (first,)

    def store(self):
        return self.first.store()

    def prepare(self, machine, work):
        connection = sqlite3.connect(os.path.join(work, self.store()))
        for name in ("order_customer", "line_order", "order_tags_inverse"):
            connection.execute(f"DROP INDEX IF EXISTS {name}")
        connection.commit()
        connection.close()

    def command(self, machine, work):
        return ["sqlite3", os.path.join(work, self.store()),
                PRAGMAS + "; PRAGMA threads = 3; PRAGMA cache_spill = -6500; BEGIN;"
                ' CREATE INDEX order_customer ON "order" (customer_id);'
                " CREATE UNIQUE INDEX line_order ON line (order_id, order_position);"
                " CREATE INDEX order_tags_inverse ON order_tags (tags_name); COMMIT"]

    def check(self, machine, work, measurement):
        connection = sqlite3.connect(os.path.join(work, self.store()))
        count = connection.execute(
            "SELECT count(*) FROM sqlite_master WHERE name IN ('order_customer', 'line_order', 'order_tags_inverse')")
        found = count.fetchone()[0]
        connection.close()
        if found != 3:
            raise Failure(f"{found} indexes of 3")


class FloorOrders(ImportOrders):
    """SQLite alone copies the tables of the store that `first` has just made, and makes their indexes; the whole process is
    timed."""

    is_importer = False

    def __init__(self, name, title, data, first):
        super().__init__(name, title, data)
        self.first = first
        self.after = (first,)

    def command(self, machine, work):
        source = os.path.join(work, self.first.store())
        connection = sqlite3.connect(source)
        made = connection.execute(
            "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE '\\_import\\_%' ESCAPE '\\'"
        ).fetchall()
        connection.close()
        tables = [(name, sql) for kind, name, sql in made if kind == "table"]
        steps = [PRAGMAS, "PRAGMA threads = 3", "PRAGMA cache_spill = -6500", f"ATTACH '{source}' AS source", "BEGIN"]
        steps += [sql for _, sql in tables]
        steps += [f'INSERT INTO main."{name}" SELECT * FROM source."{name}"' for name, _ in tables]
        steps += [sql for kind, _, sql in made if kind == "index"]
        return ["sqlite3", os.path.join(work, self.store()), "; ".join(steps + ["COMMIT"])]

    def check(self, machine, work, measurement):
        self.compare(self.sums(os.path.join(work, self.store())))


class Split(Run):
    """`importer split` with its defaults; the whole process is timed."""

    is_importer = True

    def store(self):
        return self.name + ".split"

    def command(self, machine, work):
        return [machine.importer, "split", self.source, "--to", os.path.join(work, self.store())]

    def check(self, machine, work, measurement):
        folder, records, size = os.path.join(work, self.store()), 0, 0
        for name in os.listdir(folder):
            if name.startswith("chunk-") and name.endswith(".ndjson"):
                with open(os.path.join(folder, name), "rb") as file:
                    for block in iter(lambda: file.read(1 << 20), b""):
                        records += block.count(b"\n")
                        size += len(block)
        # The array is "[\n", the records with ",\n" between them, and "\n]\n".
        expected = self.data.size() - 4 - (self.data.records - 1)
        if (records, size) != (self.data.records, expected):
            raise Failure(f"{records} lines of {size} bytes, not {self.data.records} of {expected}")


class FloorYajl(Run):
    """yajl alone; the whole process is timed."""

    def command(self, machine, work):
        return [machine.tool("floor_yajl"), self.source]

    def check(self, machine, work, measurement):
        if measurement.printed() != self.data.facts()["tokens"]:
            raise Failure("wrong result: it saw other values")


class FloorSQLite(Run):
    """Bind and step alone, as floor_sqlite.c says what it counts."""

    def __init__(self, name, title, data):
        super().__init__(name, title, data)
        self.source = data.rows

    def command(self, machine, work):
        return [machine.tool("floor_sqlite"), os.path.join(work, self.store()), self.data.rows, str(COMMIT_EVERY),
                PRAGMAS, fields.TABLE, fields.INSERT]


class FloorIndex(Run):
    """SQLite alone makes the index of an identifier in the store that `first` has just made; the whole process is timed."""

    def __init__(self, name, title, data, first, identifier):
        super().__init__(name, title, data)
        self.first = first
        self.after = (first,)
        self.identifier = identifier

    def store(self):
        return self.first.store()

    def command(self, machine, work):
        return ["sqlite3", os.path.join(work, self.store()), PRAGMAS + "; PRAGMA threads = 3; PRAGMA cache_spill = -6500",
                f"CREATE UNIQUE INDEX floor ON people ({self.identifier})"]


class FloorMerge(FloorIndex):
    """SQLite alone merges what partial duplicates say into the store that has just got the index, in the order of its rows."""

    def __init__(self, name, title, data, first, index):
        super().__init__(name, title, data, first, index.identifier)
        self.after = (first, index)

    def command(self, machine, work):
        return ["sqlite3", os.path.join(work, self.store()), PRAGMAS, f"ATTACH '{self.data.late}' AS late",
                "CREATE TEMP TABLE found AS SELECT people.rowid AS object, late.age, late.note"
                f" FROM late CROSS JOIN people ON people.{self.identifier} = late.{self.identifier} ORDER BY 1",
                "UPDATE people SET age = found.age, note = found.note FROM found WHERE people.rowid = found.object"]

    def compare(self, found):
        wrong = fields.differences(found, self.data.facts()["merged"])
        if wrong:
            raise Failure("wrong result: " + wrong)


class DuckDB(Run):
    """`CREATE TABLE … AS SELECT * FROM read_json(…)`, without Python's start."""

    def __init__(self, name, title, data, is_ndjson=False, columns=""):
        super().__init__(name, title, data)
        self.source = data.ndjson if is_ndjson else data.array
        self.form = "newline_delimited" if is_ndjson else "array"
        self.columns = columns

    def store(self):
        return self.name + ".duckdb"

    def leftovers(self):
        return [self.store(), self.store() + ".wal", self.store() + ".tmp"]

    def command(self, machine, work):
        return machine.script("peer_duckdb.py", self.form, self.source, os.path.join(work, self.store()), self.columns)

    def sums(self, store):
        raise NotImplementedError

    def check(self, machine, work, measurement):
        store = os.path.join(work, self.store())
        self.compare(json.loads(done(machine.script("peer_duckdb.py", "check", store, fields.DUCKDB_QUERY),
                                     "the DuckDB file cannot be read")))


class SQLiteUtils(Run):
    """`sqlite-utils insert --nl`, the whole process, into a store that is in WAL mode already."""

    def __init__(self, name, title, data):
        super().__init__(name, title, data)
        self.source = data.ndjson

    def prepare(self, machine, work):
        store = os.path.join(work, self.store())
        done([machine.tool("sqlite-utils"), "create-database", store, "--enable-wal"], "sqlite-utils does not start")

    def command(self, machine, work):
        return [machine.tool("sqlite-utils"), "insert", os.path.join(work, self.store()), "people", self.source, "--nl",
                "--flatten", "--silent", "--batch-size", str(COMMIT_EVERY), "--type", "score", "float"]


class Ijson(Run):
    """ijson and `executemany`, without Python's start."""

    def command(self, machine, work):
        return machine.script("peer_ijson.py", self.source, os.path.join(work, self.store()), str(COMMIT_EVERY),
                              PRAGMAS, fields.TABLE, fields.INSERT)


class SQLiteShell(Run):
    """`json_each(readfile(…))` in SQLite's shell; the whole process is timed."""

    def command(self, machine, work):
        return ["sqlite3", os.path.join(work, self.store()), PRAGMAS, fields.TABLE,
                SHELL.format(self.source.replace("'", "''"))]


class Jq(Run):
    """jq writes CSV, SQLite's shell imports it; both processes are timed."""

    def __init__(self, name, title, data):
        super().__init__(name, title, data)
        self.source = data.ndjson

    def command(self, machine, work):
        store = os.path.join(work, self.store())
        shell = ["sqlite3", "-csv", "-cmd", PRAGMAS, "-cmd", fields.TABLE, store, ".import /dev/stdin people",
                 # CSV has no null.
                 "UPDATE people SET note = NULL WHERE note = ''"]
        return ["bash", "-o", "pipefail", "-c", f"{shlex.join(['jq', '-r', JQ, self.source])} | {shlex.join(shell)}"]
