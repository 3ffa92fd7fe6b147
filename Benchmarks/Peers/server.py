"""A PostgreSQL server of its own, in a temporary folder, for the runs that load one."""
import json
import os
import shutil
import subprocess
import tempfile

import fields
from machine import ROOT, Failure, done, say

SCRIPT = os.path.join(ROOT, "scripts", "postgres-server")
SCHEMA = "bench"
# What is committed is on the disk, as servers have it. Checkpoints come between the runs alone, and WAL files are used again,
# so that neither decides who is faster. All else is left as it is.
SETTINGS = ("fsync=on", "synchronous_commit=on", "full_page_writes=on", "checkpoint_timeout=1h", "max_wal_size=8GB",
            "min_wal_size=8GB")
SHOWN = [setting.split("=")[0] for setting in SETTINGS] + ["shared_buffers"]
TABLE = f"CREATE TABLE {SCHEMA}.people (" + ", ".join(f'"{name}" {kind}' for name, kind in fields.SERVER_TYPES.items()) + ")"
COLUMNS = ("SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute"
           f" WHERE attrelid = '{SCHEMA}.people'::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum")


class Server:
    """Started by the first run that asks for it, and there until it is stopped."""

    def __init__(self):
        self.folder = None
        self.psql = None
        # Why there is none, where it could not be started.
        self.lacking = None

    def start(self):
        """Starts it, with all that this takes, if nobody has tried yet."""
        if self.folder or self.lacking:
            return
        # Not below the sources: its user could not get there from everywhere, and a socket's path is short.
        self.folder = tempfile.mkdtemp(prefix="bench-peers-")
        say("Starting a PostgreSQL server")
        if subprocess.run([SCRIPT, self.folder, "start", *SETTINGS], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL).returncode != 0:
            self.stop()
            self.lacking = "no PostgreSQL server can be had here"
            return
        # Debian's command is a script that looks for the program.
        find = 'source "$1/scripts/setup.bash"; postgresql_programs'
        self.psql = os.path.join(done(["bash", "-c", find, "bench-peers", ROOT], "there is no psql").strip(), "psql")

    def stop(self):
        if self.folder:
            subprocess.run([SCRIPT, self.folder, "stop"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder = None

    @property
    def url(self):
        return f"postgresql://importer@/postgres?host={self.folder}"

    def client(self, *command):
        """A command that knows the server's password."""
        return ["env", f"PGPASSFILE={self.folder}/pgpass", *command]

    def shell(self, *arguments):
        return self.client(self.psql, "--no-psqlrc", "--quiet", "-v", "ON_ERROR_STOP=1", self.url, *arguments)

    def execute(self, *statements):
        """Each by itself: a CHECKPOINT is no part of a transaction."""
        done(self.shell(*(part for statement in statements for part in ("-c", statement))), "the server cannot be used")

    def records(self, query):
        """What a query gives, an object a row."""
        return [json.loads(line) for line in done(
            self.shell("-At", "-c", f"SET search_path = {SCHEMA}", "-c", f"SELECT row_to_json(found) FROM ({query}) AS found"),
            "the result cannot be read").splitlines()]

    def empty(self, has_table):
        """Leaves an empty schema, with an empty table of the people if `has_table`, and nothing for the server to write."""
        self.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE", f"CREATE SCHEMA {SCHEMA}", *[TABLE] * has_table, "CHECKPOINT")

    def check_columns(self):
        found = {column["attname"]: column["format_type"] for column in self.records(COLUMNS)}
        if list(found.items()) != list(fields.SERVER_TYPES.items()):
            raise Failure(f"the table has the columns {found}: bring SERVER_TYPES in fields.py up to date")

    def description(self):
        """What a reader needs in order to judge the figures, as (name, text)."""
        if not self.folder:
            return []
        names = ["server_version"] + SHOWN
        shown = self.records("SELECT " + ", ".join(f"current_setting('{name}') AS {name}" for name in names))[0]
        version = shown.pop("server_version").split()[0]
        return [("server", f"PostgreSQL {version} on this machine, "
                 + ", ".join(f"{name} {value}" for name, value in shown.items()))]
