"""A folder of logs that is followed while they grow, are rotated, truncated, compressed, renamed and deleted: each line is in the store once."""
import json
import os
import signal
import sqlite3
import subprocess
import time

import nights
from case import Found

INTERVAL = 0.05
MOST_SECONDS = 30


class Folder(nights.Folder):
    """As that of the nights, but that one import goes on through them, until it is killed or interrupted."""

    def __init__(self, case):
        super().__init__(case)
        self.process, self.messages = None, case.path("messages")
        self.options = ["--chunk-size", "4K", "--commit-every", "50"] if case.chance(0.3) else []

    def start(self):
        arguments = ["import", "logs", "--into", "s.sqlite", "--entity", "log", *nights.COMMON, *self.options]
        arguments += ["--follow", "--commit-interval", str(INTERVAL)]
        self.case.commands.append("importer " + " ".join(arguments) + " &")
        with open(self.messages, "ab") as messages:
            self.process = subprocess.Popen(
                [self.case.executable] + arguments,
                cwd=self.case.folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=messages,
                env=dict(os.environ, SWIFT_BACKTRACE="enable=no", TZ="UTC"),
            )

    def stop(self, number):
        self.note(f"kill -{signal.Signals(number).name[3:]}")
        self.process.send_signal(number)
        code = self.process.wait(MOST_SECONDS)
        self.process = None
        # It may have been stopped before it has begun.
        if code not in {-signal.SIGKILL, -signal.SIGTERM, 143}:
            raise Found(f"ended with {code}: {self.said()}")

    def said(self):
        with open(self.messages, "rb") as messages:
            return messages.read().decode("utf-8", "replace")[-1500:]

    def truncate(self):
        """What has copied a log away empties it, and its writer goes on."""
        names = [name for name in self.growing() if self.known.get(name) == name]
        if names and self.process:
            name = self.random.choice(names)
            self.night()
            if self.process is None:
                return
            self.note(f"truncate {name}")
            self.files[name] = self.lines(self.random.choice([1, 2, 20]))
            with open(self.path(name), "r+b") as file:
                file.truncate(0)
                if self.case.chance(0.5):
                    time.sleep(2 * INTERVAL)
                file.write("".join(self.files[name]).encode())
            self.night()

    def rows(self, table="log", column="n"):
        if not os.path.exists(self.case.path("s.sqlite")):
            return []
        database = sqlite3.connect(self.case.path("s.sqlite"), timeout=MOST_SECONDS)
        try:
            if not database.execute("SELECT 1 FROM sqlite_master WHERE name = ?", [table]).fetchall():
                return []
            return [row[0] for row in database.execute(f"SELECT {column} FROM {table}")]
        finally:
            database.close()

    def night(self, allowed=frozenset({0})):
        lines = {json.loads(line[len(self.prefix):])["n"] for name in self.files for line in self.files[name]}
        self.written |= lines
        if self.process is None:
            self.start()
        if self.case.chance(0.2):
            time.sleep(self.random.uniform(0, 4 * INTERVAL))
            self.stop(signal.SIGKILL)
            self.start()
        self.seen |= lines
        end = time.monotonic() + MOST_SECONDS
        self.note("wait for all lines")
        # A job that was killed is finished first: what is truncated before that cannot be told from what is damaged.
        while not self.seen <= set(self.rows()) or set(self.rows("_import_job", "state")) - {"finished"}:
            if self.process.poll() is not None:
                raise Found(f"ended with {self.process.returncode}: {self.said()}")
            if time.monotonic() > end:
                lost = sorted(self.seen - set(self.rows()))
                raise Found(f"{len(lost)} have not come: {lost[:5]}: {self.said()}")
            time.sleep(INTERVAL / 2)
        self.check(self.said())
        self.known = {name: name for name in self.files}
        if self.case.chance(0.1):
            self.stop(signal.SIGTERM)


def run(case):
    folder = Folder(case)
    actions = [folder.create, folder.append, folder.append, folder.append_half, folder.rotate, folder.rotate, folder.truncate]
    actions += [folder.rename_one, folder.touch, folder.delete, folder.night, folder.night]
    try:
        # What is followed may be there later.
        if case.chance(0.2):
            os.rmdir(case.path("logs"))
            folder.start()
            time.sleep(2 * INTERVAL)
            os.mkdir(case.path("logs"))
        folder.create()
        for _ in range(case.random.choice([5, 15, 30])):
            case.random.choice(actions)()
        folder.night()
        if folder.process:
            folder.stop(signal.SIGTERM)
    finally:
        if folder.process:
            folder.process.kill()
            folder.process.wait()
    case.importer("verify", "s.sqlite", allowed={0})
    if folder.files:
        result = case.importer("import", "logs", "--into", "s.sqlite", "--entity", "log", *nights.COMMON, allowed={0})
        folder.check(result)
