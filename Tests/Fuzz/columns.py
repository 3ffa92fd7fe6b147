"""Which column of somebody else's table a key means, and what values are in it, by Coercion.md; and random ones."""
import base64
import datetime
import json
import re
import uuid
from decimal import Decimal

from lines import Misfit, Number, coerced, minified

DECLARED = {
    "integer64": "INT|INTEGER|BIGINT|SMALLINT|TINYINT(1)|INT2|INT8|UNSIGNED BIG INT|INT(11)",
    "boolean": "BOOL|BOOLEAN|BOOLEAN(1)",
    "double": "REAL|FLOAT|DOUBLE|DOUBLE PRECISION|FLOAT(8)",
    "decimal": "DECIMAL|NUMERIC|MONEY|DECIMAL(10,2)|NUMERIC(8, 3)|DEC(5)",
    "string": "TEXT|CHAR(3)|VARCHAR(20)|NVARCHAR(160)|CLOB|CHARACTER VARYING(9)",
    "json": "JSON|JSONB",
    "uuid": "UUID|GUID|UNIQUEIDENTIFIER",
    "day": "DATE",
    "date": "DATETIME|TIMESTAMP|TIMESTAMPTZ|DATETIME(6)|TIMESTAMP WITH TIME ZONE",
    "binary": "BLOB|BLOB(16)|LONGBLOB",
    "any": "",
    "numeric": "STRING|ENUM|INET|ANY|TIME|VARBINARY(5)|INTERVAL|FLOATING POINT",
}
STRICT = {"integer64": "INT|INTEGER", "double": "REAL", "string": "TEXT", "binary": "BLOB", "any": "ANY"}
NUMBERS = ["0", "1", "-1", "7", "12", "3.0", "3e2", "0.1", "-0.25", "1.5", "2.50", "32768", "9223372036854775807", "9007199254740993"]
NUMBERS += ["9223372036854775808", "-9223372036854775808", "12345678901234567890", "0.12345678901234567890123", "1e40", "1e-400", "1e400"]
TEXTS = ["", "a", "Abc", "abc", "é", "日本語", "two words", "007", "7", " 7 ", "1.5", "1.50", "1e3", "12abc", "0x10", "-", ".5", "+5", "1e400"]
TEXTS += ["123456789012345678901", "9223372036854775807", "true", "Yes", "n", "null", "{}", "[1]", "x" * 40, "it's", '"', "a\0b", "\ud800"]
LOSSES = {"digitsLost", "timeZoneLost", "subMillisecondLost", "duplicateKey", "loneSurrogate", "notAnObject", "nulled"}
COUNTED = LOSSES | {"unknownKey"}
EPOCH = datetime.datetime(1970, 1, 1)


def milliseconds(moment):
    return (moment - EPOCH) // datetime.timedelta(milliseconds=1)


def pattern(text):
    return lambda moment: moment.strftime(text).replace("SSS", f"{moment.microsecond // 1000:03}", 1)


