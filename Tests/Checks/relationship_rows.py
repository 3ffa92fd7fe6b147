"""The rows and links of a store in memory: a part of `relationships.py`.

A row is named by the home of its table and its row id. What refers to a row that is not there yet, and cannot say so in
a column of its own, waits in a list.
"""
import collections


class State:
    """All that a store holds, and what a job has counted so far."""

    def __init__(self, model):
        self.tables = {home: {} for home in model.tables()}
        self.joins = {s.table: {} for s in model.storages if s.is_join}
        self.waiting = []           # links to rows that are not there
        self.stubs = set()          # (home, row id) of stubs that nothing has filled
        self.begin()

    def begin(self):
        """Forgets what the job before has counted."""
        self.ledger = collections.Counter()
        self.counts = collections.Counter()
        self.left_out = set()       # (home, row id) of children named within their parent that a list left out
        self.unlinked = set()       # (relationship, home, row id) of what lists left out
        self.lacking = []           # (relationship, home, row id) of new rows that lack a mandatory to-one
        self.stated = {}            # reference -> (record, key path) of its last statement
        for wait in self.waiting:
            wait["record"] = None

    def copy(self):
        """A copy that shares nothing that changes."""
        other = object.__new__(State)
        other.tables = {home: {i: dict(row) for i, row in rows.items()} for home, rows in self.tables.items()}
        other.joins = {t: {pair: list(p) for pair, p in links.items()} for t, links in self.joins.items()}
        other.waiting = [dict(w) for w in self.waiting]
        for name in ("stubs", "left_out", "unlinked"):
            setattr(other, name, set(getattr(self, name)))
        for name in ("ledger", "counts"):
            setattr(other, name, collections.Counter(getattr(self, name)))
        other.lacking, other.stated = list(self.lacking), dict(self.stated)
        return other


