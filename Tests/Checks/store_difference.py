"""Random pairs of stores, and whether a change set leads from the one to the other.

    store_difference.py make SEED OLD NEW     makes two stores
    store_difference.py check OLD NEW FILE    applies a change set to what the old store holds, slowly, and compares with the new one

`check` knows the tables that `make` makes: who owns whom, and which columns are references. Prints what is wrong, and
exits with 1 then."""
import base64, json, os, random, sqlite3, struct, sys

OWNER = {"pet": ("person", "owner"), "toy": ("pet", "pet"), "part": ("toy", "toy")}
REFERENCES = {"person": {"boss": "person"}, "pet": {"owner": "person"}, "toy": {"pet": "pet", "giver": "person"}, "part": {"toy": "toy"}, "tag": {}}
KEYS = {"person": "guid", "pet": "id", "toy": "name", "part": "id", "tag": "id"}
SCHEMA = """
CREATE TABLE part(id INTEGER PRIMARY KEY, v, toy REFERENCES toy(name) ON DELETE CASCADE);
CREATE TABLE person(guid PRIMARY KEY NOT NULL, a TEXT, b REAL, c, boss REFERENCES person(guid) ON DELETE SET NULL);
CREATE TABLE pet(id INTEGER PRIMARY KEY, a, owner REFERENCES person(guid) ON DELETE CASCADE);
CREATE TABLE toy(name TEXT COLLATE NOCASE NOT NULL UNIQUE, a, pet INTEGER REFERENCES pet(id) ON DELETE CASCADE, giver REFERENCES person(guid));
CREATE TABLE tag(id INTEGER PRIMARY KEY, word COLLATE NOCASE);
CREATE TABLE person_tag(person REFERENCES person(guid) ON DELETE CASCADE, tag REFERENCES tag(id) ON DELETE CASCADE, PRIMARY KEY(person, tag));
"""


def value(r, is_utf8):
    kind = r.randrange(8 if is_utf8 else 7)
    if kind == 0: return None
    if kind == 1: return r.choice([0, 1, 2, -1, 2**63 - 1, -(2**63), r.randrange(100)])
    if kind == 2: return r.choice([0.0, 1.0, 2.5, 5e-324, 1e308, float("inf"), float("-inf"), r.random()])
    if kind in (3, 4): return r.choice(["", "a", "A", "a\0b", "a\0c", "é", "e\u0301", "1", "{\"$blob\":\"YQ==\"}", "\U0001F600", "x" * r.randrange(300)])
    if kind in (5, 6): return r.choice([b"", b"a", b"\0", os.urandom(0) + bytes([r.randrange(256)])])
    return ("bad", bytes([0x61, 0xFE + r.randrange(2)]))


def identifiers(r, count):
    """Integers, reals, texts and blobs, of which SQLite's own comparisons find some alike."""
    all_ = [1, 2, 10, 9.5, "1", "10", "a", "A", "a\0", "é", b"a", b"\0"] + ["k%d" % i for i in range(40)] + list(range(100, 140))
    return r.sample(all_, min(count, len(all_)))


def state(r, is_utf8):
    people = identifiers(r, r.randrange(0, 30))
    pets = r.sample(range(1, 60), r.randrange(0, 30))
    toys = r.sample(["t%d" % i for i in range(30)] + ["x\0y", "ä"], r.randrange(0, 20))
    tags = r.sample(range(1, 12), r.randrange(0, 8))
    v = lambda: value(r, is_utf8)
    one = lambda of: r.choice(of + [None]) if r.random() < 0.9 else r.choice([None, "nobody", 777])
    return {
        "person": {g: [v(), v(), v(), one(people)] for g in people},
        "pet": {p: [v(), one(people)] for p in pets},
        "toy": {t: [v(), one(pets) if r.random() < 0.9 else 888, one(people)] for t in toys},
        "part": {p: [v(), r.choice(toys + [None]) if toys else None] for p in r.sample(range(50), r.randrange(0, 20))},
        "tag": {t: [v()] for t in tags},
        "person_tag": {(p, t): [] for p in people for t in tags if r.random() < 0.2},
    }


def changed(r, s, is_utf8):
    """The state after some time."""
    new = state(r, is_utf8)
    out = {}
    for table, rows in s.items():
        mine = {k: list(c) for k, c in rows.items() if r.random() < 0.85}
        for k, c in new[table].items():
            if r.random() < 0.2 and k not in mine: mine[k] = c
        for k, c in mine.items():
            if c and r.random() < 0.3: i = r.randrange(len(c)); other = [x[i] for x in new[table].values()]; c[i] = r.choice(other) if other else c[i]
        out[table] = mine
    people, tags = out["person"], out["tag"]
    out["person_tag"] = {k: [] for k in out["person_tag"] if k[0] in people and k[1] in tags}
    return out


