"""States of a store of the made-up people, 1 % of which changed: made once and kept."""
import hashlib
import json
import os
import shutil
import sqlite3
import tempfile

import fields
from data import Source, check_room
from machine import say

# Of this many records one has another age, one is gone, and one is new.
UPDATED, DELETED, INSERTED = 125, 1000, 1000
# Which of them it is, in the new state and in that of somebody else; new identifiers begin after so many.
NEW, OTHER = (2, 1, 3, 1_000_000_000), (7, 51, 53, 2_000_000_000)
KEYS = {"integer": '"id" INTEGER', "text": '"guid" TEXT', "shuffled": '"guid" TEXT'}


class Pair(Source):
    """`integer`: the identifier is the row id. `text`: the identifier is a UUID, and rows keep their row ids. `shuffled`: so
    it is, and the rows of the new state are in another order."""

    def __init__(self, people, kind):
        self.people = people
        self.kind = kind
        self.records = people.records
        self.seed = people.seed
        key = hashlib.sha256(people.folder.encode())
        with open(__file__, "rb") as file:
            key.update(file.read())
        self.folder = os.path.join(os.path.dirname(people.folder), f"pair-{kind}-{self.records}-{key.hexdigest()[:12]}")
        self.old = os.path.join(self.folder, "old.sqlite")
        self.new = os.path.join(self.folder, "new.sqlite")
        # What somebody else has made of the old state, nothing of which the new one contradicts.
        self.other = os.path.join(self.folder, "other.sqlite") if kind == "integer" else None
        self.array = self.old
        self._facts = os.path.join(self.folder, "facts.json")

    def make(self):
        os.makedirs(self.folder, exist_ok=True)
        if all(os.path.exists(path) for path in (self.old, self.new, self._facts, self.other or self.old)):
            return
        self.people.make()
        check_room(self.folder, self.records * 1000)
        say(f"Making two stores of {self.records:,} records ({self.kind})")
        key = KEYS[self.kind]
        table = fields.TABLE.replace(key, key + (" PRIMARY KEY" if self.kind == "integer" else " PRIMARY KEY NOT NULL"))
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="making-") as making:
            old, new = os.path.join(making, "old"), os.path.join(making, "new")
            connection = sqlite3.connect(old)
            connection.execute(table)
            connection.executemany(fields.INSERT, self._people())
            connection.commit()
            connection.close()
            shutil.copyfile(old, new)
            if self.other:
                other = os.path.join(making, "other")
                shutil.copyfile(old, other)
                connection = sqlite3.connect(other)
                change(connection, *OTHER)
                connection.commit()
                connection.close()
                os.rename(other, self.other)
            connection = sqlite3.connect(new)
            facts = change(connection, *NEW)
            if self.kind == "shuffled":
                connection.execute(table.replace('"people"', "made"))
                connection.execute("INSERT INTO made SELECT * FROM people ORDER BY (id * 2654435761) % 4294967296")
                connection.execute("DROP TABLE people")
                connection.execute("ALTER TABLE made RENAME TO people")
            connection.commit()
            if self.kind == "shuffled":
                # Not for the others: it would give rows other row ids.
                connection.execute("VACUUM")
            connection.close()
            os.rename(old, self.old)
            os.rename(new, self.new)
            with open(self._facts, "w", encoding="utf-8") as file:
                json.dump(facts, file)

    def _people(self):
        with open(self.people.array, encoding="utf-8") as people:
            next(people)
            for line in people:
                if line != "]\n":
                    yield fields.columns_of(json.loads(line.rstrip("\n").removesuffix(",")))


def change(connection, updated, deleted, inserted, offset):
    """Changes one of `UPDATED`, `DELETED` and `INSERTED` records; gives how many."""
    others = ", ".join(part.split('"')[1] for part in fields.TABLE.split("(", 1)[1].split(",")[2:])
    steps = {
        "deleted": f"DELETE FROM people WHERE id % {DELETED} = {deleted}",
        "updated": f"UPDATE people SET age = age + 1 WHERE id % {UPDATED} = {updated}",
        "inserted": f"INSERT INTO people SELECT id + {offset}, 'new-' || guid, {others} FROM people"
                    f" WHERE id % {INSERTED} = {inserted}",
    }
    return {kind: connection.execute(text).rowcount for kind, text in steps.items()}
