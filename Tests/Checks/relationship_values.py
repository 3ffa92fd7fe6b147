"""Where values are found in a record, and what is stored of them: a part of `relationships.py`.

Numbers are `records.Number`, the digits as written. A `json` attribute gets the value written anew without white space:
the same bytes as the record's own where its strings use no escape but the shortest one.
"""
import datetime
import decimal
import json
import re
import struct

from records import Number, steps

MISSING = object()
WHITE = " \t\n\r\v\f"
BOUNDS = {"integer16": 15, "integer32": 31, "integer64": 63}
EXACT = decimal.Context(prec=2000, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)


class Misfit(Exception):
    """A value that does not fit its type, with the code of the error."""

    def __init__(self, code):
        super().__init__(code)
        self.code = code


# Where a value is found


class Place:
    """A value of a record with what `@index`, `@key` and `@parent` mean there, and its key path."""

    def __init__(self, value, path="", index=None, key=None, parent=None, parent_entity=None):
        self.value, self.path, self.index, self.key = value, path, index, key
        self.parent, self.parent_entity = parent, parent_entity


class Found:
    """What a lookup finds: a value (or MISSING), its key path, and the path of a value above it that is no object."""

    def __init__(self, value, path, above=None):
        self.value, self.path, self.above = value, path, above


def sources_of(text):
    """The sources that a `from` names, in order: keys as a tuple, or a special one as a string."""
    texts = text if isinstance(text, list) else [text]
    return [source_of(one) for one in texts]


def source_of(text):
    """One source."""
    if text in ("@value", "@index", "@key", "$key") or text.startswith("@parent."):
        return text
    return tuple(steps(text))


def joined(path, keys):
    """A key path with more keys behind it."""
    for key in keys:
        if re.fullmatch("[^\\W\\d]\\w*", key):
            path += ("." if path else "") + key
        else:
            path += "['" + key.replace("\\", "\\\\").replace("'", "\\'") + "']"
    return path


def looked_up(place, sources, parent_lookup=None):
    """What the first of the sources that is there holds; null if a value above one of them is no object."""
    above = None
    for source in sources:
        if isinstance(source, str):
            found = special(place, source, parent_lookup)
            if found.value is not MISSING:
                return found
            continue
        value, walked = place.value, ()
        for key in source:
            if not isinstance(value, dict):
                break
            value = value.get(key, MISSING)
            walked += (key,)
        if value is not MISSING and walked == source:
            return Found(value, joined(place.path, source))
        if value is not MISSING and walked and above is None:
            above = Found(None, joined(place.path, source), None if value is None else joined("", walked))
    if above:
        return above
    first = next((s for s in sources if not isinstance(s, str)), ())
    return Found(MISSING, joined(place.path, first))


def special(place, source, parent_lookup):
    """What a source that is no path holds."""
    value = MISSING
    if source == "@value" and not isinstance(place.value, (dict, list)):
        value = place.value
    if source == "@index" and place.index is not None:
        value = Number(place.index)
    if source in ("@key", "$key") and place.key is not None:
        value = place.key
    if source.startswith("@parent.") and place.parent is not None:
        return parent_lookup(place.parent_entity, source[len("@parent."):], place.parent)
    return Found(value, place.path)


# What is stored of it


