#!/usr/bin/env python3
"""Sources with planted faults, their repair, and what must come of it; nothing of it is the importer's.

usage: repair.py make SHAPE COUNT DIR       SHAPE is lines, array or document
       repair.py edit LINES DIR OUT [N]     mend each line's record (every Nth), in another order
       repair.py raw BYTES DIR              whether BYTES holds the faulty records' own bytes
       repair.py same STORE STORE           whether the user tables have the same rows, in any order

`make` writes `broken.json` and `mended.json`, `records.ndjson` (each record as mended) and `faulty.bin` (the faulty
records as they are, in the order of the source).
"""
import json
import random
import sqlite3
import sys

LARGE = 2000


def person(number):
    text = '{"id": %d, "name": "A\\u00e9 \\"%d\\" \xfc", "age": %d.0, "note": [1.50, {"a":  1e2}]}'
    return (text % (number, number, number % 90)).encode()


def broken_person(number, kind, lines):
    whole = person(number)
    faults = [
        whole.replace(b'"age": ', b'"age": "n/a", "old": '),
        whole.replace(b'"id"', b'"ident"'),
        whole.replace(b'"id": ', b'"id": null, "was": '),
        whole.replace(b'"name": ', b'"name": {"first": null}, "called": '),
        whole.replace("\xfc".encode(), b"\xff\xc0\xaf"),
        b"12",
        b'"just text"',
        whole[:-1] + b', "long": "' + b"x" * LARGE + b'"}',
    ]
    if lines:
        faults += [whole[:20].rstrip(), b"hello", whole[:-1] + b",}", whole + b" 1", whole.replace(b'"age"', b'"\x0b"')]
    return faults[kind % len(faults)]


def records_of(shape, count):
    """The record's collection, key, mended bytes and faulty bytes (None where it has no fault)."""
    for number in range(count):
        fault = number // 2 if number % 2 else None
        collection = "people" if shape != "document" else ("people", "orders", "tags")[number * 3 // count]
        if collection == "people":
            yield collection, None, person(number), None if fault is None else broken_person(
                number, fault, shape == "lines"
            )
        elif collection == "orders":
            whole = b'{"number": %d, "paid": true}' % number
            yield collection, None, whole, None if fault is None else whole.replace(b"true", b'"maybe"')
        else:
            key = 'k"%d' % number
            whole = b'{"weight": %d}' % number
            long = b'{"weight": 1, "long": "' + b"x" * LARGE + b'"}'
            kinds = [whole.replace(b": ", b": [")[:-1] + b"]}", b'{"weight": 1, "\xff": 2}', long]
            yield collection, key, whole, None if fault is None else kinds[fault % 3]


def source(shape, records):
    if shape == "lines":
        return b"\n".join(text for _, _, text in records) + b"\n"
    if shape == "array":
        return b"[" + b",\n ".join(text for _, _, text in records) + b"]"
    parts = []
    for name in ("people", "orders"):
        parts.append(b'"%s": [' % name.encode() + b", ".join(t for c, _, t in records if c == name) + b"]")
    tags = [json.dumps(key).encode() + b" :  " + text for c, key, text in records if c == "tags"]
    return b'{"version": 1, ' + b", ".join(parts) + b', "tags": {' + b" ,\n ".join(tags) + b"}}"


def make(shape, count, directory):
    records = list(records_of(shape, count))
    files = {
        "mended.json": source(shape, [(c, k, whole) for c, k, whole, _ in records]),
        "broken.json": source(shape, [(c, k, whole if bad is None else bad) for c, k, whole, bad in records]),
        "records.ndjson": b"\n".join(whole for _, _, whole, _ in records) + b"\n",
        "faulty.bin": b"\n".join(bad for _, _, _, bad in records if bad is not None) + b"\n",
    }
    for name, content in files.items():
        with open(directory + "/" + name, "wb") as file:
            file.write(content)
    return True


def edit(path, directory, out, every=1):
    with open(directory + "/records.ndjson", "rb") as file:
        mended = file.read().split(b"\n")
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file.read().split("\n")[:-1]]
    edited = []
    for line in lines[::every]:
        assert {"reject", "job", "entity", "source", "byte_offset", "ordinal", "errors", "record"} <= set(line)
        assert all(set(e) == {"key_path", "code", "expected", "found", "byte_offset"} for e in line["errors"])
        kept = {name: line[name] for name in ("reject", "job", "ordinal", "key") if name in line}
        record = mended[line["ordinal"] - 1].decode()
        edited.append(json.dumps(kept)[:-1] + ', "record": ' + record + ', "errors": [{"record": 1}]}')
    random.Random(5).shuffle(edited)
    with open(out, "w", encoding="utf-8") as file:
        file.write("\n\n".join(edited) + "\n")
    return bool(edited)


def raw(path, directory):
    with open(path, "rb") as file:
        got = file.read().split(b"\n")
    with open(directory + "/faulty.bin", "rb") as file:
        wanted = file.read().split(b"\n")
    for one, other in zip(got, wanted):
        if one != other and not (len(other) > LARGE and len(one) > 100 and other.startswith(one)):
            print("not the same:", one[:200], other[:200])
            return False
    return len(got) == len(wanted) > 1


def rows(store):
    connection = sqlite3.connect(store)
    names = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_import\\_%' ESCAPE '\\'"
    )
    return {
        name: sorted(repr(row) for row in connection.execute('SELECT * FROM "' + name + '"')) for (name,) in names
    }


def same(one, other):
    return rows(one) == rows(other) and any(rows(one).values())


def main(arguments):
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if arguments else 64
    command, rest = arguments[0], arguments[1:]
    if command == "make":
        holds = make(rest[0], int(rest[1]), rest[2])
    elif command == "edit":
        holds = edit(rest[0], rest[1], rest[2], int(rest[3]) if len(rest) > 3 else 1)
    elif command == "raw":
        holds = raw(*rest)
    elif command == "same":
        holds = same(*rest)
    else:
        print(__doc__, file=sys.stderr)
        return 64
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
