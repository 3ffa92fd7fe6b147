"""Random documents, whole and mutated, against Python's json.

Without a model nothing is lost: what `fetch` gives back is what Python reads at the record paths. Of a document with a fault, the
records before the fault are imported, and the exit code is 65.
"""
import datetime
import json
import os
import re
import sys
from decimal import Decimal

from case import Found
from randomjson import Writer, depth_of

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Checks"))

import store_dump  # noqa: E402
from records import Number, attribute_path, steps  # noqa: E402

MISSING = object()


# MARK: A slow reader


class Fault(Exception):
    """The text is not JSON from here on."""


def no_constant(text):
    raise Fault("NaN and Infinity are not JSON")


_decoder = json.JSONDecoder(parse_int=Number, parse_float=Number, parse_constant=no_constant)


class Reader:
    """Reads a document to its end or its first fault, and notes the records that it meets.

    The containers on the way to the records are read member by member, so that what comes before a fault is known, and a
    key that comes twice is met twice. All else is Python's. Bytes that are not UTF-8 are surrogates here, which are sound
    inside of strings only.
    """

    def __init__(self, content, paths):
        if content.startswith(b"\xef\xbb\xbf"):
            content = content[3:]
        self.text = content.decode("utf-8", "surrogateescape")
        # For each path its number and the steps that are left.
        self.records = []
        self.failed = None
        self.at = 0
        try:
            self.blank()
            self.read([(number, steps(path)) for number, path in enumerate(paths)], None)
            self.blank()
            if self.at < len(self.text):
                raise Fault("more after the end")
        except (Fault, ValueError, RecursionError) as fault:
            self.failed = str(fault)

    def blank(self):
        while self.at < len(self.text) and self.text[self.at] in " \t\r\n":
            self.at += 1

    def expect(self, characters):
        if self.at >= len(self.text) or self.text[self.at] not in characters:
            raise Fault(f"no {characters} at {self.at}")
        self.at += 1
        return self.text[self.at - 1]

    def decoded(self):
        value, self.at = _decoder.raw_decode(self.text, self.at)
        return value

    def read(self, paths, key, start=None):
        """The value here, where these paths have come."""
        whole = [number for number, rest in paths if not rest]
        if whole:
            start = self.at if start is None else start
            value = self.decoded()
            # A scalar right before the fault: nobody knows whether it would have gone on.
            following = self.text[self.at : self.at + 1]
            is_open = not isinstance(value, (dict, list)) and following not in tuple(" \t\r\n,]}")
            for number in whole:
                self.records.append((number, key, value, self.text[start : self.at], is_open))
            return
        opening = self.text[self.at : self.at + 1]
        if not paths or opening not in ("{", "["):
            value = self.decoded()
            return
        self.at += 1
        self.blank()
        if self.text[self.at : self.at + 1] == ("]" if opening == "[" else "}"):
            self.at += 1
            return
        while True:
            self.blank()
            name, start = None, self.at
            if opening == "{":
                if self.text[self.at : self.at + 1] != '"':
                    raise Fault("no key")
                name = self.decoded()
                self.blank()
                self.expect(":")
                self.blank()
            inner = []
            for number, rest in paths:
                if rest[0] == (0 if opening == "[" else 1) and type(rest[0]) is int or opening == "{" and rest[0] == name:
                    inner.append((number, rest[1:]))
            keyed = any(rest[0] == 1 and type(rest[0]) is int and len(rest) == 1 for _, rest in paths)
            # The key of a record belongs to it, and counts with its bytes.
            self.read(inner, *((name, start) if keyed else (None, None)))
            self.blank()
            if self.expect(",]" if opening == "[" else ",}") != ",":
                return


def is_utf8(text):
    return not any(0xDC80 <= ord(character) <= 0xDCFF for character in text)


# MARK: Random documents