def write(r, path, s, encoding, churn):
    if os.path.exists(path): os.unlink(path)
    db = sqlite3.connect(path, isolation_level=None)
    db.execute(f"PRAGMA encoding='{encoding}'")
    db.execute(f"PRAGMA page_size={r.choice([512, 1024, 4096, 65536])}")
    db.executescript(SCHEMA)
    if r.random() < 0.5: db.executescript("CREATE INDEX io ON pet(owner);CREATE INDEX ip ON toy(pet);")
    for table, rows in s.items():
        items = list(rows.items())
        if churn: r.shuffle(items)
        for key, cells in items:
            row = (list(key) if isinstance(key, tuple) else [key]) + cells
            marks = ",".join("CAST(? AS TEXT)" if isinstance(x, tuple) else "?" for x in row)
            db.execute(f"INSERT OR IGNORE INTO {table} VALUES({marks})", [x[1] if isinstance(x, tuple) else x for x in row])
    if churn and r.random() < 0.5: db.execute("VACUUM")
    db.close()


def make(seed, old, new):
    r = random.Random(int(seed))
    encodings = r.choice([("UTF-8", "UTF-8")] * 4 + [("UTF-8", "UTF-16le"), ("UTF-16be", "UTF-16le")])
    is_utf8 = encodings == ("UTF-8", "UTF-8")
    first = state(r, is_utf8)
    write(r, old, first, encodings[0], False)
    write(r, new, changed(r, first, is_utf8), encodings[1], True)


# Reading and applying


def exact(kind, v):
    return (kind, struct.pack(">d", v)) if kind == "real" else (kind, v)


def read(path):
    db = sqlite3.connect(path)
    db.text_factory = lambda b: b
    is_utf8 = db.execute("PRAGMA encoding").fetchone()[0] in ("UTF-8", b"UTF-8")
    out = {}
    for table in list(KEYS) + ["person_tag"]:
        names = [x[1].decode() if isinstance(x[1], bytes) else x[1] for x in db.execute(f"PRAGMA table_info({table})")]
        rows = []
        for row in db.execute("SELECT " + ",".join(f"typeof({n}), {n}" for n in names) + f" FROM {table}"):
            rows.append({n: exact(row[2 * i].decode() if isinstance(row[2 * i], bytes) else row[2 * i], row[2 * i + 1]) for i, n in enumerate(names)})
        out[table] = {(x["person"], x["tag"]): {} for x in rows} if table == "person_tag" else {x[KEYS[table]]: x for x in rows}
    return out


def cell(j):
    if j is None: return ("null", None)
    if isinstance(j, bool): raise Wrong("a boolean where no type is known")
    if isinstance(j, int): return ("integer", j)
    if isinstance(j, float): return exact("real", j)
    if isinstance(j, str): return ("text", j.encode())
    (key, x), = j.items()
    if key == "$blob": return ("blob", base64.b64decode(x))
    if key == "$textBytes": return ("text", base64.b64decode(x))
    if key == "$real": return exact("real", float(x))
    raise Wrong(f"unknown escape {key}")


class Wrong(Exception): pass


def need(holds, what):
    if not holds: raise Wrong(what)


def key_of(table, j):
    need(list(j) == [KEYS[table]], f"identifier {j}")
    return cell(j[KEYS[table]])


def target(table, j):
    return ("null", None) if j is None else key_of(table, j)


