"""The slow and obvious reading of what importing records with an identifier comes to.

usage: merge_model.py POLICY FILE...

Reads NDJSON, one file after the other, and prints the rows of MergingTests' entity in the order in which their objects
first came, a line each with columns separated by `|`, and then the counts: inserted, updated, unchanged, ignored,
rejected.
"""
import json
import sys

COLUMNS = ["key", "part", "needed", "count", "note", "mine"]
DEFAULTS = {"count": 7}
OPTIONAL = {"count", "note", "mine"}
LOCAL = {"mine"}


def main(policy, files):
    objects = {}
    counts = dict(inserted=0, updated=0, unchanged=0, ignored=0, rejected=0)
    for name in files:
        for line in open(name, encoding="utf-8"):
            counts[take(policy, objects, json.loads(line))] += 1
    for stored in objects.values():
        print("|".join("" if stored[column] is None else str(stored[column]) for column in COLUMNS))
    print(" ".join(str(count) for count in counts.values()))


def take(policy, objects, record):
    record = {key: value for key, value in record.items() if key in COLUMNS}
    if any(record.get(column, "") is None and column not in OPTIONAL for column in COLUMNS):
        return "rejected"
    if "key" not in record or "part" not in record:
        return "rejected"
    whole = {column: record.get(column, DEFAULTS.get(column)) for column in COLUMNS}
    is_complete = "needed" in record
    identifier = (record["key"], record["part"])
    stored = objects.get(identifier)
    if stored is None or policy == "replace":
        if not is_complete:
            return "rejected"
    if stored is None:
        objects[identifier] = whole
        return "inserted"
    if policy == "ignore":
        return "ignored"
    if policy == "error":
        return "rejected"
    changes = record if policy == "merge" else whole
    before = dict(stored)
    stored.update({column: value for column, value in changes.items() if column not in LOCAL})
    return "unchanged" if stored == before else "updated"


main(sys.argv[1], sys.argv[2:])