def document(random, writer):
    """(text, record paths)"""
    def some():
        return [writer.record() for _ in range(random.choice([0, 1, 3, 8, 30]))]

    def named(names):
        return [(name, writer.value(("beside", name), 2)) for name in names]

    kind = random.choice(["array", "array", "keyed", "inside", "several", "deep", "quoted", "one"])
    if kind == "array":
        return writer.array(some()), ["$[*]"]
    if kind == "one":
        return writer.members((), 3, writer.keys), ["$"]
    if kind == "keyed":
        keys = random.sample(["k1", "k2", "1", "é", "", "x.y", "k'", "\U0001f600", "10", "01"], random.randint(1, 8))
        return writer.object([(key, writer.record()) for key in keys]), ["$.*"]
    if kind == "inside":
        members = named(["meta"]) + [("items", writer.array(some()))] + named(["after"])
        return writer.object(members), ["$.items[*]"]
    if kind == "several":
        members = [("users", writer.array(some())), ("x", writer.scalar()), ("orders", writer.array(some()))]
        if random.random() < 0.2:
            members.append(("users", writer.array(some())))
        return writer.object(members), ["$.users[*]", "$.orders[*]"]
    if kind == "deep":
        groups = [writer.object([("n", "1"), ("list", writer.array(some()))]) for _ in range(random.randint(1, 4))]
        return writer.object([("groups", writer.array(groups))]), ["$.groups[*].list[*]"]
    inner = writer.object([(key, writer.record()) for key in random.sample(["p", "q", "r-s"], 2)])
    return writer.object(named(["meta"]) + [("a.b", writer.object([("639-3", inner)]))]), ["$['a.b']['639-3'].*"]


def mutated(random, content):
    content = bytearray(content)
    if random.random() < 0.3:
        return bytes(content[: random.randrange(len(content) + 1)])
    for _ in range(random.choice([1, 1, 1, 3])):
        at = random.randrange(len(content))
        choice = random.randrange(4)
        if choice == 0:
            content[at] ^= 1 << random.randrange(8)
        elif choice == 1:
            content[at] = random.choice(b'{}[],:"\\/0123456789eE+-.tfn \n\t\x00\x0c\x0b\x1f\x7f\x80\xc0\xed\xf5\xff')
        elif choice == 2:
            del content[at : at + random.choice([1, 1, 2, 20])]
        else:
            content[at:at] = random.choice([
                b",", b"[", b"]", b"{", b"}", b'"', b"0", b"NaN", b"-Infinity", b"//", b"\\u0000", b"\\ud800", b"\x00",
                b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80", b"\xef\xbb\xbf", b"'", b"+1", b"01", b"1.", b".5",
                b"\x0c", b"\xc3", b"1e", b"\n", b"tru",
            ])  # fmt: skip
        if not content:
            break
    return bytes(content)


# MARK: Comparing


def same(left, right):
    """Whether two JSON values are equal, numbers by their exact value."""
    if isinstance(left, Number) or isinstance(right, Number):
        both = isinstance(left, Number) and isinstance(right, Number)
        return both and (str(left) == str(right) or left.exact() == right.exact())
    if type(left) is not type(right):
        return False
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[name], right[name]) for name in left)
    if isinstance(left, list):
        return len(left) == len(right) and all(map(same, left, right))
    return left == right


def milliseconds(text):
    match = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)[Tt ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,3})0*)?(?:Z|z|[+-]00(?::?00)?)", text)
    if not match:
        return None
    moment = datetime.datetime(*(int(match.group(at)) for at in range(1, 7)))
    seconds = (moment - datetime.datetime(1970, 1, 1)) // datetime.timedelta(seconds=1)
    return seconds * 1000 + int((match.group(7) or "").ljust(3, "0"))


def survives(kind, value, fetched):
    """Whether what comes back is the value, equal up to the spelling of numbers, a number and the string of its digits."""
    number = isinstance(value, Number)
    if kind == "json":
        return same(value, fetched)
    if kind == "integer64" or kind == "decimal":
        return number and isinstance(fetched, Number) and value.exact() == fetched.exact()
    if kind == "double":
        return number and isinstance(fetched, Number) and float(value) == float(fetched)
    if kind == "boolean":
        return isinstance(value, bool) and value is fetched
    if isinstance(fetched, Number) or not isinstance(fetched, str):
        return False
    if kind == "date":
        return not number and milliseconds(value) is not None and milliseconds(value) == milliseconds(fetched)
    if number:
        return kind == "string" and fetched == str(value)
    return isinstance(value, str) and fetched == value


