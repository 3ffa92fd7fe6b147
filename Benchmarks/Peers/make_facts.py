"""Reads made-up people and writes what they add up to, and the rows in the form that floor_sqlite reads.

usage: make_facts.py SOURCE FACTS [ROWS]

SOURCE is an array or NDJSON of scripts/generate-records, a record per line. A process of its own: what it needs in
memory must not count for what is measured later.
"""
import json
import struct
import sys

import fields


def packed(value):
    if value is None:
        return b"\0"
    if isinstance(value, int):
        return struct.pack("=bq", 1, value)
    if isinstance(value, float):
        return struct.pack("=bd", 2, value)
    data = value.encode()
    return struct.pack("=bI", 3, len(data)) + data


def main(arguments):
    if len(arguments) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 64
    sums, epochs, tokens = fields.empty_sums(), {}, {"maps": 0, "keys": 0, "strings": 0, "numbers": 0}
    rows = open(arguments[2], "wb") if len(arguments) == 3 else None
    with open(arguments[0], encoding="utf-8") as source:
        for line in source:
            line = line.strip().rstrip(",")
            if line in ("", "[", "]"):
                continue
            record = json.loads(line)
            row = fields.columns_of(record)
            fields.add(sums, row, epochs)
            tokens["maps"] += 2
            tokens["keys"] += len(record) + len(record["address"])
            is_text = isinstance(record["score"], str)
            tokens["strings"] += 6 + is_text + len(record["tags"]) + (record["note"] is not None)
            tokens["numbers"] += 4 - is_text
            if rows:
                rows.write(b"".join(map(packed, row)))
    if rows:
        rows.close()
    with open(arguments[1], "w", encoding="utf-8") as out:
        json.dump({"sums": sums, "tokens": tokens}, out, indent=2)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
