#!/usr/bin/env python3
"""Imports small cases into SQLite stores and into schemas of a server, and compares each pair.

usage: server_cases.py --importer PATH --url URL [--cases DIR] [--graphs N] [--seed S] [--only ID]
                       [--features LIST] [--having TEXT] [--refused N] [--keep DIR]

  --url URL        a database of the server; each case gets a schema there, which is dropped at the end
  --cases DIR      the relationship cases, those of cases.json there
  --graphs N       N models with relationships and records at random
  --seed S         of these and of the sizes of chunks [1]
  --only ID        the cases whose names begin with this
  --features LIST  features of random_graphs.py, with commas between them, that random models may have [any]
  --having TEXT    random models only that have this in their JSON
  --refused N      how many cases may be refused at most [any number]
  --keep DIR       leave the files there

Prints a line per case: `same`, `refused` with what the program says where a server cannot have a relationship of that kind, or
what differs. Exit code 0 if no case differs and not too many are refused, 1 otherwise, 64 for usage. Where DIR is not there, its
cases are skipped.
"""
import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "Fuzz")]

import compare_stores  # noqa: E402
import graphs  # noqa: E402
import random_graphs  # noqa: E402
from stored_tables import Failure  # noqa: E402

REFUSED = re.compile("relationships? .*server|server.* relationships?|[Ii]mport into a SQLite store|needs? a SQLite store")


class Case:
    """A model, and what is imported one after the other: each step is a source with options."""

    def __init__(self, name, model, steps):
        self.name, self.model, self.steps = name, model, steps


def shared_cases(folder, work):
    """The cases of a folder; sources that are within them are written to `work`."""
    path = os.path.join(folder, "cases.json")
    if not os.path.exists(path):
        print(f"skipped: there is no {path}")
        return
    with open(path, encoding="utf-8") as file:
        cases = json.load(file)
    for case in cases:
        steps, seen = [], set()
        for number, step in enumerate(case["steps"]):
            options = ["--entity", step["entity"]] if step.get("entity") else []
            options += [word for record_path in step.get("records", []) for word in ("--records", record_path)]
            if step.get("file"):
                source = os.path.join(folder, step["file"])
                options += ["--again"] if source in seen else []
                seen.add(source)
            else:
                source = os.path.join(work, f"{case['id']}-{number}.json")
                write(source, step["inline"])
            steps.append((source, options + step.get("options", [])))
        yield Case(case["id"], os.path.join(folder, case["model"]), steps)


def random_graph(dice, features, text):
    """A model and records at random, of some features, with a text in the model's JSON."""
    while True:
        graph, _ = graphs.random_graph(dice)
        if features is not None:
            shapes = random_graphs.SHAPES if dice.random() < 0.5 else dice.sample(random_graphs.SHAPES, dice.randint(1, 3))
            named = [name for name in features if dice.random() < 0.7]
            graph = random_graphs.graph(dice.randrange(1 << 32), sorted(shapes), named)
        if text in json.dumps(graph["model"]):
            return graph


def random_cases(count, seed, work, features=None, text=""):
    """Models and records at random."""
    for number in range(count):
        graph = random_graph(random.Random(f"{seed} {number}"), features, text)
        model, steps = os.path.join(work, f"graph-{number}.model.json"), []
        write(model, graph["model"])
        for place, step in enumerate(graph["steps"]):
            source = os.path.join(work, f"graph-{number}-{place}.json")
            write(source, step["records"])
            options = ["--entity", step["entity"], "--records", "$[*]", "--on-conflict", step["on_conflict"]]
            steps.append((source, options + ["--max-errors", "none"]))
        yield Case(f"graph {seed}/{number}", model, steps)


def write(path, value):
    """Writes a JSON file."""
    with open(path, "w", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False)


