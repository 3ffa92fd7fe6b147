"""Pairs of stores whose rows lie in the same order for the most part, and what differs, slowly.

    row_pairs.py make SEED OLD NEW KIND    makes two stores; KIND is integer or text, of the identifier
    row_pairs.py differences OLD NEW       kind and number of each change, in order, and how many rows are the same

Long texts and blobs, which are equal or differ in one byte, are among the cells and the identifiers."""
import random, sqlite3, struct, sys

LONG = 64 << 10


def cell(r):
    long = LONG + r.randrange(-1, 3)
    return r.choice([
        None, 0, 1, 1.0, -0.0, 0.0, 2.5, -1, 2**63 - 1, -(2**63), float("inf"), "", b"", "a", b"a", "1", "ab", b"ab", "a" * 16, "a" * 17,
        b"a" * 16, "é" * r.randrange(1, 20), "x" * r.randrange(1, 40), "x" * r.randrange(100, 400), "\U0001F600",
        "x" * long if r.random() < 0.1 else "y", b"x" * long if r.random() < 0.1 else b"y", "é" * (long // 2) if r.random() < 0.1 else "z",
    ])


def near(r, value):
    """Another value that is almost the same."""
    if isinstance(value, str):
        place = r.choice([0, len(value) // 2, len(value) - 1])
        return r.choice([value.encode(), value[:place] + "b" + value[place + 1:], value + "b", value[:-1], None])
    if isinstance(value, bytes):
        place = r.choice([0, len(value) // 2, len(value) - 1])
        return r.choice([value.decode(), value[:place] + b"b" + value[place + 1:], value + b"b", value[:-1], None])
    if isinstance(value, int): return r.choice([float(value) if abs(value) < 2**52 else None, value ^ 1, str(value)])
    if isinstance(value, float): return r.choice([-value, value + 1, int(value) if abs(value) < 2**52 else None])
    return r.choice(["", b"", 0])


def name(r, i, kind):
    if kind == "integer": return i * 3 - 500
    if i % 97 == 5: return "k" * LONG + "%06d" % i
    return "k%06d" % i + "é" * (i % 5)


def make(seed, old, new, kind):
    r = random.Random(f"{seed} {kind}")
    columns = r.choice([1, 3, 12])
    rows = [[name(r, i, kind)] + [cell(r) for _ in range(columns)] for i in range(r.choice([0, 1, 40, 900, 2500]))]
    rate = r.choice([0, 0.001, 0.05, 0.5])
    def other(row):
        row = list(row)
        place = r.randrange(1, len(row))
        row[place] = near(r, row[place])
        return row
    changed = [other(row) if r.random() < rate else row for row in rows]
    one, two = list(rows), list(changed)
    # Rows of one side only, at the beginning, in the middle and at the end.
    for side in (one, two):
        for where in ("begin", "middle", "end"):
            if r.random() < 0.5 and side:
                count = min(r.choice([1, 1, 3, 200]), len(side))
                first = {"begin": 0, "middle": len(side) // 2, "end": len(side) - count}[where]
                del side[first:first + count]
    for path, side, encoding in ((old, one, "UTF-8"), (new, two, r.choice(["UTF-8", "UTF-8", "UTF-16le", "UTF-16be"]))):
        db = sqlite3.connect(path, isolation_level=None)
        db.execute(f"PRAGMA encoding = '{encoding}'")
        db.execute(f"PRAGMA page_size = {r.choice([512, 4096, 65536])}")
        key = "INTEGER PRIMARY KEY" if kind == "integer" else "TEXT PRIMARY KEY NOT NULL"
        db.execute(f"CREATE TABLE t(k {key}, {', '.join('c%d' % i for i in range(columns))})")
        db.execute("BEGIN")
        db.executemany(f"INSERT INTO t VALUES({', '.join('?' * (columns + 1))})", side)
        db.execute("COMMIT")
        db.close()


def exact(value):
    return (type(value).__name__, struct.pack(">d", value) if isinstance(value, float) else value)


def read(path):
    return {row[0]: [exact(v) for v in row[1:]] for row in sqlite3.connect(path).execute("SELECT * FROM t")}


def differences(old, new):
    one, two = read(old), read(new)
    same = 0
    for key in sorted(one.keys() | two.keys(), key=lambda k: k.encode() if isinstance(k, str) else k):
        if key not in one: print("inserted", key)
        elif key not in two: print("deleted", key)
        elif one[key] != two[key]: print("updated", key)
        else: same += 1
    print("same", same)


if __name__ == "__main__":
    {"make": make, "differences": differences}[sys.argv[1]](*sys.argv[2:])
