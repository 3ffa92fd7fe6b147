"""The tables of a model with relationships, and a store of them written with Python's sqlite3."""
import sqlite3

from relationship_values import source_of, sources_of

AFFINITY = {"integer16": "INTEGER", "integer32": "INTEGER", "integer64": "INTEGER", "boolean": "INTEGER",
            "float": "REAL", "double": "REAL"}
WHOLE = ("integer16", "integer32", "integer64")


def quoted(name):
    """A name as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


class Attribute:
    """An attribute as the model file describes it."""

    def __init__(self, name, raw):
        self.name, self.kind = name, raw["type"]
        self.column = raw.get("column", name.replace(".", "_"))
        self.affinity = AFFINITY.get(self.kind, "TEXT")
        self.is_optional = raw.get("optional", False)
        self.has_default, self.default = "default" in raw, raw.get("default")
        self.sources = sources_of(raw["from"]) if "from" in raw else [(name,)]
        self.is_local = raw.get("owner") == "local"

    @property
    def is_required(self):
        """Whether a new object must mention it."""
        return not self.is_optional and not self.has_default


class Relationship:
    """A relationship as the model file describes it, its inverse, and the storage of its links."""

    def __init__(self, entity, name, raw):
        self.entity, self.name, self.raw = entity, name, raw
        self.destination = raw["entity"]
        self.is_many = raw.get("toMany", False)
        self.is_optional = raw.get("optional", True)
        self.least, self.most = raw.get("minCount"), raw.get("maxCount")
        self.is_union = raw.get("list") == "union"
        self.unresolved = raw.get("unresolved", "keep")
        self.is_by_place = raw.get("identity") == "position"
        self.policy = raw.get("onConflict", "merge")
        self.is_local = raw.get("owner") == "local"
        by = raw.get("by", [])
        self.by = by if isinstance(by, list) else [by]
        texts = raw.get("from", [name])
        # A list of key paths within `from` names the attributes of an identifier one by one.
        self.sources = [[source_of(t) for t in text] if isinstance(text, list) else self.source(text)
                        for text in (texts if isinstance(texts, list) else [texts])]
        self.inverse = self.storage = None

    def source(self, text):
        """One source; the name itself is a key, whatever is in it."""
        return (text,) if text == self.name and "from" not in self.raw else source_of(text)

    def __repr__(self):
        """Entity and name."""
        return f"{self.entity}.{self.name}"


class Storage:
    """Where the links of a relationship and its inverse are kept.

    In columns: `forward` is the to-one of the entity that has them, `backward` the other side; either may be None. In a
    join table `forward` is the side that makes it.
    """

    def __init__(self, shape, forward, backward, holder=None, target=None, base=None):
        self.shape, self.forward, self.backward = shape, forward, backward
        self.holder, self.target, self.base = holder, target, base
        self.columns = self.position = self.inverse_position = self.table = None

    @property
    def owner(self):
        """The relationship whose names count."""
        return self.forward or self.backward

    @property
    def is_join(self):
        """Whether it is a join table."""
        return self.shape in (3, 6)

    @property
    def is_symmetric(self):
        """Whether a relationship is its own inverse."""
        return self.forward is not None and self.forward is self.backward


class Model:
    """Entities, their tables, and the storages of their relationships."""

    def __init__(self, raw):
        self.raw = raw["entities"]
        self.entities = list(self.raw)
        self.own_attributes = {e: [Attribute(n, a) for n, a in self.raw[e].get("attributes", {}).items()]
                               for e in self.entities}
        self.own_relationships = {e: [Relationship(e, n, r) for n, r in self.raw[e].get("relationships", {}).items()]
                                  for e in self.entities}
        self.relationships = [r for e in self.entities for r in self.own_relationships[e]]
        for r in self.relationships:
            if "inverse" in r.raw:
                r.inverse = next(i for i in self.relationships_of(r.destination) if i.name == r.raw["inverse"])
        self.storages = []
        for r in self.relationships:
            if r.storage is None:
                self.place(r)
        for r in self.relationships:
            owned = r.storage.shape == 1 or self.is_owned(r.destination)
            r.deletes_orphans = r.raw.get("orphans", "delete" if owned else "keep") == "delete"
            r.rule = r.raw.get("deleteRule", "cascade" if r.storage.shape == 1 else "nullify")
        self.homes = {e: self.home(e) for e in self.entities}
        self.name_bases()
        self.row_ids = self.row_id_columns()
        for s in self.storages:
            self.name_columns(s)

    # Entities

    def chain(self, entity):
        """An entity and its ancestors, upwards."""
        while entity:
            yield entity
            entity = self.raw[entity].get("parent")

    def is_kind(self, entity, other):
        """Whether an entity is another one or descends from it."""
        return other in self.chain(entity)

    def attributes(self, entity):
        """An entity's attributes, inherited ones first."""
        found = {}
        for e in reversed(list(self.chain(entity))):
            found.update({a.name: a for a in self.own_attributes[e]})
        return list(found.values())

    def attribute(self, entity, name):
        """An attribute by name, own or inherited."""
        return next(a for a in self.attributes(entity) if a.name == name)

    def relationships_of(self, entity):
        """An entity's relationships, inherited ones first."""
        return [r for e in reversed(list(self.chain(entity))) for r in self.own_relationships[e]]

    def identifier(self, entity):
        """The names in an entity's identifier, `@parent` first."""
        names = next((self.raw[e]["identifier"] for e in self.chain(entity) if self.raw[e].get("identifier")), [])
        return sorted(names, key=lambda name: name != "@parent")

    def is_owned(self, entity):
        """Whether objects of an entity have no identity but within another."""
        names = self.identifier(entity)
        return not names or "@parent" in names

    def is_abstract(self, entity):
        """Whether no object is of just this entity."""
        return self.raw[entity].get("abstract", False)

    def requires_more(self, entity):
        """Whether a row needs more than its identifier."""
        if any(a.is_required for a in self.attributes(entity) if a.name not in self.identifier(entity)):
            return True
        return any(self.must_be_stated(r) for r in self.relationships_of(entity))

    def needs_identifier(self, entity):
        """Whether other rows name an entity's rows by an identifier, so that no row may lack it."""
        home = self.homes[entity]
        if not self.identifier(entity) or self.row_id_alias(home):
            return False
        ends = [s.target for s in self.storages if not s.is_join]
        ends += [e for s in self.storages if s.is_join for e in (s.forward.entity, s.forward.destination)]
        return home in [self.homes[e] for e in ends]

    def must_be_stated(self, relationship):
        """Whether a to-one is mandatory, and nothing but its own key can state it."""
        r = relationship
        return not r.is_many and not r.is_optional and not (r.inverse and r.inverse.sources)

    # Storages

    def place(self, r):
        """Decides where the links of a relationship and its inverse are kept."""
        i = r.inverse
        if i is None:
            if self.is_owned(r.destination):
                made = Storage(1, None, r, r.destination, r.entity)
            elif not r.is_many:
                made = Storage(2, r, None, r.entity, r.destination, r.name)
            else:
                made = Storage(3, r, None)
        elif r.is_many and i.is_many:
            made = Storage(6, r, i)
        elif r.is_many != i.is_many:
            one, many = (i, r) if r.is_many else (r, i)
            made = Storage(4, one, many, one.entity, one.destination, one.name)
        else:
            one = self.column_side(r, i)
            made = Storage(5, one, one.inverse, one.entity, one.destination, one.name)
        self.storages.append(made)
        r.storage = made
        if i:
            i.storage = made

    def column_side(self, first, second):
        """Which of two to-one relationships, in the order of the file, has the column."""
        pair = [first, second]
        tests = [
            lambda r: self.is_owned(r.entity),
            lambda r: r.inverse.raw.get("deleteRule") == "cascade",
            lambda r: not r.is_optional,
        ]
        for test in tests:
            fitting = [r for r in pair if test(r)]
            if len(fitting) == 1:
                return fitting[0]
        return first

    def home(self, entity):
        """The entity in whose table an entity's rows are."""
        named = {r.destination for r in self.relationships}
        named |= {r.entity for r in self.relationships if r.storage.shape in (1, 3)}
        return ([e for e in self.chain(entity) if e in named] or [entity])[-1]

    def residents(self, home):
        """The entities whose rows are in one table, in the order of the file."""
        return [e for e in self.entities if self.homes[e] == home]

    def table(self, entity):
        """The name of the table with an entity's rows."""
        home = self.homes[entity]
        return self.raw[home].get("table", home)

    def has_table(self, home):
        """An abstract entity that nothing refers to has no table."""
        return any(not self.is_abstract(e) for e in self.residents(home)) or any(
            self.homes[r.destination] == home for r in self.relationships)

    def tables(self):
        """The home of each table, in the order of the file."""
        return [e for e in self.entities if self.homes[e] == e and self.has_table(e)]

    def table_attributes(self, home):
        """The attributes of a table: those of its home, then of its subentities."""
        found = {a.name: a for a in self.attributes(home)}
        for e in self.residents(home):
            for a in self.own_attributes[e]:
                found.setdefault(a.name, a)
        return list(found.values())

    def free_column(self, home, name):
        """A column name that no attribute of a table has."""
        taken = {a.column.lower() for a in self.table_attributes(home)}
        return next(c for c in [name] + [f"{name}_{n}" for n in range(2, 99)] if c not in taken)

    def entity_column(self, entity):
        """The column with a row's entity; None in a table of one entity."""
        home = self.homes[entity]
        return self.free_column(home, "entity") if len(self.residents(home)) > 1 else None

    def name_bases(self):
        """Names what the columns of shape 1 begin with."""
        first = [s for s in self.storages if s.shape == 1]
        for s in first:
            others = [t for t in first if t.target == s.target and self.homes[t.holder] == self.homes[s.holder]]
            s.base = s.target if len(others) == 1 else f"{s.target}_{s.backward.name}"

    def row_id_columns(self):
        """The row id column of each table whose key it is."""
        found = {}
        for s in self.storages:
            for e in [s.forward.entity, s.forward.destination] if s.is_join else [s.target]:
                if not self.identifier(e):
                    found[self.homes[e]] = None
        for e in self.entities:
            if not self.table_attributes(self.homes[e]):
                found[self.homes[e]] = None
        return {home: self.free_column(home, "row_id") for home in found}

    def parent_storage(self, entity):
        """The storage whose columns `@parent` in the identifier stands for."""
        chain = list(self.chain(entity)) + [e for e in self.entities if self.is_kind(e, entity)]
        return next(s for s in self.storages if s.shape in (1, 4, 5) and s.holder in chain)

    def key(self, entity):
        """The columns of an entity's key with their types."""
        names, found = self.identifier(entity), []
        if not names:
            home = self.homes[entity]
            return [(self.row_ids[home], "INTEGER")] if home in self.row_ids else []
        for name in names:
            if name == "@parent":
                found += self.reference(self.parent_storage(entity))
            else:
                a = self.attribute(entity, name)
                found.append((a.column, a.affinity))
        return found

    def key_columns(self, entity):
        """The names of the columns of an entity's key."""
        return [column for column, _ in self.key(entity)]

    def row_id_alias(self, home):
        """The column that is the INTEGER PRIMARY KEY of a table, if any."""
        names = self.identifier(home)
        if len(names) == 1 and names[0] != "@parent" and self.attribute(home, names[0]).kind in WHOLE:
            return self.attribute(home, names[0]).column
        return self.row_ids.get(home)

    def reference(self, storage):
        """The reference columns of a storage with their types."""
        raw = storage.owner.raw
        key = self.key(storage.target)
        names = [raw["column"]] if "column" in raw else raw.get("columns") or [f"{storage.base}_{c}" for c, _ in key]
        return [(name, kind) for name, (_, kind) in zip(names, key)]

    def is_ordered(self, r):
        """Whether positions of a to-many relationship are kept."""
        second = r.storage.shape == 6 and r is not r.storage.forward
        return r.raw.get("ordered", not second and r.sources != [])

    def name_columns(self, s):
        """Names the columns of a storage."""
        if not s.is_join:
            s.columns = [column for column, _ in self.reference(s)]
            back = s.backward
            if s.shape in (1, 4):
                has = not self.identifier(s.holder) or back.is_by_place or (back.is_many and self.is_ordered(back))
                s.position = f"{s.base}_position" if has else None
            return
        r, i = s.forward, s.backward
        home = self.raw[r.entity].get("table", r.entity)
        s.table = r.raw.get("table") or (i.raw.get("table") if i else None) or f"{home}_{r.name}"
        s.source = [(f"{home}_{c}", kind) for c, kind in self.key(r.entity)]
        s.destination = [(f"{r.name}_{c}", kind) for c, kind in self.key(r.destination)]
        s.position = "position" if self.is_ordered(r) or not self.identifier(r.destination) else None
        if i and i is not r and (self.is_ordered(i) or not self.identifier(r.entity)):
            s.inverse_position = "inverse_position"

    # Tables

    def held(self, home):
        """The storages whose columns a table has: its entities' own relationships first, then those of shape 1."""
        here = set(self.residents(home)) | set(self.chain(home))
        held = [s for s in self.storages if not s.is_join and s.holder in here]
        return sorted(held, key=lambda s: (s.shape == 1, self.relationships.index(s.owner)))

    def columns(self, home):
        """The columns of a table with their types, in order."""
        found = [(self.row_ids[home], "INTEGER")] if home in self.row_ids else []
        found += [(a.column, a.affinity) for a in self.table_attributes(home)]
        if self.entity_column(home):
            found.append((self.entity_column(home), "TEXT"))
        for s in self.held(home):
            found += self.reference(s) + ([(s.position, "INTEGER")] if s.position else [])
        return found

    def action(self, s):
        """What deleting the row that a reference names does."""
        if s.shape == 2:
            return "SET NULL" if s.forward.is_optional else "RESTRICT"
        if s.backward.rule == "nullify":
            return "SET NULL" if s.forward is None or s.forward.is_optional else "RESTRICT"
        actions = {"cascade": "CASCADE", "deny": "RESTRICT", "noAction": "NO ACTION DEFERRABLE INITIALLY DEFERRED"}
        return actions[s.backward.rule]

    def foreign_key(self, columns, target, action):
        """The SQL of a foreign key."""
        names, others = ", ".join(map(quoted, columns)), ", ".join(map(quoted, self.key_columns(target)))
        return f"FOREIGN KEY ({names}) REFERENCES {quoted(self.table(target))} ({others}) ON DELETE {action}"

    def statements(self):
        """The SQL that makes the tables, and the SQL that makes the indexes."""
        tables, indexes = [], []

        def index(name, table, columns, unique=""):
            """Adds an index."""
            names = ", ".join(map(quoted, columns))
            indexes.append(f"CREATE {unique}INDEX {quoted(name)} ON {quoted(table)} ({names})")

        for home in self.tables():
            table, alias, names = self.table(home), self.row_id_alias(home), self.identifier(home)
            parts = [f"{quoted(c)} {kind}" + (" PRIMARY KEY" if c == alias else "") for c, kind in self.columns(home)]
            for s in self.held(home):
                parts.append(self.foreign_key(s.columns, s.target, self.action(s)))
                if s.position and not names:
                    index(f"{table}_{s.base}", table, s.columns + [s.position], "UNIQUE ")
                else:
                    index(f"{table}_{s.base}", table, s.columns, "UNIQUE " if s.shape == 5 else "")
            key = self.key_columns(home) if names and alias is None else []
            if len(key) == 1 and dict(self.columns(home))[key[0]] == "INTEGER":
                # The primary key would be the row id.
                index(f"{table}_identifier", table, key, "UNIQUE ")
            elif key:
                parts.append(f"PRIMARY KEY ({', '.join(map(quoted, key))})")
            tables.append(f"CREATE TABLE {quoted(table)} ({', '.join(parts)})")
        for s in self.storages:
            if s.is_join:
                tables.append(self.join_statement(s))
                index(f"{s.table}_inverse", s.table, [c for c, _ in s.destination])
        return tables, indexes

    def join_statement(self, s):
        """The SQL that makes a join table."""
        sources, destinations = [c for c, _ in s.source], [c for c, _ in s.destination]
        parts = [f"{quoted(c)} {kind}" for c, kind in s.source + s.destination]
        parts += [f"{quoted(c)} INTEGER" for c in (s.position, s.inverse_position) if c]
        parts.append(f"PRIMARY KEY ({', '.join(map(quoted, sources + destinations))})")
        r = s.forward
        for columns, target, side in ((sources, r.entity, r), (destinations, r.destination, s.backward)):
            parts.append(self.foreign_key(columns, target, "RESTRICT" if side and side.rule == "deny" else "CASCADE"))
        return f"CREATE TABLE {quoted(s.table)} ({', '.join(parts)}) WITHOUT ROWID"


