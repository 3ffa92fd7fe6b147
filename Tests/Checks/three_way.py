"""Random states that have grown apart, and whether a merge of them is what the table of conflicts says: a slow and obvious reading of it.

    three_way.py make SEED BASE OURS THEIRS           makes three stores
    three_way.py check BASE OURS THEIRS FILE [object] compares a change set of a merge with the merge of three dictionaries of rows
    three_way.py store OURS FILE STORE                compares what a change set makes of OURS with a store

Objects are merged one by one: an object is a row, its links, and what it owns. Where the sides contradict each other about a whole
object, it stays as ours has it, with all that belongs to it. Prints what is wrong, and exits with 1 then."""
import json, random, sys
from store_difference import KEYS, OWNER, REFERENCES, Wrong, apply, changed, exact, need, read, state, write

TABLES = ["person", "pet", "toy", "part", "tag"]
LINKS = "person_tag"


def consistent(s):
    """The state without references that lead nowhere."""
    column = {"person": {"boss": 3}, "pet": {"owner": 1}, "toy": {"pet": 1, "giver": 2}, "part": {"toy": 1}}
    same = lambda a, b: type(a) is type(b) and a == b
    for table, columns in column.items():
        for cells in s[table].values():
            for name, i in columns.items():
                if not any(same(cells[i], k) for k in s[REFERENCES[table][name]]): cells[i] = None
    return s


def make(seed, *paths):
    r = random.Random(int(seed))
    first = consistent(state(r, True))
    copy = lambda: {t: {k: list(c) for k, c in rows.items()} for t, rows in first.items()}
    states = [first, consistent(changed(r, copy(), True)), consistent(changed(r, copy(), True))]
    for i, (path, s) in enumerate(zip(paths, states)): write(r, path, s, "UTF-8", i > 0)


NULL = ("null", None)


