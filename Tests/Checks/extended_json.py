"""Values of MongoDB's Extended JSON, versions 1 and 2, as this file reads the specification."""
import base64
import binascii
import datetime
import math
import re

from records import Number

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def text_of_date(value):
    """The instant of a `$date` in ISO 8601 with milliseconds; None where it is none."""
    if isinstance(value, dict) and list(value) == ["$numberLong"] and is_text(value["$numberLong"]):
        value = Number(value["$numberLong"])
    if isinstance(value, Number):
        if not re.fullmatch(r"-?\d+", value):
            return None
        try:
            moment = EPOCH + datetime.timedelta(milliseconds=int(value))
        except OverflowError:
            return None
    elif is_text(value):
        try:
            moment = datetime.datetime.fromisoformat(re.sub(r"([+-]\d\d)(\d\d)$", r"\1:\2", value))
        except ValueError:
            return None
        moment = (moment if moment.tzinfo else moment.replace(tzinfo=datetime.timezone.utc)).astimezone(datetime.timezone.utc)
    else:
        return None
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03}Z".rjust(24, "0")


def is_text(value):
    return isinstance(value, str) and not isinstance(value, Number)


def bytes_of(text, subtype):
    if not is_text(text) or not is_text(subtype) or not re.fullmatch("[0-9a-fA-F]{1,2}", subtype):
        return None
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        return None


def integer(bits):
    def read(text):
        fits = is_text(text) and re.fullmatch(r"-?(0|[1-9]\d*)", text) and -(2 ** (bits - 1)) <= int(text) < 2 ** (bits - 1)
        return (Number(text),) if fits else None

    return read


def number(text):
    if text in ("NaN", "Infinity", "-Infinity"):
        return (None,)
    fits = is_text(text) and re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", text)
    return (Number(text),) if fits else None


def wrapped(read):
    return lambda value: None if (found := read(value)) is None else (found,)


def double(text):
    found = number(text)
    return None if found and found[0] and math.isinf(float(found[0])) else found


def text(value):
    return (value,) if is_text(value) else None


def undefined(value):
    return (None,) if value is True else None


def identifier(value):
    form = r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    return (value.lower(),) if is_text(value) and re.fullmatch(form, value) else None


def binary(value):
    if not isinstance(value, dict) or set(value) != {"base64", "subType"}:
        return None
    return bytes_of(value["base64"], value["subType"])


TYPES = {
    "$oid": text,
    "$symbol": text,
    "$code": text,
    "$undefined": undefined,
    "$numberInt": integer(32),
    "$numberLong": integer(64),
    "$numberDouble": double,
    "$numberDecimal": number,
    "$date": wrapped(text_of_date),
    "$uuid": identifier,
    "$binary": wrapped(binary),
}


def taken_out(value):
    """What is in an object of Extended JSON; any other value as it is."""
    if not isinstance(value, dict):
        return value
    if set(value) == {"$binary", "$type"}:
        found = bytes_of(value["$binary"], value["$type"])
        return value if found is None else found
    if len(value) != 1:
        return value
    ((key, inner),) = value.items()
    found = TYPES[key](inner) if key in TYPES else None
    return value if found is None else found[0]
