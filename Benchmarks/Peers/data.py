"""Made-up people of a size, made once and kept: the array, NDJSON, what they add up to, and the rows ready to bind."""
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

from machine import HERE, ROOT, Failure, megabytes, say

GENERATOR = os.path.join(ROOT, "scripts", "generate-records")
BYTES_PER_RECORD = 316
# The rows are 207 bytes each.
BYTES_PER_RECORD_AND_ROW = 2 * BYTES_PER_RECORD + 210


class Source:
    """What a folder has of the data of one number and seed: the array, and what it adds up to."""

    def facts(self):
        with open(self._facts, encoding="utf-8") as file:
            return json.load(file)

    def size(self):
        return os.path.getsize(self.array)

    def warm(self, path):
        """Reads a file once, so that every run finds it in memory."""
        with open(path, "rb", buffering=0) as file:
            while file.read(1 << 20):
                pass


class Data(Source):
    """The people of one size and seed, in a folder named after what decides them."""

    def __init__(self, folder, records, seed, is_array_only=False):
        self.records = records
        self.seed = seed
        self.is_array_only = is_array_only
        key = hashlib.sha256(str(seed).encode())
        for path in (GENERATOR + ".py", os.path.join(HERE, "fields.py"), os.path.join(HERE, "make_facts.py")):
            with open(path, "rb") as file:
                key.update(file.read())
        self.folder = os.path.join(folder, f"people-{records}-{key.hexdigest()[:12]}")
        self.array = os.path.join(self.folder, "people.json")
        self.ndjson = os.path.join(self.folder, "people.ndjson")
        self.rows = os.path.join(self.folder, "rows")
        self._facts = os.path.join(self.folder, "facts.json")

    def make(self):
        os.makedirs(self.folder, exist_ok=True)
        wanted = [self.array, self._facts] + ([] if self.is_array_only else [self.ndjson, self.rows])
        missing = [path for path in wanted if not os.path.exists(path)]
        if not missing:
            return
        needed = self.records * (BYTES_PER_RECORD if self.is_array_only else BYTES_PER_RECORD_AND_ROW)
        check_room(self.folder, needed)
        say(f"Making {self.records:,} records, about {megabytes(self.records * BYTES_PER_RECORD)}")
        # Made under other names, so that what has its name is whole.
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="making-") as making:
            for path, form in ((self.array, "array"), (self.ndjson, "ndjson")):
                if path in missing:
                    made = os.path.join(making, form)
                    with open(made, "wb") as out:
                        run([GENERATOR, str(self.records), "--format", form, "--seed", str(self.seed)], out)
                    os.rename(made, path)
            if self._facts in missing or self.rows in missing:
                facts, rows = os.path.join(making, "facts"), os.path.join(making, "rows")
                run([sys.executable, "-B", os.path.join(HERE, "make_facts.py"), self.array, facts]
                    + ([] if self.is_array_only else [rows]))
                if not self.is_array_only:
                    os.rename(rows, self.rows)
                os.rename(facts, self._facts)

    def remove_sources(self):
        """Removes what is large; what it adds up to stays, since that takes longest."""
        for path in (self.array, self.ndjson, self.rows):
            if os.path.exists(path):
                os.remove(path)


def run(command, out=None):
    outcome = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE, text=True)
    if outcome.returncode != 0:
        raise Failure(f"{outcome.stderr.strip()}\nthe data could not be made")


def check_room(folder, needed):
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise Failure(f"{folder}: {megabytes(needed)} are needed there and {megabytes(free)} are free;"
                      " make room, or give another folder with --data")
