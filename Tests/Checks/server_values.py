"""Records with values of every type, and the rows that they must come to.

usage: server_values.py COUNT SEED FILE

Writes COUNT records as NDJSON to FILE; those of the model in PGValueTests. Prints the rows as a JSON array of arrays of texts
or nulls, as `PGDatabase.rows` has them. The value comes first, then a JSON text for it, so nothing is read from JSON here.
"""
import base64
import datetime
import hashlib
import json
import random
import struct
import sys
import uuid
from decimal import Decimal, getcontext

MISSING = object()
EPOCH = datetime.datetime(1970, 1, 1)
TEXTS = ["", " ", "plain", "Zürich 東京", "e\u0301 \u00e9", "😀\U0010fffd", "\u05e9\u05dc \u202e",
         "a\tb\nc\r\n", '"\\/', "NULL", "\\N", "\\.", "\x01\x7f\ufeff",
         "'; DROP TABLE value; --", "x" * 201]


def short(text):
    data = text.encode()
    return text if len(data) <= 200 else hashlib.md5(data).hexdigest()


def double(value):
    return struct.pack(">d", value).hex()


def plain(value):
    text = format(value.normalize(), "f")
    return "0" if text == "-0" else text


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def text(self, number):
        value = "long é " * 150_000 if number == 3 else "".join(self.random.choices(TEXTS, k=self.random.randrange(1, 4)))
        return json.dumps(value, ensure_ascii=self.random.random() < 0.5), short(value)

    def integer(self, bits):
        limit = 1 << (bits - 1)
        value = self.random.choice([-limit, limit - 1, 0, -1, self.random.randrange(-limit, limit)])
        return self.random.choice([str(value), f'"{value}"']), str(value)

    def single(self):
        value = self.random.choice([0.1, 1.5, -3.25e30, 1e-40, self.random.random()])
        value = struct.unpack(">f", struct.pack(">f", value))[0]
        return repr(value), double(value)

    def double(self):
        value = self.random.choice([0.1, 1e308, -5e-324, 123456789012345680.0, self.random.gauss(0, 1e5)])
        return repr(value), double(value)

    def decimal(self):
        digits = str(self.random.randrange(1, 10 ** self.random.randrange(1, 45)))
        ends = ["", ".5", ".0100", ".00000000000000000000000000007", "e5", "e-30"]
        text = self.random.choice(["", "-"]) + digits + self.random.choice(ends)
        return self.random.choice([text, f'"{text}"']), plain(Decimal(text))

    def boolean(self):
        value = self.random.random() < 0.5
        return json.dumps(value), str(int(value))

    def instant(self):
        return EPOCH + datetime.timedelta(
            milliseconds=self.random.choice([0, -1, 946684800000, self.random.randrange(-6 * 10**13, 2 * 10**14)]))

    def date(self, keeps_clock):
        value, hours = self.instant(), self.random.choice([0, 2, -5])
        there = value + datetime.timedelta(hours=hours)
        zone = f"{'-' if hours < 0 else '+'}{abs(hours):02}:00" if hours else "Z"
        return f'"{spelled(there)}{zone}"', spelled(there if keeps_clock else value) + "Z"

    def seconds(self):
        value = self.random.randrange(-10**10, 10**11)
        return str(value), str(value)

    def milliseconds(self):
        value = self.instant()
        return f'"{spelled(value)}Z"', str((value - EPOCH) // datetime.timedelta(milliseconds=1))

    def uuid(self):
        value = str(uuid.UUID(int=self.random.getrandbits(128)))
        return json.dumps(self.random.choice([value, value.upper(), "{" + value + "}"])), value

    def uri(self):
        value = f"https://example.org/a%20b?{self.random.randrange(99)}#é".replace("é", "%C3%A9")
        return json.dumps(value), value

    def binary(self):
        value = self.random.choice([b"", bytes(range(256)), self.random.randbytes(self.random.randrange(20))])
        return json.dumps(base64.b64encode(value).decode()), value.hex()

    def bits(self):
        flags = self.random.choices([True, False], k=3)
        text = json.dumps({"can": {"read": flags[0], "write": flags[1]}, "high": flags[2]})
        return text, str(flags[0] + 2 * flags[1] + (flags[2] << 62))

    def json(self):
        text = self.random.choice([
            '{ "b": 1.50, "a": [1e400, -0.0, 12345678901234567890123], "b": null }', '"a\\u0000b"', "[ ]", "1.0",
            "true", '{"é": "\\u00e9", "n": {"n": {"n": []}}}'])
        return text, without_space(text)


def spelled(value):
    return f"{value.year:04}-{value.month:02}-{value.day:02}T{value:%H:%M:%S}.{value.microsecond // 1000:03}"


def without_space(text):
    return text.replace(" ", "")


def main(count, seed, path):
    # `normalize` rounds.
    getcontext().prec = 200
    make = Maker(seed)
    rows = []
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        for number in range(count):
            makers = {
                "s": lambda: make.text(number), "n16": lambda: make.integer(16), "n32": lambda: make.integer(32),
                "n64": lambda: make.integer(64), "f": make.single, "d": make.double, "dec": make.decimal, "b": make.boolean,
                "t": lambda: make.date(False), "clock": lambda: make.date(True), "unix": make.seconds,
                "milli": make.milliseconds, "u": make.uuid, "l": make.uri, "bin": make.binary, "bits": make.bits, "j": make.json,
            }
            members, row = [f'"id": {number}'], [str(number)]
            for name, value in makers.items():
                kind = 0.5 if number == 3 else make.random.random()
                if kind < 0.1:
                    row.append("7" if name == "n16" else "none" if name == "s" else None)
                    continue
                # The JSON null is a value of `json`, and NULL all the same.
                text, expected = ("null", None) if kind < 0.2 else value()
                members.append(f'"{name}": {text}')
                row.append(expected)
            make.random.shuffle(members)
            file.write("{" + ", ".join(members) + "}\n")
            rows.append(row)
    print(json.dumps(rows))


main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
