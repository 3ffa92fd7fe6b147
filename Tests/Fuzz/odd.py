"""JSON as other programs write it: the rows are those of the same values in plain JSON, whatever is around them."""
import json
import sqlite3

from case import Found

TEXTS = ["", "a", "http://x//y", "/* no */", "NaN", "-Infinity,", ",]", ",}", '"', "\\", "\\\"//", "é", "ÿ // ß", "日本", "\U0001f600"]
TEXTS += ["a;", ")", "x = [", "\n", "\u001e"]
NOT_FINITE = ["NaN", "Infinity", "-Infinity"]
PREFIXES = [(")]}'\n", ""), (")]}',\n", ""), ("window.YTD.tweets.part0 = ", ""), ("var x = ", ";"), ("cb(", ");"), ("x =\n", " ;\n")]


def value(random, depth=2):
    kind = random.randrange(8 if depth > 0 else 6)
    if kind < 2:
        return random.choice(TEXTS)
    if kind == 2:
        return None
    if kind == 3:
        return random.choice([True, False])
    if kind < 6:
        return random.choice([0, 1, -1, 2.5, 1e300, 12345678901, -0.125])
    if kind == 6:
        return [value(random, depth - 1) for _ in range(random.randrange(4))]
    return {random.choice("abc/N,"): value(random, depth - 1) for _ in range(random.randrange(3))}


class Writer:
    """Writes values as JSON, and what other programs put between and in place of them."""

    def __init__(self, random, share, in_lines, is_escaped):
        self.random, self.share, self.in_lines, self.is_escaped = random, share, in_lines, is_escaped

    def odd(self):
        return self.random.random() < self.share

    def space(self):
        text = self.random.choice(["", "", " "])
        if self.odd():
            comment = self.random.choice(["", " x ", "*", '"', "NaN", ",]", "//", "é", " [{ "])
            text += f"/*{comment}*/"
        if not self.in_lines and self.odd():
            text += self.random.choice(["\n", "\r\n", "\t", "// x\n", "//\n", "// ]} \"\r\n", "/* a\n b */"])
        return text

    def text(self, value):
        if value is None and self.odd():
            return self.random.choice(NOT_FINITE)
        if isinstance(value, (list, dict)):
            opening, closing = "[]" if isinstance(value, list) else "{}"
            if isinstance(value, list):
                parts = [self.text(part) for part in value]
            else:
                parts = [json.dumps(key, ensure_ascii=self.is_escaped) + self.space() + ":" + self.space() + self.text(part) for key, part in value.items()]
            end = "," + self.space() if parts and self.odd() else ""
            return opening + self.space() + ("," + self.space()).join(part + self.space() for part in parts) + end + closing
        return json.dumps(value, ensure_ascii=self.is_escaped)


def encoded(random, text):
    """The text in some encoding, and the options that say so."""
    kind = random.randrange(8)
    if kind == 0:
        return text.encode("utf-16"), []
    if kind == 1:
        return text.encode("utf-16-be" if random.random() < 0.5 else "utf-16-le"), []
    if kind == 2:
        return text.encode("utf-32"), []
    if kind == 3:
        try:
            return text.encode("latin-1"), ["--encoding", "ISO-8859-1"]
        except UnicodeEncodeError:
            pass
    return text.encode("utf-8"), []


def rows(path):
    database = sqlite3.connect(path)
    columns = [row[1] for row in database.execute("PRAGMA table_info(t)")]
    return columns, database.execute("SELECT rowid, * FROM t ORDER BY rowid").fetchall()


def run(case):
    random = case.random
    keys = random.sample(["id", "n", "x", "list", "é", "a b"], random.randint(1, 5))
    count = random.choice([1, 2, 5, 40, 3000])
    records = [{key: value(random) for key in keys if random.random() < 0.9} for _ in range(count)]
    framing = random.choice(["array", "inside", "lines", "separated", "values"])
    is_escaped = random.random() < 0.3
    writer = Writer(random, random.choice([0.02, 0.1, 0.4]) if count < 3000 else 0.002, framing in ("lines", "separated"), is_escaped)
    if framing == "array":
        text = writer.space() + writer.text(records) + writer.space()
    elif framing == "inside":
        text = writer.text({"before": None, "items": records, "after": [None]})
    elif framing == "separated":
        text = "".join(f"\x1e{writer.text(record)}\n" for record in records)
    else:
        text = "".join(f"{writer.text(record)}{writer.space()}\n" for record in records)
    if framing in ("array", "inside") and random.random() < 0.3:
        before, after = random.choice(PREFIXES)
        text = before + text + after
    content, options = encoded(random, text)
    case.write("odd.json", content)
    case.write("plain.json", "".join(json.dumps(record, ensure_ascii=is_escaped) + "\n" for record in records).encode())
    common = ["--entity", "t", "--nested", "json", "--progress", "none"]
    options += ["--records", "$.items[*]" if framing == "inside" else "$[*]" if framing == "array" else "$"]
    if count == 3000:
        options += ["--chunk-size", "16K", "--commit-every", "500"]
        case.killed("import", "odd.json", "--into", "odd.sqlite", *common, *options, seconds=random.uniform(0.02, 0.3))
    case.importer("import", "plain.json", "--into", "plain.sqlite", *common, "--records", "$", allowed={0})
    case.importer("import", "odd.json", "--into", "odd.sqlite", *common, *options, allowed={0})
    expected, found = rows(case.path("plain.sqlite")), rows(case.path("odd.sqlite"))
    if expected[0] != found[0]:
        raise Found(f"columns are {found[0]}, not {expected[0]}")
    for one, other in zip(expected[1], found[1]):
        if one != other:
            raise Found(f"a row is {other}, not {one}")
    if len(expected[1]) != len(found[1]):
        raise Found(f"{len(found[1])} rows, not {len(expected[1])}")
