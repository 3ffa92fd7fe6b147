#!/usr/bin/env python3
"""Makes small models with relationships, and records for them, at random: the same seed gives the same.

usage: random_graphs.py SEED [--to DIRECTORY] [--records N] [--steps N] [--only-shapes 1,2,…] [--only FEATURE,…]
                        [--no-FEATURE]…

Prints {"model": …, "steps": [{"entity", "on_conflict", "records"}, …]}, or writes model.json, step-1.json, step-2.json, …
(arrays of records) and steps.json, which says how each is imported. `--only` allows these features and no others,
`--only ""` none. As a module: `graph(seed, shapes=…, features=…, records=…, steps=…)`.

Shapes: 1 no inverse, owned destination; 2 to-one without inverse; 3 to-many without inverse; 4 to-one with to-many inverse;
5 to-one with to-one inverse; 6 to-many with to-many inverse. Features:

    composite    identifiers of several attributes, in references also by a list of key paths
    parent       @parent in identifiers
    keyless      entities without identifier elsewhere than in shape 1 and as children in shape 4; records of them
    inheritance  parent, abstract, subentity
    values       attributes from @value, and scalars in lists
    index        attributes from @index
    keys         from NAME.*, and attributes from @key
    outer        attributes from @parent.NAME
    symmetric    relationships that are their own inverse
    sources      `from` other than the relationship's name
    ordered      `ordered` other than its default
    mandatory    relationships that are not optional
    required     attributes that are required beside the identifier
    counts       minCount, maxCount
    rules        deleteRule other than its default
    union        list: union
    orphans      orphans other than its default
    unresolved   unresolved other than its default; the same for all relationships to one entity
    position     identity: position
    policies     onConflict other than its default
    local        owner: local
    by           by, an attribute that tells the same objects apart as the identifier
    on_conflict  jobs with another policy than merge
    coercions    values of other kinds that fit
    unknown      keys that the model does not know
    repeats      the same target twice in a list, and nulls in lists
    nulls        null for relationships
    cycles       an object again within itself
    rejects      wrong shapes, missing identifiers, values that do not fit, counts that are broken
"""
import json
import os
import random
import sys
import uuid

SHAPES = (1, 2, 3, 4, 5, 6)
FEATURES = ("composite parent keyless inheritance values index keys outer symmetric sources ordered mandatory required "
            "counts rules union orphans unresolved position policies local by on_conflict coercions unknown repeats "
            "nulls cycles rejects").split()
NAMES = ["alpha", "beta", "gamma", "delta", "kappa", "omega"]
PLAIN = ["string", "string", "integer16", "integer32", "double", "boolean", "decimal", "date", "json", "uuid"]
WORDS = ["red", "green", "blue", "é漢", "", "two words"]
SIZE = 6        # how many objects of an entity are mentioned


class Entity:
    """An entity of a model in the making.

    Identity: `one` or `several` attributes, `parent` (within its parent), `none`, or `place` (an identifier that elements of
    one list may lack).
    """

    def __init__(self, name, identity):
        self.name, self.identity = name, identity
        self.raw = {"attributes": {}, "relationships": {}}
        self.ids = []               # names of the identifier's attributes
        self.kinds = {}             # attribute -> how its values are made
        self.sources = {}           # attribute -> path of its value; None: not in an object
        self.value = None           # the attribute from @value
        self.parent_relationship = None
        self.root, self.concrete = self, [self]     # of inheritance: the top, and what objects may be
        self.is_keyed = False
        self.requires = False

    @property
    def is_identified(self):
        """Whether its objects have an identifier of their own."""
        return self.identity in ("one", "several", "place")

    @property
    def is_owned(self):
        """Whether its objects have no identity but within others."""
        return self.identity in ("none", "parent")


