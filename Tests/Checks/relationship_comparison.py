#!/usr/bin/env python3
"""Imports random records with relationships, and compares the stores with those of the slow and obvious reading.

usage: relationship_comparison.py IMPORTER FROM TO [--only-shapes 1,2,…] [--only FEATURE,…]

Prints a line for each seed from FROM up to TO, TO left out, that comes out otherwise; exit 1 if one does. Shapes and features
are those of random_graphs.py; without --only no feature is used.
"""
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import random_graphs
import relationships
from records import parsed


def tables(path):
    """The columns and rows of the user tables, with row ids where there are any."""
    connection = sqlite3.connect(path)
    found = {}
    names = connection.execute(
        "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
        " AND name NOT LIKE '\\_import\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    ).fetchall()
    for name, has_no_rowid in names:
        quoted = '"' + name.replace('"', '""') + '"'
        columns = [row[0] for row in connection.execute("SELECT name FROM pragma_table_info(?)", [name])]
        selected, order = ("*", "1, 2") if has_no_rowid else ("rowid, *", "1")
        rows = connection.execute(f"SELECT {selected} FROM {quoted} ORDER BY {order}").fetchall()
        found[name] = (columns, [tuple(repr(value) for value in row) for row in rows])
    connection.close()
    return found


def unlike(store, expected):
    """How the user tables of two stores differ, in words."""
    actual, wanted = tables(store), tables(expected)
    wrong = [f"tables {sorted(set(actual) ^ set(wanted))}"] if set(actual) != set(wanted) else []
    for name in sorted(set(actual) & set(wanted)):
        if actual[name] != wanted[name]:
            more = [row for row in actual[name][1] if row not in wanted[name][1]][:2]
            less = [row for row in wanted[name][1] if row not in actual[name][1]][:2]
            wrong.append(f"{name} {actual[name][0]}: has {more}, lacks {less}")
    return wrong


def differences(importer, folder, graph):
    """What comes out otherwise, in words; nothing if all is as it should be."""
    model = os.path.join(folder, "model.json")
    with open(model, "w", encoding="utf-8") as file:
        json.dump(graph["model"], file)
    reference = relationships.Store(graph["model"])
    store, report = os.path.join(folder, "store.sqlite"), os.path.join(folder, "report.json")
    for number, step in enumerate(graph["steps"]):
        source = os.path.join(folder, f"step-{number}.json")
        text = json.dumps(step["records"], ensure_ascii=False)
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        expected = reference.take([parsed(text)], step["entity"], ["$[*]"], step["on_conflict"])
        result = subprocess.run(
            [importer, "import", source, "--into", store, "--model", model, "--entity", step["entity"], "--records", "$[*]",
             "--on-conflict", step["on_conflict"], "--max-errors", "none", "--progress", "none", "--report", report],
            capture_output=True, text=True)
        if result.returncode not in (0, 65) or not os.path.exists(report):
            return [f"step {number} ends with {result.returncode}: {result.stderr[-300:]}"]
        with open(report, encoding="utf-8") as file:
            rejected = json.load(file)["rejected"]
        if rejected != len(expected["rejects"]):
            return [f"step {number}: {rejected} rejects, not {len(expected['rejects'])}"]
    path = os.path.join(folder, "expected.sqlite")
    reference.write(path)
    wrong = unlike(store, path)
    if subprocess.run([importer, "verify", store], capture_output=True).returncode:
        wrong.append("verify finds a fault")
    return wrong


def main(arguments):
    """Reads the command line; see the top of this file."""
    if len(arguments) < 3:
        print(__doc__)
        return 64
    importer, first, last = arguments[0], int(arguments[1]), int(arguments[2])
    options = dict(zip(arguments[3::2], arguments[4::2]))
    settings = {"features": {name for name in options.get("--only", "").split(",") if name}}
    if "--only-shapes" in options:
        settings["shapes"] = [int(number) for number in options["--only-shapes"].split(",")]
    bad = 0
    for seed in range(first, last):
        graph = random_graphs.graph(seed, **settings)
        # Without relationships there is nothing to compare.
        if not any(entity.get("relationships") for entity in graph["model"]["entities"].values()):
            continue
        folder = tempfile.mkdtemp(prefix="relationships-")
        try:
            wrong = differences(importer, folder, graph)
        finally:
            shutil.rmtree(folder)
        if wrong:
            bad += 1
            print(f"{seed}: " + "; ".join(wrong))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
