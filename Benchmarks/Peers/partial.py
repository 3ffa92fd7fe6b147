"""The made-up people, with every hundredth of them a partial duplicate of an earlier one: made once and kept."""
import hashlib
import json
import os
import random
import sqlite3
import tempfile

import fields
from data import BYTES_PER_RECORD, Source, check_room
from machine import say

# One record of so many has an earlier one's identifier, another age and note, and nothing else.
EVERY = 100
NOTES = ("seen again", "größer", None)


class Partial(Source):
    """What is made of `people`, in a folder beside theirs."""

    def __init__(self, people):
        self.people = people
        self.records = people.records
        key = hashlib.sha256(people.folder.encode())
        with open(__file__, "rb") as file:
            key.update(file.read())
        self.folder = os.path.join(os.path.dirname(people.folder), f"partial-{self.records}-{key.hexdigest()[:12]}")
        self.array = os.path.join(self.folder, "people.json")
        # What the partial duplicates come to, for SQLite alone: each object's identifier with its new values.
        self.late = os.path.join(self.folder, "late.sqlite")
        self._facts = os.path.join(self.folder, "facts.json")
        self.duplicates = self.records // EVERY

    def make(self):
        os.makedirs(self.folder, exist_ok=True)
        if all(os.path.exists(path) for path in (self.array, self.late, self._facts)):
            return
        self.people.make()
        check_room(self.folder, self.records * BYTES_PER_RECORD)
        say(f"Making {self.records:,} records with {self.duplicates:,} partial duplicates")
        # Made under another name, so that what has its name is whole.
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="making-") as making:
            made, late = os.path.join(making, "array"), os.path.join(making, "late")
            with open(made, "w", encoding="utf-8") as out:
                sums, merged, changed = self._write(out)
            connection = sqlite3.connect(late)
            connection.execute("CREATE TABLE late (guid TEXT, age INTEGER, note TEXT)")
            connection.executemany("INSERT INTO late VALUES (:guid, :age, :note)", changed)
            connection.commit()
            connection.close()
            os.rename(made, self.array)
            os.rename(late, self.late)
            with open(self._facts, "w", encoding="utf-8") as file:
                json.dump({"sums": sums, "merged": merged}, file, indent=2)

    def _write(self, out):
        """Gives the sums of the people without the ones that are replaced, with what the others change; the same with all
        people; and each object that is changed, with its last values."""
        source = random.Random(self.people.seed)
        sums, replaced = dict(self.people.facts()["sums"]), fields.empty_sums()
        # Of each person that stays: identifier, weight, age, note.
        kept, late = [], {}
        with open(self.people.array, encoding="utf-8") as people:
            out.write(next(people))
            for number, line in enumerate(people, 1):
                if line == "]\n":
                    out.write(line)
                    break
                text = line.rstrip("\n")
                end = "," if text.endswith(",") else ""
                record = json.loads(text.removesuffix(","))
                if number % EVERY:
                    kept.append((record["guid"], record["id"] % 97, record["age"], record["note"]))
                    out.write(line)
                    continue
                fields.add(replaced, fields.columns_of(record), {})
                place = source.randrange(len(kept))
                guid, weight, age, note = kept[place]
                changed = {"guid": guid, "age": 18 + (age - 17) % 80, "note": source.choice(NOTES)}
                sums["age"] += weight * (changed["age"] - age)
                sums["note"] += weight * (fields.text_number(changed["note"]) - fields.text_number(note))
                sums["notes"] += (changed["note"] is not None) - (note is not None)
                late[guid] = changed
                kept[place] = (guid, weight, changed["age"], changed["note"])
                out.write(json.dumps(changed, ensure_ascii=False) + end + "\n")
        return {name: value - replaced[name] for name, value in sums.items()}, sums, list(late.values())
