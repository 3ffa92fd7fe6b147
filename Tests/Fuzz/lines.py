"""Lines, whole and broken, imported with a model in one job or two, against Python's json and SQLite's own INSERTs.

Python decides which lines are records, and turns values into their types by the tables of Coercion.md. What becomes of an
identifier that comes again is SQLite's INSERT … ON CONFLICT, into a table of its own with the same columns.
"""
import json
import os
import re
import sqlite3
import sys
from decimal import Decimal
from fractions import Fraction

from case import Found
from randomjson import Writer

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Checks"))

import store_dump  # noqa: E402
from records import Number  # noqa: E402

COLUMNS = {"string": "TEXT", "integer16": "INTEGER", "integer64": "INTEGER", "double": "REAL", "decimal": "TEXT"}
COLUMNS |= {"boolean": "INTEGER", "json": "TEXT"}
DEFAULTS = {"string": "none", "integer16": 7, "integer64": -1, "double": 0.5, "decimal": "2.5", "boolean": True}


# MARK: Coercion, slowly


class Misfit(Exception):
    """A value that does not fit its attribute."""


def no_constant(text):
    raise ValueError(text)


_strict = json.JSONDecoder(parse_int=Number, parse_float=Number, parse_constant=no_constant)


def members(text):
    """The members of the object that is this text: names, values and their own texts. The last of a name counts."""
    found, at = {}, 1

    def blank(at):
        while text[at] in " \t\r\n":
            at += 1
        return at

    at = blank(at)
    while text[at] != "}":
        name, at = _strict.raw_decode(text, at)
        at = blank(blank(at) + 1)
        value, end = _strict.raw_decode(text, at)
        found[name] = (value, text[at:end])
        at = blank(end)
        if text[at] == ",":
            at = blank(at + 1)
    return found


def minified(text):
    """Without insignificant white space."""
    return "".join(re.findall(r'"(?:[^"\\]|\\.)*"|[^\s"]+', text))


def coerced(kind, value, text):
    """What is stored, as SQLite's value."""
    number, string = isinstance(value, Number), isinstance(value, str) and not isinstance(value, Number)
    if kind == "json":
        return minified(text)
    if kind == "string":
        if string:
            return re.sub("[\ud800-\udfff]", "\ufffd", value)
        if number:
            return str(value)
        if isinstance(value, bool):
            return "true" if value else "false"
        raise Misfit
    if kind in ("integer16", "integer64"):
        if isinstance(value, bool):
            return int(value)
        if number:
            exact = Fraction(value)
        elif string and re.fullmatch(r"-?[0-9]+", value.strip(" \t\r\n")):
            exact = Fraction(value.strip(" \t\r\n"))
        else:
            raise Misfit
        most = 2**15 if kind == "integer16" else 2**63
        if exact.denominator != 1 or not -most <= exact < most:
            raise Misfit
        return int(exact)
    if kind == "boolean":
        if isinstance(value, bool):
            return int(value)
        if number and Fraction(value) in (0, 1):
            return int(Fraction(value))
        word = value.strip(" \t\r\n").lower() if string else ""
        if word in ("true", "yes", "y", "t", "1"):
            return 1
        if word in ("false", "no", "n", "f", "0"):
            return 0
        raise Misfit
    digits = value.strip(" \t\r\n") if string else value if number else ""
    if not re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?", digits):
        raise Misfit
    if kind == "double":
        real = float(digits)
        if real in (float("inf"), float("-inf")):
            raise Misfit
        return real
    exact = Decimal(digits)
    if not exact:
        return "0"
    plain = format(exact, "f")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


# MARK: Random lines


def random_model(random):
    """Attributes with their properties, and the identifier's names."""
    identifier = random.choice([["id"], ["id"], ["id"], ["id", "b"], []])
    attributes = {}
    for name in ["id", "b", "c", "d", "e", "f"]:
        kind = random.choice(list(COLUMNS))
        if name == "id" or name in identifier:
            kind = random.choice(["integer64", "integer64", "string", "integer16"])
        properties = {"type": kind}
        if name not in identifier:
            if random.random() < 0.8:
                properties["optional"] = True
            if random.random() < 0.25 and kind != "json":
                properties["default"] = DEFAULTS[kind]
            if properties.get("optional") and random.random() < 0.1:
                properties["owner"] = "local"
        attributes[name] = properties
    return attributes, identifier


