"""Made-up records of other shapes than people, made once and kept: long texts, and arrays that are kept as JSON. They are here
for the memory that they take."""
import hashlib
import json
import os
import random
import tempfile

from data import Source, check_room
from machine import megabytes, say

WORDS = ["harbour", "naïve", "Überseehafen", "ledger", "of", "the", "and", "Ω", "twenty-one", "crane", "in", "a", "quay", "ship"]
BYTES_PER_RECORD = {"texts": 11_500, "lists": 5_800}
TYPES = {"texts": {"id": "integer64", "title": "string", "body": "string"},
         "lists": {"id": "integer64", "name": "string", "items": "json"}}
# What a result adds up to: its records, their texts, and what is in them.
QUERIES = {"texts": "SELECT count(*) AS records, sum(id * length(title)) AS names, sum(id * length(body)) AS content FROM texts",
           "lists": "SELECT count(*) AS records, sum(id * length(name)) AS names, sum(id * json_array_length(items)) AS content"
                    " FROM lists"}


class Shape(Source):
    """The records of one shape, number and seed, in a folder named after what decides them."""

    def __init__(self, folder, name, size, seed):
        self.name = name
        self.records = max(100, size // BYTES_PER_RECORD[name])
        self.seed = seed
        key = hashlib.sha256(str(seed).encode())
        with open(__file__, "rb") as file:
            key.update(file.read())
        self.folder = os.path.join(folder, f"{name}-{self.records}-{key.hexdigest()[:12]}")
        self.array = os.path.join(self.folder, f"{name}.json")
        self.model = os.path.join(self.folder, "model.json")
        self._facts = os.path.join(self.folder, "facts.json")

    def make(self):
        os.makedirs(self.folder, exist_ok=True)
        if all(os.path.exists(path) for path in (self.array, self.model, self._facts)):
            return
        needed = self.records * BYTES_PER_RECORD[self.name]
        check_room(self.folder, needed)
        say(f"Making {self.records:,} records of {self.name}, about {megabytes(needed)}")
        # Made under another name, so that what has its name is whole.
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="making-") as making:
            made = os.path.join(making, "array")
            with open(made, "w", encoding="utf-8") as out:
                facts = self._write(out)
            os.rename(made, self.array)
            model = {"entities": {self.name: {"attributes": {
                name: {"type": kind} for name, kind in TYPES[self.name].items()}}}}
            for value, path in ((model, self.model), (facts, self._facts)):
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(value, file)

    def _write(self, out):
        source = random.Random(self.seed)
        text = " ".join(source.choice(WORDS) for _ in range(20_000))
        names = content = 0
        for number in range(1, self.records + 1):
            if self.name == "texts":
                start, length = source.randrange(len(text) - 20_000), source.randint(2_000, 20_000)
                record = {"id": number, "title": f"Report {number}", "body": text[start:start + length]}
                names += number * len(record["title"])
                content += number * length
            else:
                items = [{"sku": f"SKU-{source.randrange(1_000_000):06d}", "count": source.randint(1, 20),
                          "price": round(source.random() * 500, 2), "at": {"shelf": source.randint(1, 400), "marks": ["a", "b"]}}
                         for _ in range(source.randint(20, 100))]
                record = {"id": number, "name": f"List {number}", "items": items}
                names += number * len(record["name"])
                content += number * len(items)
            out.write(("[\n" if number == 1 else ",\n") + json.dumps(record, ensure_ascii=False))
        out.write("\n]\n")
        return {"records": self.records, "names": names, "content": content}
