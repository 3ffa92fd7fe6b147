"""The people of the next night, 1 % of whom changed: made once and kept; and their import, with what is gone deleted or not."""
import hashlib
import json
import os
import shutil
import tempfile

import fields
from data import BYTES_PER_RECORD, Source, check_room
from machine import Failure, say
from runs import Import

# One record of so many is gone, and a new one comes instead; one of so many has another age.
GONE, CHANGED = 1000, 125


class Night(Source):
    """What is made of `people`, in a folder beside theirs."""

    def __init__(self, people):
        self.people = people
        self.records = people.records
        key = hashlib.sha256(people.folder.encode())
        with open(__file__, "rb") as file:
            key.update(file.read())
        self.folder = os.path.join(os.path.dirname(people.folder), f"night-{self.records}-{key.hexdigest()[:12]}")
        self.array = os.path.join(self.folder, "people.json")
        self._facts = os.path.join(self.folder, "facts.json")

    def make(self):
        os.makedirs(self.folder, exist_ok=True)
        if all(os.path.exists(path) for path in (self.array, self._facts)):
            return
        self.people.make()
        check_room(self.folder, self.records * BYTES_PER_RECORD)
        say(f"Making {self.records:,} records of the next night")
        # Made under another name, so that what has its name is whole.
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="making-") as making:
            made = os.path.join(making, "array")
            with open(made, "w", encoding="utf-8") as out:
                facts = self._write(out)
            os.rename(made, self.array)
            with open(self._facts, "w", encoding="utf-8") as file:
                json.dump(facts, file, indent=2)

    def _write(self, out):
        """Gives the sums of the new people, the sums of those who are gone, and how many of each kind there are."""
        sums, gone, counts, epochs = fields.empty_sums(), fields.empty_sums(), {"inserted": 0, "updated": 0, "unchanged": 0}, {}
        with open(self.people.array, encoding="utf-8") as people:
            out.write(next(people))
            for number, line in enumerate(people):
                if line == "]\n":
                    out.write(line)
                    break
                text = line.rstrip("\n")
                end = "," if text.endswith(",") else ""
                record, kind = json.loads(text.removesuffix(",")), "unchanged"
                if number % GONE == 1:
                    fields.add(gone, fields.columns_of(record), epochs)
                    record["guid"], kind = "00000000-0000-4000-8000-" + record["guid"][24:], "inserted"
                elif number % CHANGED == 2:
                    record["age"], kind = 18 + (record["age"] - 17) % 80, "updated"
                counts[kind] += 1
                fields.add(sums, fields.columns_of(record), epochs)
                out.write(line if kind == "unchanged" else json.dumps(record, ensure_ascii=False) + end + "\n")
        return {"sums": sums, "gone": gone, "counts": counts}


class ImportNight(Import):
    """The next night's file into a copy of the store that `first` has just made, as a mirror or not."""

    def __init__(self, name, title, data, first, is_mirror=False):
        super().__init__(name, title, data, identifier="guid")
        self.first = first
        self.after = (first,)
        self.is_mirror = is_mirror

    def prepare(self, machine, work):
        store = os.path.join(work, self.store())
        shutil.copyfile(os.path.join(work, self.first.store()), store)
        self.data.warm(store)

    def command(self, machine, work):
        return super().command(machine, work) + (["--mirror"] if self.is_mirror else [])

    def check_report(self, measurement, kind):
        report, facts = measurement.printed(), self.data.facts()
        expected = {"state": "finished", **facts["counts"], "deleted": facts["counts"]["inserted"] if self.is_mirror else 0}
        wrong = [f"{name} {report.get(name)}, not {value}" for name, value in expected.items() if report.get(name, 0) != value]
        if wrong:
            raise Failure(", ".join(wrong))

    def compare(self, found):
        facts = self.data.facts()
        expected = facts["sums"]
        if not self.is_mirror:
            expected = {name: value + facts["gone"][name] for name, value in expected.items()}
        wrong = fields.differences(found, expected)
        if wrong:
            raise Failure("wrong result: " + wrong)