def apply(content, change, owner, counts):
    table = change["entityName"]
    key = key_of(table, change["identifier"])
    kind = change["change"]
    rows = content[table]
    old, new = (change.get("attributes", {}).get(s) for s in ("old", "new"))
    own = set(r for r in REFERENCES[table])
    names = {"person": ["guid", "a", "b", "c"], "pet": ["id", "a"], "toy": ["name", "a"], "part": ["id", "v"], "tag": ["id", "word"]}[table]
    references = change.get("references", {})
    inverse = OWNER[table][1] if owner and table in OWNER else None
    count = counts.setdefault(table, {"inserted": 0, "updated": 0, "deleted": 0})
    where = f"{kind} {table} {key}"
    if kind == "inserted":
        need(key not in rows, f"{where}: is there")
        need(old is None and set(new) == set(names), f"{where}: attributes {new}")
        row = {n: cell(new[n]) for n in names}
        for r in own: row[r] = owner if r == inverse else target(REFERENCES[table][r], references[r]["new"])
        rows[key] = row
    elif kind == "deleted":
        need(key in rows, f"{where}: is not there")
        need(new is None and {n: cell(old[n]) for n in names} == {n: rows[key][n] for n in names}, f"{where}: attributes {old}")
        for r in own:
            need(rows[key][r] == (owner if r == inverse else target(REFERENCES[table][r], references[r]["old"])), f"{where}: {r}")
    else:
        need(key in rows, f"{where}: is not there")
        need(set(old or {}) == set(new or {}), f"{where}: {old} {new}")
        for n in old or {}:
            need(rows[key][n] == cell(old[n]) != cell(new[n]), f"{where}: {n}")
            rows[key][n] = cell(new[n])
        for r, c in references.items():
            if r == "person_tag": continue
            need(rows[key][r] == target(REFERENCES[table][r], c["old"]) != target(REFERENCES[table][r], c["new"]), f"{where}: {r}")
            rows[key][r] = target(REFERENCES[table][r], c["new"])
        if inverse: need(rows[key][inverse] == owner, f"{where}: is of another owner")
        need(old or references or change.get("relationships"), f"{where}: says nothing")
    if kind != "updated" or old or references: count[kind] += 1
    if "person_tag" in references:
        links = content["person_tag"]
        for j in references["person_tag"].get("removed", []):
            link = (key, key_of("tag", j)); need(link in links, f"{where}: {link} is not there"); del links[link]
        for j in references["person_tag"].get("added", []):
            link = (key, key_of("tag", j)); need(link not in links, f"{where}: {link} is there"); links[link] = {}
    before = None
    for name, changes in change.get("relationships", {}).items():
        need(OWNER[name][0] == table, f"{where}: owns no {name}")
        for c in changes:
            now = rank(key_of(name, c["identifier"]))
            need(before is None or before < now, f"{where}: not in order")
            before = now
            apply(content, c, key, counts)
    if kind == "deleted": content.setdefault("gone", []).append((table, key, {n: [key_of(n, j) for j in js] for n, js in change.get("moved", {}).items()}))


def rank(key):
    kind, v = key
    return (0, struct.unpack(">d", v)[0], 1) if kind == "real" else (0, v, 0) if kind == "integer" else (1 if kind == "text" else 2, v, 0)


def check(old, new, path):
    a, b = read(old), read(new)
    with open(path, encoding="utf-8") as f: lines = [json.loads(l) for l in f]
    need(lines[0]["format"] == "importer-changes" and lines[-1]["end"], "no header or footer")
    need(lines[-1]["changes"] == len(lines) - 2, "the number of changes")
    content, counts, last = read(old), {}, {}
    for c in lines[1:-1]:
        now = rank(key_of(c["entityName"], c["identifier"]))
        need(c["entityName"] not in last or last[c["entityName"]] < now, f"{c['entityName']}: not in order at {now}")
        last[c["entityName"]] = now
        apply(content, c, None, counts)
    for table, key, moved in content.pop("gone", []):
        # What it took along has another owner now, or is gone too.
        for child, (owner, column) in OWNER.items():
            if owner != table: continue
            still = {k for k in a[child] if a[child][k][column] == key and k in b[child]}
            need(still == set(moved.get(child, [])), f"{table} {key}: moved {moved}, not {still}")
        del content[table][key]
    for table in b:
        need(content[table] == b[table], f"{table}: {[x for x in content[table].items() if x not in b[table].items()][:2]}, not {[x for x in b[table].items() if x not in content[table].items()][:2]}")
    for table in KEYS:
        links = lambda s, k: {l for l in s["person_tag"] if table == "person" and l[0] == k}
        same = [k for k in a[table] if k in b[table]]
        unchanged = sum(1 for k in same if a[table][k] == b[table][k] and links(a, k) == links(b, k))
        wanted = {"inserted": len(b[table]) - len(same), "updated": len(same) - unchanged, "deleted": len(a[table]) - len(same), "unchanged": unchanged}
        got = lines[-1]["entities"].get(table, {})
        need(got == wanted, f"{table}: counts {got}, not {wanted}")
        told = counts.get(table, {"inserted": 0, "updated": 0, "deleted": 0})
        need(all(told[k] == wanted[k] for k in told), f"{table}: told {told}, not {wanted}")


if __name__ == "__main__":
    try:
        make(*sys.argv[2:]) if sys.argv[1] == "make" else check(*sys.argv[2:])
    except Wrong as error:
        print(error)
        sys.exit(1)