class Server:
    """A database of a server, and a schema in it that is made anew for each case."""

    def __init__(self, url, schema):
        self.url, self.schema = url, schema
        self.schema_url = f"{url}{'&' if '?' in url else '?'}options=-csearch_path%3D{schema}"

    def execute(self, *statements):
        """Runs statements."""
        words = [word for statement in statements for word in ("-c", statement)]
        result = subprocess.run(
            ["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", "-d", self.url, "-c", "SET client_min_messages = warning", *words],
            capture_output=True, text=True)
        if result.returncode:
            raise Failure(result.stderr.strip())

    def empty(self):
        """Makes the schema, with nothing in it, and gives back the URL that leads there."""
        self.drop()
        self.execute(f"CREATE SCHEMA {self.schema}")
        return self.schema_url

    def drop(self):
        """Drops the schema."""
        self.execute(f"DROP SCHEMA IF EXISTS {self.schema} CASCADE")


def outcome(case, importer, url, work, dice):
    """`same`, `refused` or `differs`, and what there is to say."""
    store = os.path.join(work, "store.sqlite")
    for number, (source, options) in enumerate(case.steps, 1):
        endings = []
        for place in (store, url):
            command = [importer, "import", source, "--into", place, "--model", case.model, "--progress", "none", *options]
            if place == url:
                # Relationships cross chunks.
                command += ["--chunks", os.path.join(work, "chunks"), "--chunk-size", dice.choice(["300", "1K", "64K"])]
                command += ["--workers", dice.choice(["1", "2"])]
            try:
                result = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
            except subprocess.TimeoutExpired:
                return "differs", [f"step {number}: no end after 120 s"]
            endings.append(result)
        ours, theirs = endings
        said = theirs.stderr.strip().splitlines()
        if theirs.returncode == 64 and ours.returncode != 64 and REFUSED.search(theirs.stderr):
            return "refused", [next((line for line in said if "error:" in line), said[0]).rsplit(": ", 1)[-1]]
        if ours.returncode != theirs.returncode:
            return "differs", [f"step {number}: ends with {theirs.returncode}, not {ours.returncode}: {' '.join(said)[:400]}"]
    if not os.path.exists(store):
        return "same", []
    differences, _ = compare_stores.compared(store, url, importer, most=2)
    return ("differs", differences) if differences else ("same", [])


def main():
    if "-h" in sys.argv[1:] or "--help" in sys.argv[1:]:
        print(__doc__.strip())
        return 0
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "), add_help=False)
    parser.add_argument("--importer", required=True)
    parser.add_argument("--url", required=True)
    parser.add_argument("--cases")
    parser.add_argument("--graphs", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--features")
    parser.add_argument("--having", default="")
    parser.add_argument("--refused", type=int)
    parser.add_argument("--keep")
    try:
        options = parser.parse_args()
    except SystemExit:
        return 64
    importer, server = os.path.abspath(options.importer), Server(options.url, f"importer_case_{os.getpid()}")
    base = os.path.abspath(options.keep) if options.keep else tempfile.mkdtemp(prefix="importer-cases-")
    os.makedirs(base, exist_ok=True)
    counts = {"same": 0, "refused": 0, "differs": 0}
    dice = random.Random(options.seed)
    try:
        cases = list(shared_cases(options.cases, base)) if options.cases else []
        features = options.features.split(",") if options.features else None
        cases += random_cases(options.graphs, options.seed, base, features, options.having)
        for case in cases:
            if not case.name.startswith(options.only):
                continue
            work = os.path.join(base, re.sub(r"\W", "-", case.name))
            shutil.rmtree(work, ignore_errors=True)
            os.makedirs(work)
            try:
                kind, texts = outcome(case, importer, server.empty(), work, dice)
            except Failure as failure:
                kind, texts = "differs", [str(failure)]
            counts[kind] += 1
            print(f"{case.name}: {kind}" + (": " + "\n    ".join(texts) if texts else ""), flush=True)
    finally:
        server.drop()
        if not options.keep:
            shutil.rmtree(base, ignore_errors=True)
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    too_many = options.refused is not None and counts["refused"] > options.refused
    return 1 if counts["differs"] or too_many else 0


if __name__ == "__main__":
    sys.exit(main())