class Maker:
    """Makes one model and its records."""

    def __init__(self, seed, shapes, features, records, steps):
        self.random = random.Random(f"{seed}")
        self.shapes, self.features = shapes, set(features)
        self.record_count, self.step_count = records, steps
        self.entities, self.relationships = [], []
        self.policies = {}

    def has(self, feature, percent=100):
        """Whether a feature is allowed, and the dice want it."""
        dice = self.random.randrange(100)
        return feature in self.features and dice < percent

    def chance(self, percent):
        """Whether dice with a hundred sides are below a number."""
        return self.random.randrange(100) < percent

    # Models

    def model(self):
        """A model."""
        for name in NAMES[:self.random.randint(2, 5 if "inheritance" in self.features else 6)]:
            self.add_entity(name)
        if not any(e.identity == "one" for e in self.entities):
            self.entities.insert(0, self.make_entity("first", "one"))
        if self.has("inheritance", 40):
            self.add_subentities()
        for number in range(self.random.randint(1, 6)):
            self.add_relationship(f"r{number}")
        for e in self.entities:
            if e.identity == "parent" and e.parent_relationship is None:
                self.find_parent(e)
            if e.identity == "place" and e.parent_relationship is None:
                e.identity = "one"
        for e in self.entities:
            if not e.raw["relationships"]:
                del e.raw["relationships"]
        self.choose_outer()
        self.choose_unresolved()
        return {"entities": {e.name: e.raw for e in self.entities}}

    def add_entity(self, name):
        """Adds an entity."""
        kinds = ["one"] * 4 + ["none"] * (2 if {1, 4} & set(self.shapes) else 0)
        kinds += ["several"] * ("composite" in self.features)
        kinds += ["parent"] * ("parent" in self.features and 1 in self.shapes)
        kinds += ["place"] * ("position" in self.features and 4 in self.shapes)
        self.entities.append(self.make_entity(name, self.random.choice(kinds)))

    def make_entity(self, name, identity):
        """An entity with its attributes."""
        e = Entity(name, identity)
        if identity == "several":
            e.ids = ["a", "b"]
            self.add_attribute(e, "a", "string")
            self.add_attribute(e, "b", self.random.choice(["integer64", "string", "date"]))
        elif identity == "parent":
            e.ids = ["@parent", "no"]
            if self.has("index", 30):
                e.raw["attributes"]["no"] = {"type": "integer32", "from": "@index"}
                e.kinds["no"], e.sources["no"] = "@index", None
            else:
                self.add_attribute(e, "no", self.random.choice(["integer16", "string"]))
        elif identity == "place":
            e.ids = ["id"]
            self.add_attribute(e, "id", self.random.choice(["string", "uuid"]))
        elif identity == "one":
            e.ids = ["id"]
            if self.has("values", 20):
                e.raw["attributes"]["id"] = {"type": "string", "from": ["@value", "name"]}
                e.kinds["id"], e.sources["id"], e.value = "string", ("name",), "id"
            else:
                self.add_attribute(e, "id", self.random.choice(["integer64", "integer64", "integer32", "string", "uuid"]))
        if e.ids:
            e.raw["identifier"] = list(e.ids)
        if identity == "none" and self.has("values", 30):
            e.raw["attributes"]["text"] = {"type": "string", "from": ["@value", "text"], "optional": True}
            e.kinds["text"], e.sources["text"], e.value = "string", ("text",), "text"
        if identity == "none" and self.has("index", 30):
            e.raw["attributes"]["at"] = {"type": "integer32", "from": "@index", "optional": True}
            e.kinds["at"], e.sources["at"] = "@index", None
        for number in range(self.random.randint(1, 3)):
            self.add_attribute(e, f"x{number}", self.random.choice(PLAIN), True)
        if identity == "one" and self.has("by", 40):
            e.raw["attributes"]["code"] = {"type": "string", "optional": True}
            e.kinds["code"], e.sources["code"] = "code", ("code",)
        return e

    def add_attribute(self, e, name, kind, is_plain=False):
        """Adds an attribute; a plain one may be optional, have a default, or come from another key."""
        raw = {"type": kind}
        path = (name,)
        if is_plain:
            # A scalar that is an object says nothing of other attributes.
            is_required = self.has("required", 25) and e.value is None
            if is_required:
                e.requires = True
            else:
                raw["optional"] = True
            if not is_required and self.chance(20):
                raw["default"] = {"string": "none", "boolean": True, "decimal": "1.5", "double": 0.5, "json": [1],
                                  "date": "2001-02-03", "uuid": str(uuid.UUID(int=7))}.get(kind, 7)
            if self.chance(15):
                raw["from"], path = f"more.{name}", ("more", name)
            elif self.chance(10):
                raw["from"], path = [f"{name}s", name], (self.random.choice([name, f"{name}s"]),)
        e.raw["attributes"][name] = raw
        e.kinds[name], e.sources[name] = kind, path

    def add_subentities(self):
        """Makes an entity the parent of one or two others."""
        top = self.random.choice([e for e in self.entities if e.identity == "one" and e.value is None] or [None])
        if top is None:
            return
        is_abstract = self.chance(50)
        top.concrete = [] if is_abstract else [top]
        if is_abstract:
            top.raw["abstract"] = True
        values = {}
        for number in range(self.random.randint(1, 2)):
            name = f"{top.name}{'AB'[number]}"
            e = Entity(name, top.identity)
            e.root, e.ids, e.concrete = top, top.ids, []
            e.kinds, e.sources = dict(top.kinds), dict(top.sources)
            e.raw["parent"] = top.name
            e.requires = top.requires
            for extra in range(self.random.randint(0, 2)):
                kind = self.random.choice(["string", "integer32", "boolean"])
                self.add_attribute(e, f"{'yz'[number]}{extra}", kind, True)
            if not e.raw["attributes"]:
                del e.raw["attributes"]
            e.concrete = [e]
            top.concrete.append(e)
            values["AB"[number]] = name
            self.entities.append(e)
        top.raw["subentity"] = {"from": "kind", "values": values}
        top.chooser = {name: value for value, name in values.items()}

    def find_parent(self, e):
        """Gives an entity that is identified within its parent a parent."""
        source = self.random.choice([x for x in self.entities if x.identity == "one" and x.root is x])
        self.finish(source, "children" + e.name, e, 1, True)

    def candidates(self, wanted):
        """Entities that may be at an end of a relationship."""
        return [e for e in self.entities if wanted(e) and e.root is e] + [
            e for e in self.entities if wanted(e) and e.root is not e and self.chance(30)]

    def add_relationship(self, name):
        """Adds a relationship of an allowed shape, if entities fit it."""
        shape = self.random.choice(self.shapes)
        keyless = "keyless" in self.features
        anyone = self.candidates(lambda e: e.identity != "place")
        known = self.candidates(lambda e: e.identity in ("one", "several"))
        firm = self.candidates(lambda e: e.identity in ("one", "several") or (keyless and e.identity == "none"))
        orphans = [e for e in self.entities if e.identity in ("parent", "place") and e.parent_relationship is None]
        if shape == 1:
            owned = self.candidates(lambda e: e.identity == "none" or (e.identity == "parent" and e in orphans))
            sources = self.candidates(lambda e: e.identity in ("one", "several", "none", "parent"))
            ends = sources, owned
        elif shape in (2, 3):
            ends = (self.candidates(lambda e: shape == 2 or e.identity != "place"), known)
        elif shape == 4:
            children = self.candidates(lambda e: e.identity in ("one", "several", "none") or e in orphans)
            ends = firm, children
        else:
            ends = firm, firm
        if not ends[0] or not ends[1]:
            return
        source, destination = self.random.choice(ends[0]), self.random.choice(ends[1])
        if source.is_owned and destination.is_owned and (source is destination or source.identity == "parent"):
            return
        if shape == 4 and destination.is_owned and destination.identity == "parent" and source.is_owned:
            return
        is_many = shape in (3, 4, 6) or (shape == 1 and self.chance(70))
        is_whole = source.root is source and source.is_identified
        if shape in (5, 6) and "symmetric" in self.features and self.chance(15) and is_whole:
            destination = source
            self.finish(source, name, destination, shape, is_many, is_symmetric=True)
        else:
            self.finish(source, name, destination, shape, is_many)

    def finish(self, source, name, destination, shape, is_many, is_symmetric=False):
        """Adds a relationship with its inverse and all its keys."""
        raw = {"entity": destination.name}
        if is_many:
            raw["toMany"] = True
        back = None
        if shape >= 4:
            raw["inverse"] = name if is_symmetric else name + "back"
            if not is_symmetric:
                back = {"entity": source.name, "inverse": name}
                if shape == 6:
                    back["toMany"] = True
        if destination.identity in ("parent", "place") and shape in (1, 4):
            destination.parent_relationship = name
        made = [[source, name, raw, destination, shape]]
        source.raw["relationships"][name] = raw
        if back is not None:
            destination.raw["relationships"][name + "back"] = back
            made.append([destination, name + "back", back, source, shape])
            if destination.identity == "parent":
                back["from"] = []
        is_keyless = destination.identity == "none" or source.identity == "none"
        for source, name, raw, destination, shape in made:
            self.add_keys(source, name, raw, destination, shape, is_keyless)
            self.relationships.append((source, name, raw, destination))
        if back is not None and "from" not in back and raw.get("from") != [] and self.chance(35):
            back["from"] = []

    def add_keys(self, source, name, raw, destination, shape, is_keyless):
        """Adds the other keys of a relationship."""
        is_many = raw.get("toMany", False)
        is_forward = not is_many and shape in (2, 4, 5)
        by_place = destination.is_owned
        if "from" not in raw:
            if is_many and self.has("keys", 12) and not by_place:
                raw["from"] = name + ".*"
                if destination.value is None and self.chance(40):
                    attributes = destination.raw.setdefault("attributes", {})
                    attributes["under"] = {"type": "string", "from": "@key", "optional": True}
            elif self.has("sources", 40):
                raw["from"] = self.random.choice([[name + "Id", name], "in." + name, name + "Is"])
                if destination.identity == "several" and not is_many and "composite" in self.features:
                    raw["from"] = [[name + "A", name + "B"], name]
        if is_many and self.has("ordered", 30):
            raw["ordered"] = self.chance(50)
        if destination.identity == "parent" or shape == 1:
            raw.pop("ordered", None)
        is_apart = source is not destination and source.value is None
        if not is_many and self.has("mandatory", 12) and shape in (2, 4) and is_apart:
            raw["optional"] = False
            source.requires = source.requires or shape == 2 or "from" not in raw
        if is_many and self.has("mandatory", 4):
            raw["optional"] = False
        if is_many and self.has("counts", 8):
            raw["minCount"] = self.random.randint(0, 1)
            raw["maxCount"] = self.random.randint(2, 4)
        if self.has("rules", 35) and not is_keyless and not by_place and not source.is_owned:
            rules = ["nullify", "deny"] + ([] if is_forward else ["cascade", "noAction"])
            raw["deleteRule"] = self.random.choice(rules)
        if is_many and self.has("union", 12):
            raw["list"] = "union"
        if is_many and self.has("orphans", 25) and (destination.is_identified and destination.identity != "place"):
            raw["orphans"] = self.random.choice(["keep", "delete", "delete"])
        if destination.identity == "place" and shape == 4 and is_many:
            raw["identity"] = "position"
        if self.has("policies", 15) and destination.is_identified:
            raw["onConflict"] = self.random.choice(["replace", "ignore"] + ["error"] * ("rejects" in self.features))
        if self.has("local", 8):
            raw["owner"] = "local"
        if "code" in destination.kinds and destination.value is None and self.has("by", 50):
            raw["by"] = "code"

    def choose_outer(self):
        """Gives entities without identifier an attribute of the object around them."""
        for e in self.entities:
            around = [source for source, _, _, destination in self.relationships if destination is e]
            fits = all(source.kinds.get("x0") not in (None, "json") for source in around)
            if e.identity == "none" and around and fits and self.has("outer", 25):
                e.raw["attributes"]["outer"] = {"type": "string", "from": "@parent.x0", "optional": True}
                e.kinds["outer"], e.sources["outer"] = "outer", None

    def choose_unresolved(self):
        """Chooses what becomes of references without a row, for each entity."""
        if "unresolved" not in self.features:
            return
        for e in self.entities:
            choices = ["keep", "keep", "null"] + ["reject"] * ("rejects" in self.features)
            if not any(x.requires for x in self.entities if x.root is e.root) and "abstract" not in e.root.raw:
                choices += ["stub", "stub"]
            if e.root is e:
                e.choice = self.random.choice(choices)
        for source, name, raw, destination in self.relationships:
            if destination.is_identified and destination.identity != "place" and destination.root.choice != "keep":
                if not (destination.root.choice == "null" and raw.get("optional") is False):
                    raw["unresolved"] = destination.root.choice

    # Records

    def steps(self):
        """Jobs with their records."""
        made = []
        roots = [e for e in self.entities if e.root is e and (e.is_identified or (
            e.identity == "none" and "keyless" in self.features))]
        for _ in range(self.step_count or self.random.randint(1, 3)):
            e = self.random.choice(roots)
            policy = "merge"
            if self.has("on_conflict", 25):
                policy = self.random.choice(["replace", "ignore"] + ["error"] * ("rejects" in self.features))
            records = [self.record(e) for _ in range(self.record_count or self.random.randint(2, 12))]
            made.append({"entity": e.name, "on_conflict": policy, "records": records})
        return made

    def record(self, e):
        """A record."""
        if self.has("rejects", 1):
            return self.random.choice([None, 5, "text", [], [1]])
        return self.object(e, self.number(), 0, [], None)

    def number(self):
        """Which of an entity's objects is meant."""
        return self.random.randint(1, SIZE)

    def object(self, e, number, depth, around, came_by, lacks_identifier=False):
        """An object with some of its attributes and relationships."""
        made = {}
        entity = self.concrete(e, number)
        if entity is not e and e.root is e and getattr(e, "chooser", None) and entity.name in e.chooser:
            made["kind"] = e.chooser[entity.name]
        for name, kind in entity.kinds.items():
            path = entity.sources[name]
            if path is None:
                continue
            if name in entity.ids:
                if not lacks_identifier and not self.has("rejects", 1):
                    self.put(made, path, self.identity(entity, name, number))
                elif self.chance(30):
                    self.put(made, path, None)
                continue
            if kind == "code":
                if self.chance(60):
                    self.put(made, path, f"c{number}")
                continue
            raw = self.attribute(entity, name)
            is_required = not raw.get("optional") and "default" not in raw
            if not self.chance(60) and not (is_required and not self.has("rejects", 5)):
                continue
            if self.chance(10) and (not is_required and raw.get("optional") or self.has("rejects", 5)):
                self.put(made, path, None)
            else:
                self.put(made, path, self.value(kind))
        if self.has("unknown", 10):
            made[self.random.choice(["zz", "zy"])] = self.random.choice([1, None, {"a": 1}])
        for name, raw, destination in self.relationships_of(entity):
            self.put_relationship(made, name, raw, destination, entity, number, depth, around, came_by)
        if self.has("rejects", 2):
            self.put(made, ("more",), self.random.choice([5, "x", []]))
        return made

    def concrete(self, e, number):
        """What entity an object of an entity is: each number always the same."""
        return e.concrete[number % len(e.concrete)] if e.concrete else e

    def attribute(self, entity, name):
        """An attribute's description, own or inherited."""
        own = entity.raw.get("attributes", {})
        return own[name] if name in own else entity.root.raw["attributes"][name]

    def relationships_of(self, entity):
        """The relationships of an entity, inherited ones too."""
        return [(name, raw, destination) for source, name, raw, destination in self.relationships
                if source is entity or source is entity.root]

    def identity(self, entity, name, number):
        """The value of an identifier's attribute for an object."""
        kind = entity.kinds[name]
        if kind == "uuid":
            text = str(uuid.UUID(int=number * 0x1234567890ABCDEF))
            return text.upper() if self.has("coercions", 20) else text
        if kind == "date":
            return f"2020-01-{number:02d}" if not self.has("coercions", 20) else f"2020-01-{number:02d}T00:00:00Z"
        if kind == "string":
            return f"k{number % 3}" if name == "a" else f"k{number}"
        if self.has("coercions", 8):
            return f" {number}"
        return number

    def value(self, kind):
        """A value of a type."""
        if self.has("rejects", 1):
            return self.random.choice([{"a": 1}, "no number", [1]])
        small = self.random.randint(0, 3)
        if self.has("coercions", 10):
            return {"string": small, "integer16": str(small), "integer32": f"{small} ", "double": f"{small}.5",
                    "boolean": self.random.choice(["yes", "no", 1, 0]), "decimal": f"{small}.50",
                    "date": f"2021-02-03T0{small}:00:00+01:00", "uuid": str(uuid.UUID(int=small + 10 ** 30)).upper()}.get(kind, [small, {"k": None}])
        return {"string": self.random.choice(WORDS), "integer16": small, "integer32": small - 2, "double": small + 0.25,
                "boolean": small % 2 == 0, "decimal": f"{small}.5", "date": f"2021-02-0{small + 1}T00:00:00.000Z",
                "uuid": str(uuid.UUID(int=small + 10 ** 30))}.get(kind, [small, {"k": "v"}])

    def put(self, made, path, value):
        """Sets the value at a path of an object."""
        for key in path[:-1]:
            made = made.setdefault(key, {})
            if not isinstance(made, dict):
                return
        made[path[-1]] = value

    def put_relationship(self, made, name, raw, destination, entity, number, depth, around, came_by):
        """Mentions a relationship, or not."""
        source = raw.get("from", name)
        is_mandatory = raw.get("optional") is False
        if source == []:
            return
        is_back = came_by is not None and came_by == raw.get("inverse")
        is_needed = is_mandatory and not raw.get("toMany") and not is_back and not self.has("rejects", 5)
        if not is_needed and (depth >= 4 or self.chance(50 if depth == 0 else 65)):
            return
        is_by_place = "none" in (destination.identity, entity.identity) or destination.identity in ("parent", "place")
        if is_back and (is_by_place or not self.chance(15)):
            return
        # An object within itself says nothing anew of children that its place in the record may be one of.
        if not is_needed and is_by_place and any(e.root is entity.root and n == number for e, n in around):
            return
        path = self.random.choice(source) if isinstance(source, list) else source
        is_star = isinstance(path, str) and path.endswith(".*")
        if self.has("nulls", 10) and (not is_mandatory or self.has("rejects", 5)):
            value = None
        elif self.has("rejects", 1):
            value = self.random.choice([5, "x", {"a": 1}, [[1]], [5, {}], {}, []])
        elif raw.get("toMany"):
            value = self.list(raw, destination, entity, number, depth, around, name)
            if is_star:
                value = {f"k{i}": v for i, v in enumerate(value)}
        else:
            value = self.element(raw, destination, entity, number, depth, around, name)
        if isinstance(path, list):
            one = self.number()
            values = [self.identity(destination, n, one) for n in destination.ids]
            if value is None:
                values[self.random.randrange(2)] = None
            for key, part in zip(path, values):
                made[key] = part
            return
        self.put(made, tuple((path[:-2] if is_star else path).split(".")), value)

    def list(self, raw, destination, entity, number, depth, around, name):
        """The elements of a list."""
        least = max(raw.get("minCount", 0), int(raw.get("optional") is False))
        most = raw.get("maxCount", 4)
        count = self.random.randint(0 if self.has("rejects", 5) else least, most + self.has("rejects", 5))
        numbers = self.random.sample(range(1, SIZE + 1), min(count, SIZE))
        made = [self.element(raw, destination, entity, number, depth, around, name, n) for n in numbers]
        has_index = "@index" in destination.kinds.values()
        if made and self.has("repeats", 20) and not has_index and not raw.get("maxCount"):
            n = self.random.choice(numbers)
            again = self.element(raw, destination, entity, number, depth, around, name, n)
            made.insert(self.random.randint(0, len(made)), again)
        if made and self.has("repeats", 15) and not has_index:
            made.insert(self.random.randint(0, len(made)), None)
        return made

    def element(self, raw, destination, entity, number, depth, around, name, chosen=None):
        """One object as a list or a to-one has it: whole, its identifier only, or a scalar."""
        chosen = chosen or self.number()
        if around and self.has("cycles", 10):
            same = [n for e, n in around if e.root is destination.root]
            chosen = self.random.choice(same) if same else chosen
        around = around + [(entity, number)]
        if destination.root is not destination:
            fitting = [n for n in range(1, SIZE + 1) if self.concrete(destination.root, n) is destination]
            chosen = chosen if chosen in fitting else self.random.choice(fitting)
        is_identified = destination.is_identified or destination.identity == "parent"
        if destination.identity == "place" and raw.get("identity") == "position" and self.chance(50):
            return self.object(destination, chosen, depth + 1, around, name, lacks_identifier=True)
        if destination.value and self.chance(70):
            return self.identity(destination, "id", chosen) if destination.value == "id" else self.random.choice(WORDS)
        dice = self.random.randrange(100)
        is_simple = is_identified and len([n for n in destination.ids if n != "@parent"]) == 1
        if raw.get("by") and dice < 50:
            return f"c{chosen}"
        if dice < 35 and is_simple and not raw.get("by") and destination.sources[destination.ids[-1]]:
            return self.identity(destination, destination.ids[-1], chosen)
        if (dice < 50 or depth >= 3) and is_identified:
            made = {}
            concrete = self.concrete(destination, chosen)
            if concrete is not destination:
                made["kind"] = destination.chooser[concrete.name]
            for n in destination.ids:
                if n != "@parent" and destination.sources[n]:
                    self.put(made, destination.sources[n], self.identity(destination, n, chosen))
            return made
        return self.object(destination, chosen, depth + 1, around, name)


