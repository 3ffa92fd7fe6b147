"""What changed from one store to another: the importer, sqldiff, and SQL alone."""
import json
import os
import sqlite3

import fields
from machine import Failure
from runs import Run

KINDS = ("inserted", "updated", "deleted")
NAMES = [part.split('"')[1] for part in fields.TABLE.split("(", 1)[1].split(",")]


class Difference(Run):
    """A comparison of both states of a pair, which must find what was changed."""

    def prepare(self, machine, work):
        for path in (self.data.old, self.new()):
            self.data.warm(path)

    def new(self):
        return self.data.new

    def check(self, machine, work, measurement):
        found, facts = self.found(work, measurement), self.data.facts()
        if any(found[kind] != facts[kind] for kind in KINDS):
            raise Failure(f"wrong result: {found} instead of {facts}")

    def leftovers(self):
        return [self.name + ".changes.ndjson"]


class Diff(Difference):
    """`importer diff`, which writes the change set; the whole process."""

    is_importer = True

    def __init__(self, name, title, data, workers=1):
        super().__init__(name, title, data)
        self.workers = workers

    def command(self, machine, work):
        return [machine.importer, "diff", self.data.old, self.new(), "--workers", str(self.workers), "--output",
                self.output(work)]

    def output(self, work):
        return os.path.join(work, self.name + ".changes.ndjson")

    def found(self, work, measurement):
        counts = dict.fromkeys(KINDS, 0)
        with open(self.output(work), encoding="utf-8") as lines:
            for line in lines:
                change = json.loads(line)
                if "change" in change:
                    counts[change["change"]] += 1
                    if change["change"] == "updated" and (
                            change["attributes"]["new"]["age"] != change["attributes"]["old"]["age"] + 1):
                        raise Failure(f"wrong result: {line}")
        return counts


class SQLDiff(Difference):
    """`sqldiff`, which writes SQL and compares by row id; the whole process."""

    def command(self, machine, work):
        return ["sqldiff", self.data.old, self.data.new]

    def check(self, machine, work, measurement):
        # By row id, it takes other objects for the same.
        if self.data.kind != "shuffled":
            super().check(machine, work, measurement)

    def found(self, work, measurement):
        words = [line.split(" ", 1)[0] for line in measurement.output.splitlines()]
        return {kind: words.count(word) for kind, word in zip(KINDS, ("INSERT", "UPDATE", "DELETE"))}


class FloorDifference(Difference):
    """SQLite alone: three queries that count what changed."""

    def command(self, machine, work):
        return ["sqlite3", self.data.old, "; ".join(queries(self.data, self.data.new))]

    def found(self, work, measurement):
        return dict(zip(KINDS, map(int, measurement.output.split())))


def queries(pair, other):
    """SQL that counts what is only in `other`, what is another there, and what is only in the main database."""
    key = "id" if pair.kind == "integer" else "guid"
    differs = " OR ".join(f"o.{name} IS NOT n.{name}" for name in NAMES if name != key)
    return [
        f"ATTACH '{other}' AS other",
        f"SELECT count(*) FROM other.people AS n WHERE NOT EXISTS (SELECT 1 FROM main.people AS o WHERE o.{key} = n.{key})",
        f"SELECT count(*) FROM main.people AS o JOIN other.people AS n ON o.{key} = n.{key} WHERE {differs}",
        f"SELECT count(*) FROM main.people AS o WHERE NOT EXISTS (SELECT 1 FROM other.people AS n WHERE o.{key} = n.{key})",
    ]


def rows_that_differ(pair, old, new):
    """How many rows two stores of a pair's table do not have in common, by kind of change."""
    connection = sqlite3.connect(old)
    try:
        attach, *counting = queries(pair, new)
        connection.execute(attach)
        return {kind: connection.execute(query).fetchone()[0] for kind, query in zip(KINDS, counting)}
    except sqlite3.Error as error:
        raise Failure(f"the store cannot be read: {error}") from error
    finally:
        connection.close()