def looked_up(key, record, path):
    if path is None:
        return MISSING if key is None else key
    for step in path:
        if not isinstance(record, dict) or step not in record:
            return MISSING
        record = record[step]
    return MISSING if record is None else record


def uncovered(value, path, covered):
    """The paths of values that no attribute has."""
    if path in covered or value is None:
        return
    if isinstance(value, dict) and value:
        for name, member in value.items():
            yield from uncovered(member, path + (name,), covered)
    else:
        yield path


def compare(name, description, expected, fetched):
    if len(expected) != len(fetched):
        raise Found(f"{name}: {len(fetched)} rows, not {len(expected)}")
    attributes = []
    for attribute, properties in description.get("attributes", {}).items():
        source = properties.get("from")
        source = source[0] if isinstance(source, list) else source
        path = [attribute] if source is None else attribute_path(source)
        attributes.append((attribute, properties["type"], path))
    covered = {tuple(path) for *_, path in attributes if path is not None}
    for number, ((key, record), row) in enumerate(zip(expected, fetched), 1):
        where = f"{name} record {number}"
        is_whole = any(path == [] and row[attribute] is not None for attribute, _, path in attributes)
        for attribute, kind, path in attributes:
            value, back = looked_up(key, record, path), row[attribute]
            if path == [] and isinstance(record, dict) and back is None:
                continue  # its members have attributes of their own
            if value is MISSING and back is None:
                continue
            # A json attribute may hold a null of its own.
            if value is MISSING or back is None or not survives(kind, value, back):
                raise Found(f"{where}: {attribute} ({kind}) is {back!r}, not {'nothing' if value is MISSING else repr(value)}")
        if key is not None and not any(path is None for *_, path in attributes):
            raise Found(f"{where}: no attribute has the key {key!r}")
        if is_whole or record is None:
            continue
        if not isinstance(record, dict):
            raise Found(f"{where}: no attribute has {record!r}")
        for member, value in record.items():
            for path in uncovered(value, (member,), covered):
                raise Found(f"{where}: no attribute has {path}")


# MARK: The case


def run(case):
    random = case.random
    writer = Writer(random, random.choice([0, 0.05, 0.2, 0.5]))
    text, paths = document(random, writer)
    content = text.encode("utf-8", "surrogatepass")
    content = random.choice([b"", b"", b"", b"\xef\xbb\xbf", b" \n"]) + content + random.choice([b"", b"\n", b" \t\r\n"])
    is_mutated = random.random() < 0.5
    if is_mutated:
        content = mutated(random, content)
    case.write("t.json", content)
    reader = Reader(content, paths)

    job = []
    for path in paths:
        job += ["--records", path]
    if len(paths) == 1:
        job += ["--entity", "t"]
    most_depth, most_bytes = 1024, 64 << 20
    if random.random() < 0.15:
        most_depth = random.randint(2, 8)
        job += ["--max-depth", most_depth]
    if random.random() < 0.15:
        most_bytes = random.randint(20, 300)
        job += ["--max-record-bytes", most_bytes]
    skip, limit = 0, None
    if not is_mutated and random.random() < 0.15:
        skip, limit = random.randint(0, 3), random.randint(1, 5)
        job += ["--skip", skip, "--limit", limit]

    taken, rejected, read, is_last_open = {number: [] for number in range(len(paths))}, 0, 0, False
    met = {number: 0 for number in taken}
    for number, key, value, written, is_open in reader.records:
        met[number] += 1
        if met[number] <= skip or limit is not None and met[number] > skip + limit:
            continue
        read += 1
        is_last_open = is_open
        size = len(written.encode("utf-8", "surrogateescape"))
        if size > most_bytes or depth_of(written) > most_depth or not is_utf8(written) or key is not None and not is_utf8(key):
            rejected += 1
        else:
            taken[number].append((key, value))

    # A member whose name was changed is not found any more, and that is said where another record path has records.
    is_missed = is_mutated and not all(met.values())
    result = check(case, job, paths, reader, taken, rejected, read, is_last_open, is_missed)
    if result and not is_mutated and random.random() < 0.5:
        one_result(case, job)