class Merge:
    def __init__(self, base, ours, theirs, by_object):
        self.B, self.O, self.T, self.by_object = base, ours, theirs, by_object
        self.conflicts, self.made, self.known = [], {}, {}
        self.out = {t: {k: dict(row) for k, row in ours[t].items()} for t in TABLES}
        self.links = set(ours[LINKS])

    def owner(self, s, t, k):
        """The object that one belongs to in a state: table and key, or None."""
        if t not in OWNER or k not in s[t]: return None
        table, column = OWNER[t]
        key = s[t][k][column]
        return (table, key) if key in s[table] else None

    def own(self, s, t, k):
        return s[t][k], {l for l in s[LINKS] if t == "person" and l[0] == k}

    def became(self, s, t, k):
        """What a state has made of an object of the base; one that owns what changed is updated."""
        name = (id(s), t, k)
        if name not in self.known:
            if k not in self.B[t]: self.known[name] = "inserted" if k in s[t] else None
            elif k not in s[t]: self.known[name] = "deleted"
            else:
                updated = self.own(s, t, k) != self.own(self.B, t, k)
                for child in (c for c, o in OWNER.items() if o[0] == t):
                    for x in s[child]:
                        if self.owner(s, child, x) == (t, k) and self.became(s, child, x): updated = True
                    for x in self.B[child]:
                        if self.owner(self.B, child, x) == (t, k) and x not in s[child]: updated = True
                self.known[name] = "updated" if updated else None
        return self.known[name]

    def moved(self, s, t, k):
        return t in OWNER and k in self.B[t] and k in s[t] and self.B[t][k][OWNER[t][1]] != s[t][k][OWNER[t][1]]

    def place(self, t, k):
        """With which object one is merged."""
        if self.moved(self.O, t, k): return self.owner(self.O, t, k)
        if self.moved(self.T, t, k): return self.owner(self.T, t, k)
        if k in self.B[t]: return self.owner(self.B, t, k)
        return self.owner(self.T if k in self.T[t] else self.O, t, k)

    def conflict(self, kind, t, k, base, ours, theirs):
        self.conflicts.append((kind, t, k, base, ours, theirs))

    def merge(self, t, k):
        """Whether the sides contradict each other about the whole object, or about one that it is merged with."""
        if (t, k) in self.made: return self.made[t, k]
        self.made[t, k] = False
        place = self.place(t, k)
        if place and self.merge(*place):
            self.made[t, k] = True
            return True
        o, h = self.became(self.O, t, k), self.became(self.T, t, k)
        B, O, T = self.B[t].get(k), self.O[t].get(k), self.T[t].get(k)
        whole = False
        if h is None or (o == h == "deleted"): pass
        elif o is None:
            if h == "deleted": self.out[t].pop(k, None)
            else: self.out[t][k] = dict(T)
            self.take_links(t, k)
        elif o == "updated" and h == "deleted":
            self.conflict("changedDeleted", t, k, B, O, None); whole = True
        elif o == "deleted" and h == "updated":
            self.conflict("deletedChanged", t, k, B, None, T); whole = True
        else: self.values(t, k, B, O, T, o == "inserted")
        self.made[t, k] = whole
        return whole

    def take_links(self, t, k):
        if t != "person": return
        for l in {l for l in self.B[LINKS] if l[0] == k} - set(self.T[LINKS]): self.links.discard(l)
        for l in {l for l in self.T[LINKS] if l[0] == k} - set(self.B[LINKS]): self.links.add(l)

    def values(self, t, k, B, O, T, inserted):
        names = [n for n in O if n != KEYS[t]]
        if inserted:
            differ = [n for n in names if O[n] != T[n]]
            if self.by_object:
                mine, other = ({l for l in s[LINKS] if l[0] == k} for s in (self.O, self.T))
                if t == "person" and mine != other: differ.append(LINKS)
                if differ: self.conflict("bothInserted", t, k, None, {n: O.get(n) for n in differ}, {n: T.get(n) for n in differ})
                return
            for n in differ: self.conflict("bothInserted", t, k, None, {n: O[n]}, {n: T[n]})
            return self.take_links(t, k)
        if self.by_object and self.own(self.O, t, k) != self.own(self.B, t, k) != self.own(self.T, t, k):
            links = [{l for l in s[LINKS] if t == "person" and l[0] == k} for s in (self.B, self.O, self.T)]
            if self.own(self.O, t, k) != self.own(self.T, t, k):
                either = [n for n in names if B[n] != O[n] or B[n] != T[n]] + ([LINKS] if links[1] != links[2] else [])
                self.conflict("bothChanged", t, k, *({n: x.get(n) for n in either} for x in (B, O, T)))
            return
        for n in names:
            if T[n] == B[n] or T[n] == O[n]: continue
            if O[n] == B[n]: self.out[t][k][n] = T[n]
            else: self.conflict("bothChanged", t, k, {n: B[n]}, {n: O[n]}, {n: T[n]})
        self.take_links(t, k)

    def run(self):
        for t in TABLES:
            for k in {**self.B[t], **self.O[t], **self.T[t]}: self.merge(t, k)
        return self


def cells(properties, t):
    """The values of a conflict as rows have them."""
    from store_difference import cell, target
    if properties is None: return None
    return {n: None if n == LINKS else target(REFERENCES[t][n], v) if n in REFERENCES[t] else cell(v) for n, v in properties.items()}


def check(base, ours, theirs, path, by_object=None):
    B, O, T = read(base), read(ours), read(theirs)
    wanted = Merge(B, O, T, bool(by_object)).run()
    with open(path, encoding="utf-8") as f: lines = [json.loads(l) for l in f]
    need(lines[-1]["changes"] == len(lines) - 2, "the number of changes")
    content, counts, found = read(ours), {}, []
    broken = []
    for line in lines[1:-1]:
        if "conflict" not in line:
            apply(content, line, None, counts)
            continue
        t = line["entityName"]
        from store_difference import key_of
        k = key_of(t, line["identifier"])
        sides = [cells(line[s], t) for s in ("base", "ours", "theirs")]
        (broken if line["kind"] == "constraint" else found).append((line["kind"], t, k, *sides))
    for table, key, moved in content.pop("gone", []): del content[table][key]
    for table, counted in counts.items():
        said = lines[-1]["entities"].get(table, {})
        need(all(said.get(kind, 0) == counted[kind] for kind in counted), f"{table}: told {counted}, said {said}")
    # What belongs to the other side's constraint is judged apart: it must be right to leave it out.
    judge(wanted, broken, B, O, T)
    compare(wanted.conflicts, found)
    for t in TABLES:
        need(content[t] == wanted.out[t], f"{t}: {[x for x in content[t].items() if x not in wanted.out[t].items()][:2]}, not {[x for x in wanted.out[t].items() if x not in content[t].items()][:2]}")
    need(set(content[LINKS]) == wanted.links, f"links: {set(content[LINKS]) ^ wanted.links}")


