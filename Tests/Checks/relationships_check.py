#!/usr/bin/env python3
"""Checks `relationships.py` and `random_graphs.py`: small examples worked out by hand, and what holds for any graph.

usage: relationships_check.py [GRAPHS]   how many random graphs [200]; prints what is wrong, and exits with 1 if anything is
"""
import json
import os
import sqlite3
import sys
import tempfile

sys.dont_write_bytecode = True

from random_graphs import FEATURES, graph
from records import parsed
from relationships import EFFECTS, Store

ID = {"type": "integer64"}
NAME = {"type": "string", "optional": True}
ORDERS = {
    "order": {"identifier": ["id"], "attributes": {"id": ID}, "relationships": {
        "customer": {"entity": "person", "from": ["customer_id", "customer"], "inverse": "orders"},
        "lines": {"entity": "line", "toMany": True, "from": "items", "deleteRule": "cascade"},
        "tags": {"entity": "tag", "toMany": True}}},
    "person": {"identifier": ["id"], "attributes": {"id": ID, "name": NAME}, "relationships": {
        "orders": {"entity": "order", "toMany": True, "inverse": "customer", "from": []}}},
    "line": {"attributes": {"sku": {"type": "string"}, "count": {"type": "integer32", "optional": True}}},
    "tag": {"identifier": ["name"], "attributes": {"name": {"type": "string", "from": "@value"}}}}


def family(**keys):
    """A parent with children, with more keys of the list."""
    return {
        "parent": {"identifier": ["id"], "attributes": {"id": ID}, "relationships": {
            "children": {"entity": "child", "toMany": True, "inverse": "parent", **keys}}},
        "child": {"identifier": ["id"], "attributes": {"id": ID, "name": NAME}, "relationships": {
            "parent": {"entity": "parent", "inverse": "children"}}}}


def pair(**keys):
    """Two entities with a one-to-one relationship."""
    return {
        "man": {"identifier": ["id"], "attributes": {"id": ID}, "relationships": {
            "wife": {"entity": "woman", "inverse": "husband", **keys}}},
        "woman": {"identifier": ["id"], "attributes": {"id": ID}, "relationships": {
            "husband": {"entity": "man", "inverse": "wife"}}}}


PARTS = {
    "book": {"identifier": ["id"], "attributes": {"id": ID}, "relationships": {
        "pages": {"entity": "page", "toMany": True}}},
    "page": {"identifier": ["@parent", "no"], "attributes": {"no": {"type": "integer16"}, "text": NAME}}}
FRIENDS = {
    "one": {"identifier": ["id"], "attributes": {"id": ID}, "relationships": {
        "others": {"entity": "one", "toMany": True, "list": "union", "unresolved": "stub"}}}}

# What is checked, the entities, the steps (an entity and its records), and the rows of tables: with row ids, in order.
EXAMPLES = [
    ("the example of the documentation", ORDERS, [("order", [
        {"id": 7, "customer": {"id": 1, "name": "Ada"}, "items": [{"sku": "a", "count": 2}, {"sku": "b"}],
         "tags": ["red", "new", None, "red"]},
        {"id": 8, "customer_id": 2, "items": [], "tags": ["new"]}])], {
            "order": [(7, 1), (8, 2)], "person": [(1, "Ada")], "line": [("a", 2, 7, 0), ("b", None, 7, 1)],
            "tag": [("red",), ("new",)], "order_tags": [(7, "new", 1), (7, "red", 0), (8, "new", 0)]}),
    ("a child leaves its former parent, and a gap", family(), [("parent", [
        {"id": 1, "children": [5, {"id": 6}, {"id": 7}, 5]}, {"id": 2, "children": [{"id": 6, "name": "x"}]}])], {
            "child": [(6, "x", 2, 0), (7, None, 1, 2)]}),
    ("a child that comes later takes its place", family(), [
        ("parent", [{"id": 1, "children": [5, 6]}]), ("child", [{"id": 6}, {"id": 5, "parent": None}, {"id": 7, "parent": 1}])],
     {"child": [(5, None, None, None), (6, None, 1, 1), (7, None, 1, None)]}),
    ("a later list forgets a child that has not come", family(), [
        ("parent", [{"id": 1, "children": [5, 6]}, {"id": 1, "children": [6]}]), ("child", [{"id": 5}, {"id": 6}])],
     {"child": [(5, None, None, None), (6, None, 1, 0)]}),
    ("what is inside wins over what is outside", family(), [("parent", [
        {"id": 1, "children": [{"id": 5, "name": "a", "parent": {"id": 2, "children": [{"id": 6}, {"id": 5, "name": "b"}]}}]}])],
     {"parent": [(1,), (2,)], "child": [(5, "b", 2, 1), (6, None, 2, 0)]}),
    ("orphans are deleted when the job ends", family(orphans="delete"), [
        ("parent", [{"id": 1, "children": [{"id": 5}, {"id": 6}, {"id": 7}]}]),
        ("parent", [{"id": 1, "children": [{"id": 7}]}, {"id": 2, "children": [6]}])],
     {"child": [(6, None, 2, 0), (7, None, 1, 0)]}),
    ("a partner leaves the former one", pair(), [
        ("man", [{"id": 1, "wife": {"id": 5}}, {"id": 2, "wife": {"id": 6}}, {"id": 3, "wife": 5}]),
        ("woman", [{"id": 6, "husband": {"id": 4}}])],
     {"man": [(1, None), (2, None), (3, 5), (4, 6)], "woman": [(5,), (6,)]}),
    ("children within their parent are the same object again", PARTS, [
        ("book", [{"id": 1, "pages": [{"no": 1, "text": "a"}, {"no": 2}]}, {"id": 2, "pages": [{"no": 1}]}]),
        ("book", [{"id": 1, "pages": []}, {"id": 1, "pages": [{"no": 1}]}, {"id": 2, "pages": [{"no": 3}]}])],
     {"page": [(1, "a", 1, 0), (3, None, 2, 0)]}),
    ("lists that add, and stubs", FRIENDS, [("one", [{"id": 1, "others": [3, 2]}, {"id": 1, "others": [2, 9]}])],
     {"one": [(1,), (2,), (3,), (9,)], "one_others": [(1, 2, 1), (1, 3, 0), (1, 9, 2)]}),
]


