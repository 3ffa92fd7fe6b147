#!/usr/bin/env python3
"""The slow and obvious reading of importing records with relationships: one record after the other, all in memory.

usage: relationships.py MODEL STORE STEP...   makes the SQLite file STORE, and prints a JSON report

STEP is a JSON file, with options behind it, each after a plus sign:

    people.json+entity=person+records=$.people[*]+on_conflict=replace

`records` may be repeated. Without `entity` a record path decides by the `records` of the model's entities, or the
file's name does. A step is an import of its own into the same store. Not read: what `--on-error` and `--lossless`
change, transformers, formats of dates but ISO 8601, generated attributes, and what a table's triggers and constraints
do.

The report of a step: `rejects` (number of the record, entity, pairs of code and key path), `ledger` (entity, attribute
or relationship, kind, count), `unresolved` (entity, relationship, count), and by entity `entities`: of its records
`read`, `inserted`, `updated`, `unchanged`, `ignored`, `rejected`; `nested`, and of these `linked`, `nested_inserted`,
`nested_updated`, `nested_unchanged`, `nested_ignored`; `stubs` (made, less those of earlier steps that were filled),
`deleted`, `rows_before`, `rows`.

As a module: `store = Store(model)`; for each step `store.take(values, entity=…, records=[…], on_conflict=…)`, which
returns its report; `store.write(path)`. Values have numbers as `records.Number`, as `records.parsed` makes them.
"""
import collections
import json
import os
import sys

sys.dont_write_bytecode = True

from records import documents, parsed, steps, text_of
from relationship_layout import Model, write_store
from relationship_reading import Element, Reader, star_less
from relationship_rows import State
from relationship_values import MISSING, Misfit, Place, coerced, joined

EFFECTS = ("inserted", "updated", "unchanged", "ignored")


