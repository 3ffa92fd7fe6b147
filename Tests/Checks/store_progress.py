#!/usr/bin/env python3
"""Watches what a running import has made durable.

usage: store_progress.py rows STORE COUNT         waits until the user tables hold COUNT rows, prints how many
       store_progress.py chunks DIRECTORY COUNT   waits until the manifest lists COUNT sealed chunks
       store_progress.py watch STORE PID          counts rows while process PID runs, prints each new count

Each says `ready` first.
"""
import os
import sqlite3
import sys
import time

sys.dont_write_bytecode = True

from store_dump import connect, quoted, user_tables


class Watcher:
    """A reading connection that outlives a store that is not there yet."""

    def __init__(self, store):
        self.store = store
        self.connection = None

    def rows(self):
        """The rows of all user tables in one snapshot; None while there is nothing to read."""
        try:
            if self.connection is None:
                if not os.path.exists(self.store):
                    return None
                self.connection = connect(self.store)
                self.connection.isolation_level = None
            self.connection.execute("BEGIN")
            try:
                count = 0
                for table in user_tables(self.connection):
                    count += self.connection.execute("SELECT count(*) FROM " + quoted(table)).fetchone()[0]
                return count
            finally:
                self.connection.execute("COMMIT")
        except sqlite3.Error:
            if self.connection is not None:
                self.connection.close()
            self.connection = None
            return None


def sealed_chunks(directory):
    """Complete lines of the manifest, without its header."""
    try:
        with open(os.path.join(directory, "manifest.ndjson"), "rb") as file:
            return file.read().count(b"\n") - 1
    except OSError:
        return 0


def runs(pid):
    """Whether a process is there and has not ended (one that nobody has waited for yet has ended)."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def main(arguments):
    if len(arguments) != 3:
        print(__doc__, file=sys.stderr)
        return 64
    command, place, number = arguments[0], arguments[1], int(arguments[2])
    print("ready", flush=True)
    if command == "rows":
        watcher = Watcher(place)
        while True:
            count = watcher.rows()
            if count is not None and count >= number:
                print(count)
                return 0
            time.sleep(0.001)
    if command == "chunks":
        while sealed_chunks(place) < number:
            time.sleep(0.001)
        print(sealed_chunks(place))
        return 0
    if command == "watch":
        watcher, last = Watcher(place), None
        while runs(number):
            count = watcher.rows()
            if count is not None and count != last:
                print(count)
                last = count
        return 0
    print(__doc__, file=sys.stderr)
    return 64


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
