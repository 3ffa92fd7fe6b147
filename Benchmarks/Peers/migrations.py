"""Changes of the people's model, in a store that is there: the importer, sqlite-utils, and SQLite alone."""
import hashlib
import json
import os
import shutil
import sqlite3

import fields
from machine import Failure
from runs import MODEL, Run

NAMES = [part.split('"')[1] for part in fields.TABLE.split("(", 1)[1].split(",")]


class Migration(Run):
    """A change of a copy of the store that `first` has just made: `age` becomes text, which every row is written again for."""

    def __init__(self, name, title, data, first):
        super().__init__(name, title, data)
        self.first = first
        self.after = (first,)

    def prepare(self, machine, work):
        store = os.path.join(work, self.store())
        shutil.copyfile(os.path.join(work, self.first.store()), store)
        # As if it had been there for long: read once, and nothing of it left to be written.
        self.data.warm(store)

    def check(self, machine, work, measurement):
        super().check(machine, work, measurement)
        store = os.path.join(work, self.store())
        kinds = rows_of(store, "SELECT typeof(age), count(*) FROM people GROUP BY 1")
        if kinds != [("text", self.data.records)]:
            raise Failure(f"wrong result: ages are {kinds}")
        first, same = (rows_of(path, "SELECT rowid, CAST(age AS INTEGER) FROM people WHERE id % 1000 = 7 ORDER BY rowid")
                       for path in (os.path.join(work, self.first.store()), store))
        if first != same:
            raise Failure("wrong result: rows have other row ids or ages")


class Migrate(Migration):
    """`importer migrate`, the whole process."""

    is_importer = True

    def command(self, machine, work):
        model = os.path.join(work, self.name + ".model.json")
        with open(MODEL, encoding="utf-8") as file:
            changed = json.load(file)
        self.change(changed["entities"]["people"]["attributes"])
        with open(model, "w", encoding="utf-8") as file:
            json.dump(changed, file)
        return [machine.importer, "migrate", os.path.join(work, self.store()), "--model", model, "--quiet"]

    def change(self, attributes):
        attributes["age"]["type"] = "string"


class MigrateIdentifiers(Migrate):
    """`importer migrate` with a new UUID attribute, which must have the same values on every copy."""

    def __init__(self, name, title, data, first):
        super().__init__(name, title, data, first)
        self.digest = None

    def change(self, attributes):
        attributes["uid"] = {"type": "uuid", "generated": True}

    def check(self, machine, work, measurement):
        Run.check(self, machine, work, measurement)
        digest, seen = hashlib.sha256(), set()
        for (uid,) in rows_of(os.path.join(work, self.store()), "SELECT uid FROM people ORDER BY rowid"):
            seen.add(uid)
            digest.update(uid.encode())
        if len(seen) != self.data.records:
            raise Failure(f"wrong result: {len(seen)} different UUIDs")
        if self.digest not in (None, digest.digest()):
            raise Failure("wrong result: another copy got other UUIDs")
        self.digest = digest.digest()


class SQLiteUtilsTransform(Migration):
    """`sqlite-utils transform`, the whole process, with its defaults."""

    def command(self, machine, work):
        return [machine.tool("sqlite-utils"), "transform", os.path.join(work, self.store()), "people", "--type", "age", "text"]


class FloorMigration(Migration):
    """SQLite alone: what a copy of the table costs, in a rollback journal as `importer migrate` does it."""

    def command(self, machine, work):
        columns = ", ".join(NAMES)
        cells = columns.replace("age", "CAST(age AS TEXT)")
        steps = [
            "PRAGMA synchronous = FULL", "PRAGMA cache_size = -16000", "BEGIN EXCLUSIVE",
            fields.TABLE.replace('"people"', "made").replace('"age" INTEGER', '"age" TEXT'),
            f"INSERT INTO made ({columns}) SELECT {cells} FROM people AS o ORDER BY o.rowid", "DROP TABLE people",
            "ALTER TABLE made RENAME TO people", "COMMIT",
        ]
        return ["sqlite3", os.path.join(work, self.store()), "; ".join(steps)]


def rows_of(store, query):
    connection = sqlite3.connect(store)
    try:
        return connection.execute(query).fetchall()
    except sqlite3.Error as error:
        raise Failure(f"the store cannot be read: {error}") from error
    finally:
        connection.close()