class Store(Reader):
    """A store that takes records one after the other. A row is named by (home of its table, row id)."""

    def __init__(self, model):
        self.model = Model(model)
        self.state = State(self.model)

    # Jobs

    def take(self, values, entity=None, records=(), on_conflict="merge"):
        """Imports JSON values (with `records.Number`s) as one job; returns its report."""
        work = list(self.records_of(values, entity, records))
        before = self.state
        rejected = {}
        while True:
            self.state = before.copy()
            self.state.begin()
            rows_before = self.row_counts()
            self.rejects = []
            for ordinal, (named, key, value) in enumerate(work, 1):
                self.ordinal = ordinal
                self.take_record(named, value, key, on_conflict, rejected.get(ordinal))
            found = self.unresolved_records()
            if not found:
                break
            # What a record lacks is known at the end: it is as if it had never been there.
            for ordinal, path in found:
                rejected.setdefault(ordinal, [])
                if ("unresolved", path) not in rejected[ordinal]:
                    rejected[ordinal].append(("unresolved", path))
        unresolved = self.settle()
        return self.report(unresolved, rows_before)

    def records_of(self, values, entity, paths):
        """The records of some values: their entity, key and value, in source order."""
        values = list(values)
        if not paths:
            own = {e: self.model.raw[e].get("records") for e in self.model.entities}
            paths = [own[entity]] if entity and own[entity] else [p for p in own.values() if p] if not entity else []
        if not paths:
            paths = ["$[*]" if len(values) == 1 and isinstance(values[0], list) else "$"]
        named = []
        for path in paths:
            of_path = [e for e in self.model.entities if self.model.raw[e].get("records") == path]
            named.append((steps(path), entity or (of_path or self.model.entities)[0]))
        for value in values:
            for place, key, record in walked(value, [path for path, _ in named]):
                yield named[place][1], key, record

    def row_counts(self):
        """How many rows each entity has."""
        found = collections.Counter()
        for home, rows in self.state.tables.items():
            for row_id in rows:
                found[self.entity_of((home, row_id))] += 1
        return found

    def report(self, unresolved, rows_before):
        """What a job did."""
        entities, rows = {}, self.row_counts()
        for e in self.model.entities:
            counts = {kind: self.state.counts[(e, kind)] for kind in
                      ("read", *EFFECTS, "rejected", "nested", "linked", "stubs", "deleted")}
            for kind in EFFECTS:
                counts[f"nested_{kind}"] = self.state.counts[(e, f"nested_{kind}")]
            counts["rows_before"], counts["rows"] = rows_before[e], rows[e]
            entities[e] = counts
        return {
            "rejects": [{"record": n, "entity": e, "errors": errors} for n, e, errors in self.rejects],
            "ledger": [[e, a, k, n] for (e, a, k), n in sorted(self.state.ledger.items()) if n],
            "entities": entities,
            "unresolved": unresolved,
        }

    def write(self, path):
        """Writes the store as a SQLite file."""
        write_store(self.model, self.state.tables, self.state.joins, path)

    # Records

    def take_record(self, named, value, key, policy, late_errors):
        """Takes one record, or undoes all of it and keeps its errors."""
        before = self.state
        self.state = before.copy()
        self.faults = []
        self.covered = set()
        self.last_lists = {}    # (relationship, row) -> its last list of children without identifier
        place = Place(value, key=key)
        if not isinstance(value, dict):
            self.fault("record", "notAnObject", "")
            effect, entity = None, named
        else:
            entity, effect = self.take_root(named, place, policy)
        errors = self.errors() or late_errors
        if errors:
            self.state = before
            self.rejects.append((self.ordinal, named, errors))
            effect = "rejected"
        if effect == "ignored":
            self.state = before
        self.count(entity if not errors else named, "read")
        self.count(entity if not errors else named, effect)

    def take_root(self, named, place, policy):
        """Takes a record's object with all in it; returns its entity and what became of it."""
        element = Element(place)
        self.identify(element, named, None, None)
        row = self.find(element.entity, element.key)
        before = row and row not in self.state.stubs and self.portrait(row)
        row, effect = self.take_object(element, named, None, policy)
        if effect == "updated" or effect == "unchanged":
            effect = "unchanged" if self.portrait(row) == before else "updated"
        return (self.entity_of(row) if row else named), effect

    def fault(self, kind, code, path):
        """Notes an error.

        Its kind is `record` for what the record alone shows, `store` for what the store shows, `new` for what a new object
        lacks, and `unmet` for what one lacks that is in the store, and that would be missing if it were not.
        """
        self.faults.append((kind, code, path))

    def errors(self):
        """The errors of the record. What is wrong with it by itself is known before the store is looked at."""
        kinds = {kind for kind, _, _ in self.faults}
        wanted = ("record", "new", "unmet") if "record" in kinds else ("store", "new")
        return list(dict.fromkeys((code, path) for kind, code, path in self.faults if kind in wanted))

    # Objects

    def take_object(self, element, named, came_by, policy):
        """Writes an object and all in it; returns its row and the effect on the row."""
        model, place = self.model, element.place
        entity = element.entity
        row = self.find(element.entity, element.key)
        is_stub = row in self.state.stubs
        stub_entity = self.entity_of(row) if is_stub else None
        if is_stub and model.is_kind(entity, self.entity_of(row)) and model.entity_column(entity):
            self.row(row)[model.entity_column(entity)] = entity     # nothing has said yet what it is
        if row and not model.is_kind(self.entity_of(row), named):
            self.fault("store", "wrongEntity", place.path)
        elif row and entity != named and not model.is_kind(self.entity_of(row), entity):
            self.fault("store", "wrongEntity", place.path)
        elif row:
            entity = self.entity_of(row)
        if not row and model.is_abstract(entity):
            self.fault("store", "abstractEntity", place.path)
        if row and not is_stub and policy == "error":
            names = [n for n in model.identifier(named) if n != "@parent"]
            self.fault("store", "duplicateIdentifier", self.look(named, names[0], place).path if names else place.path)
        if row and not is_stub and policy == "ignore":
            # Its errors count all the same: what is wrong with a record by itself is known before the store is.
            kept, known = self.state, len(self.faults)
            self.state = kept.copy()
            self.fill(row, entity, place, "merge", came_by)
            self.state = kept
            self.faults[known:] = [f for f in self.faults[known:] if f[0] in ("record", "unmet")]
            if came_by:
                self.count(entity, "nested")
                self.count(entity, "nested_ignored")
            return row, "ignored"
        if not row:
            row = self.insert(entity, element.key)
            effect = "inserted"
        elif is_stub:
            self.state.stubs.discard(row)
            self.count(stub_entity, "stubs", -1)
            effect = "inserted"
        else:
            effect = None
        mode = "insert" if effect else "replace" if policy == "replace" else "merge"
        is_strict = policy in ("replace", "error")
        return row, self.fill(row, entity, place, mode, came_by, is_strict, effect)

    def fill(self, row, entity, place, mode, came_by, is_strict=False, effect=None):
        """Sets what an object mentions: attributes, own references, then the links and objects of each relationship.

        Modes: `insert` a new row, `merge` or `replace` a stored one, `place` overwrites a positional child in full.
        """
        before = dict(self.row(row))
        lack = "record" if is_strict or mode == "place" or not self.model.identifier(entity) else "new"
        lack = "unmet" if mode == "merge" and not is_strict else lack
        self.fill_attributes(row, entity, place, mode, lack, is_positional=mode == "place")
        self.apply_waiting(row)
        relationships = self.model.relationships_of(entity)
        statements = {r: self.statement(r, place, row) for r in relationships}
        for r in relationships:
            self.complete(r, statements[r], row, mode, lack, came_by)
        for r in relationships:
            if r.storage.forward is r and not r.storage.is_join and not self.is_kept(r, mode):
                self.set_own_reference(r, statements[r], row)
        self.note_unknown_keys(entity, place)
        if not effect:
            effect = "unchanged" if self.row(row) == before else "updated"
        if came_by:
            self.count(entity, f"nested_{effect}")
            self.count(entity, "nested")
        for r in relationships:
            self.faults += statements[r].faults
            # A statement within a positional child may have deleted it, where it is about the same list.
            if statements[r].is_given and self.is_there(row):
                self.take_links(r, statements[r], row, self.is_kept(r, mode))
        return effect

    def is_kept(self, relationship, mode):
        """Whether imports leave the links of this stored object."""
        return relationship.is_local and mode in ("merge", "replace")

    def fill_attributes(self, row, entity, place, mode, lack, is_positional):
        """Sets the attributes that an object mentions, and what an insert or a replacement gives to the others."""
        names = self.model.identifier(entity)
        values = self.row(row)
        for a in self.model.attributes(entity):
            found = self.look(entity, a.name, place)
            is_exempt = is_positional and a.name in names
            is_stored = mode in ("merge", "replace")
            if found.value is MISSING:
                if (a.is_required or a.name in names) and not is_exempt:
                    self.fault("record" if a.name in names else lack, "missingValue", found.path)
                elif mode != "merge" and not is_exempt and not (is_stored and a.is_local):
                    values[a.column] = self.default(a)
                continue
            stored = None
            if found.value is None:
                if is_exempt or (a.is_optional and a.name not in names):
                    self.note_covered(entity, place, found)
                elif found.above is not None:
                    self.fault("record", "notAnObject", joined(place.path, steps(found.above)))
                else:
                    is_nested_key = place.path and a.name in names
                    self.fault("record", "missingValue" if is_nested_key else "unexpectedNull", found.path)
            else:
                try:
                    stored, notes = coerced(found.value, a.kind)
                    for note in notes:
                        self.state.ledger[(entity, a.name, note)] += 1
                except Misfit as misfit:
                    self.fault("record", misfit.code, found.path)
            if is_exempt and stored is None and values[a.column] is not None:
                continue
            if not (is_stored and a.is_local):
                values[a.column] = stored

    def default(self, attribute):
        """What an attribute gets that its record does not mention."""
        value = attribute.default
        return None if value is None else coerced(parsed(json.dumps(value)), attribute.kind)[0]

    def note_covered(self, entity, place, found):
        """Counts, once per object, a value that is no object above what is read."""
        where = (entity, place.path, found.above)
        if found.above is not None and where not in self.covered:
            self.covered.add(where)
            self.state.ledger[(entity, found.above, "notAnObject")] += 1

    def note_unknown_keys(self, entity, place):
        """Counts the shallowest paths that nothing of the entity reads."""
        if not isinstance(place.value, dict):
            return
        known = [s for a in self.model.attributes(entity) for s in a.sources if isinstance(s, tuple)]
        for r in self.model.relationships_of(entity):
            for source in r.sources:
                known += source if isinstance(source, list) else [star_less(source)]
        chooser = self.model.raw[entity].get("subentity")
        for e in self.model.chain(entity):
            chooser = chooser or self.model.raw[e].get("subentity")
        if chooser:
            known.append(tuple(steps(chooser["from"])))

        def visit(value, path):
            """Counts the keys of an object below a path."""
            for key, member in value.items():
                at = path + (key,)
                if any(at[:len(k)] == k for k in known):
                    continue
                if any(k[:len(at)] == at for k in known):
                    if isinstance(member, dict):
                        visit(member, at)
                else:
                    self.state.ledger[(entity, joined("", at), "unknownKey")] += 1

        visit(place.value, ())

    def complete(self, r, said, row, mode, lack, came_by):
        """What a missing key says of a relationship."""
        is_nested_in_it = came_by is not None and came_by.inverse is r
        if said.is_given or said.faults or is_nested_in_it:
            return
        if not r.is_many and not r.is_optional:
            if self.model.must_be_stated(r):
                said.faults.append((lack, "missingValue", said.path))
            elif mode != "merge":
                self.state.lacking.append((r, *row))
        if mode in ("replace", "place") and r.sources:
            said.elements, said.is_given = [], True

    # Links

    def set_own_reference(self, r, said, row):
        """Sets a to-one's columns that are on the object's own table, as far as its identifier is known."""
        if not said.is_given or said.faults:
            return
        if not said.elements:
            self.drop_target(r, row)
            self.refer(row, r.storage, None)
            return
        element = said.elements[0]
        key = element.key
        if element.by:
            key = self.resolved(r, element.by)
            if key is None:
                self.refer(row, r.storage, None)
                self.wait(r, row, None, element, None)
                return
        if key is not None:
            self.refer(row, r.storage, key)
            self.state.stated[(r, row)] = (self.ordinal, element.place.path)

    def drop_target(self, r, row):
        """Notes that a to-one leads to a positional object no longer, which goes at the end if nothing refers to it then."""
        target = self.target(r, row)
        if target and not self.model.identifier(r.destination):
            self.state.unlinked.add((r, *target))

    def take_links(self, r, said, row, is_kept):
        """Makes the links what a statement says, then takes the objects in it."""
        self.note(r, "nullElement", said.nulls)
        listed = {}     # what each element names, with the first element that names it
        for element in said.elements:
            if not element.faults:
                target = self.target_of(r, element)
                self.note(r, "duplicateLink", target in listed)
                listed.setdefault(target, element)
        self.check_count(r, said, len(listed))
        is_list = not self.model.identifier(r.destination) and (r.storage.is_join or r.storage.forward is not r)
        if is_list and not is_kept:
            self.last_lists[(r, row)] = said
        if not said.faults and not is_kept:
            if r.storage.is_join:
                self.link_by_table(r, row, listed, r.is_union and said.is_list)
            elif r.storage.forward is not r:
                self.link_by_columns(r, row, listed, r.is_union and said.is_list)
        for element in said.elements:
            # An object that is nested in itself may have stated the list again, and that one counts.
            is_last = self.last_lists.get((r, row), said) is said
            # What has been deleted since has no children; other objects in it are objects all the same.
            if is_last and (self.is_there(row) or not element.is_by_place):
                self.take_element(r, element, row, is_kept)

    def target_of(self, r, element):
        """What an element names, so that two that name the same object are equal."""
        if element.is_by_place or (element.is_object and element.key is None):
            return element
        if element.by:
            key = self.resolved(r, element.by, is_noted=True)
            return ("by", element.by) if key is None else ("key", key)
        return ("key", element.key)

    def check_count(self, r, said, count):
        """Checks how many elements a list has."""
        if not r.is_many or not said.is_list:
            return
        least = r.least if r.least is not None else (0 if r.is_optional else 1)
        if count < least and not r.is_union:
            self.fault("record", "tooFew", said.path)
        if r.most is not None and count > r.most:
            self.fault("record", "tooMany", said.path)

    def take_element(self, r, element, row, is_kept):
        """Takes the object of an element, or counts it as a reference."""
        for code, path in element.faults:
            self.fault("record", code, path)
        for note in element.notes:
            self.note(r, note)
        if element.faults:
            return
        if element.is_by_place:
            self.take_by_place(r, element, row, is_kept)
        elif element.is_object:
            self.take_object(element, r.destination, r, r.policy)
        else:
            self.count(r.destination if element.entity is None else element.entity, "linked")
            self.count(r.destination if element.entity is None else element.entity, "nested")
            if element.entity:
                self.read_reference(element)

    def read_reference(self, element):
        """Counts what the ledger has of an object that is only a reference."""
        for name in self.model.identifier(element.entity):
            if name != "@parent":
                found = self.look(element.entity, name, element.place)
                for note in coerced(found.value, self.model.attribute(element.entity, name).kind)[1]:
                    self.state.ledger[(element.entity, name, note)] += 1
        self.note_unknown_keys(element.entity, element.place)

    def take_by_place(self, r, element, row, is_kept):
        """Overwrites the child at a place, or inserts it."""
        entity = element.entity
        if self.model.is_abstract(entity):
            self.fault("record", "abstractEntity", element.place.path)
        if is_kept:
            self.count(entity, "nested")
            self.count(entity, "nested_ignored")
            return
        child = self.child_at(r, row, element.position)
        effect = None
        if child is None:
            child = self.insert(entity, None)
            effect = "inserted"
        elif self.entity_of(child) != entity:
            values, column = self.row(child), self.model.entity_column(entity)
            for a in self.model.table_attributes(child[0]):
                if a.column != self.model.row_id_alias(child[0]):
                    values[a.column] = None
            values[column] = entity
            effect = "updated"
        storage = r.storage
        if storage.is_join:
            if effect == "inserted":
                self.join(r, self.key(row), self.key(child), element.position)
        elif storage.forward is r:
            self.refer(row, storage, self.key(child))
        else:
            self.refer(child, storage, self.key(row), element.position)
        self.fill(child, entity, element.place, "place", r, effect=effect)

    def child_at(self, r, row, place):
        """The positional child at a place."""
        storage = r.storage
        if storage.is_join:
            found = [other for other, position in self.links(r, self.key(row)).items() if position == place]
            return self.find(r.destination, found[0]) if found else None
        if storage.forward is r:
            return self.target(r, row)
        return next((c for c, at in self.positional(r, row) if at == place), None)

    def positional(self, r, row):
        """The positional children that refer to a row, with their places.

        Those of an entity without identifier are counted: what no list named comes last, and is one of them all the same.
        """
        found = [(c, at) for c, at in self.linked(r, row) if self.is_positional(r, c)]
        has_places = r.storage.position and (self.model.identifier(r.destination) or r.is_union)
        return found if has_places else [(c, at) for at, (c, _) in enumerate(found)]

    def has_positions(self, r):
        """Whether a relationship's links have positions."""
        storage = r.storage
        return bool(storage.inverse_position if storage.is_join and storage.forward is not r else storage.position)

    def is_positional(self, r, child):
        """Whether a row has no identity but its place."""
        home, _ = child
        names = self.model.identifier(self.entity_of(child))
        if not names:
            return True
        if not (r.is_by_place or "@parent" in names):
            return False
        if r.is_by_place and self.model.row_id_alias(home):
            return True     # a row id is never null, so that every child may be one
        return any(self.row(child)[self.model.attribute(self.entity_of(child), n).column] is None
                   for n in names if n != "@parent")

    def link_by_columns(self, r, row, listed, is_union):
        """Makes the children of a row, which refer to it, exactly what a list says; or adds to them."""
        storage, me = r.storage, self.key(row)
        first = self.next_place(r, row) if is_union else 0
        if is_union:
            linked = {("key", self.key(c)): at for c, at in self.linked(r, row)}
            listed = self.without_linked(r, row, listed, linked)
        else:
            self.forget_waits_of(r, me)
            places = [i for i, target in enumerate(listed) if isinstance(target, Element)]
            surplus = [c for c, at in self.positional(r, row) if at not in places and ("key", self.key(c)) not in listed]
            for child, _ in self.linked(r, row):
                if ("key", self.key(child)) not in listed and not self.is_positional(r, child):
                    self.unlink(r, child)
            self.delete(surplus, is_forced=True)
        for i, (target, element) in enumerate(listed.items(), first):
            element.position = i
            child = None
            if isinstance(target, Element):
                continue
            if target[0] == "key":
                child = self.find(r.destination, target[1])
                self.forget_waits_for(storage, target)
            if child:
                self.refer(child, storage, me, i)
            else:
                self.wait(r, row, target, element, i)

    def link_by_table(self, r, row, listed, is_union):
        """Makes the links of a row in a join table exactly what a list says, or adds to them."""
        me = self.key(row)
        first = self.next_place(r, row) if is_union else 0
        if is_union:
            listed = self.without_linked(r, row, listed, {("key", key): at for key, at in self.links(r, me).items()})
        else:
            self.forget_waits_of(r, me)
            places = [i for i, target in enumerate(listed) if isinstance(target, Element)]
            surplus = []
            for key, at in self.links(r, me).items():
                child = self.find(r.destination, key)
                if not self.model.identifier(r.destination):
                    if at in places:
                        continue
                    surplus.append((child, key))
                elif ("key", key) in listed:
                    continue
                else:
                    self.note(r, "unlinked")
                    if child:
                        self.state.unlinked.add((r, *child))
                self.unjoin(r, me, key)
            self.delete([child for child, key in surplus if not self.is_joined(r, key)], is_forced=True)
        for i, (target, element) in enumerate(listed.items(), first):
            element.position = i
            if isinstance(target, Element):
                continue
            if target[0] == "key":
                self.join(r, me, target[1], i)
                self.state.stated[(r, me, target[1])] = (self.ordinal, element.place.path)
            else:
                self.wait(r, row, target, element, i)

    def without_linked(self, r, row, listed, linked):
        """The elements that a list adds: those not linked, or linked without a place where there are places."""
        linked.update({w["target"]: w["position"] for w in self.waits(r, self.key(row))})
        return {target: element for target, element in listed.items()
                if target not in linked or (linked[target] is None and self.has_positions(r))}

    def next_place(self, r, row):
        """The place behind all links of a row."""
        if r.storage.is_join:
            places = list(self.links(r, self.key(row)).values())
        else:
            places = [p for _, p in self.linked(r, row)]
        places += [w["position"] for w in self.waits(r, self.key(row))]
        return max((p for p in places if p is not None), default=-1) + 1

    def unlink(self, r, child):
        """Takes a child from the list of its parent."""
        self.note(r, "unlinked")
        self.state.unlinked.add((r, *child))
        names = self.model.identifier(self.entity_of(child))
        if "@parent" in names and self.model.parent_storage(self.entity_of(child)) is r.storage:
            # The parent is part of its identity: until the job settles it is the same object.
            self.state.left_out.add(child)
            if r.storage.position:
                self.row(child)[r.storage.position] = None
        else:
            self.refer(child, r.storage, None)

    # Settling

    def dangling(self):
        """The references without a row: relationship, key, (referring row id, place), and what holds the reference."""
        found = []
        for r in self.model.relationships:
            s, here = r.storage, []
            for wait in self.state.waiting:
                if wait["relationship"] is r and not wait.get("is_mirror"):
                    here.append((self.order(r.entity, wait["me"], wait["position"]), r, wait["target"], ("wait", wait)))
            if s.is_join:
                side = 0 if s.forward is r else 1
                for pair, positions in self.state.joins[s.table].items():
                    if self.find(r.destination, pair[1 - side]) is None:
                        order = self.order(r.entity, pair[side], positions[side])
                        here.append((order, r, ("key", pair[1 - side]), ("join", pair[side])))
            elif s.owner is r:
                homes = {self.model.homes[e] for e in self.model.entities if self.model.is_kind(e, s.holder)}
                for home in sorted(homes, key=self.model.entities.index):
                    for row_id in sorted(self.state.tables.get(home, {})):
                        key = self.reference((home, row_id), s)
                        if key is not None and self.find(s.target, key) is None:
                            here.append(((row_id, 0), r, ("key", key), ("column", (home, row_id))))
            found += sorted(here, key=lambda x: (x[0], repr(x[2])))
        return found

    def order(self, entity, key, position):
        """Sorts references: by the referring row, then by place."""
        row = self.find(entity, key)
        return (row[1] if row else 2 ** 63, 2 ** 63 if position is None else position)

    def unresolved_records(self):
        """The records whose references must have a row and have none: (record, key path)."""
        found = []
        for _, r, (_, key), (kind, held) in self.dangling():
            if r.unresolved != "reject":
                continue
            if kind == "wait":
                by = (held["record"], held["path"])
            else:
                by = self.state.stated.get((r, held) if kind == "column" else (r, held, key))
            if by and by[0] is not None and by not in found:
                found.append(by)
        return found

    def settle(self):
        """Ends a job: stubs, references that are cleared, what is still missing, orphans; returns unresolved counts."""
        for _, r, target, (kind, held) in self.dangling():
            is_named = target[0] == "key" and (r.storage.forward or kind != "column")
            if r.unresolved == "stub" and is_named and not self.model.is_abstract(r.destination):
                if self.find(r.destination, target[1]) is None:
                    row = self.insert(r.destination, target[1])
                    self.state.stubs.add(row)
                    self.note(r, "stub")
                    self.count(r.destination, "stubs")
                    self.apply_waiting(row)
        for _, r, target, (kind, held) in self.dangling():
            if r.unresolved == "null":
                self.note(r, "unresolved")
                if kind == "wait":
                    self.state.waiting.remove(held)
                elif kind == "join":
                    self.unjoin(r, held, target[1])
                else:
                    self.clear(held, r.storage)
        for r, *row in self.state.lacking:
            row = tuple(row)
            if not (self.reference(row, r.storage) if r.storage.forward is r else self.linked(r, row)):
                self.note(r, "missingReference")
        self.delete_orphans()
        unresolved = collections.Counter()
        for _, r, _, _ in self.dangling():
            unresolved[(r.entity, r.name)] += 1
        for (e, name), n in unresolved.items():
            self.state.ledger[(e, name, "unresolved")] += n
        return [[e, name, n] for (e, name), n in unresolved.items()]

    def delete_orphans(self):
        """Deletes what lists left out and nothing has taken up, or takes it from its parent for good."""
        for r in self.model.relationships:
            candidates = [tuple(row) for x, *row in self.state.unlinked if x is r]
            for row in sorted(candidates, key=lambda row: (self.model.entities.index(row[0]), row[1])):
                if not self.is_there(row) or self.has_link(r, row):
                    continue
                if r.deletes_orphans:
                    self.note(r, "orphanDeleted" if self.delete([row]) else "orphanDenied")
        for row in sorted(self.state.left_out):
            me = self.key(row)
            for s in self.model.storages:
                self.let_go(s, row, me)
            self.clear(row, self.model.parent_storage(self.entity_of(row)))
        self.state.left_out = set()

    def has_link(self, r, row):
        """Whether a row is still a destination of a relationship."""
        if r.storage.is_join:
            return self.is_joined(r, self.key(row))
        if r.storage.forward is r:
            return bool(self.referring(r.storage, self.key(row)))
        return row not in self.state.left_out and self.reference(row, r.storage) is not None


