"""Random pairs of stores whose foreign keys all lead somewhere, to be patched from the one to the other.

    patch_pairs.py make SEED OLD NEW    makes two stores
    patch_pairs.py same ONE OTHER       whether their tables hold the same, whatever the row ids are; prints what differs

Unique values are swapped between objects, identifiers get another case, objects get other owners, and row ids are in another order."""
import os, random, sqlite3, struct, sys

SCHEMA = """
CREATE TABLE person(guid PRIMARY KEY NOT NULL, a, b REAL, email TEXT UNIQUE, boss REFERENCES person(guid) ON DELETE SET NULL);
CREATE TABLE pet(id INTEGER PRIMARY KEY, a, place INTEGER NOT NULL UNIQUE, owner REFERENCES person(guid) ON DELETE CASCADE);
CREATE TABLE toy(name TEXT COLLATE NOCASE PRIMARY KEY NOT NULL, a, pet INTEGER REFERENCES pet(id) ON DELETE CASCADE) WITHOUT ROWID;
CREATE TABLE tag(id INTEGER PRIMARY KEY, word COLLATE NOCASE, "rowid" TEXT);
CREATE TABLE person_tag(person REFERENCES person(guid) ON DELETE CASCADE, tag REFERENCES tag(id) ON DELETE CASCADE, PRIMARY KEY(person, tag));
CREATE TABLE log(host TEXT NOT NULL, n INTEGER NOT NULL, v, double AS (n * 2), about REFERENCES person(guid), PRIMARY KEY(host, n));
"""
TABLES = ["person", "pet", "toy", "tag", "person_tag", "log"]


def value(r):
    return r.choice([None, 0, 1, -1, 2**63 - 1, 1.0, 2.5, float("inf"), "", "a", "A", "a\0b", "é", "e\u0301", "1", b"", b"a", b"\0", "x" * r.randrange(300), r.randrange(100)])


def state(r):
    people = r.sample([1, 2, 9.5, "1", "a", "A", b"a"] + ["k%d" % i for i in range(30)], r.randrange(0, 25))
    mails = r.sample(["m%d" % i for i in range(40)], len(people))
    pets = r.sample(range(1, 60), r.randrange(0, 25))
    places = r.sample(range(100), len(pets))
    toys = r.sample(["t%d" % i for i in range(30)], r.randrange(0, 20))
    tags = r.sample(range(1, 12), r.randrange(0, 8))
    of = lambda rows: r.choice(rows + [None])
    return {
        "person": {g: [value(r), value(r), m if r.random() < 0.9 else None, of(people)] for g, m in zip(people, mails)},
        "pet": {p: [value(r), n, of(people)] for p, n in zip(pets, places)},
        "toy": {t: [value(r), of(pets)] for t in toys},
        "tag": {t: [value(r), r.choice(["x", None])] for t in tags},
        "person_tag": {(p, t): [] for p in people for t in tags if r.random() < 0.2},
        "log": {("h%d" % (i % 3), i): [value(r), of(people)] for i in r.sample(range(40), r.randrange(0, 20))},
    }


def changed(r, old):
    """The state after some time."""
    other, new = state(r), {}
    for table in TABLES:
        new[table] = {k: list(c) for k, c in old[table].items() if r.random() < 0.85}
        for k, c in other[table].items():
            if r.random() < 0.25 and k not in new[table] and not (table == "toy" and k.upper() in new[table]): new[table][k] = list(c)
        for c in new[table].values():
            if c and r.random() < 0.3: c[0] = value(r)
    swap(r, new["person"], 2, "n%d")
    swap(r, new["pet"], 1, None)
    if r.random() < 0.5:
        for name in list(new["toy"]):
            if r.random() < 0.2: new["toy"][name.swapcase()] = new["toy"].pop(name)
    lead(r, new["person"], 3, list(new["person"]))
    lead(r, new["pet"], 2, list(new["person"]))
    lead(r, new["toy"], 1, list(new["pet"]))
    lead(r, new["log"], 1, list(new["person"]))
    new["person_tag"] = {k: [] for k in new["person_tag"] if k[0] in new["person"] and k[1] in new["tag"]}
    return new


def swap(r, rows, column, mark):
    """Gives some rows the unique values of others, and rows that have the same another one."""
    seen, number = set(), 1000
    keys = r.sample(list(rows), len(rows) // 3)
    cells = [rows[k][column] for k in keys]
    r.shuffle(cells)
    for k, cell in zip(keys, cells): rows[k][column] = cell
    for c in rows.values():
        while c[column] is not None and c[column] in seen:
            number += 1
            c[column] = mark % number if mark else number
        seen.add(c[column])


def lead(r, rows, column, targets):
    """References to what is not there lead elsewhere, and so do some others."""
    for c in rows.values():
        if c[column] is not None and (c[column] not in targets or r.random() < 0.15): c[column] = r.choice(targets + [None])


def write(r, path, rows, churn):
    if os.path.exists(path): os.unlink(path)
    db = sqlite3.connect(path, isolation_level=None)
    db.execute(f"PRAGMA page_size={r.choice([512, 1024, 4096, 65536])}")
    db.executescript(SCHEMA)
    for table in TABLES:
        items = list(rows[table].items())
        if churn: r.shuffle(items)
        for key, cells in items:
            row = (list(key) if isinstance(key, tuple) else [key]) + cells
            if table == "log" or table == "tag" or not churn and r.random() < 0.5:
                db.execute(f"INSERT INTO {table} VALUES({','.join('?' * len(row))})", row)
            elif table in ("person", "person_tag"):
                # Row ids with holes between them.
                names = "guid, a, b, email, boss" if table == "person" else "person, tag"
                last = db.execute(f"SELECT coalesce(max(rowid), 0) FROM {table}").fetchone()[0]
                db.execute(f"INSERT INTO {table}(rowid, {names}) VALUES({','.join('?' * (len(row) + 1))})", [last + r.randrange(1, 9)] + row)
            else:
                db.execute(f"INSERT INTO {table} VALUES({','.join('?' * len(row))})", row)
    if r.random() < 0.5: db.executescript("CREATE INDEX io ON pet(owner);CREATE INDEX ip ON toy(pet);")
    if churn and r.random() < 0.5: db.execute("VACUUM")
    assert db.execute("PRAGMA foreign_key_check").fetchall() == []
    db.close()


def make(seed, old, new):
    r = random.Random(int(seed))
    first = state(r)
    write(r, old, first, False)
    write(r, new, changed(r, first), True)


def read(path):
    db = sqlite3.connect(path)
    db.text_factory = lambda b: ("text", b)
    out = {}
    for table in TABLES:
        exact = lambda v: struct.pack(">d", v) if isinstance(v, float) else v
        rows = db.execute(f"SELECT * FROM {table}").fetchall()
        out[table] = sorted((repr([(type(v).__name__, exact(v)) for v in row]) for row in rows))
    db.close()
    return out


def same(one, other):
    one, other = read(one), read(other)
    for table in TABLES:
        if one[table] != other[table]:
            print(table, [x for x in one[table] if x not in other[table]][:2], [x for x in other[table] if x not in one[table]][:2])
            sys.exit(1)


{"make": make, "same": same}[sys.argv[1]](*sys.argv[2:])
