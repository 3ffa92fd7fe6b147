"""Random predicates and sorts over a small store, against three-valued logic on exact numbers.

A predicate is built as text and as a function from a record to True, False or None (unknown) at the same time. What a record
holds is known from how it was made, not read from the store; the first fetch checks that the store agrees.
"""
import base64
import datetime
import json
import struct
from decimal import Decimal
from fractions import Fraction

from case import Found

MODEL = {
    "entities": {
        "t": {
            "identifier": ["id"],
            "attributes": {
                "id": {"type": "integer64"},
                "i": {"type": "integer64", "optional": True},
                "j": {"type": "integer64", "optional": True},
                "d": {"type": "double", "optional": True},
                "e": {"type": "double", "optional": True},
                "f": {"type": "float", "optional": True},
                "m": {"type": "decimal", "optional": True},
                "n": {"type": "decimal", "optional": True},
                "b": {"type": "boolean", "optional": True},
                "c d": {"type": "boolean", "optional": True},
                "s": {"type": "string", "optional": True},
                "not": {"type": "string", "optional": True},
                "é,x": {"type": "string", "optional": True},
                "w": {"type": "uri", "optional": True},
                "u": {"type": "uuid", "optional": True},
                "y": {"type": "binary", "optional": True},
                "z": {"type": "json", "optional": True},
                "t": {"type": "date", "optional": True},
                "ts": {"type": "date", "optional": True, "storage": "unix", "format": ["unix", "iso8601"]},
                "tm": {"type": "date", "optional": True, "storage": "unixMilliseconds", "format": ["iso8601"]},
            },
        }
    }
}
KINDS = {
    "id": "integer", "i": "integer", "j": "integer", "rowid": "integer", "d": "double", "e": "double", "f": "float",
    "m": "decimal", "n": "decimal", "b": "boolean", "c d": "boolean", "s": "text", "not": "text", "é,x": "text",
    "w": "text", "u": "uuid", "y": "binary", "z": "json", "t": "date", "ts": "seconds", "tm": "milliseconds",
}  # fmt: skip
NUMBERS = ("integer", "double", "float")
INTEGERS = [0, 1, -1, 2, 7, 255, 2**24, 2**24 + 1, 2**31, 2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2, -(2**53) - 1]
INTEGERS += [2**62, 2**63 - 513, 2**63 - 512, 2**63 - 511, 2**63 - 2, 2**63 - 1, 1 - 2**63, -(2**63)]
DOUBLES = [0.0, -0.0, 0.1, 0.5, -0.5, 1.0, 1.5, 2.0**24 + 1, 2.0**53, 2.0**53 + 2, 2.0**63, -(2.0**63), 1e300, 5e-324]
DOUBLES += [9223372036854774784.0, 9007199254740990.5, 2.0**64, 1e15 + 0.5, 3.0]
DECIMALS = ["0", "1", "-1", "0.1", "0.10000000000000000001", "1E-60", "-1E-60", "123456789012345678901234567890", "2.5"]
DECIMALS += ["9007199254740993", "9007199254740992.5", "1E+40", "-9223372036854775809", "9223372036854775808", "-2.5"]
TEXTS = ["", "a", "A", "ab", "abc", "b", "a\0b", "\0", "a\0", "é", "e\u0301", "\u00c9", "日本", "\U0001f600", "\ud7ff"]
TEXTS += ["\ue000", "%", "_", "a%b", "a_b", "'", '"', "O'Hara", " a", "a ", "a\n", "\U0010ffff", "\U0010ffffa", "1", "01"]
TEXTS += ["Z", "z", "ß", "ab\0cd", "\u007f", "\u0080", "k", "\u212a", "1.0"]
UUIDS = ["00000000-0000-0000-0000-000000000000", "6ba7b810-9dad-11d1-80b4-00c04fd430c8"]
UUIDS += ["ffffffff-ffff-ffff-ffff-ffffffffffff", "6ba7b810-9dad-11d1-80b4-00c04fd430c9"]
URIS = ["https://example.org/?q=a%20b", "a", "A", "urn:x:1", "abc", "1"]
BYTES = [b"", b"\0", b"a", b"ab", b"\xff", b"\x80\x00", b"a\0b"]
JSONS = ["{}", "[]", "1", '"a"', "true", '{"a":1}', '["%","_"]', "1.50", '{"é":"\\u0000"}']
EPOCH = datetime.datetime(1970, 1, 1)
INSTANTS = [0, 1, -1, 999, 1000, 1709164800000, 1709164799999, 1735689600000, 253402300799000, 1500]


