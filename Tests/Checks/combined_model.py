#!/usr/bin/env python3
"""The slow and obvious reading of what importing records with several options at once comes to.

usage: combined_model.py [--identifier id|key] [--policy POLICY] [--on-error reject|null] [--skip N] [--limit N]
                         [--max-errors N] FILE...

Reads NDJSON, each file as an import of its own, and prints the rows of CombinedOptionsTests' entity in the order in
which their objects first came, a line each with columns separated by `|`; then for each import its counts (read,
inserted, updated, unchanged, ignored, rejected), a colon, and the numbers of the rejected records.
"""
import argparse
import json
import re
import uuid

import generated

COLUMNS = ["id", "key", "count", "needed", "note", "mine"]
OPTIONAL = {"count", "note", "mine"}
DEFAULTS = {"count": 7}
LOCAL = {"mine"}
MISFIT = object()


def coerced(column, value):
    """What is stored for a value that is not null; MISFIT where there is nothing."""
    if column == "count":
        if isinstance(value, str) and re.fullmatch("-?[0-9]+", value):
            value = int(value)
        fits = isinstance(value, int) and -32768 <= value < 32768
        return value if fits else MISFIT
    if not isinstance(value, str):
        return MISFIT
    if column == "key":
        return str(uuid.UUID(value)) if re.fullmatch("[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", value) else MISFIT
    return value


def taken(given, objects, record, made):
    """What becomes of one record; changes `objects`."""
    values = {}
    for column in COLUMNS:
        if column not in record:
            continue
        value = record[column]
        if value is None:
            if column == "key":
                continue
            if column not in OPTIONAL:
                return "rejected"
        else:
            value = coerced(column, value)
            if value is MISFIT:
                if given.on_error != "null" or column not in OPTIONAL:
                    return "rejected"
                value = None
        values[column] = value
    if "id" not in values and (given.identifier == "id" or given.policy == "replace"):
        return "rejected"
    if given.identifier == "key" and "key" not in values:
        values["key"] = made
    lacks = any(column not in values for column in ("id", "needed"))
    identifier = values[given.identifier]
    stored = objects.get(identifier)
    if lacks and (stored is None or given.policy == "replace"):
        return "rejected"
    if stored is None:
        objects[identifier] = {**dict.fromkeys(COLUMNS), **DEFAULTS, "key": made, **values}
        return "inserted"
    if given.policy == "ignore":
        return "ignored"
    if given.policy == "error":
        return "rejected"
    changes = values
    if given.policy == "replace":
        # A UUID that was made is no value that could be missing.
        changes = {**dict.fromkeys(COLUMNS), **DEFAULTS, "key": stored["key"], **values}
    before = dict(stored)
    stored.update({column: value for column, value in changes.items() if column not in LOCAL})
    return "unchanged" if stored == before else "updated"


def imported(given, objects, path):
    counts = dict.fromkeys(["read", "inserted", "updated", "unchanged", "ignored", "rejected"], 0)
    rejects = []
    offset = 0
    with open(path, "rb") as file:
        lines = file.read().split(b"\n")[:-1]
    for index, line in enumerate(lines):
        place, offset = offset, offset + len(line) + 1
        if index < given.skip or counts["read"] == given.limit:
            continue
        made = str(generated.made("thing", "key", 0, place, line.decode()))
        before = {identifier: dict(stored) for identifier, stored in objects.items()} if given.max_errors is not None else None
        outcome = taken(given, objects, json.loads(line), made)
        if outcome == "rejected" and counts["rejected"] == given.max_errors:
            assert objects == before
            break
        counts["read"] += 1
        counts[outcome] += 1
        if outcome == "rejected":
            rejects.append(counts["read"])
    return " ".join(map(str, counts.values())) + ":" + " ".join(map(str, rejects))


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "))
    parser.add_argument("--identifier", default="id")
    parser.add_argument("--policy", default="merge")
    parser.add_argument("--on-error", default="reject")
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--max-errors", type=int)
    parser.add_argument("files", nargs="+")
    given = parser.parse_args()
    objects = {}
    outcomes = [imported(given, objects, path) for path in given.files]
    for stored in objects.values():
        print("|".join("" if stored[column] is None else str(stored[column]) for column in COLUMNS))
    print("\n".join(outcomes))


main()
