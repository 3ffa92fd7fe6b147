"""The rows of the made-up people as PostgreSQL's COPY reads them, in its binary format and as CSV: made once and kept."""
import csv
import datetime
import hashlib
import json
import os
import struct
import tempfile
import uuid

import fields
from data import Source, check_room
from machine import say

# 200 bytes of CSV, 270 of the binary format.
BYTES_PER_RECORD = 500
SIGNATURE = b"PGCOPY\n\xff\r\n\0" + bytes(8)
EPOCH = datetime.datetime(2000, 1, 1, tzinfo=datetime.timezone.utc)
# What stands for null in the CSV: no text of the people is that.
NULL = "\\N"


class ServerRows(Source):
    """What is made of `people`, in a folder beside theirs."""

    def __init__(self, people):
        self.people = people
        self.records = people.records
        self.seed = people.seed
        self.array = people.array
        key = hashlib.sha256(people.folder.encode())
        with open(__file__, "rb") as file:
            key.update(file.read())
        self.folder = os.path.join(os.path.dirname(people.folder), f"server-{self.records}-{key.hexdigest()[:12]}")
        self.binary = os.path.join(self.folder, "people.copy")
        self.csv = os.path.join(self.folder, "people.csv")
        self._spots = os.path.join(self.folder, "spots.json")

    def facts(self):
        return self.people.facts()

    def spots(self):
        """A few of the rows, as the server says them in JSON."""
        with open(self._spots, encoding="utf-8") as file:
            return json.load(file)

    def make(self):
        os.makedirs(self.folder, exist_ok=True)
        if all(os.path.exists(path) for path in (self.array, self.binary, self.csv, self._spots)):
            return
        self.people.make()
        check_room(self.folder, self.records * BYTES_PER_RECORD)
        say(f"Making {self.records:,} rows for PostgreSQL")
        # Made under other names, so that what has its name is whole.
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="making-") as making:
            binary, text, kept = (os.path.join(making, name) for name in ("binary", "csv", "spots"))
            with open(binary, "wb") as copy, open(text, "w", encoding="utf-8", newline="") as lines:
                spots = self._write(copy, csv.writer(lines, lineterminator="\n"))
            with open(kept, "w", encoding="utf-8") as file:
                json.dump(spots, file)
            os.rename(binary, self.binary)
            os.rename(text, self.csv)
            os.rename(kept, self._spots)

    def _write(self, copy, lines):
        """Writes all rows, and gives the first, the middle and the last one."""
        spots, numbers = [], (1, (self.records + 1) // 2, self.records)
        copy.write(SIGNATURE)
        with open(self.people.array, encoding="utf-8") as people:
            next(people)
            for line in people:
                if line != "]\n":
                    row = fields.columns_of(json.loads(line.rstrip("\n").removesuffix(",")))
                    copy.write(packed(row))
                    lines.writerow([NULL if value is None else value for value in row])
                    if row[0] in numbers:
                        spots.append(spot(row))
        copy.write(struct.pack("!h", -1))
        return spots


def spot(row):
    """A row as the server says it in JSON."""
    found = dict(zip(fields.SERVER_TYPES, row))
    return found | {"active": bool(found["active"]), "created": found["created"][:19] + "+00:00",
                    "tags": json.loads(found["tags"])}


def packed(row):
    """A row in COPY's binary format, with the types of `fields.SERVER_TYPES`."""
    number, guid, name, age, score, balance, active, created, *texts = row
    day = datetime.datetime.fromisoformat(created.replace("Z", "+00:00")) - EPOCH
    values = [struct.pack("!q", number), uuid.UUID(guid).bytes, name.encode(), struct.pack("!i", age),
              struct.pack("!d", score), struct.pack("!d", balance), struct.pack("!?", active),
              struct.pack("!q", day // datetime.timedelta(microseconds=1))]
    values += [text if text is None else text.encode() for text in texts]
    return struct.pack("!h", len(values)) + b"".join(
        struct.pack("!i", -1) if value is None else struct.pack("!i", len(value)) + value for value in values)