class Rows:
    """Rows, their links, and what deleting them does. `Store` sets `model`, `state` and `ordinal`, the record's number."""

    # Rows

    def row(self, row):
        """The values of a row by column."""
        home, row_id = row
        return self.state.tables[home][row_id]

    def is_there(self, row):
        """Whether a row has not been deleted."""
        home, row_id = row
        return row_id in self.state.tables[home]

    def rows_of(self, entity):
        """The rows of an entity and its subentities."""
        home = self.model.homes[entity]
        rows = [(home, i) for i in sorted(self.state.tables.get(home, {}))]
        return [row for row in rows if self.model.is_kind(self.entity_of(row), entity)]

    def entity_of(self, row):
        """The entity of a row."""
        home, row_id = row
        column = self.model.entity_column(home)
        return self.state.tables[home][row_id][column] if column else home

    def key(self, row):
        """The key of a row; None if it has none."""
        home, row_id = row
        if home in self.model.row_ids and not self.model.identifier(home):
            return (row_id,)
        columns = self.model.key_columns(home)
        values = tuple(self.row(row)[c] for c in columns)
        return None if not values or None in values else values

    def find(self, entity, key):
        """The row with a key, of whatever entity it is."""
        home = self.model.homes[entity]
        if key is None or home not in self.state.tables:
            return None
        rows = self.state.tables[home]
        if self.model.row_id_alias(home):
            return (home, key[0]) if key[0] in rows else None
        return next(((home, i) for i in rows if self.key((home, i)) == key), None)

    def insert(self, entity, key):
        """Inserts a row with its key only."""
        model = self.model
        home = model.homes[entity]
        rows = self.state.tables.setdefault(home, {})   # an abstract entity has none; its record is rejected
        alias = model.row_id_alias(home)
        row_id = max(rows, default=0) + 1
        if alias and key is not None and model.identifier(home):
            row_id = key[0]
        values = dict.fromkeys(c for c, _ in model.columns(home))
        if model.entity_column(home):
            values[model.entity_column(home)] = entity
        if key is not None:
            values.update(zip(model.key_columns(home), key))
        if alias:
            values[alias] = row_id
        rows[row_id] = values
        return home, row_id

    def portrait(self, row, seen=()):
        """All by which a record is updated: its row, its links with their places, and its positional children."""
        found, seen = [sorted(self.row(row).items())], (*seen, row)
        for r in self.model.relationships_of(self.entity_of(row)):
            storage, me = r.storage, self.key(row)
            waits = [w for w in self.waits(r, me) if not w.get("is_mirror")]
            found.append(sorted(repr((w["target"], w["position"])) for w in waits))
            children = self.destinations(r, row)
            if storage.is_join:
                found.append(sorted(self.links(r, me).items(), key=repr))
            elif storage.forward is not r:
                found.append([(c, self.key(c), at) for c, at in self.linked(r, row)])
            found += [self.portrait(c, seen) for c in children if c not in seen and self.is_positional(r, c)]
        return found

    # Counting

    def count(self, entity, kind, amount=1):
        """Counts for an entity."""
        self.state.counts[(entity, kind)] += amount

    def note(self, relationship, kind, amount=1):
        """Counts in the ledger, at a relationship."""
        self.state.ledger[(relationship.entity, relationship.name, kind)] += amount

    # Links

    def refer(self, row, storage, key, position=None):
        """Sets the reference columns of a row; a place that the list of the same parent gave stays."""
        values = self.row(row)
        old = self.reference(row, storage)
        if key != old or row in self.state.left_out:
            if storage.position:
                values[storage.position] = None
        self.state.left_out.discard(row)
        if key is None or key != old:
            self.state.stated.pop((storage.forward, row), None)
        self.state.waiting = [w for w in self.state.waiting if not (
            w["storage"] is storage and (w["target"] == ("key", self.key(row)) or w.get("row") == row))]
        for i, column in enumerate(storage.columns):
            values[column] = None if key is None else key[i]
        if position is not None and storage.position:
            values[storage.position] = position
        if storage.shape == 5:
            self.part(row, storage, old, key)

    def part(self, row, storage, old, key):
        """Takes former partners of a one-to-one apart."""
        if key is not None:
            self.state.waiting = [w for w in self.state.waiting if not (w["storage"] is storage and w["me"] == key)]
            for other in self.holders(storage, key):
                if other != row:
                    self.clear(other, storage)
        if not storage.is_symmetric:
            return
        mine = self.key(row)
        self.state.waiting = [w for w in self.state.waiting if not (w["storage"] is storage and w["me"] == mine)]
        if old is not None and old != key:
            former = self.find(storage.target, old)
            if former and former != row and self.reference(former, storage) == mine:
                self.clear(former, storage)
        if key is None:
            return
        partner = self.find(storage.target, key)
        if partner is None:
            self.state.waiting.append(dict(relationship=storage.forward, storage=storage, me=mine, target=("key", key),
                                           position=None, record=self.ordinal, path="", is_mirror=True))
        elif self.reference(partner, storage) != mine:
            self.refer(partner, storage, mine)

    def clear(self, row, storage):
        """Empties the reference columns of a row."""
        for column in storage.columns:
            self.row(row)[column] = None

    def join(self, r, me, other, position):
        """Makes a link in a join table, with its place in the list of one side."""
        storage, links = r.storage, self.state.joins[r.storage.table]
        side = 0 if storage.forward is r else 1
        pair = (me, other) if side == 0 else (other, me)
        positions = links.setdefault(pair, [None, None])
        if position is not None:
            positions[side] = position
        if storage.is_symmetric:
            links.setdefault((other, me), [None, None])

    def unjoin(self, r, me, other):
        """Removes a link from a join table."""
        links = self.state.joins[r.storage.table]
        links.pop((me, other) if r.storage.forward is r else (other, me), None)
        if r.storage.is_symmetric:
            links.pop((other, me), None)

    def is_joined(self, r, other):
        """Whether a destination has any link of a relationship in its join table."""
        side = 1 if r.storage.forward is r else 0
        return any(pair[side] == other for pair in self.state.joins[r.storage.table])

    def links(self, r, me):
        """The keys that a row is linked to in a join table, with their places."""
        side = 0 if r.storage.forward is r else 1
        links = self.state.joins[r.storage.table]
        return {pair[1 - side]: positions[side] for pair, positions in links.items() if pair[side] == me}

    def linked(self, r, row):
        """The rows that refer to a row, with their places, in order."""
        storage = r.storage
        found = [(c, self.row(c)[storage.position] if storage.position else None)
                 for c in self.holders(storage, self.key(row)) if c not in self.state.left_out]
        return sorted(found, key=lambda c: (c[1] is None, c[1] or 0, c[0][1]))

    def holders(self, storage, key):
        """The rows whose reference columns have a key."""
        home = self.model.homes[storage.holder]
        if key is None:
            return []
        return [(home, i) for i in sorted(self.state.tables[home]) if self.reference((home, i), storage) == key]

    def target(self, r, row):
        """The row that a to-one's own columns name, if it is there."""
        return self.find(r.destination, self.reference(row, r.storage))

    def reference(self, row, storage):
        """The key that the reference columns of a row have; None if it is not complete."""
        values = tuple(self.row(row).get(c) for c in storage.columns)
        return None if None in values else values

    # Links to rows that are not there

    def wait(self, r, row, target, element, position):
        """Notes a link to a row that is not there yet."""
        me = self.key(row)
        self.state.waiting.append(dict(
            relationship=r, storage=r.storage, me=me, target=target or ("by", element.by), position=position,
            record=self.ordinal, path=element.place.path, row=row if target is None else None))

    def waits(self, r, me):
        """What waits for elements of a row's list."""
        return [w for w in self.state.waiting if w["relationship"] is r and w["me"] == me]

    def forget_waits_of(self, r, me):
        """Drops what waits for the elements of a list that another one replaces."""
        self.state.waiting = [w for w in self.state.waiting if not (w["relationship"] is r and w["me"] == me)]

    def forget_waits_for(self, storage, target):
        """Drops what waits for a child: it has one parent, the last that named it."""
        self.state.waiting = [w for w in self.state.waiting if not (w["storage"] is storage and w["target"] == target)]

    def resolved(self, r, values, is_noted=False):
        """The key of the first row that has some values."""
        columns = [self.model.attribute(r.destination, name).column for name in r.by]
        fitting = [row for row in self.rows_of(r.destination) if tuple(self.row(row)[c] for c in columns) == values]
        if len(fitting) > 1 and is_noted:
            self.note(r, "ambiguous")
        return self.key(fitting[0]) if fitting else None

    def apply_waiting(self, row):
        """Makes the links that have waited for a row."""
        key = self.key(row)
        for wait in list(self.state.waiting):
            if wait not in self.state.waiting:
                continue
            r, storage = wait["relationship"], wait["storage"]
            if row not in self.rows_of(storage.holder if wait.get("is_mirror") else r.destination):
                continue
            kind, value = wait["target"]
            if value != (key if kind == "key" else self.by_values(r, row)):
                continue
            self.state.waiting.remove(wait)
            if wait.get("is_mirror"):
                # Since then it may have lost what it referred to.
                partner = self.find(storage.holder, wait["me"])
                if not partner or self.reference(partner, storage) != key:
                    continue
            if storage.is_join:
                if key not in self.links(r, wait["me"]):
                    self.join(r, wait["me"], key, wait["position"])
                    self.state.stated[(r, wait["me"], key)] = (wait["record"], wait["path"])
            elif wait.get("row"):
                self.refer(wait["row"], storage, key)
                self.state.stated[(r, wait["row"])] = (wait["record"], wait["path"])
            else:
                self.refer(row, storage, wait["me"], wait["position"])

    def by_values(self, r, row):
        """The values by which a relationship names a row."""
        return tuple(self.row(row)[self.model.attribute(r.destination, name).column] for name in r.by)

    # Deleting

    def delete(self, rows, is_forced=False):
        """Deletes rows by the delete rules; returns whether they may be deleted. Forced, nothing forbids it."""
        going, is_denied = self.closure(rows)
        if is_denied and not is_forced:
            return False
        keys = {row: self.key(row) for row in going}
        for row, me in keys.items():
            entity = self.entity_of(row)
            for s in self.model.storages:
                self.let_go(s, row, me)
            self.state.waiting = [w for w in self.state.waiting if not (w["me"] == me and self.model.is_kind(
                entity, w["relationship"].entity)) and w.get("row") != row]
        for home, row_id in going:
            self.count(self.entity_of((home, row_id)), "deleted")
        for home, row_id in going:
            del self.state.tables[home][row_id]
            for kept in (self.state.stubs, self.state.left_out):
                kept.discard((home, row_id))
            self.state.lacking = [x for x in self.state.lacking if x[1:] != (home, row_id)]
            self.state.unlinked = {x for x in self.state.unlinked if x[1:] != (home, row_id)}
        return True

    def closure(self, rows):
        """The rows that go with some, and whether a rule forbids it."""
        going = []
        todo = list(rows)
        while todo:
            row = todo.pop(0)
            if row in going:
                continue
            going.append(row)
            for r in self.model.relationships_of(self.entity_of(row)):
                if r.rule == "cascade":
                    todo += self.destinations(r, row)
        for row in going:
            entity, me = self.entity_of(row), self.key(row)
            for r in self.model.relationships_of(entity):
                others = [d for d in self.destinations(r, row) if d not in going]
                is_bound = r.rule == "nullify" and not r.storage.is_join and r.storage.forward is not r and (
                    r.storage.forward is not None and not r.storage.forward.is_optional)
                if others and (r.rule == "deny" or is_bound):
                    return going, True
            for s in self.model.storages:
                if s.shape == 2 and not s.forward.is_optional and self.model.homes[s.target] == row[0]:
                    if [h for h in self.referring(s, me) if h not in going]:
                        return going, True
        return going, False

    def destinations(self, r, row):
        """The rows that a row is linked to by a relationship."""
        if r.storage.is_join:
            found = [self.find(r.destination, other) for other in self.links(r, self.key(row))]
        elif r.storage.forward is r:
            found = [self.target(r, row)]
        else:
            found = [c for c, _ in self.linked(r, row)]
        return [f for f in found if f]

    def referring(self, storage, key):
        """The rows with a reference, in whatever tables its columns are."""
        homes = {self.model.homes[e] for e in self.model.entities if self.model.is_kind(e, storage.holder)}
        return [(home, i) for home in sorted(homes) for i in sorted(self.state.tables.get(home, {}))
                if key is not None and self.reference((home, i), storage) == key]

    def let_go(self, s, row, me):
        """Frees what refers to a row that is about to be deleted, as the foreign keys say."""
        if s.is_join:
            links = self.state.joins[s.table]
            for pair in list(links) if me is not None else []:
                for side, end in ((0, s.forward.entity), (1, s.forward.destination)):
                    if pair[side] == me and self.model.homes[end] == row[0] and pair in links:
                        del links[pair]
        elif self.model.homes[s.target] == row[0] and not (s.backward and s.backward.rule == "noAction"):
            for other in self.referring(s, me):
                self.clear(other, s)
                if s.position:
                    self.row(other)[s.position] = None