class Lines:
    def __init__(self, random, attributes, identifier):
        self.random, self.attributes, self.identifier = random, attributes, identifier
        self.writer = Writer(random, random.choice([0, 0.05, 0.3]))
        self.writer.has_breaks = False
        self.numbers = random.choice([3, 10, 100])

    def value(self, name):
        random, kind = self.random, self.attributes[name]["type"]
        if name in self.identifier and random.random() < 0.95:
            number = random.randrange(self.numbers)
            if kind == "string":
                return self.writer.string(random.choice(["k", "é", "K"]) + str(number))
            return random.choice(["%d", "%d", "%d", '"%d"', "%d.0", "%de0", '" %d "']) % number
        if random.random() < 0.1:
            return random.choice(["null", "[]", "{}", '{"x" : [1, "a b"]}', "[1 , 2]"])
        if random.random() < 0.15:
            return random.choice([
                "true", "false", "0", "1", "-0", "3.0", "3e2", "0.1", "32767", "32768", "-32769", "9223372036854775807", "1e3",
                "9223372036854775808", "1e15", "-0.10", "2.50", '"12"', '"0012"', '" 12 "', '"12abc"', '"3.0"', '""', '" "', '"yes"',
                '"TRUE"', '"n"', '"1.5e1"', '".5"', '"-"', '"nan"', '"Infinity"', '"\\u0031"', '"a\\u0000b"', '"\\ud800"', '"0x10"',
                '"1_000"', '"\u0661"', '"\\u00a01"', "1e999", "-1e400", "1e-5",
            ]).encode("utf-8", "surrogatepass").decode("utf-8", "replace") if kind != "decimal" else random.choice(
                ["1", "1.0", "2.50", "-0.10", "0.00", "1e3", '"3.10"', '" 7 "', '"+7"', '"0012"', "true", "100", '"x"', "-0", "1E-5"]
            )  # fmt: skip
        number = random.choice([0, 1, 2, random.randrange(1000)])
        if kind == "string":
            return self.writer.string(self.writer.text())
        if kind == "boolean":
            return random.choice(["true", "false", "1", "0", '"yes"', '"F"'])
        if kind in ("double", "decimal"):
            return random.choice(["%d.5", "%d", "-%d.25", '"%d.75"']) % number
        return str(number)

    def record(self):
        names = [name for name in self.attributes if name in self.identifier or self.random.random() < 0.8]
        parts = [(name, self.value(name)) for name in names]
        if self.random.random() < 0.05 and parts:
            parts.pop(self.random.randrange(len(parts)))
        if self.random.random() < 0.05:
            name = self.random.choice(list(self.attributes))
            parts.append((name, self.value(name)))
        if self.random.random() < 0.05:
            parts.append(("other", self.writer.scalar()))
        return self.writer.object(parts)

    def line(self):
        """One line's bytes, without its end."""
        random = self.random
        content = self.record().encode("utf-8", "surrogatepass")
        choice = random.random()
        if choice < 0.8:
            return content
        if choice < 0.84:
            return random.choice([b"", b" ", b"\t \t", b"  "])
        if choice < 0.88:
            return random.choice([b"1", b"[1]", b'"a"', b"null", b"true", b"[{}]", b"-1.5e3"])
        if choice < 0.91 and self.is_broken:
            more = random.choice([content, b"1", b"}", b"]", b"x", b"\x00", b"//"])
            return content + random.choice([b" ", b"", b",", b"\r", b"\t"]) + more
        if choice < 0.94 and self.is_broken:
            at = random.randrange(len(content))
            odd = [b"\x0c", b"\x0b", b"\x00", b"\x80", b"\xc3", b"\xed\xa0\x80", b"\xff", b"\xef\xbb\xbf", b"\x1f"]
            return content[:at] + random.choice(odd) + content[at:]
        if choice < 0.97 and self.is_broken:
            return content[: random.randrange(len(content))]
        if not self.is_broken:
            return content
        at = random.randrange(len(content))
        odd = random.choice([b'"', b"{", b"]", b",", b"0", b"\\", b"'", b"NaN"])
        return content[:at] + odd + content[at + random.choice([0, 1]) :]

    def content(self):
        # By the first lines it is known that these are lines: where none is broken, several values in one of them would make
        # all of them values one after the other.
        first = [self.record().encode("utf-8", "surrogatepass") for _ in range(2)]
        self.is_broken = self.random.random() < 0.7
        first += [b'{"broken": }'] if self.is_broken else []
        lines = first + [self.line() for _ in range(self.random.choice([0, 5, 40, 40, 300]))]
        if not self.is_broken and self.random.random() < 0.5:
            # One that is broken among all that are not.
            whole = self.record().encode("utf-8", "surrogatepass")
            at = self.random.randrange(len(whole))
            odd = self.random.choice([b"\x0c", b"\x0b", b"\x00", b"\xff", b"\x1f", b","])
            lines.insert(self.random.randint(2, len(lines)), whole[:at] + odd + whole[at:])
        end = self.random.choice([b"\n", b"\n", b"\r\n"])
        text = b"".join(line + (end if self.random.random() < 0.95 else b"\n") for line in lines)
        # The last one is whole, and its end may be missing.
        text += self.record().encode("utf-8", "surrogatepass") + self.random.choice([b"\n", b"", b"\r\n\r\n"])
        return self.random.choice([b"", b"", b"", b"\xef\xbb\xbf", b"\n"]) + text


