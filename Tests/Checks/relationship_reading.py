"""What a record says of its objects and relationships: a part of `relationships.py`."""
from records import steps
from relationship_rows import Rows
from relationship_values import MISSING, Found, Misfit, Place, coerced, joined, looked_up


class Element:
    """What a record says of one object of a list, or of a to-one: a reference, or an object with all in it."""

    def __init__(self, place):
        self.place = place
        self.entity = None          # of an object: the entity that the record names
        self.key = None             # the identifier, if it is complete
        self.by = None              # the values by which a scalar names it instead
        self.is_object = False      # its row is written; otherwise it is a reference
        self.is_by_place = False    # it has no identifier, and its place is its identity
        self.position = None        # its place in the list
        self.faults = []            # what is wrong with it as a reference: (code, key path)
        self.notes = []             # the ledger kinds of its coercion as a reference


class Statement:
    """What a record says of a relationship: nothing, or that it has exactly these elements."""

    def __init__(self, path, elements=None, is_list=False):
        self.path, self.elements = path, elements
        self.is_list = is_list      # a list, even an empty one, was given
        self.is_given = elements is not None
        self.faults = []
        self.nulls = 0


class Reader(Rows):
    """Reads objects and statements; changes nothing but the ledger."""

    # Objects

    def look(self, entity, name, place):
        """What a place holds for an attribute."""
        return looked_up(place, self.model.attribute(entity, name).sources, self.look)

    def identify(self, element, named, relationship, parent_key):
        """Finds out an object's entity and its key, or that its place is its identity."""
        model, place = self.model, element.place
        element.is_object = True
        element.entity = named
        chooser = model.raw[named].get("subentity")
        if chooser and isinstance(place.value, dict):
            found = looked_up(place, [tuple(steps(chooser["from"]))])
            element.entity = chooser["values"].get(found.value if isinstance(found.value, str) else None, named)
        names, values, is_incomplete = model.identifier(named), [], False
        for name in names:
            if name == "@parent":
                is_parent = relationship and relationship.storage is model.parent_storage(named)
                values += list(parent_key or [None]) if is_parent else [None]
                is_incomplete = is_incomplete or not is_parent
                continue
            found = self.look(named, name, place)
            if found.value is MISSING or found.value is None:
                is_incomplete = True
                continue
            try:
                values.append(coerced(found.value, model.attribute(named, name).kind)[0])
            except Misfit:
                values.append(None)
        if names and not is_incomplete:
            element.key = None if None in values else tuple(values)
        elif relationship:
            is_by_place = model.is_owned(named) or relationship.is_by_place
            element.is_by_place = is_by_place and not model.needs_identifier(named)

    def mentions_more(self, entity, place):
        """Whether an object mentions anything beside its identifier."""
        model, names = self.model, self.model.identifier(entity)
        for a in model.attributes(entity):
            if a.name not in names and self.look(entity, a.name, place).value is not MISSING:
                return True
        return any(self.found(r, place).value is not MISSING for r in model.relationships_of(entity))

    # Statements

    def found(self, r, place):
        """What a place holds for a relationship: the first of its sources that is there."""
        above = None
        for source in r.sources:
            if isinstance(source, list):
                found = [looked_up(place, [s]) for s in source]
                if all(f.value is not MISSING for f in found):
                    is_null = any(f.value is None for f in found)
                    return Found(None if is_null else tuple(found), found[0].path)
                continue
            found = looked_up(place, [star_less(source)])
            if found.value is not MISSING and found.above is None and not self.is_below_null(place, source):
                found.is_star = star_less(source) != source
                return found
            if found.value is not MISSING and above is None:
                above = found
        if above:
            return above
        first = next((s for s in r.sources if isinstance(s, tuple)), (r.name,))
        return looked_up(place, [star_less(first)])

    def is_below_null(self, place, source):
        """Whether a null above a source's last key covers it."""
        value = place.value
        for key in star_less(source)[:-1]:
            value = value.get(key) if isinstance(value, dict) else None
        return not isinstance(value, dict)

    def statement(self, r, place, row):
        """Reads what a place says of a relationship."""
        found = self.found(r, place)
        said = Statement(found.path)
        value = found.value
        if value is MISSING:
            return said
        if value is None:
            said.elements, said.is_given = [], True
            if r.is_optional:
                self.note_covered(self.entity_of(row), place, found)
            elif found.above is not None:
                said.faults.append(("record", "notAnObject", joined(place.path, steps(found.above))))
            else:
                said.faults.append(("record", "unexpectedNull", found.path))
            return said
        if isinstance(value, tuple):
            element = self.composite(r, value)
            said.elements, said.is_given = [element] if not element.faults else [], True
            said.faults += [("record", code, path) for code, path in element.faults]
            return said
        is_star = getattr(found, "is_star", False)
        if not isinstance(value, dict) if is_star else isinstance(value, list) != r.is_many:
            said.faults.append(("record", "wrongKind", found.path))
            return said
        if not r.is_many:
            members = [(None, found.path, value, None)]
        elif is_star:
            members = [(i, joined(found.path, [k]), v, k) for i, (k, v) in enumerate(value.items())]
        else:
            members = [(i, f"{found.path}[{i}]", v, None) for i, v in enumerate(value)]
        said.elements, said.is_given, said.is_list = [], True, r.is_many
        for index, path, member, key in members:
            if member is None:
                said.nulls += 1
                continue
            inner = Place(member, path, index, key, place, self.entity_of(row))
            said.elements.append(self.element(r, inner, row))
        return said

    def composite(self, r, found):
        """A reference by an identifier of several attributes, each with a key path of its own."""
        element = Element(Place(None, found[0].path))
        names = r.by or [n for n in self.model.identifier(r.destination) if n != "@parent"]
        values = []
        for name, one in zip(names, found):
            try:
                value, notes = coerced(one.value, self.model.attribute(r.destination, name).kind)
                values.append(value)
                element.notes += notes
            except Misfit as misfit:
                element.faults.append((misfit.code, one.path))
        if r.by:
            element.by = tuple(values)
        else:
            element.key = tuple(values)
        return element

    def element(self, r, place, row):
        """Reads what one element of a relationship is."""
        element, model = Element(place), self.model
        parent_key = self.key(row)
        if isinstance(place.value, list):
            element.faults.append(("wrongKind", place.path))
            return element
        kinds = [e for e in model.entities if model.is_kind(e, r.destination)]
        has_value = any("@value" in a.sources for e in kinds for a in model.attributes(e))
        if isinstance(place.value, dict) or has_value:
            self.identify(element, r.destination, r, parent_key)
            if element.is_by_place or element.key is None:
                return element
            entity = element.entity
            stored = self.find(r.destination, element.key)
            if stored and model.is_kind(self.entity_of(stored), entity):
                entity = self.entity_of(stored)
            if model.requires_more(entity) and not self.mentions_more(entity, place):
                element.is_object = False
            return element
        names = r.by or model.identifier(r.destination)
        own = [n for n in names if n != "@parent"]
        is_parent = "@parent" in names and r.storage is model.parent_storage(r.destination)
        if len(own) != 1 or (len(own) != len(names) and not is_parent):
            element.faults.append(("wrongKind", place.path))
            return element
        try:
            value, element.notes = coerced(place.value, model.attribute(r.destination, own[0]).kind)
        except Misfit as misfit:
            element.faults.append((misfit.code, place.path))
            return element
        if r.by:
            element.by = (value,)
        else:
            element.key = (tuple(parent_key or ()) if is_parent else ()) + (value,)
        return element


def star_less(source):
    """A source without the `.*` at its end."""
    return source[:-1] if source and source[-1] == 1 else source