def compact(value):
    """A JSON value as text without white space."""
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(compact(str(k)) + ":" + compact(v) for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(compact, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def coerced(value, kind):
    """What is stored of a value that is not null, and the ledger kinds; raises Misfit."""
    if kind == "json":
        return compact(value), []
    if isinstance(value, (dict, list)):
        raise Misfit("wrongKind")
    return COERCIONS[kind](value, kind)


def trimmed(value):
    """A string without white space around it, and the ledger kinds of that."""
    text = value.strip(WHITE)
    return text, [] if text == value else ["trimmed"]


def is_text(value):
    """Whether a value is a JSON string."""
    return isinstance(value, str) and not isinstance(value, Number)


def to_string(value, _):
    """As text."""
    if isinstance(value, bool):
        return ("true" if value else "false"), ["kindChanged"]
    return str(value), [] if is_text(value) else ["kindChanged"]


def to_integer(value, kind):
    """As an integer of a size."""
    if isinstance(value, bool):
        return int(value), ["kindChanged"]
    notes = []
    if is_text(value):
        text, notes = trimmed(value)
        if not re.fullmatch("-?[0-9]+", text):
            raise Misfit("wrongForm")
        number, notes = int(text), ["kindChanged"] + notes
    else:
        exact = EXACT.create_decimal(str(value))
        if exact.adjusted() > 30 and exact:
            raise Misfit("outOfRange")
        if exact != exact.to_integral_value():
            raise Misfit("notIntegral")
        number = int(exact)
        if number == 0 and value.startswith("-"):
            notes = ["respelled"]
    limit = 2 ** BOUNDS[kind]
    if not -limit <= number < limit:
        raise Misfit("outOfRange")
    return number, notes


def number_text(value):
    """The digits of a number, or of a string that is one, with the ledger kinds."""
    if isinstance(value, bool):
        raise Misfit("wrongKind")
    if not is_text(value):
        return str(value), []
    text, notes = trimmed(value)
    if not re.fullmatch(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?", text):
        raise Misfit("wrongForm")
    return text, ["kindChanged"] + notes


def to_double(value, kind):
    """As the nearest double or float."""
    text, notes = number_text(value)
    number, exact = float(text), EXACT.create_decimal(text)
    if kind == "float":
        try:
            number = struct.unpack("f", struct.pack("f", number))[0]
        except OverflowError:
            raise Misfit("outOfRange") from None
    if number in (float("inf"), float("-inf")):
        raise Misfit("outOfRange")
    shortest = EXACT.create_decimal(repr(number))
    if kind == "double" and exact not in (shortest, EXACT.create_decimal(number)):
        notes = notes + ["digitsLost"]
    if number == 0 and text.startswith("-"):
        number, notes = 0.0, notes + ["respelled"]
    return number, notes


def to_decimal(value, _):
    """As an exact decimal in its canonical form."""
    text, notes = number_text(value)
    sign, digits, exponent = EXACT.create_decimal(text).as_tuple()
    digits = "".join(map(str, digits)).lstrip("0")
    while digits.endswith("0"):
        digits, exponent = digits[:-1], exponent + 1
    if not digits:
        written = "0"
    elif 0 <= exponent <= 40:
        written = digits + "0" * exponent
    elif -len(digits) < exponent < 0:
        written = digits[:exponent] + "." + digits[exponent:]
    elif exponent < 0 and -exponent - len(digits) <= 40:
        written = "0." + "0" * (-exponent - len(digits)) + digits
    else:
        power = exponent + len(digits) - 1
        written = digits[0] + ("." + digits[1:] if digits[1:] else "") + f"E{power:+d}"
    written = ("-" if sign and digits else "") + written
    return written, notes + ([] if written == text else ["respelled"])


def to_boolean(value, _):
    """As 1 or 0."""
    if isinstance(value, bool):
        return int(value), []
    if is_text(value):
        text, notes = trimmed(value)
        for number, words in ((1, "true yes y t 1"), (0, "false no n f 0")):
            if text.isascii() and text.lower() in words.split():
                return number, ["kindChanged"] + notes
    elif float(value) in (0, 1):
        return int(float(value)), ["kindChanged"]
    raise Misfit("wrongForm")


def to_uuid(value, _):
    """As a UUID in lower case."""
    if not is_text(value):
        raise Misfit("wrongKind")
    match = re.fullmatch(r"(?:urn:uuid:)?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})", value, re.IGNORECASE | re.ASCII)
    match = match or re.fullmatch(r"\{([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\}", value, re.IGNORECASE | re.ASCII)
    if not match:
        raise Misfit("wrongForm")
    text = match.group(1).lower()
    return text, [] if text == value else ["respelled"]


DATE = re.compile(
    r"(\d{4})(-?)(\d\d)\2(\d\d)(?:[Tt ](\d\d)(:?)(\d\d)(?:\6(\d\d)(?:[.,](\d+))?)?(Z|z|[+-]\d\d(?::?\d\d)?)?)?", re.ASCII)


def to_date(value, _):
    """As an instant in UTC, from ISO 8601."""
    if not is_text(value):
        raise Misfit("wrongKind")
    text, notes = trimmed(value)
    match = DATE.fullmatch(text)
    if not match or (match.group(5) and bool(match.group(2)) != bool(match.group(6))):
        raise Misfit("wrongForm")
    year, month, day, hour, minute, second = (int(match.group(i) or 0) for i in (1, 3, 4, 5, 7, 8))
    fraction, zone = (match.group(9) or "").ljust(3, "0"), match.group(10) or "Z"
    offset = 0
    if zone not in "Zz":
        hours, minutes = int(zone[1:3]), int(zone[3:].lstrip(":") or 0)
        if hours > 23 or minutes > 59:
            raise Misfit("wrongForm")
        offset = (hours * 60 + minutes) * (-1 if zone[0] == "-" else 1)
    is_midnight = hour == 24 and minute == second == 0 and not fraction.strip("0")
    if minute > 59 or second > 59 or (hour > 23 and not is_midnight):
        raise Misfit("wrongForm")
    try:
        moment = datetime.datetime(year, month, day)
    except ValueError:
        raise Misfit("wrongForm") from None
    try:
        moment += datetime.timedelta(hours=hour, minutes=minute - offset, seconds=second)
    except OverflowError:
        raise Misfit("outOfRange") from None
    if offset:
        notes = notes + ["timeZoneLost"]
    if fraction[3:].strip("0"):
        notes = notes + ["subMillisecondLost"]
    written = "%04d-%02d-%02dT%02d:%02d:%02d.%sZ" % (
        moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second, fraction[:3])
    return written, notes + ([] if written == text else ["respelled"])


COERCIONS = {
    "string": to_string, "integer16": to_integer, "integer32": to_integer, "integer64": to_integer, "float": to_double,
    "double": to_double, "decimal": to_decimal, "boolean": to_boolean, "uuid": to_uuid, "date": to_date,
}