def read_lines(content):
    """Yields (byte offset, bytes without white space around them, kind of fault or None, text)"""
    at = 3 if content.startswith(b"\xef\xbb\xbf") else 0
    for line in content[at:].split(b"\n"):
        start, at = at, at + len(line) + 1
        bare = line.strip(b" \t\r")
        if not bare:
            continue
        start += line.index(bare)
        text = bare.decode("utf-8", "surrogateescape")
        fault = None
        try:
            value = _strict.decode(text)
            if any(0xDC80 <= ord(character) <= 0xDCFF for character in text):
                fault = "invalidUTF8"
            elif not isinstance(value, dict):
                fault = "notAnObject"
        except (ValueError, RecursionError):
            # Of a line that is neither JSON nor UTF-8 one of the two is said.
            fault = "malformed"
        yield start, bare, fault, text


# MARK: SQLite's own INSERTs


class Reference:
    def __init__(self, attributes, identifier, policy, nulls):
        self.attributes, self.identifier, self.policy, self.nulls = attributes, identifier, policy, nulls
        self.database = sqlite3.connect(":memory:", isolation_level=None)
        columns = [f"{name} {COLUMNS[properties['type']]}" for name, properties in attributes.items()]
        self.is_row_id = len(identifier) == 1 and attributes[identifier[0]]["type"].startswith("integer")
        if self.is_row_id:
            columns[list(attributes).index(identifier[0])] = f"{identifier[0]} INTEGER PRIMARY KEY"
        elif identifier:
            columns.append(f"UNIQUE ({', '.join(identifier)})")
        self.database.execute(f"CREATE TABLE t ({', '.join(columns)})")

    def values(self, text):
        """What the record mentions, coerced. None is an explicit null."""
        found, mentioned = members(text), {}
        for name, properties in self.attributes.items():
            if name not in found:
                if name in self.identifier:
                    raise Misfit
                continue
            value, own = found[name]
            if value is None:
                if not properties.get("optional"):
                    raise Misfit
                mentioned[name] = None
                continue
            try:
                mentioned[name] = coerced(properties["type"], value, own)
            except Misfit:
                if not self.nulls or not properties.get("optional"):
                    raise
                mentioned[name] = None
        return mentioned

    def default(self, name):
        properties = self.attributes[name]
        value = properties.get("default")
        if value is None and not properties.get("optional"):
            raise Misfit
        return int(value) if isinstance(value, bool) else value

    def stored(self, mentioned):
        """The row with this identifier."""
        if not self.identifier:
            return None
        condition = " AND ".join(f"{name} = ?" for name in self.identifier)
        keys = [mentioned[name] for name in self.identifier]
        return self.database.execute(f"SELECT * FROM t WHERE {condition}", keys).fetchone()

    def insert(self, text):
        """Gives back inserted, updated, unchanged or ignored; raises where it is a reject."""
        mentioned = self.values(text)
        before = self.stored(mentioned)
        if before is not None:
            if self.policy == "error":
                raise Misfit
            if self.policy == "ignore":
                return "ignored"
        row = dict(mentioned)
        for name in self.attributes:
            if name not in row and (before is None or self.policy == "replace" and self.attributes[name].get("owner") != "local"):
                row[name] = self.default(name)
        changed = [name for name in row if name not in self.identifier and self.attributes[name].get("owner") != "local"]
        names = list(row)
        sql = f"INSERT INTO t ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
        if self.identifier:
            action = "UPDATE SET " + ", ".join(f"{name} = excluded.{name}" for name in changed) if changed else "NOTHING"
            sql += f" ON CONFLICT ({', '.join(self.identifier)}) DO {action}"
        self.database.execute(sql, [row[name] for name in names])
        if before is None:
            return "inserted"
        return "unchanged" if list(map(store_dump.encoded, map(plain, before))) == list(
            map(store_dump.encoded, map(plain, self.stored(mentioned)))
        ) else "updated"  # fmt: skip

    def rows(self):
        names = ", ".join(self.attributes)
        return list(self.database.execute(f"SELECT {names} FROM t ORDER BY rowid"))


