"""What loads PostgreSQL: the importer, psql, DuckDB and pgloader, each into an empty schema of the same server."""
import os
import shutil

import fields
from data import check_room
from machine import Failure, done
from runs import DUCKDB_COLUMNS, Import
from server import SCHEMA
from server_rows import NULL

ENVIRONMENT, REQUIREMENTS = "venv-server", "requirements-server.txt"


def description(machine, server):
    """What a reader needs in order to judge the figures, as (name, text); nothing where no server was started."""
    found = server.description()
    peers = []
    if machine.has_environment(ENVIRONMENT, REQUIREMENTS):
        show = "import duckdb; print('DuckDB', duckdb.__version__, 'with its PostgreSQL extension')"
        peers.append(done([machine.python_of(ENVIRONMENT), "-c", show], "DuckDB does not start").strip())
    if shutil.which("pgloader"):
        peers.append(done(["pgloader", "--version"], "pgloader does not start").splitlines()[0].replace(" version", ""))
    return found + [("beside it", " · ".join(peers))] if found and peers else found


class ServeRun(Import):
    """One program that puts the people into a table of the server."""

    is_importer = False
    # Whether the table is there before: all but the importer want one.
    has_table = True

    def __init__(self, name, title, data, server, identifier=None):
        super().__init__(name, title, data, identifier=identifier)
        self.server = server

    def lacking(self, machine):
        self.server.start()
        if not self.server.lacking:
            # Staged rows, the table, its index and the log of all these.
            check_room(self.server.folder, 6 * self.data.size())
        return self.server.lacking

    def prepare(self, machine, work):
        self.server.empty(self.has_table)

    def check(self, machine, work, measurement):
        self.server.check_columns()
        self.compare(self.server.records(fields.SERVER_QUERY)[0])
        spots = self.data.spots()
        found = self.server.records(
            f"SELECT * FROM people WHERE id IN ({', '.join(str(spot['id']) for spot in spots)}) ORDER BY id")
        if found != spots:
            raise Failure(f"wrong result: {found}, not {spots}")

    def leftovers(self):
        return []


class ImportServer(ServeRun):
    """`importer import` with its defaults; the whole process is timed."""

    is_importer = True
    has_table = False

    def command(self, machine, work):
        return self.server.client(
            machine.importer, "import", self.source, "--into", self.server.url, "--schema", SCHEMA, "--chunks",
            os.path.join(work, self.name + ".chunks"), "--model", self._model(work), "--json")

    def check(self, machine, work, measurement):
        self.check_report(measurement, "inserted")
        super().check(machine, work, measurement)
        unique = f"SELECT count(*) AS count FROM pg_index WHERE indrelid = '{SCHEMA}.people'::regclass AND indisunique"
        staged = f"SELECT count(*) AS count FROM pg_tables WHERE schemaname = '{SCHEMA}' AND tablename ~ '^_import_stage'"
        found = tuple(self.server.records(query)[0]["count"] for query in (unique, staged))
        if found != (int(self.identifier is not None), 0):
            raise Failure("%d unique indexes and %d staging tables are left" % found)

    def leftovers(self):
        return [self.name + ".chunks"]


class FloorServer(ServeRun):
    r"""`psql \copy` of the rows in COPY's binary format; the whole process is timed."""

    def __init__(self, name, title, data, server):
        super().__init__(name, title, data, server)
        self.source = data.binary

    def command(self, machine, work):
        return self.server.shell("-c", rf"\copy {SCHEMA}.people FROM '{self.source}' (FORMAT binary)")


class DuckDBServer(ServeRun):
    """DuckDB's PostgreSQL extension and `INSERT … SELECT … FROM read_json(…)`, without Python's start."""

    def lacking(self, machine):
        return super().lacking(machine) or machine.lacks_environment(ENVIRONMENT, REQUIREMENTS)

    def command(self, machine, work):
        return self.server.client(
            machine.python_of(ENVIRONMENT), *machine.script("peer_duckdb_server.py")[1:], self.source, self.server.url, SCHEMA,
            DUCKDB_COLUMNS)


class Pgloader(ServeRun):
    """pgloader of the rows as CSV; the whole process is timed."""

    def __init__(self, name, title, data, server):
        super().__init__(name, title, data, server)
        self.source = data.csv

    def lacking(self, machine):
        return super().lacking(machine) or machine.lacks_packages("pgloader=pgloader")

    def prepare(self, machine, work):
        super().prepare(machine, work)
        names = ", ".join(fields.SERVER_TYPES)
        with open(self._commands(work), "w", encoding="utf-8") as file:
            file.write(
                f"LOAD CSV FROM '{self.source}' HAVING FIELDS ({names} [null if '{NULL}'])\n"
                f"INTO postgresql://importer@unix:{self.server.folder}:5432/postgres TARGET TABLE {SCHEMA}.people ({names})\n"
                "WITH fields terminated by ',', fields optionally enclosed by '\"', fields escaped by double-quote;\n")

    def command(self, machine, work):
        return self.server.client("pgloader", "--root-dir", os.path.join(work, self.name), self._commands(work))

    def leftovers(self):
        return [self.name, self.name + ".load"]

    def _commands(self, work):
        return os.path.join(work, self.name + ".load")
