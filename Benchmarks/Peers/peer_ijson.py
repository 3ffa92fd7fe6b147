"""ijson and sqlite3's executemany, timed from opening the store to having closed it.

usage: peer_ijson.py SOURCE STORE COMMIT_EVERY PRAGMAS CREATE INSERT

ijson's backend is yajl2_c, its fastest, with use_float; orjson writes the tags. Dates stay the text that they are and
numbers that are strings are left to the column's affinity: the least that Python can do.
"""
import itertools
import json
import sqlite3
import sys
import time

import ijson.backends.yajl2_c as ijson
import orjson


def rows(file):
    for record in ijson.items(file, "item", use_float=True):
        address = record["address"]
        yield (
            record["id"],
            record["guid"],
            record["name"],
            record["age"],
            record["score"],
            record["balance"],
            record["active"],
            record["created"],
            address["street"],
            address["city"],
            address["zip"],
            orjson.dumps(record["tags"]).decode(),
            record["note"],
        )


def main(source, store, commit_every, pragmas, create, insert):
    start = time.perf_counter()
    connection = sqlite3.connect(store, isolation_level=None)
    connection.executescript(pragmas)
    connection.execute(create)
    with open(source, "rb") as file:
        remaining = rows(file)
        for first in remaining:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(insert, first)
            connection.executemany(insert, itertools.islice(remaining, int(commit_every) - 1))
            connection.execute("COMMIT")
    connection.close()
    print(json.dumps({"seconds_counted": time.perf_counter() - start}))


main(*sys.argv[1:])
