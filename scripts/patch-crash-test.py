"""Kills patches and undos. Called by patch-crash-test, which has the usage."""

import argparse
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


def content(store):
    """The user tables, byte by byte, what undo needs, and what each job has counted."""
    digest = store_dump.digest(store)
    connection = sqlite3.connect(store)
    try:
        whole = connection.execute("PRAGMA integrity_check").fetchone()[0]
        log = connection.execute("SELECT * FROM _import_undo ORDER BY 1, 2, 3").fetchall()
        counts = connection.execute("SELECT * FROM _import_entity ORDER BY job, position").fetchall()
        nested = connection.execute("SELECT * FROM _import_nested ORDER BY job, position").fetchall()
        waiting = connection.execute("SELECT count(*) FROM _import_waiting_change").fetchall()
    finally:
        connection.close()
    return digest, whole, hash(str(log)), str(counts), str(nested), str(waiting)


def remove(store):
    for suffix in ("", "-journal", "-wal", "-shm", ".lock"):
        if os.path.exists(store + suffix):
            os.remove(store + suffix)


def main():
    parser = argparse.ArgumentParser(prog="patch-crash-test")
    parser.add_argument("--importer", default=os.path.join(ROOT, ".build", "release", "importer"))
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--records", type=int, default=30000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not os.path.exists(options.importer):
        subprocess.run(["swift", "build", "-c", "release", "--product", "importer"], cwd=ROOT, check=True)
    moments = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        make(path("old.db"), options.records, False)
        make(path("new.db"), options.records, True)
        changes = path("c.changes.ndjson")
        subprocess.run([options.importer, "diff", path("old.db"), path("new.db"), "--output", changes], check=True)
        patch = lambda store: [options.importer, "patch", store, changes, "--quiet", "--commit-every", "500"]
        undo = lambda store: [options.importer, "undo", store, "--quiet", "--job", "1"]
        results, seconds = {}, {}
        shutil.copy(path("old.db"), path("whole.db"))
        for name, command in (("patch", patch), ("undo", undo)):
            start = time.monotonic()
            subprocess.run(command(path("whole.db")), check=True)
            seconds[name] = time.monotonic() - start
            results[name] = content(path("whole.db"))
            shutil.copy(path("whole.db"), path(name + ".db"))
        assert results["undo"][0] == store_dump.digest(path("old.db")) != results["patch"][0]
        store, done, interrupted = path("store.db"), 0, 0
        while done < options.kills:
            for name, command, before in (("patch", patch, "old.db"), ("undo", undo, "patch.db")):
                remove(store)
                shutil.copy(path(before), store)
                while done < options.kills:
                    process = subprocess.Popen(command(store), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                    time.sleep(moments.uniform(0, seconds[name]))
                    process.send_signal(signal.SIGKILL)
                    if process.wait() == 0:
                        break
                    done, interrupted = done + 1, interrupted + 1
                    if moments.random() < 0.4:
                        break
                subprocess.run(command(store), check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                if content(store) != results[name]:
                    print(f"{name}, after {done} kills: another store than without")
                    return 1
        print(f"{interrupted} kills of patches and undos: every store is as without them, what undo needs included")
    return 0


if __name__ == "__main__":
    sys.exit(main())