def check(case, job, paths, reader, taken, rejected, read, is_last_open, is_missed):
    """Imports it and compares. Gives back whether there is a store."""
    random = case.random
    options = ["--progress", "none", "--workers", random.choice([1, 2, 4]), "--commit-every", random.choice([1, 3, 10000])]
    options += ["--chunk-size", random.choice(["100", "1K", "8M"])]
    result = case.importer("import", "t.json", "--strict", "--into", "t.sqlite", "--json", *job, *options)
    if reader.failed is None and result.code == 64 and not any(taken.values()):
        return False
    with open(case.path("t.json"), "rb") as file:
        is_blank = not file.read().removeprefix(b"\xef\xbb\xbf").strip()
    if reader.failed is not None and result.code != (66 if is_blank else 65):
        raise Found(f"the document is not JSON ({reader.failed}), and yet: {result}")
    # Where there are no records, it matters whether there is a collection without any.
    right = (65,) if rejected == read > 0 else (0,) if read and not is_missed else (0, 65)
    if reader.failed is None and result.code not in right:
        raise Found(f"the document is JSON, and yet: {result}")
    if not os.path.exists(case.path("t.sqlite")):
        if read > (1 if is_last_open else 0):
            raise Found(f"there are {read} records before the fault, and there is no store: {result}")
        return False
    report = json.loads(result.output)
    if report["records_read"] != read and not (is_last_open and report["records_read"] == read - 1):
        raise Found(f"{report['records_read']} records are read, not {read} ({reader.failed}): {result}")
    if report["records_read"] == read - 1:
        taken[reader.records[-1][0]].pop()
        read -= 1
    if report["rejected"] != rejected or report["inserted"] != read - rejected:
        raise Found(f"{report['inserted']} inserted, {report['rejected']} rejected, not {read - rejected} and {rejected}")
    case.importer("verify", "t.sqlite", allowed={0})
    described = model(case, job, "t.sqlite")
    for number, path in enumerate(paths):
        found = [name for name, entity in described.items() if steps(entity.get("records", paths[0])) == steps(path)]
        if not found:
            if taken[number]:
                raise Found(f"no entity has the records at {path}")
            continue
        output = case.importer("fetch", "t.sqlite", found[0], "--format", "ndjson")
        if output.code != 0 and not taken[number]:
            continue
        lines = output.output.decode("utf-8").split("\n")[:-1]
        decoder = json.JSONDecoder(parse_int=Number, parse_float=Number)
        compare(found[0], described[found[0]], taken[number], [decoder.decode(line) for line in lines])
    return True


def model(case, job, store):
    """The model that the store holds, with its key paths."""
    connection = store_dump.connect(case.path(store))
    rows = [row[0] for row in connection.execute("SELECT content FROM _import_document WHERE id = (SELECT model FROM _import_job ORDER BY id DESC LIMIT 1)")]
    connection.close()
    return json.loads(rows[0])["entities"] if rows else {}


def one_result(case, job):
    """Other workers, chunks and commits, and the model that is printed, give the same store."""
    random = case.random
    options = ["--progress", "none", "--workers", random.choice([1, 3]), "--commit-every", random.choice([1, 2, 10000])]
    options += ["--chunk-size", random.choice(["100", "500", "8M"])]
    case.importer("import", "t.json", "--strict", "--into", "other.sqlite", *job, *options)
    one, other = store_dump.digest(case.path("t.sqlite")), store_dump.digest(case.path("other.sqlite"))
    if one != other:
        raise Found("other workers, chunks and commits give another store")
    if store_dump.bookkeeping(case.path("t.sqlite")) != store_dump.bookkeeping(case.path("other.sqlite")):
        raise Found("other workers, chunks and commits give other rejects or another ledger")
    printed = case.importer("infer", "t.json", "--progress", "none", *job)
    if printed.code != 0:
        return
    case.write("model.json", printed.output)
    result = case.importer("import", "t.json", "--strict", "--into", "third.sqlite", "--model", "model.json", *job, *options)
    if result.code not in (0, 65) or store_dump.digest(case.path("third.sqlite")) != one:
        raise Found(f"the printed model gives another store: {result}")
