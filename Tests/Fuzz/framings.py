"""Random documents of every framing: lines, values, arrays, objects by key and in groups, pages, rows beside their columns, and
empty ones."""
import json
import uuid
from datetime import datetime, timezone

LINES = (".ndjson", ".jsonl", ".geojsonl", ".ldjson")


class Values:
    """Values that hardly ever come twice, so that one that is lost is missed."""

    def __init__(self, random):
        self.random, self.last = random, random.randrange(100, 10_000_000)
        self.kinds = {}
        names = ["id", "a", "b", "a_b", "a.b", "A", "n", "key", "value", "x y", "é", "rowid", "m", "b_c", "$key", "", "0"]
        # Half of the time a few that meet where objects become columns.
        names = random.choice([names, ["a", "b", "a_b", "A"], ["a", "b", "a.b", "a_b", "a_b_2"], ["key", "value", "files_key", "id"]])
        self.names = random.sample(names, random.randint(1, min(6, len(names))))

    def number(self):
        self.last += self.random.choice([1, 1, 1, 7])
        return self.last

    def scalar(self, kind=None):
        random, number = self.random, self.number()
        kind = kind or random.choice(SCALARS)
        if kind == "integer":
            return str(number)
        if kind == "large":
            return random.choice([str(2**53 + number), str(2**63 + number), str(-(2**63) - number), f"{number}12345678901234567890"])
        if kind == "double":
            return random.choice([f"{number}.5", f"{number}.10", f"0.{number}", f"-{number}e-3", f"{number}.0"])
        if kind == "printed":
            return ("%.17g" if random.random() < 0.7 else "%.20g") % (number / 7 if random.random() < 0.8 else number / 10)
        if kind == "decimal":
            digits = "".join(random.choice("0123456789") for _ in range(random.choice([10, 13, 20])))
            return f"{number}.{digits}7"
        if kind == "boolean":
            return random.choice(["true", "false"])
        if kind == "null":
            return "null"
        texts = {
            "text": lambda: f"t{number}",
            "digits": lambda: random.choice([f"{number}", f"00{number}", f"{number}.50", f"+{number}"]),
            "unicode": lambda: random.choice(["é", "日本", "\U0001f600", 'q"\\', "\x00", " ", "\n", "e\u0301"]) + str(number),
            "date": lambda: datetime.fromtimestamp(number * 97, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "day": lambda: datetime.fromtimestamp(number * 97, timezone.utc).strftime("%Y-%m-%d"),
            "zone": lambda: datetime.fromtimestamp(number * 97, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f+02:00"),
            "uuid": lambda: str(uuid.UUID(int=number * 2**64 + 4 * 2**76 + 2**63)),
            "upper": lambda: str(uuid.UUID(int=number * 2**64 + 11)).upper(),
            "json": lambda: json.dumps({"t": number}),
        }
        return json.dumps(texts[kind](), ensure_ascii=random.random() < 0.3)

    def value(self, path=(), depth=2):
        """A value, mostly of the kind that is usual at this path."""
        random = self.random
        if path not in self.kinds:
            self.kinds[path] = random.choice(["scalar"] * 5 + (["object", "object", "array", "objects", "map"] if depth > 0 else []))
            self.kinds[path, "scalar"] = random.choice(SCALARS)
        kind, scalar = self.kinds[path], self.kinds[path, "scalar"]
        if random.random() < 0.06:
            kind, scalar = random.choice(["scalar", "object", "array"] if depth > 0 else ["scalar"]), random.choice(SCALARS)
        count = random.choice([0, 1, 1, 2, 2, 3])
        if kind == "object":
            return self.object(path, depth - 1)
        if kind == "array":
            return array(self.scalar(scalar) for _ in range(count))
        if kind == "objects":
            return array(self.object(path, depth - 1) for _ in range(count))
        if kind == "map":
            return members((f"k{self.number()}", self.value(path + ("*",), depth - 1)) for _ in range(count))
        return self.scalar(scalar)

    def object(self, path=(), depth=2):
        if self.random.random() < 0.03:
            return "{}"
        names = [name for name in self.names if self.random.random() < 0.85]
        return members((name, self.value(path + (name,), depth)) for name in names)

    def records(self):
        return [self.object() for _ in range(self.random.choice([1, 1, 2, 3, 5, 12]))]


SCALARS = ["integer"] * 4 + ["double"] * 2 + ["text"] * 4 + ["large", "printed", "decimal", "boolean", "null", "digits", "unicode"]
SCALARS += ["date", "day", "zone", "uuid", "upper", "json"]


def array(texts):
    return "[" + ",".join(texts) + "]"


def members(pairs):
    return "{" + ",".join(f"{json.dumps(name)}:{value}" for name, value in pairs) + "}"


def texts_of(random, values):
    """Values one after the other, none within a line of another."""
    return random.choice(["\n", "\n", "\r\n"]).join(values) + random.choice(["", "\n"])


class Framing:
    """How the documents of a case are framed, every night alike: keys and what is around the records stay."""

    def __init__(self, random, values):
        self.random, self.values = random, values
        self.name = random.choice(sorted(FRAMINGS))
        self.collection = random.choice(["Items", "items", "data", "results", "x y", "a_b"])
        self.beside = [("Count", "integer"), ("next", "null"), ("meta", "text")][: random.randint(0, 3)]
        self.is_before = random.random() < 0.5
        self.extension = random.choice([".json", ".json", ".json", *LINES[:2]])

    def text(self, count=None):
        """A document, perhaps with so many records."""
        records = self.values.records()
        if count is not None:
            records = [self.values.object() for _ in range(count)]
        return FRAMINGS[self.name](self, records)

    def around(self, name, value):
        beside = [(key, self.values.scalar(kind)) for key, kind in self.beside]
        return members((beside if self.is_before else []) + [(name, value)] + ([] if self.is_before else beside))

    def grouped(self, records):
        """Objects, under keys that are data."""
        return members((f"g{self.values.number()}", record) for record in records)

    def in_groups(self, records):
        size = self.random.choice([1, 1, 2, 6])
        return self.grouped(array(records[at : at + size]) for at in range(0, len(records), size))

    def deep(self, records):
        size = self.random.choice([1, 2, 6])
        parts = [records[at : at + size] for at in range(0, len(records), size)]
        groups = [members([("functions", self.grouped(part))]) for part in parts]
        return members([("files", self.grouped(groups))])

    def described(self, records):
        names = [f"c{self.values.number()}" for _ in range(self.random.randint(2, 3))]
        columns = array(members([("name", json.dumps(name)), ("type", '"t"')]) for name in names)
        rows = array(array(self.values.scalar("integer") for _ in names) for _ in range(max(len(records), 1) * 2))
        both = [("meta", columns), ("data", rows)]
        return members(both if self.is_before else both[::-1])


# Record paths that somebody may ask for, beside those that the importer finds.
ASKED = {
    "lines": ["$"],
    "one": ["$"],
    "values": ["$"],
    "array": ["$[*]", "$"],
    "keyed": ["$.*", "$"],
    "groups": ["$.*[*]", "$.*", "$"],
    "deep": ["$.files.*.functions.*", "$.files.*", "$.*.*.functions.*", "$.files.*.functions"],
    "arrays": ["$[*]", "$"],
    "two": ["$.p[*]", "$.*[*]"],
    "scalars": ["$[*]"],
    "rows": ["$[*]", "$"],
}
# Each line of these is an object.
OBJECTS = {"lines", "one", "collection", "pages", "keyed", "groups", "deep", "two", "described"}
FRAMINGS = {
    "lines": lambda f, records: texts_of(f.random, records),
    "one": lambda f, records: texts_of(f.random, records[:1]),
    "values": lambda f, records: f.random.choice([" ", "", "\n\n"]).join(records),
    "array": lambda f, records: array(records),
    "collection": lambda f, records: f.around(f.collection, array(records)),
    "keyed": lambda f, records: f.grouped(records),
    "inside keyed": lambda f, records: f.around(f.collection, f.grouped(records)),
    "groups": lambda f, records: f.in_groups(records),
    "inside groups": lambda f, records: f.around(f.collection, f.in_groups(records)),
    "deep": lambda f, records: f.deep(records),
    "pages": lambda f, records: texts_of(f.random, [f.around(f.collection, array(part)) for part in (records, records[:1])]),
    "arrays": lambda f, records: texts_of(f.random, [array(records), array(records[:1]), array([])][: f.random.randint(1, 3)]),
    "two": lambda f, records: members([("p", array(records)), ("q", array(f.values.records()))]),
    "described": lambda f, records: f.described(records),
    "scalars": lambda f, records: array(f.values.scalar() for _ in records),
    "rows": lambda f, records: array(array([f.values.scalar(), f.values.scalar()]) for _ in records),
    "empty": lambda f, records: f.random.choice(["", "\n", " \n ", "[]", "{}", f.around(f.collection, f.random.choice(["[]", "{}"]))]),
}
