"""An independent reading of JSON sources: documents, record paths, attribute paths.

Numbers are kept as written (`Number`), so that no digit is lost before it is compared.
"""
import bz2
import gzip
import json
import lzma
from decimal import Decimal


class Number(str):
    """A JSON number's digits as written."""

    def exact(self):
        return Decimal(str(self))


MISSING = object()
_decoder = json.JSONDecoder(parse_int=Number, parse_float=Number, strict=True)
_WHITE = " \t\r\n"


def parsed(text):
    """One JSON value."""
    return _decoder.decode(text)


def text_of(path):
    openers = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    opener = next((o for suffix, o in openers.items() if path.endswith(suffix)), open)
    with opener(path, "rb") as file:
        return file.read().decode("utf-8-sig")


def documents(text):
    """The JSON values of a stream, one after the other."""
    at = 0
    while True:
        while at < len(text) and text[at] in _WHITE:
            at += 1
        if at == len(text):
            return
        value, at = _decoder.raw_decode(text, at)
        yield value


def _bracketed(text, at):
    """The string in quotes at `at`, JSONPath's way, and where it ends."""
    quote, at, out = text[at], at + 1, []
    while text[at] != quote:
        if text[at] != "\\":
            out.append(text[at])
            at += 1
            continue
        escape = text[at + 1]
        if escape == "u":
            out.append(chr(int(text[at + 2 : at + 6], 16)))
            at += 6
        else:
            out.append({"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}.get(escape, escape))
            at += 2
    joined = "".join(out)
    if any(0xD800 <= ord(c) < 0xE000 for c in joined):
        joined = joined.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return joined, at + 1


def steps(path):
    """The steps of a path: keys as strings, `[*]` as 0, `.*` as 1."""
    result, at = [], 0
    if path.startswith("$") and (len(path) == 1 or path[1] in ".["):
        at = 1
    while at < len(path):
        if path.startswith("[*]", at):
            result.append(0)
            at += 3
        elif path[at] == "[":
            key, at = _bracketed(path, at + 1)
            assert path[at] == "]", path
            result.append(key)
            at += 1
        else:
            if path[at] == ".":
                at += 1
            end = min((i for i in (path.find(".", at), path.find("[", at)) if i >= 0), default=len(path))
            name = path[at:end]
            result.append(1 if name == "*" else name)
            at = end
    return result


def attribute_path(path):
    """The keys of an attribute's `from`; None for `$key`."""
    return None if path == "$key" else steps(path)


def records(document, path):
    """Yields (key, record) for each record under a record path; the key is None unless the path ends with `.*`."""

    def walk(value, remaining, key):
        if not remaining:
            yield key, value
            return
        step, rest = remaining[0], remaining[1:]
        if step == 0:
            if isinstance(value, list):
                for element in value:
                    yield from walk(element, rest, None)
        elif step == 1:
            if isinstance(value, dict):
                for name, member in value.items():
                    yield from walk(member, rest, name)
        elif isinstance(value, dict) and step in value:
            yield from walk(value[step], rest, None)

    yield from walk(document, steps(path), None)