def graph(seed, shapes=SHAPES, features=tuple(FEATURES), records=None, steps=None):
    """A model and the steps of its import."""
    maker = Maker(seed, list(shapes), features, records, steps)
    return {"model": maker.model(), "steps": maker.steps()}


def main(arguments):
    """Reads the command line; see the top of this file."""
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if arguments else 64
    seed, *rest = arguments
    given = {"features": list(FEATURES)}
    folder = None
    while rest:
        option = rest.pop(0)
        if option == "--to":
            folder = rest.pop(0)
        elif option in ("--records", "--steps"):
            given[option[2:]] = int(rest.pop(0))
        elif option == "--only-shapes":
            given["shapes"] = [int(s) for s in rest.pop(0).split(",")]
        elif option == "--only":
            given["features"] = [f for f in rest.pop(0).split(",") if f]
        elif option.startswith("--no-") and option[5:].replace("-", "_") in FEATURES:
            given["features"] = [f for f in given["features"] if f != option[5:].replace("-", "_")]
        else:
            print(f"random_graphs.py: unknown option {option}", file=sys.stderr)
            return 64
    unknown = [f for f in given["features"] if f not in FEATURES]
    if unknown:
        print(f"random_graphs.py: unknown features {unknown}", file=sys.stderr)
        return 64
    made = graph(seed, **given)
    if folder is None:
        print(json.dumps(made, ensure_ascii=False, indent=1))
        return 0
    os.makedirs(folder, exist_ok=True)
    said = []

    def write(name, value):
        """Writes a file of the graph."""
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            json.dump(value, file, ensure_ascii=False, indent=1)

    write("model.json", made["model"])
    for number, step in enumerate(made["steps"], 1):
        write(f"step-{number}.json", step.pop("records"))
        said.append({"file": f"step-{number}.json", **step})
    write("steps.json", said)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
