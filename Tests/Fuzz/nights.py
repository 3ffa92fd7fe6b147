"""A folder of logs, imported night after night while they grow, are rotated, compressed, renamed, touched and deleted: each line is in the store once."""
import gzip
import json
import os
import sqlite3

from case import Found

COMMON = ["--progress", "none", "--nested", "json"]


class Folder:
    """The files of a folder, each with its lines, and what an import must have brought of them."""

    def __init__(self, case):
        self.case, self.random = case, case.random
        self.files, self.half = {}, None
        # By file, where it was when it was imported last; and the paths of which what was imported is gone: other content there is a change.
        self.known, self.burnt = {}, set()
        self.number, self.written, self.seen = 0, set(), set()
        # What stands before the object on each line.
        self.prefix = self.random.choice(["", "", "", "node-1 ", "2024-01-02T03:04:05Z "])
        os.mkdir(case.path("logs"))

    def path(self, name):
        return self.case.path("logs", name)

    def lines(self, count):
        lines = []
        for _ in range(count):
            self.number += 1
            record = {"n": self.number, "m": self.random.choice(["", "a", "é", "long " * 30])}
            lines.append(self.prefix + json.dumps(record, ensure_ascii=False) + self.random.choice(["\n", "\n", "\r\n"]))
        return lines

    def growing(self):
        return [name for name in self.files if not name.endswith(".gz") and self.half is None]

    def put(self, name):
        text = "".join(self.files[name]).encode()
        with open(self.path(name), "wb") as file:
            file.write(gzip.compress(text) if name.endswith(".gz") else text)

    def note(self, what):
        self.case.commands.append(f": {what}")

    # What happens to them.

    def create(self):
        name = self.random.choice(["app.ndjson", "web.ndjson", "db.ndjson", f"{self.number}.ndjson"])
        if name not in self.files and name not in self.burnt:
            self.files[name] = self.lines(self.random.choice([1, 2, 30, 400]))
            self.put(name)
            self.note(f"create {name}")

    def append(self):
        names = self.growing()
        if names:
            name = self.random.choice(names)
            more = self.lines(self.random.choice([1, 1, 5, 300]))
            self.files[name] += more
            self.note(f"append {len(more)} lines to {name}")
            with open(self.path(name), "ab") as file:
                file.write("".join(more).encode())

    def append_half(self):
        """A writer that is in the middle of a line while an import runs, and goes on then."""
        names = self.growing()
        if names:
            name = self.random.choice(names)
            line = self.lines(1)[0].encode()
            cut = self.random.randrange(len(self.prefix) + 1, len(line) - 3)
            with open(self.path(name), "ab") as file:
                file.write(line[:cut])
            self.half = name
            self.note(f"append half a line to {name}")
            self.night(allowed={0, 65})
            if self.random.random() < 0.3 and name.count(".") == 1 and not self.rotated(name.split(".")[0], 1):
                # Rotated, while its writer still has it open.
                other = name.replace(".ndjson", ".1.ndjson")
                if other not in self.burnt:
                    self.rename(name, other)
                    self.files[name] = self.lines(2)
                    self.put(name)
                    name = other
            with open(self.path(name), "ab") as file:
                file.write(line[cut:])
            self.note("append the other half")
            self.files[name].append(line.decode())
            self.half = None
            self.night()

    def rotate(self):
        """app becomes app.1, app.1 becomes app.2, some of them compressed."""
        names = [name for name in self.growing() if name.count(".") == 1]
        if not names:
            return
        stem = self.random.choice(names).split(".")[0]
        last = 0
        while self.rotated(stem, last + 1):
            last += 1
        if any(f"{stem}.{number}.ndjson{end}" in self.burnt for number in range(last + 2) for end in ("", ".gz")) or f"{stem}.ndjson" in self.burnt:
            return
        for number in range(last, 0, -1):
            name = self.rotated(stem, number)
            self.rename(name, f"{stem}.{number + 1}" + name[name.index(".ndjson"):])
        name = f"{stem}.1.ndjson"
        self.rename(f"{stem}.ndjson", name)
        if self.random.random() < 0.3:
            self.rename(name, name + ".gz")
        if self.random.random() < 0.8:
            self.files[f"{stem}.ndjson"] = self.lines(self.random.choice([1, 3, 50]))
            self.put(f"{stem}.ndjson")
            self.note(f"create {stem}.ndjson")

    def rotated(self, stem, number):
        return next((name for name in self.files if name.startswith(f"{stem}.{number}.")), None)

    def rename(self, name, other):
        self.note(f"rename {name} {other}")
        self.files[other] = self.files.pop(name)
        if name in self.known:
            self.known[other] = self.known.pop(name)
        if other.endswith(".gz") and not name.endswith(".gz"):
            os.remove(self.path(name))
            self.put(other)
        else:
            os.rename(self.path(name), self.path(other))

    def rename_one(self):
        if self.files and self.half is None:
            name = self.random.choice(sorted(self.files))
            other = f"renamed-{self.number}{name[name.index('.ndjson'):]}"
            if other not in self.files:
                self.rename(name, other)

    def touch(self):
        if self.files:
            name = self.random.choice(sorted(self.files))
            os.utime(self.path(name))
            self.note(f"touch {name}")

    def delete(self):
        names = [name for name in sorted(self.files) if self.known.get(name, name) == name]
        if len(names) > 1:
            name = self.random.choice(names)
            os.remove(self.path(name))
            del self.files[name]
            self.note(f"delete {name}")
            if self.known.pop(name, None):
                self.burnt.add(name)

    # Nights.

    def command(self):
        command = ["import", "logs", "--into", "s.sqlite", "--entity", "log", *COMMON]
        if self.random.random() < 0.3:
            command += ["--chunk-size", "4K", "--commit-every", "50"]
        return command

    def night(self, allowed=frozenset({0})):
        if not self.files:
            return
        lines = [json.loads(line[len(self.prefix):])["n"] for name in self.files for line in self.files[name]]
        self.written |= set(lines)
        if self.random.random() < 0.2:
            self.case.killed(*self.command(), seconds=self.random.uniform(0.005, 0.15))
        result = self.case.importer(*self.command(), allowed=allowed)
        if result.code == 0:
            self.seen |= set(lines)
            self.known = {name: name for name in self.files}
        self.check(result)

    def check(self, result):
        if not os.path.exists(self.case.path("s.sqlite")):
            return
        database = sqlite3.connect(self.case.path("s.sqlite"))
        if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'log'").fetchall():
            rows = []
        else:
            rows = [row[0] for row in database.execute("SELECT n FROM log ORDER BY n")]
        database.close()
        twice = sorted({one for one, other in zip(rows, rows[1:]) if one == other})
        if twice:
            raise Found(f"twice: {twice[:5]}: {result}")
        lost = sorted(self.seen - set(rows))
        if lost:
            raise Found(f"lost: {lost[:5]}: {result}")
        others = sorted(set(rows) - self.written)
        if others:
            raise Found(f"never written: {others[:5]}: {result}")


def run(case):
    folder = Folder(case)
    folder.create()
    actions = [folder.create, folder.append, folder.append, folder.append_half, folder.rotate, folder.rotate]
    actions += [folder.rename_one, folder.touch, folder.delete, folder.night, folder.night, folder.night]
    for _ in range(case.random.choice([5, 15, 30])):
        case.random.choice(actions)()
    folder.night()
    if folder.files:
        case.importer("verify", "s.sqlite", allowed={0})