def walked(value, paths):
    """Yields (number of the path, key, record) for the records under some paths, in the order of the document."""

    def visit(value, active):
        """Visits a value with what is left of the paths that lead there: (number, steps, key)."""
        for number, rest, key in active:
            if not rest:
                yield number, key, value
        if isinstance(value, list):
            for member in value:
                yield from visit(member, [(n, rest[1:], None) for n, rest, _ in active if rest and rest[0] == 0])
        if isinstance(value, dict):
            for key, member in value.items():
                yield from visit(member, [(n, rest[1:], key if rest[0] == 1 else None)
                                          for n, rest, _ in active if rest and rest[0] in (key, 1)])

    yield from visit(value, [(number, path, None) for number, path in enumerate(paths)])


def main(arguments):
    """Reads the command line; see the top of this file."""
    if len(arguments) < 3 or arguments[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if "-h" in arguments or "--help" in arguments else 64
    model, path, *given = arguments
    with open(model, encoding="utf-8") as file:
        store = Store(json.load(file))
    reports = []
    for step in given:
        name, *options = step.split("+")
        named = {"records": []}
        for option in options:
            key, value = option.split("=", 1)
            if key == "records":
                named["records"].append(value)
            else:
                named[key] = value
        stem = os.path.basename(name).split(".")[0]
        if "entity" not in named and stem in store.model.entities and not named["records"]:
            named["entity"] = stem
        reports.append(store.take(documents(text_of(name)), **named))
    if os.path.exists(path):
        os.remove(path)
    store.write(path)
    print(json.dumps(reports, indent=1, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