# What an instant is stored as, and what of it is not: nothing (0), milliseconds (1), the time (2).
FORMS = {
    "sqlite": (pattern("%Y-%m-%d %H:%M:%S.SSS"), 0),
    "iso8601": (pattern("%Y-%m-%dT%H:%M:%S.SSSZ"), 0),
    "blank": (pattern("%Y-%m-%d %H:%M:%S"), 1),
    "zone": (pattern("%Y-%m-%d %H:%M:%S+00:00"), 1),
    "micro": (pattern("%Y-%m-%dT%H:%M:%S.%fZ"), 0),
    "seconds": (pattern("%Y-%m-%dT%H:%M:%SZ"), 1),
    "day": (pattern("%Y-%m-%d"), 2),
    "unix": (lambda moment: milliseconds(moment) // 1000, 1),
    "unixMilliseconds": (milliseconds, 0),
    "referenceDate": (lambda moment: (milliseconds(moment) - 978_307_200_000) / 1000, 0),
    "julianDay": (lambda moment: (milliseconds(moment) + 210_866_760_000_000) / 86_400_000, 0),
}
UUIDS = {
    "text": str,
    "uppercase": lambda value: str(value).upper(),
    "braces": lambda value: "{%s}" % value,
    "uppercaseBraces": lambda value: "{%s}" % str(value).upper(),
    "blob": lambda value: value.bytes,
}
_digits = "([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"
UUID = re.compile(f"(?:urn:uuid:)?{_digits}|\\{{{_digits}\\}}", re.I)
UNDASHED = re.compile("([0-9a-f]{12}[1-8][0-9a-f]{3}[89ab][0-9a-f]{15})", re.I)
# What was written as a date: the time on the writer's clock, and its zone's minutes or None.
DATES = {}


# MARK: Names


def words(name):
    return [word.lower() for word in re.findall("[A-Z]+(?![a-z])|[A-Z]?[a-zé]+|[0-9]+|[^\\W\\d_]+", name)]


def spellings(parts):
    camel, snake = parts[0] + "".join(part.capitalize() for part in parts[1:]), "_".join(parts)
    return sorted({camel, snake, camel[0].upper() + camel[1:], camel.upper(), snake.upper(), " ".join(parts), "-".join(parts)})


def nearness(names, keys):
    """The index of the column that these keys mean, and how far its name is; None if there is none, or more than one."""
    wanted, parts = "_".join(keys), [word for key in keys for word in words(key)]
    same = [lambda name: name == wanted, lambda name: name.lower() == wanted.lower(), lambda name: words(name) == parts]
    for distance, is_same in enumerate(same):
        found = [index for index, name in enumerate(names) if is_same(name)]
        if found:
            return (found[0], distance + 10 * (len(keys) > 1)) if len(found) == 1 else None
    return None


def shown(path):
    """As key paths are written."""
    return "".join(("." if at else "") + key if re.fullmatch("[^\\W\\d]\\w*", key) else f"['{key}']" for at, key in enumerate(path))


# MARK: What a value is in its column


def survives(text, real):
    return Decimal(text) in (Decimal(real), Decimal(repr(real)), Decimal("%.17g" % real))


def moment_of(value, form):
    """The time on the writer's clock, and the zone's minutes or None."""
    text = f"[{', '.join(map(str, value))}]" if isinstance(value, list) else value.strip() if isinstance(value, str) else None
    if text in DATES:
        return DATES[text]
    is_number = isinstance(value, Number) or isinstance(value, str) and re.fullmatch("-?[0-9]+(\\.[0-9]+)?(e-?[0-9]+)?", text)
    if not is_number or form not in ("unix", "unixMilliseconds") or abs(Decimal(text)) > 10**14:
        raise Misfit
    micro = Decimal(text) * (1_000_000 if form == "unix" else 1000)
    return EPOCH + datetime.timedelta(microseconds=int(micro // 1) + (micro % 1 != 0)), None


def dated(column, value, notes):
    moment, zone = moment_of(value, column.form)
    if zone:
        notes.add("timeZoneLost")
    if not (column.form == "day" or column.kind == "day" and column.are_midnights):
        moment -= datetime.timedelta(minutes=zone or 0)
    if moment.microsecond % 1000 and column.form != "micro":
        notes.add("subMillisecondLost")
    form, lacks = FORMS[column.form]
    if lacks and moment.microsecond // 1000 or lacks == 2 and moment.time() >= datetime.time(0, 0, 0, 1000):
        notes.add("digitsLost")
    return form(moment)


def valued(column, value, text, notes, affinity):
    """What is bound; `affinity` says what the column makes of that."""
    kind, number = column.stored, isinstance(value, Number)
    string = isinstance(value, str) and not number
    if string and kind != "json" and re.search("[\ud800-\udfff]", value):
        notes.add("loneSurrogate")
        value = re.sub("[\ud800-\udfff]", "\ufffd", value)
    if kind in ("day", "date"):
        return dated(column, value, notes)
    if kind == "uuid":
        found = UUID.fullmatch(value) if string else None
        if not found:
            raise Misfit
        return UUIDS[column.form](uuid.UUID(found[1] or found[2]))
    if kind == "binary":
        return bytes_of(column.decided, value, string)
    if kind == "json" and not number or isinstance(value, (dict, list)) and kind in ("string", "any", "decimal", "numeric"):
        return minified(text)
    if kind in ("string", "integer64", "boolean", "double"):
        bound = coerced(kind, value, text)
        if kind == "double" and not survives(value.strip(), bound):
            notes.add("digitsLost")
        return bound
    if isinstance(value, bool):
        return int(value)
    if string:
        note_change(value, affinity(value), notes, kind == "numeric")
        return value
    if re.fullmatch("-?[0-9]+", value) and -(2**63) <= int(value) < 2**63:
        return int(value)
    real = float(value)
    if abs(real) == float("inf"):
        raise Misfit
    if not survives(value, real):
        notes.add("digitsLost")
    return text if kind == "json" else real


def note_change(text, stored, notes, has_spelling):
    """Of a text of which the column has made a number."""
    if isinstance(stored, str):
        return
    if has_spelling:
        is_same = text == (str(stored) if isinstance(stored, int) else repr(stored))
    else:
        is_same = abs(stored) != float("inf") and survives(text.strip(), stored)
    if not is_same:
        notes.add("digitsLost")


def bytes_of(decided, value, string):
    if isinstance(value, list) and all(isinstance(byte, Number) and re.fullmatch("[0-9]+", byte) and int(byte) < 256 for byte in value):
        return bytes(map(int, value))
    if not string:
        raise Misfit
    if decided == "text":
        return value.encode()
    found = decided == "uuid" and (UUID.fullmatch(value) or re.fullmatch("()([0-9a-f]{32})", value, re.I))
    if found:
        return uuid.UUID(found[1] or found[2]).bytes
    whole = unpacked(value)
    if whole is None or decided == "uuid" and len(whole) != 16:
        raise Misfit
    return whole


def unpacked(text):
    """The bytes of whole base64, or None."""
    try:
        found = base64.b64decode(text.encode(), validate=True)
    except ValueError:
        return None
    return found if base64.b64encode(found).decode() == text else None


def decided(column, texts):
    """How the texts of a BLOB column become bytes, by the rows and all texts. Of UUIDs, hexadecimal and words base64 comes by chance alone."""
    uuids = [text for text in texts if UUID.fullmatch(text) or UNDASHED.fullmatch(text)]
    if column.form == "uuid" or column.form != "uuid texts" and texts and len(uuids) == len(texts):
        return "uuid"
    by_chance = any(all(re.fullmatch(form, text) for text in texts) for form in ("[0-9a-f]*|[0-9A-F]*", "([A-Za-z][a-z]*)?"))
    is_base64 = texts and not uuids and not by_chance and all(unpacked(text) is not None for text in texts)
    return "base64" if is_base64 and column.form != "base64 texts" else "text"


# MARK: Random values


class Values:
    def __init__(self, random):
        self.random, self.small = random, random.choice([3, 10, 40])
        DATES.clear()
        DATES["2024-02-29"] = (datetime.datetime(2024, 2, 29), None)

    def moment(self):
        seconds = [self.random.randrange(10**9, 17 * 10**8), self.random.randrange(-(10**8), 2 * 10**9), 1_704_153_600]
        return EPOCH + datetime.timedelta(seconds=self.random.choice(seconds), milliseconds=self.random.choice([0, 0, 5, 678]))

    def uuid(self):
        return uuid.UUID(int=self.random.choice([self.random.getrandbits(128), 10**37 + self.random.randrange(self.small)]), version=4)

    def date(self):
        random, moment, zone = self.random, self.moment(), None
        choice = random.randrange(9)
        if choice == 0:
            text, moment = moment.strftime("%Y-%m-%d"), moment.replace(hour=0, minute=0, second=0, microsecond=0)
        elif choice == 1:
            text, moment = moment.strftime("%a, %d %b %Y %H:%M:%S GMT"), moment.replace(microsecond=0)
        elif choice == 2:
            text = f"/Date({milliseconds(moment)})/"
        elif choice == 3:
            moment = moment.replace(second=0, microsecond=0)
            text = json.dumps([moment.year, moment.month, moment.day, moment.hour, moment.minute])
        else:
            moment += datetime.timedelta(microseconds=random.choice([0] * 9 + [321]))
            text = moment.strftime(random.choice(["%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S"]))
            if moment.microsecond:
                text += f".{moment.microsecond:06}" if moment.microsecond % 1000 else f".{moment.microsecond // 1000:03}"
            end, zone = random.choice([("", None), ("Z", 0), ("+02:00", 120), ("-05:30", -330), ("+00:00", 0)])
            text += end
        DATES[text] = (moment, zone)
        return text if choice == 3 else json.dumps(text)

    def bytes(self):
        return bytes([0x80, 0x00]) + self.random.randbytes(self.random.choice([5, 6, 8, 11]))

    def text(self, column, is_usual=False):
        """JSON of a value, of the column's kind or another."""
        random, kind, number = self.random, column.kind, self.random.randrange(self.small)
        if not is_usual and random.random() < (0.02 if kind == "binary" and column.mode in ("uuid", "base64") else 0.12):
            any_text = [json.dumps(random.choice(TEXTS)), self.date(), json.dumps(str(self.uuid())), random.choice(NUMBERS)]
            return random.choice(["true", "false", "{}", "[]", '{"x" : [1, "a b"]}', "[1 , 2]"] + any_text)
        if kind == "integer64":
            return random.choice(["%d", "%d", "%d", '"%d"', "%d.0", '" %d "', "-%d"]) % number
        if kind == "boolean":
            return random.choice(["true", "false", "1", "0", '"yes"', '"F"'])
        if kind == "uuid":
            return json.dumps(random.choice([str, UUIDS["uppercase"], UUIDS["braces"], lambda one: f"urn:uuid:{one}"])(self.uuid()))
        if kind in ("day", "date"):
            if column.form in ("unix", "unixMilliseconds") and random.random() < 0.4:
                return random.choice(["%d", '"%d"']) % FORMS[column.form][0](self.moment())
            return self.date()
        if kind == "binary":
            texts = [str(self.uuid()), self.uuid().hex, base64.b64encode(self.bytes()).decode(), random.choice(["two words", "é", "it's 7"])]
            return json.dumps(random.choice({"uuid": texts[:2], "base64": texts[2:3], "text": texts[3:], "mixed": texts}[column.mode]))
        if kind in ("double", "decimal") or kind == "numeric" and random.random() < 0.5:
            return random.choice(["%d.5", "%d", "-%d.25", '"%d.75"', "%de2", random.choice(NUMBERS)]).replace("%d", str(number))
        if kind == "json":
            return random.choice(['{"x": %d}', '["a", %d]', '"%d"', "%d", "%d.50", random.choice(NUMBERS)]).replace("%d", str(number))
        texts = [random.choice(TEXTS)] + [random.choice("abcABC") + str(number) + end for end in ("", " ")]
        return json.dumps(random.choice(texts)) if random.random() < 0.8 else random.choice(NUMBERS)

    def row(self, column, is_midnight):
        """A value of a row that is there, in the column's form."""
        random, kind, form = self.random, column.kind, column.form
        if kind in ("day", "date", "uuid") and (form is None or random.random() < 0.1):
            return "soon"
        if kind in ("day", "date"):
            moment = self.moment()
            # Numbers are told apart by how large they are.
            if form == "referenceDate" or form.startswith("unix"):
                moment = datetime.datetime(2010, 1, 1) + datetime.timedelta(seconds=random.randrange(10**8))
            return FORMS[form][0](moment.replace(hour=0, minute=0, second=0, microsecond=0) if is_midnight else moment)
        if kind == "uuid":
            return UUIDS[form](self.uuid())
        if kind == "binary":
            texts = {"text": random.choice([b"it's", b"two words"]), "base64 texts": base64.b64encode(self.bytes())}
            texts |= {"uuid": bytes([0, 200]) + random.randbytes(14), "bytes": self.bytes(), "uuid texts": str(self.uuid()).encode()}
            return texts[form]
        if kind in ("integer64", "double", "decimal"):
            return random.randrange(self.small)
        return '{"x":1}' if kind == "json" else random.choice([0, 1] if kind == "boolean" else TEXTS[:11] + ["old"])
