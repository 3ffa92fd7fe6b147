"""Made-up orders with what belongs to them, made once and kept: nested and as flat records of about the same size, the model,
and what they add up to."""
import hashlib
import json
import os
import random
import tempfile

from data import Source, check_room
from machine import megabytes, say

BYTES_PER_ORDER = 2 * 320
CITIES = ["Lund", "Oslo", "Turin", "Ghent", "Porto", "Málaga"]
NAMES = ["Ada", "Grace", "Linus", "Dennis", "Barbara", "Edsger", "Alan", "Donald"]
MODEL = {"entities": {
    "order": {
        "identifier": ["id"], "attributes": {"id": {"type": "integer64"}, "placed": {"type": "string"}},
        "relationships": {
            "customer": {"entity": "customer", "inverse": "orders"},
            "lines": {"entity": "line", "toMany": True, "deleteRule": "cascade"},
            "tags": {"entity": "tag", "toMany": True}}},
    "customer": {
        "identifier": ["id"],
        "attributes": {"id": {"type": "integer64"}, "name": {"type": "string"}, "city": {"type": "string"}},
        "relationships": {"orders": {"entity": "order", "toMany": True, "inverse": "customer", "from": []}}},
    "line": {"attributes": {
        "sku": {"type": "string"}, "count": {"type": "integer32"}, "price": {"type": "double"}}},
    "tag": {"identifier": ["name"], "attributes": {"name": {"type": "string", "from": "@value"}}}}}
FLAT_MODEL = {"entities": {"orders": {"identifier": ["id"], "attributes": {
    "id": {"type": "integer64"}, "placed": {"type": "string"}, "customer_id": {"type": "integer64"},
    "customer_name": {"type": "string"}, "customer_city": {"type": "string"},
    **{f"{name}_{place}": {"type": kind} for place in range(3)
       for name, kind in (("sku", "string"), ("count", "integer32"), ("price", "double"))},
    "tag_0": {"type": "string"}, "tag_1": {"type": "string"}}}}}
# The tables and sums of a result: of a SQLite store, and of a DuckDB file, whose table of orders has another name.
QUERY = """
    SELECT (SELECT count(*) FROM {order}) AS orders, (SELECT count(*) FROM customer) AS customers,
        (SELECT count(*) FROM line) AS lines, (SELECT count(*) FROM tag) AS tags, (SELECT count(*) FROM order_tags) AS links,
        (SELECT sum(id * length(placed)) FROM {order}) AS placed, (SELECT sum(customer_id) FROM {order}) AS ordering,
        (SELECT sum(id * length(name)) FROM customer) AS named, (SELECT sum(id * length(city)) FROM customer) AS living,
        (SELECT sum(order_id * (order_position + 1)) FROM line) AS positions,
        (SELECT sum(count * length(sku)) FROM line) AS skus, (SELECT CAST(round(sum(price)) AS BIGINT) FROM line) AS prices,
        (SELECT sum(order_id * (position + 1) * length(tags_name)) FROM order_tags) AS tagged
"""


class Orders(Source):
    """The orders of one number and seed, in a folder named after what decides them."""

    def __init__(self, folder, records, seed):
        self.records = records
        self.seed = seed
        key = hashlib.sha256(str(seed).encode())
        with open(__file__, "rb") as file:
            key.update(file.read())
        self.folder = os.path.join(folder, f"orders-{records}-{key.hexdigest()[:12]}")
        self.array = os.path.join(self.folder, "orders.json")
        self.flat = os.path.join(self.folder, "flat.json")
        self.model = os.path.join(self.folder, "model.json")
        self.flat_model = os.path.join(self.folder, "flat.model.json")
        self._facts = os.path.join(self.folder, "facts.json")

    def make(self):
        os.makedirs(self.folder, exist_ok=True)
        if all(os.path.exists(path) for path in (self.array, self.flat, self.model, self.flat_model, self._facts)):
            return
        check_room(self.folder, self.records * BYTES_PER_ORDER)
        say(f"Making {self.records:,} orders, about {megabytes(self.records * BYTES_PER_ORDER)}")
        # Made under other names, so that what has its name is whole.
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="making-") as making:
            array, flat = os.path.join(making, "array"), os.path.join(making, "flat")
            with open(array, "w", encoding="utf-8") as nested, open(flat, "w", encoding="utf-8") as flattened:
                facts = self._write(nested, flattened)
            for made, path in ((array, self.array), (flat, self.flat)):
                os.rename(made, path)
            for value, path in ((MODEL, self.model), (FLAT_MODEL, self.flat_model), (facts, self._facts)):
                with open(path, "w", encoding="utf-8") as file:
                    json.dump(value, file)

    def _write(self, nested, flattened):
        source = random.Random(self.seed)
        tags = [f"tag-{number:04d}" for number in range(1_000)]
        count = max(1, self.records // 10)
        customers = [
            {"id": number, "name": f"{source.choice(NAMES)} {number % 9_973}", "city": source.choice(CITIES)}
            for number in range(1, count + 1)]
        sums = dict.fromkeys(["placed", "ordering", "positions", "skus", "tagged"], 0)
        prices, seen, used = 0.0, set(), set()
        for number in range(1, self.records + 1):
            customer = source.choice(customers)
            order = {
                "id": number,
                "placed": "2024-%02d-%02dT%02d:%02d:00Z" % (source.randint(1, 12), source.randint(1, 28),
                                                          source.randint(0, 23), source.randint(0, 59)),
                "customer": customer,
                "lines": [{"sku": f"SKU-{source.randrange(1_000_000):06d}", "count": source.randint(1, 20),
                           "price": round(source.random() * 500, 2)} for _ in range(3)],
                "tags": source.sample(tags, 2)}
            start = "[\n" if number == 1 else ",\n"
            nested.write(start + json.dumps(order, ensure_ascii=False))
            flat = {"id": number, "placed": order["placed"]}
            flat.update({f"customer_{key}": value for key, value in customer.items()})
            for place, line in enumerate(order["lines"]):
                flat.update({f"{key}_{place}": value for key, value in line.items()})
                sums["positions"] += number * (place + 1)
                sums["skus"] += line["count"] * len(line["sku"])
                prices += line["price"]
            for place, tag in enumerate(order["tags"]):
                flat[f"tag_{place}"] = tag
                sums["tagged"] += number * (place + 1) * len(tag)
            flattened.write(start + json.dumps(flat, ensure_ascii=False))
            sums["placed"] += number * len(order["placed"])
            sums["ordering"] += customer["id"]
            seen.add(customer["id"])
            used.update(order["tags"])
        nested.write("\n]\n")
        flattened.write("\n]\n")
        there = [customer for customer in customers if customer["id"] in seen]
        return {
            "orders": self.records, "customers": len(there), "lines": 3 * self.records, "tags": len(used),
            "links": 2 * self.records, "prices": round(prices),
            "named": sum(customer["id"] * len(customer["name"]) for customer in there),
            "living": sum(customer["id"] * len(customer["city"]) for customer in there), **sums}