def rows(store, table):
    """The rows of a table of a store, as SQLite reads them."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "store.sqlite")
        store.write(path)
        connection = sqlite3.connect(path)
        found = connection.execute(f'SELECT * FROM "{table}"').fetchall()
        sound = connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        connection.close()
        return found if sound else "not a sound database"


def taken(model, steps):
    """A store with some steps taken, and their reports."""
    store = Store(model)
    return store, [store.take([parsed(json.dumps(s["records"]))], s["entity"], ["$[*]"], s["on_conflict"]) for s in steps]


def examples():
    """Yields what is wrong with the examples."""
    for name, entities, steps, expected in EXAMPLES:
        steps = [{"entity": e, "records": records, "on_conflict": "merge"} for e, records in steps]
        store, _ = taken({"entities": entities}, steps)
        for table, wanted in expected.items():
            found = rows(store, table)
            if found != wanted:
                yield f"{name}: {table} has {found}, not {wanted}"
    bad = [{"id": 1, "items": [{"sku": "a"}, {"count": "x"}, 5]}, {"id": 1, "customer": [1], "tags": [["a"]]}, 7]
    _, (report,) = taken({"entities": ORDERS}, [{"entity": "order", "records": bad, "on_conflict": "merge"}])
    wanted = [[("missingValue", "items[1].sku"), ("wrongForm", "items[1].count"), ("wrongKind", "items[2]")],
              [("wrongKind", "customer"), ("wrongKind", "tags[0]")], [("notAnObject", "")]]
    if [r["errors"] for r in report["rejects"]] != wanted:
        yield f"rejects are {report['rejects']}"


def graphs(count):
    """Yields what is wrong with random graphs: the counts, a rejected record's traces, and jobs cut into single records."""
    simple = [f for f in FEATURES if f not in ("rejects", "orphans", "unresolved", "on_conflict", "parent")]
    for seed in range(count):
        made = graph(seed)
        if made != graph(seed):
            yield f"{seed}: not the same again"
        store, reports = taken(made["model"], made["steps"])
        for report in reports:
            for e, n in report["entities"].items():
                if n["read"] != sum(n[k] for k in EFFECTS) + n["rejected"]:
                    yield f"{seed}: {e}: records {n}"
                if n["nested"] != sum(n["nested_" + k] for k in EFFECTS) + n["linked"]:
                    yield f"{seed}: {e}: nested {n}"
                if n["rows"] != n["rows_before"] + n["inserted"] + n["nested_inserted"] + n["stubs"] - n["deleted"]:
                    yield f"{seed}: {e}: rows {n}"
        if not isinstance(rows(store, "sqlite_master"), list):
            yield f"{seed}: not a sound database"
        step = made["steps"][-1]
        rejected = {r["record"] for r in reports[-1]["rejects"]}
        kept = [r for i, r in enumerate(step["records"], 1) if i not in rejected]
        other, _ = taken(made["model"], made["steps"][:-1] + [{**step, "records": kept}])
        if (other.state.tables, other.state.joins) != (store.state.tables, store.state.joins):
            yield f"{seed}: rejects leave traces"
        made = graph(seed, features=simple, steps=1)
        whole, _ = taken(made["model"], made["steps"])
        cut, _ = taken(made["model"], [{**s, "records": [r]} for s in made["steps"] for r in s["records"]])
        if (whole.state.tables, whole.state.joins) != (cut.state.tables, cut.state.joins):
            yield f"{seed}: a job of all records is not what a job for each comes to"


def main(arguments):
    """Reads the command line; see the top of this file."""
    if "-h" in arguments or "--help" in arguments:
        print(__doc__)
        return 0
    wrong = [*examples(), *graphs(int(arguments[0]) if arguments else 200)]
    for text in wrong:
        print(text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
