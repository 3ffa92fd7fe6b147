"""Random frames: columns of all kinds, odd names, and an index."""

import datetime
import json

from randomjson import STRINGS

KINDS = [
    "int",
    "int",
    "big",
    "float",
    "float",
    "bool",
    "text",
    "text",
    "day",
    "instant",
    "decimal",
    "uuid",
    "ints",
    "texts",
    "floats",
    "object",
    "null",
]
NAMES = ["id", "a", "b", "n", "city", "x y", "é", "key", "value", "name", "type", "data", "columns", "index", "rows", "meta", "a_b", "a.b", "A",
         "select", 'q"q', "rowid", "$date", "S", "N", "0", "1", "2", "2024-01-02", "_id", "key_2", "column_1", "日本", "it's", "t", "level_0",
         "schema", "fields", "statistics", "records", "items", "date", "x/y", "a\\b", "tab\tname", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"]  # fmt: skip
TEXTS = [text for text in STRINGS if "\0" not in text] + [
    "NA",
    "NaN",
    "[]",
    "N",
    "2024-01-01 10:00:00",
    "007",
    "+1",
    "\\x00ff",
    "\\'",
    "\t",
    "//",
    "a,b",
    "\x7f",
]


# MARK: Frames


def values_of(random, kind, rows, share):
    """The values of a column, with nulls."""
    few = random.sample(TEXTS, random.randint(1, 6))
    base = random.choice([0, 100, 2**31, -5])
    whole = random.random() < 0.2

    def one(kind):
        if kind == "int":
            return base + random.randrange(1000)
        if kind == "big":
            return random.choice([2**53 + 1, 2**63 - 1, -(2**63), random.randrange(-(2**63), 2**63), 10**15 + random.randrange(9)])
        if kind == "float":
            if whole:
                return float(random.randrange(1000))
            return random.choice(
                [
                    random.random(),
                    random.random() * 10 ** random.randint(-20, 20),
                    0.1,
                    1e300,
                    5e-324,
                    -0.0,
                    1 / 3,
                    random.gauss(0, 100),
                    float(random.randrange(9)),
                ]
            )
        if kind == "bool":
            return random.random() < 0.5
        if kind == "text":
            return random.choice(few)
        if kind == "day":
            return str(datetime.date(1950, 1, 1) + datetime.timedelta(days=random.randrange(40000)))
        if kind == "instant":
            return (
                datetime.datetime(1980, 1, 1)
                + datetime.timedelta(milliseconds=random.randrange(10**12) * random.choice([1, 1000]) % 10**12)
            ).isoformat(timespec="milliseconds")
        if kind == "object":
            return {"p": one("int"), "q": one("text")}
        if kind == "null":
            return None
        if kind == "decimal":
            return f"{random.randrange(-(10 ** random.choice([4, 15])), 10**15)}.{random.randrange(10**4):04}"
        if kind == "uuid":
            return f"{random.getrandbits(32):08x}-9dad-11d1-80b4-{random.getrandbits(48):012x}"
        return [one(kind[:-1]) for _ in range(random.choice([0, 1, 1, 2, 3]))]

    def finite(value):
        return random.choice(["nan", "inf", "-inf"]) if kind == "float" and odd and random.random() < 0.1 else value

    odd = random.random() < 0.15
    return [None if random.random() < share else finite(one(kind)) for _ in range(rows)]


def frame_of(random, writer, shape):
    rows = random.choice([0, 1, 1, 2, 2, 3, 4, 5, 8, 20, 100, 300])
    width = random.choice([1, 2, 2, 3, 3, 4, 5, 6, 8])
    names = random.sample(NAMES if random.random() < 0.5 else NAMES[:12], width)
    if random.random() < 0.03:
        rows = random.choice([3000, 20000])  # past the first MiB
    elif random.random() < 0.03:
        names = [f"c{number}" for number in range(random.choice([70, 250, 700]))]
    if writer == "duckdb":
        names = list({name.lower(): name for name in names}.values())
    kinds = [random.choice(KINDS) for _ in names]
    if random.random() < 0.4:
        kinds = [random.choice(["int", "float", "text"]) for _ in names]
    if random.random() < 0.1:
        kinds = [random.choice(KINDS)] * len(names)
    columns = [{"name": name, "kind": kind, "nullable": random.random() < 0.4} for name, kind in zip(names, kinds)]
    frame = {"columns": columns, "numbers": None, "index": None, "ascii": random.random() < 0.5, "pretty": random.random() < 0.3}
    frame |= {"quoted": random.random() < 0.2, "denormals": random.random() < 0.3}
    if writer == "pandas" and random.random() < 0.08:
        frame["numbers"] = list(range(len(names)))
        for number, column in enumerate(columns):
            column["name"] = str(number)
    frame["keys"] = random.choice([None, None, "ints", "texts", "days", "uuids"]) if writer in ("pandas", "php") else None
    return filled(random, frame, rows)


def filled(random, frame, rows, start=0):
    """The frame with other values."""
    frame = json.loads(json.dumps(frame)) | {"rows": rows}
    for column in frame["columns"]:
        nullable = column["nullable"] or column["kind"] == "null"
        column["values"] = values_of(random, column["kind"], rows, random.choice([0.1, 0.5, 0.9]) if nullable else 0)
        if column["kind"] == "float":
            column["values"] = [value if value is None else str(value) for value in column["values"]]
    keys = {
        None: lambda: None,
        "ints": lambda: sorted(random.sample(range(start + 3, start + 9 + rows * 3), rows)),
        "texts": lambda: [f"r{start + at}" for at in range(rows)],
        "days": lambda: [str(datetime.date(2024, 1, 1) + datetime.timedelta(days=start + at)) for at in range(rows)],
        "uuids": lambda: [f"6ba7b810-9dad-11d1-80b4-{start + at:012x}" for at in range(rows)],
    }
    frame["index"] = keys[frame["keys"]]()
    return frame
