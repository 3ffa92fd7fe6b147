"""Orders with sqlite-utils' own calls: ijson reads them, a table each by `insert_all`, with the indexes that links need.

usage: peer_sqlite_utils_orders.py SOURCE STORE BATCH

Timed from opening the store to having closed it.
"""
import itertools
import json
import sys
import time

import ijson
import sqlite_utils


def batches(records, size):
    while batch := list(itertools.islice(records, size)):
        yield batch


def main(arguments):
    source, store, size = arguments[0], arguments[1], int(arguments[2])
    start = time.perf_counter()
    database = sqlite_utils.Database(store)
    database.enable_wal()
    with open(source, "rb") as file:
        for batch in batches(ijson.items(file, "item", use_float=True), size):
            database["customer"].insert_all([order["customer"] for order in batch], pk="id", replace=True)
            database["order"].insert_all(
                [{"id": order["id"], "placed": order["placed"], "customer_id": order["customer"]["id"]} for order in batch],
                pk="id")
            database["line"].insert_all(
                [{**line, "order_id": order["id"], "order_position": place}
                 for order in batch for place, line in enumerate(order["lines"])])
            database["tag"].insert_all([{"name": tag} for order in batch for tag in order["tags"]], pk="name", ignore=True)
            database["order_tags"].insert_all(
                [{"order_id": order["id"], "tags_name": tag, "position": place}
                 for order in batch for place, tag in enumerate(order["tags"])], pk=("order_id", "tags_name"))
    database["order"].create_index(["customer_id"])
    database["line"].create_index(["order_id", "order_position"], unique=True)
    database["order_tags"].create_index(["tags_name"])
    database.conn.close()
    print(json.dumps({"seconds_counted": time.perf_counter() - start}))


main(sys.argv[1:])
