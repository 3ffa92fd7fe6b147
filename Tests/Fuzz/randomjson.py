"""Random JSON text: odd spellings of whatever the standard allows."""
import json
import re

KEYS = ["id", "a", "b", "c", "A", "a_b", "a.b", "", "rowid", "é", "e\u0301", "key", "value", "$key", "select", 'q"q', "x y"]
KEYS += ["\0", "0"]
STRINGS = ["", "a", "x" * 70, "é", "日本語", "\U0001f600", "\0", "a\0b", "\x1b[0m", "\u2028", "1", "1.0", "-0", "true", "null"]
STRINGS += ["2024-02-29T10:00:00Z", "2024-02-29T10:00:00.123Z", "2024-02-29", "6ba7b810-9dad-11d1-80b4-00c04fd430c8", "{}", "[1]"]
STRINGS += ["2024-02-29T10:00:00.1234Z", "2024-02-29T10:00:00+02:00", "6BA7B810-9DAD-11D1-80B4-00C04FD430C8", "0001-01-01T00:00:00Z"]
NUMBERS = ["0", "-0", "1", "-1", "1.0", "1e0", "1E+2", "0.1", "-0.10", "9007199254740993", "9223372036854775807", "-0.0", "-0e5"]
NUMBERS += ["9223372036854775808", "-9223372036854775808", "-9223372036854775809", "1e999", "-1e999", "1e-999", "5e-324", "1e400"]
NUMBERS += ["123456789012345678901234567890", "0.12345678901234567890123", "1.7976931348623157e308", "1e23", "2.2250738585072011e-308"]
NUMBERS += ["9007199254740993.0", "1e15", "100000000000000000000000", "0e0", "1" + "0" * 50, "0." + "0" * 40 + "1", "16777217"]


class Writer:
    """Writes JSON; `wild` says how often something unusual comes."""

    def __init__(self, random, wild):
        self.random, self.wild = random, wild
        # A few shapes that records share, so that columns have more than one value.
        self.keys = random.sample(KEYS, random.randint(1, 6))
        self.kinds = {}
        self.has_breaks = True

    def odd(self, share=1.0):
        return self.random.random() < self.wild * share

    def space(self):
        if not self.odd():
            return ""
        blanks = " \t\r\n" if self.has_breaks else " \t"
        return "".join(self.random.choice(blanks) for _ in range(self.random.choice([1, 1, 2, 9])))

    def string(self, text):
        """A string, with any of its characters escaped in any way."""
        out = ['"']
        for character in text:
            code = ord(character)
            if character in '"\\' or code < 0x20 or 0xD800 <= code < 0xE000 or self.odd(0.2):
                short = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\b": "\\b", "/": "\\/"}.get(character)
                if short and not self.odd():
                    out.append(short)
                    continue
                units = character.encode("utf-16-be", "surrogatepass").hex()
                escaped = "".join("\\u" + units[at : at + 4] for at in range(0, len(units), 4))
                out.append(escaped if self.random.random() < 0.5 else escaped.upper().replace("\\U", "\\u"))
            else:
                out.append(character)
        return "".join(out) + '"'

    def text(self):
        if self.odd(0.1):
            return self.random.choice(["\ud800", "a\udc00b", "\udc00\ud800", "\ud83d"])
        return self.random.choice(STRINGS)

    def scalar(self, kind=None):
        kind = kind or self.random.choice(["string", "number", "integer", "boolean", "null"])
        if kind == "string":
            return self.string(self.text())
        if kind == "number":
            return self.random.choice(NUMBERS)
        if kind == "integer":
            return str(self.random.choice([0, 1, 7, -3, 2**31, 2**53, self.random.randrange(1000)]))
        return self.random.choice(["true", "false"]) if kind == "boolean" else "null"

    def array(self, elements):
        return "[" + self.space() + ",".join(self.space() + e + self.space() for e in elements) + self.space() + "]"

    def object(self, members):
        parts = [self.space() + self.string(key) + self.space() + ":" + self.space() + value + self.space() for key, value in members]
        return "{" + self.space() + ",".join(parts) + "}"

    def value(self, path, depth):
        """A value of the kind that is usual at this path."""
        random = self.random
        if path not in self.kinds:
            kinds = ["string", "number", "integer", "integer", "boolean", "object", "array", None]
            self.kinds[path] = random.choice(kinds if depth > 0 else kinds[:5] + [None])
        kind = self.kinds[path]
        if self.odd(0.3):
            kind = random.choice(["null", "null", "string", "number", "object", "array"])
        if kind == "array" or kind == "object" and depth <= 0:
            return self.array([self.value(path + ("[]",), depth - 2) for _ in range(random.choice([0, 1, 2]))])
        if kind == "object":
            return self.members(path, depth - 1, random.sample(self.keys, random.randint(1, min(3, len(self.keys)))))
        return self.scalar(kind)

    def members(self, path, depth, keys):
        members = [(key, self.value(path + (key,), depth)) for key in keys if not self.odd(0.3)]
        if members and self.odd(0.15):
            key = self.random.choice(members)[0]
            members.insert(self.random.randrange(len(members) + 1), (key, self.value(path + (key,), depth)))
        if self.odd(0.2):
            self.random.shuffle(members)
        return self.object(members)

    def record(self):
        if self.odd(0.05):
            return self.value(("odd",), 2)
        if self.odd(0.02):
            depth = self.random.randint(1, 40)
            return '{"deep":' + "[" * depth + "]" * depth + "}"
        return self.members((), 3, self.keys)


def depth_of(written):
    """How many containers are inside of each other in a JSON text, those of members that a later one replaces included."""
    depth = deepest = 0
    for bracket in re.findall(r'[\[\]{}]', re.sub(r'"(?:[^"\\]|\\.)*"', "", written, flags=re.DOTALL)):
        depth += 1 if bracket in "[{" else -1
        deepest = max(deepest, depth)
    return deepest