def plain(value):
    """Texts as bytes, as store_dump has them."""
    return store_dump.Text(value.encode()) if isinstance(value, str) else value


# MARK: The case


def is_utf8(content):
    try:
        content.decode()
        return True
    except UnicodeDecodeError:
        return False


def run(case):
    random = case.random
    attributes, identifier = random_model(random)
    model = {"entities": {"t": {"attributes": attributes}}}
    if identifier:
        model["entities"]["t"]["identifier"] = identifier
    case.write("model.json", json.dumps(model).encode())
    policy = random.choice(["merge", "merge", "replace", "ignore", "error"])
    nulls = random.random() < 0.2
    job = ["--model", "model.json", "--entity", "t", "--records", "$", "--on-conflict", policy]
    job += ["--on-error", "null"] if nulls else []
    reference = Reference(attributes, identifier, policy, nulls)
    writer = Lines(random, attributes, identifier)
    for number in range(1, random.choice([2, 2, 3])):
        import_lines(case, job, reference, number, writer.content())
    names = ", ".join(attributes)
    connection = store_dump.connect(case.path("t.sqlite"))
    # In the order of their row ids, which may have gaps where an identifier's index is built at the end.
    found = [list(map(store_dump.encoded, row)) for row in connection.execute(f"SELECT {names} FROM t ORDER BY rowid")]
    connection.close()
    expected = [[store_dump.encoded(plain(value)) for value in row] for row in reference.rows()]
    if found != expected:
        differing = [pair for pair in zip(found, expected) if pair[0] != pair[1]]
        raise Found(f"{len(found)} rows, {len(expected)} by SQLite; {differing[:1]}")
    case.importer("verify", "t.sqlite", allowed={0})


def import_lines(case, job, reference, number, content):
    random = case.random
    source = f"{number}.ndjson"
    case.write(source, content)
    counts = {"inserted": 0, "updated": 0, "unchanged": 0, "ignored": 0, "rejected": 0}
    rejects = []
    for ordinal, (offset, written, fault, text) in enumerate(read_lines(content), 1):
        if fault is None:
            try:
                counts[reference.insert(text)] += 1
                continue
            except Misfit:
                fault = "value"
        counts["rejected"] += 1
        rejects.append((ordinal, offset, len(written), fault))
    options = ["--progress", "none", "--workers", random.choice([1, 2, 4]), "--commit-every", random.choice([1, 3, 20, 10000])]
    options += ["--chunk-size", random.choice(["100", "1K", "8M"])]
    result = case.importer("import", source, "--strict", "--into", "t.sqlite", "--json", *job, *options)
    # Where nothing is accepted, it is bad input, be it that there are no lines.
    if result.code != (65 if counts["rejected"] == sum(counts.values()) else 0):
        raise Found(f"all lines can be rows or rejects, {counts}, and yet: {result}")
    report = json.loads(result.output)
    found = []
    connection = store_dump.connect(case.path("t.sqlite"))
    query = "SELECT ordinal, byte_offset, length, errors FROM _import_reject WHERE job = ? ORDER BY ordinal"
    rows = connection.execute(query, (number,))
    for ordinal, offset, length, errors in rows:
        codes = {error["code"] for error in json.loads(errors)}
        whole = codes & {"malformed", "invalidUTF8", "notAnObject"}
        found.append((ordinal, offset, length, whole.pop() if whole else "value"))
    connection.close()
    for at, (one, other) in enumerate(zip(found, rejects)):
        if one[3] == "invalidUTF8" and other[3] == "malformed" and not is_utf8(content[one[1] : one[1] + one[2]]):
            rejects[at] = one
    if found != rejects:
        differing = sorted(set(found) ^ set(rejects))
        raise Found(f"{source}: {len(found)} rejects, not the same {len(rejects)}; the first: {differing[:4]}")
    reported = {name: report[name] for name in counts}
    if reported != counts:
        raise Found(f"{source}: {reported}, not {counts}")
