"""Compares records that `importer fetch --include` printed with what they were imported from.

usage: nested_fetch.py same SOURCE OUTPUT MODEL ENTITY
       nested_fetch.py where SOURCE PREDICATES
       nested_fetch.py stored STORE OUTPUT

`same`: the nested JSON of SOURCE and OUTPUT is equal, up to the order of keys, and values that are null, missing or an empty
array. What MODEL reads from a key path is put there again. `where` prints, for each line of PREDICATES (an expression in Python over `r`, a record), the ids of the records that meet
it, as SQL's logic has it: where anything on the way is missing, the expression fails and does not hold. `stored` reads the
store of the orders in FetchRelationshipTests with sqlite3 and compares. Exit code 1 where something differs.
"""

import json
import sqlite3
import sys

sys.dont_write_bytecode = True

from records import attribute_path


def lines(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return json.loads(text) if text.startswith("[") else [json.loads(line) for line in text.splitlines()]


def plain(value):
    if isinstance(value, list):
        return [plain(element) for element in value]
    if isinstance(value, dict):
        return {key: plain(member) for key, member in value.items() if member not in (None, [])}
    return value


def at_their_paths(record, entity, entities):
    """A record with its values where the model says that they came from."""
    if record is None:
        return None
    description = entities[entity]
    placed = {}

    def place(name, value, source):
        if value in (None, []):
            return
        target = placed
        *way, last = attribute_path(source) if isinstance(source, str) else [name]
        for key in way:
            target = target.setdefault(key, {})
        target[last] = value

    for name, attribute in description.get("attributes", {}).items():
        place(name, record.get(name), attribute.get("from"))
    for name, relationship in description.get("relationships", {}).items():
        if name in record:
            value = record[name]
            below = relationship["entity"]
            nested = (
                [at_their_paths(element, below, entities) for element in value]
                if isinstance(value, list)
                else at_their_paths(value, below, entities)
            )
            place(name, nested, relationship.get("from"))
    return placed


def same(source, output, model, entity):
    with open(model, encoding="utf-8") as file:
        entities = json.load(file)["entities"]
    one = [plain(record) for record in lines(source)]
    other = [plain(at_their_paths(record, entity, entities)) for record in lines(output)]
    for number, (left, right) in enumerate(zip(one, other)):
        if left != right:
            print("record %d: %s\n  is now %s" % (number, json.dumps(left), json.dumps(right)))
            return 1
    if len(one) != len(other):
        print("%d records are %d" % (len(one), len(other)))
        return 1
    print("%d records" % len(one))
    return 0


def where(source, predicates):
    records = lines(source)
    for expression in lines(predicates):
        met = []
        for record in records:
            try:
                if eval(expression, {"r": record, "len": len}):
                    met.append(str(record["id"]))
            except (KeyError, TypeError):
                pass
        print(",".join(met))
    return 0


def stored(store, output):
    database = sqlite3.connect(store)
    database.row_factory = sqlite3.Row

    def rows(sql, *values):
        return [dict(row) for row in database.execute(sql, values)]

    def one(sql, *values):
        found = rows(sql, *values)
        return found[0] if found else None

    expected = []
    for order in rows('SELECT id, customer_id FROM "order" ORDER BY id'):
        key = order.pop("customer_id")
        order["lines"] = rows(
            "SELECT sku, count FROM line WHERE order_id = ? ORDER BY order_position IS NULL, order_position, rowid", order["id"]
        )
        links = rows(
            "SELECT tags_name AS name FROM order_tags WHERE order_id = ? ORDER BY position IS NULL, position, tags_name",
            order["id"],
        )
        order["tags"] = links
        customer = key if key is None else one("SELECT id, name FROM person WHERE id = ?", key)
        if key is not None and customer is None:
            customer = {"id": key}
        elif customer is not None:
            customer["orders"] = [
                {"id": row["id"]} for row in rows('SELECT id FROM "order" WHERE customer_id = ? ORDER BY id', key)
            ]
        order["customer"] = customer
        expected.append(order)
    found = lines(output)
    if found != expected:
        for left, right in zip(expected, found):
            if left != right:
                print("expected %s\n  found %s" % (json.dumps(left), json.dumps(right)))
                break
        return 1
    print("%d records" % len(found))
    return 0


if __name__ == "__main__":
    sys.exit({"same": same, "where": where, "stored": stored}[sys.argv[1]](*sys.argv[2:]))
