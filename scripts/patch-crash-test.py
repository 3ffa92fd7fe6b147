"""Kills patches, undos, merges and mirrors. Called by patch-crash-test, which has the usage."""

import argparse
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "Tests", "Checks"))

import store_dump  # noqa: E402

SCHEMA = """
CREATE TABLE person (key TEXT PRIMARY KEY NOT NULL, name TEXT, place INTEGER NOT NULL UNIQUE);
CREATE TABLE pet (
    id INTEGER PRIMARY KEY, name TEXT, owner TEXT REFERENCES person (key) ON DELETE CASCADE,
    friend INTEGER REFERENCES pet (id)
);
CREATE INDEX pet_owner ON pet (owner);
CREATE INDEX pet_friend ON pet (friend);
CREATE TABLE word (text TEXT PRIMARY KEY NOT NULL, count INTEGER) WITHOUT ROWID;
"""


def make(path, records, is_new):
    """People with pets, and words; of the new state a part is gone, changed, come, and people have exchanged their places."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(SCHEMA + "BEGIN")
    for number in range(records):
        if is_new and number % 17 == 0:
            continue
        place = number ^ 2 if is_new and number % 5 == 3 and (number ^ 2) % 17 and (number ^ 2) < records else number
        name = f"name {number}" if not is_new or number % 7 else f"other {number}"
        connection.execute("INSERT INTO person VALUES (?, ?, ?)", (f"k{number}", name, place + (records if is_new and place != number else 0)))
    for number in range(records):
        if is_new and number % 17 == 0:
            continue
        friend = None if number % 17 == 0 or (number + 1) % 17 == 0 or number + 1 >= records else number + 1
        connection.execute("INSERT INTO pet VALUES (?, ?, ?, ?)", (number, f"pet {number}", f"k{number}", friend))
    if is_new:
        connection.execute("UPDATE pet SET friend = NULL WHERE friend NOT IN (SELECT id FROM pet)")
        for number in range(records, records + records // 10):
            connection.execute("INSERT INTO person VALUES (?, ?, ?)", (f"k{number}", "new", 3 * records + number))
    for number in range(records // 3):
        if not (is_new and number % 11 == 0):
            connection.execute("INSERT INTO word VALUES (?, ?)", (f"w{number}", number % 9 + (is_new and number % 13 == 0)))
    connection.execute("COMMIT")
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()


def change(path, records):
    """The state of another side, which contradicts the new one here and there."""
    connection = sqlite3.connect(path)
    connection.execute("UPDATE person SET name = 'mine' WHERE place % 3 = 0")
    connection.execute("DELETE FROM pet WHERE id % 23 = 0 AND id NOT IN (SELECT friend FROM pet WHERE friend IS NOT NULL)")
    connection.execute("INSERT INTO word SELECT 'm' || count || text, 0 FROM word WHERE count = 5")
    connection.commit()
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.close()


MODEL = {
    "entities": {
        "user": {
            "records": "$.users[*]",
            "identifier": ["key"],
            "attributes": {"key": {"type": "string"}, "name": {"type": "string", "optional": True}},
            "relationships": {"messages": {"entity": "message", "toMany": True, "inverse": "user", "deleteRule": "cascade"}},
        },
        "message": {
            "identifier": ["id"],
            "attributes": {"id": {"type": "integer64"}, "text": {"type": "string", "optional": True}},
            "relationships": {"user": {"entity": "user", "inverse": "messages", "from": []}},
        },
        "word": {
            "records": "$.words[*]",
            "identifier": ["text"],
            "attributes": {"text": {"type": "string"}, "count": {"type": "integer64", "optional": True}},
        },
    }
}


def write_source(path, records, is_new):
    """Users with their messages, and words; in the new source a part is gone, changed, come, rejected, or of another user."""
    users = []
    for number in range(records + (records // 10 if is_new else 0)):
        if is_new and number % 17 == 0:
            continue
        user = {"key": f"k{number}", "name": f"name {number}" if not is_new or number % 7 else f"other {number}"}
        if is_new and number % 501 == 1:
            user["name"] = {}
        user["messages"] = [{"id": 2 * number, "text": "first"}, {"id": 2 * number + 1, "text": f"second {number}"}]
        if is_new and number % 5 == 0:
            user["messages"].pop()
        if is_new and number % 19 == 0:
            user["messages"].append({"id": 2 * number + 3, "text": "of the next one"})
        users.append(user)
    words = [
        {"text": f"w{number}", "count": number % 9 + (is_new and number % 13 == 0)}
        for number in range(records // 3) if not (is_new and number % 11 == 0)
    ]
    with open(path, "w") as file:
        json.dump({"users": users, "words": words}, file)


def jobs(store):
    """How many jobs a store has."""
    connection = sqlite3.connect(store)
    try:
        return connection.execute("SELECT count(*) FROM _import_job").fetchone()[0]
    except sqlite3.OperationalError:
        return 0
    finally:
        connection.close()


def inserted(connection):
    """The row ids that imports have inserted, by table: which commit has noted them depends on where it was killed."""
    tables = {}
    query = "SELECT lower(table_name), last_rowid, ranges FROM _import_addition WHERE name IS NULL ORDER BY number"
    for table, last, ranges in connection.execute(query).fetchall():
        rows = tables.setdefault(table, set())
        if ranges is None:
            rows.difference_update([row for row in rows if row > last])
            continue
        numbers, number, shift = [], 0, 0
        for byte in ranges:
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                numbers.append(number)
                number, shift = 0, 0
        end = 0
        for gap, width in zip(numbers[::2], numbers[1::2]):
            first = end + ((gap >> 1) ^ -(gap & 1))
            end = first + width
            rows.update(range(first, end + 1))
    return sorted((table, sorted(rows)) for table, rows in tables.items())


def content(store):
    """The user tables, byte by byte, what undo needs, what each job has counted, and what is left to be decided."""
    digest = store_dump.digest(store)
    connection = sqlite3.connect(store)
    connection.text_factory = bytes
    try:
        whole = connection.execute("PRAGMA integrity_check").fetchone()[0]
        queries = {
            "undo log": "SELECT * FROM _import_undo ORDER BY 1, 2, 3",
            "counts": "SELECT * FROM _import_entity ORDER BY job, position",
            "waiting changes": "SELECT count(*) FROM _import_waiting_change",
            "conflicts": "SELECT * FROM _import_conflict ORDER BY number",
            "mirror": "SELECT job, is_done, deleted, withheld, reason, objects FROM _import_mirror ORDER BY job",
            "seen rows": "SELECT count(*) FROM _import_seen",
        }
        found = {"digest": digest, "integrity": whole}
        for name, query in queries.items():
            found[name] = str(store_dump.answers(connection, query).fetchall())
        found["inserted rows"] = str(inserted(connection))
    finally:
        connection.close()
    found["rejects and ledger"] = str(store_dump.bookkeeping(store))
    return found


def was_done(name, errors):
    """Whether a command had done all before it was killed, and says so."""
    return name == "undo" and "is undone already" in errors


def remove(store):
    for suffix in ("", "-journal", "-wal", "-shm", ".lock"):
        if os.path.exists(store + suffix):
            os.remove(store + suffix)


def main():
    parser = argparse.ArgumentParser(prog="patch-crash-test")
    parser.add_argument("--importer", default=os.path.join(ROOT, ".build", "release", "importer"))
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--only", default="patch,undo,merge,mirror")
    parser.add_argument("--records", type=int, default=30000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    only = options.only.split(",")
    for name in only:
        if name not in ("patch", "undo", "merge", "mirror"):
            print("patch-crash-test: --only has patch, undo, merge and mirror, divided by commas", file=sys.stderr)
            return 64
    if not os.path.exists(options.importer):
        subprocess.run(["swift", "build", "-c", "release", "--product", "importer"], cwd=ROOT, check=True)
    with tempfile.TemporaryDirectory() as folder:
        return Attack(folder, options).run(only)


class Attack:
    """The stores, and what kills the commands."""

    def __init__(self, folder, options):
        self.folder, self.options = folder, options
        self.moments = random.Random(options.seed)
        self.results, self.seconds = {}, {}
        self.kills, self.begun, self.runs = {}, {}, {}

    def path(self, name):
        return os.path.join(self.folder, name)

    def prepare(self):
        records, importer = self.options.records, self.options.importer
        make(self.path("old.db"), records, False)
        make(self.path("new.db"), records, True)
        subprocess.run([importer, "diff", self.path("old.db"), self.path("new.db"), "--output", self.path("c.changes.ndjson")], check=True)
        shutil.copy(self.path("old.db"), self.path("mine.db"))
        change(self.path("mine.db"), records)
        with open(self.path("model.json"), "w") as file:
            json.dump(MODEL, file)
        write_source(self.path("first.json"), records, False)
        write_source(self.path("second.json"), records, True)
        subprocess.run(self.importing("first.json", self.path("imported.db")), check=True, stdout=subprocess.DEVNULL)

    def importing(self, source, store, *more):
        return [self.options.importer, "import", self.path(source), "--into", store, "--model", self.path("model.json"), "--progress", "none",
                "--commit-every", "500", "--chunk-size", "200K", *more]

    def command(self, name, store):
        """Begins a job, or resumes the one that was killed."""
        importer = self.options.importer
        if name == "patch":
            return [importer, "patch", store, self.path("c.changes.ndjson"), "--quiet", "--commit-every", "500"]
        if name == "undo":
            return [importer, "undo", store, "--quiet", "--job", "1"]
        # The same merge again would be another job, and a mirror is resumed in both ways.
        if jobs(store) > self.jobs_before(name) and (name == "merge" or self.moments.random() < 0.5):
            return [importer, "resume", store, *(["--quiet"] if name == "merge" else ["--progress", "none"])]
        if name == "merge":
            return [importer, "merge", self.path("old.db"), store, self.path("new.db"), "--into", store, "--quiet",
                    "--conflicts", "mark", "--commit-every", "500"]
        return self.importing("second.json", store, "--mirror", "--max-delete", "100%", "--workers", str(self.moments.randint(1, 3)))

    def jobs_before(self, name):
        return 1 if name in ("mirror", "undo") else 0

    def finish(self, name, store):
        """Runs a command to its end."""
        start = time.monotonic()
        ran = subprocess.run(self.command(name, store), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if ran.returncode != 0 and not was_done(name, ran.stderr):
            raise SystemExit(f"{name}: exit code {ran.returncode}: {ran.stderr}")
        return time.monotonic() - start

    def whole(self, name):
        """What it comes to where nothing kills it."""
        store = self.path(name + ".db")
        shutil.copy(self.path(self.before[name]), store)
        self.seconds[name] = self.finish(name, store)
        self.results[name] = content(store)

    before = {"patch": "old.db", "undo": "patch.db", "merge": "mine.db", "mirror": "imported.db"}

    def run(self, only):
        self.prepare()
        for name in self.before:
            if name in only or (name == "patch" and "undo" in only):
                self.whole(name)
        if "undo" in only:
            assert self.results["undo"]["digest"] == store_dump.digest(self.path("old.db")) != self.results["patch"]["digest"]
        if "merge" in only:
            assert "bothChanged" in self.results["merge"]["conflicts"]
        if "mirror" in only:
            mirrored = self.path("mirror.db")
            assert self.results["mirror"]["digest"] != store_dump.digest(self.path("imported.db"))
            assert int(sqlite3.connect(mirrored).execute("SELECT deleted FROM _import_mirror WHERE job = 2").fetchone()[0]) > 0
        for name in only:
            self.kills[name] = self.begun[name] = self.runs[name] = 0
        # In turns, so that few kills are some of each.
        while any(self.kills[name] < self.options.kills for name in only):
            for name in only:
                if self.kills[name] < self.options.kills and not self.attack(name):
                    return 1
        print("killed and resumed: " + ", ".join(
            f"{self.kills[name]} times a {name} ({self.begun[name]} of them after its job had begun; {self.runs[name]} stores compared)" for name in only
        ) + "; every store is as without the kills, what undo needs included")
        return 0

    def attack(self, name):
        """Kills a command, some of the time more than once, and compares the store when it is finished."""
        store = self.path("store.db")
        remove(store)
        shutil.copy(self.path(self.before[name]), store)
        while self.kills[name] < self.options.kills:
            process = subprocess.Popen(self.command(name, store), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            time.sleep(self.moments.uniform(0, self.seconds[name]))
            process.send_signal(signal.SIGKILL)
            errors = process.communicate()[1].decode()
            if process.returncode == 0 or was_done(name, errors):
                break
            if process.returncode != -signal.SIGKILL:
                print(f"{name}, after {self.kills[name]} kills: exit code {process.returncode}: {errors}")
                return False
            self.kills[name] += 1
            self.begun[name] += jobs(store) > self.jobs_before(name)
            if self.moments.random() < 0.4:
                break
        self.finish(name, store)
        self.runs[name] += 1
        found = content(store)
        differing = [key for key in found if found[key] != self.results[name][key]]
        if differing:
            print(f"{name}, after {self.kills[name]} kills: another store than without: {', '.join(differing)}")
            return False
        return True


if __name__ == "__main__":
    sys.exit(main())