def judge(m, broken, B, O, T):
    """Takes out of the merged state what was left out of it, and sees that all else is sound, and that each was in the way."""
    def dangling():
        for t in TABLES:
            for k, row in m.out[t].items():
                for n, other in REFERENCES[t].items():
                    if row[n] != NULL and row[n] not in m.out[other]: yield t, k, n
        for p, tag in m.links:
            if p not in m.out["person"] or tag not in m.out["tag"]: yield LINKS, (p, tag), None
    before = set(dangling())
    for kind, t, k, base, ours, theirs in broken:
        if ours is None: m.out[t].pop(k, None); m.links = {l for l in m.links if t != "person" or l[0] != k}; drop(m, t, k)
        elif theirs is None: restore(m, t, k, O)
        else:
            for n in theirs:
                if n == LINKS: m.links = {l for l in m.links if l[0] != k} | {l for l in O[LINKS] if l[0] == k}
                else: m.out[t][k][n] = O[t][k][n]
    need(bool(before) == bool(broken), f"constraints {broken}, and what leads nowhere is {before}")
    rest = set(dangling())
    need(not rest, f"leads nowhere: {rest}; constraints {broken}")


def drop(m, t, k):
    for child, (table, column) in OWNER.items():
        if table != t: continue
        for x in [x for x, row in m.out[child].items() if row[column] == k and x not in m.O[child]]:
            del m.out[child][x]; drop(m, child, x)


def restore(m, t, k, O):
    if k not in O[t]: return
    m.out[t][k] = dict(O[t][k])
    m.links |= {l for l in O[LINKS] if t == "person" and l[0] == k}
    for child, (table, column) in OWNER.items():
        if table != t: continue
        for x in O[child]:
            if O[child][x][column] == k and x not in m.out[child]: restore(m, child, x, O)


def applied(ours, path):
    content = read(ours)
    with open(path, encoding="utf-8") as f:
        for line in map(json.loads, f):
            if "change" in line: apply(content, line, None, {})
    for table, key, moved in content.pop("gone", []): del content[table][key]
    return content


def store(ours, path, merged):
    wanted, got = applied(ours, path), read(merged)
    for t in wanted:
        need(got[t] == wanted[t], f"{t}: has {[x for x in got[t].items() if x not in wanted[t].items()][:2]}, not {[x for x in wanted[t].items() if x not in got[t].items()][:2]}")


def compare(wanted, found):
    # Keys of all values where a side has deleted the object, else of those that are concerned.
    def canon(c):
        kind, t, k, *sides = c
        whole = kind in ("changedDeleted", "deletedChanged")
        side = lambda s: None if s is None else tuple(sorted((n, v) for n, v in s.items() if n != LINKS and not (whole and t in OWNER and n == OWNER[t][1])))
        return kind, t, k, *map(side, sides)
    w, f = sorted(map(canon, wanted), key=repr), sorted(map(canon, found), key=repr)
    need(w == f, f"conflicts: wanted alone {[x for x in w if x not in f][:2]}, found alone {[x for x in f if x not in w][:2]}")


if __name__ == "__main__":
    try:
        {"make": make, "check": check, "store": store}[sys.argv[1]](*sys.argv[2:])
    except Wrong as error:
        print(error)
        sys.exit(1)