def iso(milliseconds):
    moment = EPOCH + datetime.timedelta(milliseconds=milliseconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.").rjust(20, "0") + "%03dZ" % (moment.microsecond // 1000)


def as_float(number):
    return struct.unpack("<f", struct.pack("<f", number))[0]


def spelled(random, number):
    """An exact number as JSON, in one of many spellings. A double is one of its exact decimal expansions."""
    text = str(number) if isinstance(number, (int, str)) else format(Decimal(number), "f")
    choice = random.randrange(5)
    negative, text = text.startswith("-"), text.lstrip("-")
    if "E" not in text and choice == 1:
        text += ("" if "." in text else ".") + "0" * random.randint(1, 3)
    elif "E" not in text and choice == 2:
        zeros = random.randint(1, 3)
        whole, _, fraction = text.partition(".")
        fraction = fraction.ljust(zeros, "0")
        moved = (whole + fraction[:zeros]).lstrip("0") or "0"
        text = moved + ("." + fraction[zeros:] if fraction[zeros:] else "") + random.choice("eE") + "-" + str(zeros)
    return ("-" if negative else "") + text


# MARK: Records


def random_value(random, kind):
    """(what the record has, what it is compared by)"""
    if kind == "integer":
        value = random.choice(INTEGERS) if random.random() < 0.8 else random.randint(-(2**63), 2**63 - 1)
        return value, value
    if kind in ("double", "float"):
        value = random.choice(DOUBLES) if random.random() < 0.8 else random.choice([-1, 1]) * random.random() * 2.0**54
        if kind == "float":
            value = as_float(value) if abs(value) < 1e38 else 0.25
        return value, Fraction(value)
    if kind == "decimal":
        text = random.choice(DECIMALS)
        return text, Fraction(text)
    if kind == "boolean":
        value = random.random() < 0.5
        return value, value
    if kind == "text":
        value = random.choice(TEXTS) if random.random() < 0.8 else random.choice(["", "a", "ba"])
        return value, value.encode()
    if kind == "uuid":
        value = random.choice(UUIDS)
        return value, value.encode()
    if kind == "binary":
        value = random.choice(BYTES)
        return base64.b64encode(value).decode(), value
    if kind == "json":
        value = random.choice(JSONS)
        return json.loads(value), value.encode()
    value = random.choice(INSTANTS)
    if kind == "seconds":
        value = value // 1000 * 1000
        return iso(value), value
    return iso(value), value


def random_records(random):
    """The records as JSON lines, and as what each attribute is compared by."""
    texts, records = [], []
    few = {kind: [random_value(random, kind) for _ in range(4)] for kind in sorted(set(KINDS.values()))}
    ids = random.sample(range(1, 100), random.randint(5, 25)) + random.sample(INTEGERS, 3)
    for number in dict.fromkeys(ids):
        members, known = {"id": number}, {"id": number, "rowid": number}
        for name, kind in KINDS.items():
            if name in known:
                continue
            if random.random() < 0.2:
                known[name] = None
                if random.random() < 0.5:
                    members[name] = None
                continue
            value, known[name] = random.choice(few[kind]) if random.random() < 0.7 else random_value(random, kind)
            if name == "w":
                value = random.choice(URIS)
                known[name] = value.encode()
            if name == "z":
                members[name] = value
                continue
            members[name] = value
        parts = []
        for name, value in members.items():
            if value is None:
                text = "null"
            elif KINDS[name] == "decimal":
                text = value
            elif KINDS[name] == "json":
                text = known[name].decode()
            else:
                text = json.dumps(value, ensure_ascii=random.random() < 0.5)
            parts.append(json.dumps(name) + ": " + text)
        texts.append("{" + ", ".join(parts) + "}")
        records.append(known)
    return texts, records


# MARK: Predicates


def both(left, right):
    if left is False or right is False:
        return False
    return None if left is None or right is None else True


def either(left, right):
    if left is True or right is True:
        return True
    return None if left is None or right is None else False


def negated(value):
    return None if value is None else not value


class Day:
    """A day alone, which is the whole of it: an instant is equal to the day that it is in."""

    def __init__(self, first):
        self.first, self.next = first, first + 86_400_000

    def __eq__(self, instant):
        return self.first <= instant < self.next

    # An instant on the left asks with its own comparison turned.
    def __gt__(self, instant):
        return instant < self.first

    def __ge__(self, instant):
        return instant < self.next

    def __lt__(self, instant):
        return instant >= self.next

    def __le__(self, instant):
        return instant >= self.first


COMPARISONS = {
    "=": lambda a, b: a == b, "==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
}  # fmt: skip
TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def compared(comparison, left, right):
    return None if left is None or right is None else COMPARISONS[comparison](left, right)


def is_like(text, pattern):
    """LIKE as SQLite has it: ASCII letters without case, and up to a NUL only."""
    text = text.decode().split("\0")[0]

    def fold(character):
        return chr(ord(character) + 32) if "A" <= character <= "Z" else character

    reached = {0}
    for character in pattern:
        if character == "%":
            reached = set(range(min(reached), len(text) + 1)) if reached else set()
        else:
            reached = {
                at + 1 for at in reached if at < len(text) and (character == "_" or fold(text[at]) == fold(character))
            }
    return len(text) in reached


class Builder:
    def __init__(self, random):
        self.random = random

    def word(self, text):
        """A word of the language, in any case."""
        return "".join(self.random.choice([c.lower(), c.upper()]) for c in text) if self.random.random() < 0.3 else text

    def space(self):
        return self.random.choice([" ", " ", " ", "  ", "\t", "\n "])

    def name(self, name):
        plain = name.isalnum() and name != "not"
        if plain and self.random.random() < 0.7:
            return name
        return self.random.choice(['"%s"', "`%s`"]) % name

    def text(self, value):
        return "'" + value.replace("'", "''") + "'"

    def literal(self, kind):
        """(text, what it is compared by)"""
        random = self.random
        if kind == "integer":
            if random.random() < 0.5:
                number = random.choice(INTEGERS) + random.choice([0, 0, 0, 1, -1])
                return spelled(random, number), Fraction(number)
            text = random.choice([
                str(random.choice(INTEGERS)) + random.choice([".5", ".25", ".00000000000000000001", ".0"]),
                "1.00000000000000000001", "9007199254740992.5", "9223372036854775806.5", "1e19", "-1e19", "1e-30",
                "-9223372036854775808.5", "9223372036854775807.999", "-0.0", "-0.5", "0.99999999999999999999", "3e0",
                "9.223372036854775807e18", "18446744073709551616", "1e300", "9007199254740993.0",
            ])  # fmt: skip
            return text, Fraction(text)
        if kind in ("double", "float"):
            number = random.choice(DOUBLES + INTEGERS)
            if kind == "float" and abs(number) > 1e38:
                number = 1.5
            text = spelled(random, number)
            if random.random() < 0.2:
                text = random.choice(["0.1", "9007199254740993", "0.30000000000000004", "1e-400", "16777217"])
            value = float(text)
            return text, Fraction(as_float(value) if kind == "float" else value)
        if kind == "decimal":
            text = random.choice(DECIMALS)
            value = Fraction(text)
            text = spelled(random, text)
            return (self.text(text) if random.random() < 0.3 else text), value
        if kind == "boolean":
            text = random.choice(["true", "false", "1", "0"])
            return self.word(text), text in ("true", "1")
        if kind == "text":
            value = random.choice([text for text in TEXTS + URIS if "\0" not in text])
            return self.text(value), value.encode()
        if kind == "uuid":
            value = random.choice(UUIDS)
            return self.text(random.choice([value, value.upper(), "{%s}" % value, "urn:uuid:" + value])), value.encode()
        if kind == "binary":
            value = random.choice(BYTES)
            return self.text(base64.b64encode(value).decode()), value
        value = random.choice(INSTANTS)
        if random.random() < 0.2:
            day = datetime.date(2024, 2, random.randint(1, 29))
            return self.text(day.isoformat()), Day((day - EPOCH.date()).days * 86_400_000)
        if kind == "seconds" and random.random() < 0.3:
            return str(value // 1000), value // 1000 * 1000
        text = iso(value)
        if random.random() < 0.3 and 0 < value < 2e12:
            hours = random.randint(-11, 11)
            text = iso(value + hours * 3_600_000)[:-1] + "%s%02d:00" % ("-" if hours < 0 else "+", abs(hours))
        return self.text(text), value

    def comparison(self, kind):
        if kind == "boolean":
            return self.random.choice(["=", "==", "!=", "<>"])
        return self.random.choice(sorted(COMPARISONS))

    def of_kind(self, *kinds):
        return self.random.choice([name for name, kind in KINDS.items() if kind in kinds])

    def comparable(self, kind):
        """The kinds whose attributes can be compared with one of this kind."""
        return NUMBERS if kind in NUMBERS else ("text", "uuid") if kind in ("text", "uuid") else (kind,)

    def side(self, kind):
        """A literal or another attribute: (text, function)"""
        if self.random.random() < 0.25:
            name = self.of_kind(*self.comparable(kind))
            return self.name(name), lambda record: record[name]
        text, value = self.literal(kind)
        return text, lambda record: value

    def test(self):
        random = self.random
        name = random.choice([name for name in KINDS])
        kind = KINDS[name]
        shown, space = self.name(name), self.space()
        form = random.randrange(8)
        if form == 0:
            null = self.word("is") + space + self.word("null")
            choice = random.randrange(4)
            if choice == 0:
                return f"{shown} {null}", lambda record: record[name] is None
            if choice == 1:
                text = f"{shown} {self.word('is')} {self.word('not')} {self.word('null')}"
                return text, lambda record: record[name] is not None
            sign = random.choice(["=", "=="]) if choice == 2 else random.choice(["!=", "<>"])
            text = f"{shown}{sign}null" if random.random() < 0.5 else f"null {sign} {shown}"
            return text, lambda record: (record[name] is None) == (choice == 2)
        if form == 1 and kind == "boolean":
            return shown, lambda record: record[name]
        if form in (2, 3) and kind in ("text", "uuid", "json"):
            return self.text_test(name, shown)
        if kind == "json":
            return self.text_test(name, shown)
        if form == 4 and kind != "boolean":
            low, low_of = self.side(kind)
            high, high_of = self.side(kind)
            inverted = random.random() < 0.3
            word = (self.word("not") + " " if inverted else "") + self.word("between")
            text = f"{shown} {word} {low}{space}{self.word('and')} {high}"

            def between(record):
                value = record[name]
                result = both(compared(">=", value, low_of(record)), compared("<=", value, high_of(record)))
                return negated(result) if inverted else result

            return text, between
        if form == 5:
            literals = [self.literal(kind) for _ in range(random.randint(1, 4))]
            inverted = random.random() < 0.4
            listed = ("," + random.choice(["", " "])).join(text for text, _ in literals)
            word = (self.word("not") + space if inverted else "") + self.word("in")
            text = f"{shown} {word}{random.choice(['', ' '])}({listed})"
            values = [value for _, value in literals]

            def among(record):
                value = record[name]
                return None if value is None else (value in values) != inverted

            return text, among
        sign = self.comparison(kind)
        other, other_of = self.side(kind)
        gap = random.choice(["", " "])
        text = f"{shown}{gap}{sign}{gap}{other}"
        if random.random() < 0.3:
            text = f"{other}{gap}{TURNED.get(sign, sign)}{gap}{shown}"
        return text, lambda record: compared(sign, record[name], other_of(record))

    def text_test(self, name, shown):
        random = self.random
        pieces = [text for text in TEXTS if "\0" not in text] + ["%a%", "a%", "%b", "_", "__", "%_%", "b810", "6BA%", "c8"]
        value = random.choice(pieces) if random.random() < 0.7 else random.choice(["", "a", "b"])
        test = random.choice(["like", "contains", "begins with", "ends with"])
        inverted = random.random() < 0.4
        words = self.word(test)
        if " " in test and random.random() < 0.3:
            words = words.replace(" ", "")
        text = f"{shown} {self.word('not') + ' ' if inverted else ''}{words} {self.text(value)}"
        part = value.encode()

        def holds(record):
            stored = record[name]
            if stored is None:
                return None
            if test == "like":
                result = is_like(stored, value)
            elif test == "contains":
                result = part in stored
            else:
                result = stored.startswith(part) if test == "begins with" else stored.endswith(part)
            return result != inverted

        return text, holds

    def predicate(self, depth):
        choice = self.random.randrange(6)
        if depth == 0 or choice == 0:
            return self.test()
        if choice in (1, 2):
            text, holds = self.predicate(depth - 1)
            gap = self.random.choice(["", " "])
            return f"{self.word('not')}{gap}({text})", lambda record: negated(holds(record))
        if choice == 3:
            text, holds = self.test()
            return f"{self.word('not')}{self.space()}{text}", lambda record: negated(holds(record))
        joined = both if choice == 4 else either
        parts = [self.predicate(depth - 1) for _ in range(self.random.randint(2, 3))]
        word = self.space() + self.word("and" if choice == 4 else "or") + self.space()

        def joint(record):
            result = parts[0][1](record)
            for _, holds in parts[1:]:
                result = joined(result, holds(record))
            return result

        return word.join(f"({text})" for text, _ in parts), joint

    def mistake(self):
        """What is no predicate of this entity."""
        return self.random.choice([
            "i = 'a'", "s = 1", "b < true", "nothing = 1", "i =", "i = 1 and", "(i = 1", "i = 1)", "z = '1'", "i < null",
            "i in (1, null)", "1 = 1", "u = 'x'", "y = '!'", "t = 'x'", "d = 1e999", "s like 1", "i = 01", "i", "s = 'a",
            "i between 1 and null", "not", "i = 1 or or j = 1", "s = 'a' ; drop table t", "m = 'x'", "i == == 1", "i in ()",
        ])  # fmt: skip


# MARK: Order


def sorting(random):
    """(what follows --sort, a function that sorts records)"""
    names = [name for name, kind in KINDS.items() if kind != "json" and name.isalnum()]
    keys = [(name, random.random() < 0.5) for name in random.sample(names, random.randint(1, 3))]

    def sort(records):
        # Python's sort keeps the order of what is equal, so the last key comes first.
        for name, is_descending in reversed(keys + [("rowid", keys[-1][1])]):
            records = sorted(
                records,
                key=lambda record: (False,) if record[name] is None else (True, record[name]),
                reverse=is_descending,
            )
        return records

    return ",".join(name + (":desc" if is_descending else "") for name, is_descending in keys), sort


# MARK: The case


def check_content(output, texts):
    """The records as they come back are those that went in."""
    lines = output.decode().split("\n")[:-1]
    expected = {}
    for text in texts:
        record = json.loads(text, parse_float=Decimal)
        expected[record["id"]] = record
    if len(lines) != len(expected):
        raise Found(f"{len(lines)} records come back, not {len(expected)}")
    for line in lines:
        record = json.loads(line, parse_float=Decimal)
        wanted = expected[record["id"]]
        for name, value in record.items():
            other = wanted.get(name)
            if KINDS[name] in ("double", "float") and value is not None:
                value, other = float(value), float(other)
            if value != other:
                raise Found(f"record {record['id']}: {name} is {value!r}, not {other!r}")


def run(case):
    random = case.random
    builder = Builder(random)
    texts, records = random_records(random)
    case.write("t.ndjson", ("\n".join(texts) + "\n").encode())
    case.write("model.json", json.dumps(MODEL).encode())
    case.importer("import", "t.ndjson", "--model", "model.json", "--into", "t.sqlite", "--progress", "none", allowed={0})
    whole = case.importer("fetch", "t.sqlite", "t", "--format", "ndjson", allowed={0})
    check_content(whole.output, texts)
    records.sort(key=lambda record: record["rowid"])
    for _ in range(12):
        if random.random() < 0.06:
            case.importer("fetch", "t.sqlite", "t", "--where", builder.mistake(), allowed={64})
            continue
        text, holds = builder.predicate(random.choice([0, 0, 1, 1, 2, 3]))
        expected = [record for record in records if holds(record) is True]
        command = ["fetch", "t.sqlite", "t", "--where", text]
        if random.random() < 0.1:
            found = int(case.importer(*command, "--count", allowed={0}).output)
            if found != len(expected):
                raise Found(f"{found} records, not {len(expected)}, for {text}")
            continue
        if random.random() < 0.3:
            names, sort = sorting(random)
            command += ["--sort", names]
            expected = sort(expected)
        if random.random() < 0.15:
            limit, offset = random.randint(0, 10), random.randint(0, 10)
            command += ["--limit", limit, "--offset", offset]
            expected = expected[offset : offset + limit]
        output = case.importer(*command, "--columns", "id", "--format", "ndjson", allowed={0}).output
        found = [json.loads(line)["id"] for line in output.splitlines()]
        expected = [record["id"] for record in expected]
        if found != expected:
            raise Found(f"{found} are found, not {expected}, by {command[4:]}")