def write_store(model, tables, joins, path):
    """Writes rows and links, each table by its name, to a SQLite file.

    `tables` has rows by row id, each a dictionary by column; `joins` has positions by the pair of keys that is linked.
    """
    connection = sqlite3.connect(path)
    making, indexing = model.statements()
    for statement in making:
        connection.execute(statement)
    for home in model.tables():
        columns, alias = [c for c, _ in model.columns(home)], model.row_id_alias(home)
        others = [c for c in columns if c != alias]
        names = ", ".join([quoted(alias) if alias else "rowid"] + [quoted(c) for c in others])
        sql = f"INSERT INTO {quoted(model.table(home))} ({names}) VALUES ({', '.join('?' * (len(others) + 1))})"
        for row_id, row in sorted(tables[home].items()):
            connection.execute(sql, [row_id] + [row[c] for c in others])
    for s in model.storages:
        if s.is_join:
            marks = ", ".join("?" * (len(s.source + s.destination) + bool(s.position) + bool(s.inverse_position)))
            for (source, destination), positions in joins[s.table].items():
                values = [p for p, c in zip(positions, (s.position, s.inverse_position)) if c]
                connection.execute(f"INSERT INTO {quoted(s.table)} VALUES ({marks})", [*source, *destination, *values])
    for statement in indexing:
        connection.execute(statement)
    connection.commit()
    connection.close()
