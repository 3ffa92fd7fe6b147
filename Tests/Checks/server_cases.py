#!/usr/bin/env python3
"""Imports small cases into SQLite stores and into schemas of a server, and compares each pair.

usage: server_cases.py --importer PATH --url URL [--cases DIR] [--graphs N] [--seed S] [--only ID]
                       [--shapes LIST] [--features LIST] [--having TEXT] [--refused N] [--but-counts] [--keep DIR]

  --url URL        a database of the server; each case gets a schema there, which is dropped at the end
  --cases DIR      the relationship cases, those of cases.json there
  --graphs N       N models with relationships and records at random
  --seed S         of these and of the sizes of chunks [1]
  --only ID        the cases whose names begin with this
  --shapes LIST    shapes of random_graphs.py, with commas between them, that random models of some features have [all]
  --features LIST  features of random_graphs.py, with commas between them, that random models have: the first always, others perhaps [any]
  --having TEXT    random models only whose JSON has what this regular expression matches
  --refused N      how many cases may be refused at most [any number]
  --but-counts     whether an object counts as updated or not, and how many links as broken, may differ, as the documentation
                   says it does where lists contradict one another
  --keep DIR       leave the files there

Prints a line per case: `same`, `refused` with what the program says where a server cannot have a relationship of that kind, or
what differs. After the last step the rejects of each job are exported, some of them mended, and retried. Some schemas get
constraints between the steps. Exit code 0 if no case differs and not too many are refused, 1 otherwise, 64 for usage. Where DIR is
not there, its cases are skipped.
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
from stored_tables import Failure  # noqa: E402

POLICIES = ["merge", "replace", "ignore", "error"]
REFUSED = re.compile("relationships? .*server|server.* relationships?|[Ii]mport into a SQLite store|needs? a SQLite store")


class Case:
    """A model, and what is imported one after the other: each step is a source with options."""

    def __init__(self, name, model, steps, may_be_guarded=True):
        self.name, self.model, self.steps, self.may_be_guarded = name, model, steps, may_be_guarded


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


def featured(features, shapes, dice):
    """A graph of some shapes with the first of some features, and with others of them."""
    while True:
        chosen = [name for place, name in enumerate(features) if place == 0 or dice.random() < 0.5]
        graph = graphs.random_graphs.graph(dice.randrange(1 << 32), shapes, chosen)
        has_parents = any("parent" in entity for entity in graph["model"]["entities"].values())
        if graphs.relationships_of(graph) and (has_parents or features[0] != "inheritance"):
            return graph


def random_graph(dice, features, shapes, text):
    """A model and records at random, of some features and shapes, with something in the model's JSON."""
    while True:
        graph = featured(features, shapes, dice) if features else graphs.random_graph(dice, rejects=True)[0]
        if re.search(text, json.dumps(graph["model"])):
            return graph


def random_cases(count, seed, work, features=None, shapes=graphs.random_graphs.SHAPES, text=""):
    """Models and records at random; half of the steps with what a record does then whose object is there already at random, too."""
    for number in range(count):
        dice = random.Random(f"{seed} {number} policies")
        graph = random_graph(random.Random(f"{seed} {number}"), features, shapes, text)
        model, steps = os.path.join(work, f"graph-{number}.model.json"), []
        write(model, graph["model"])
        # Tables with objects of several entities are refused with constraints.
        is_alone = not any("parent" in entity for entity in graph["model"]["entities"].values())
        for place, step in enumerate(graph["steps"]):
            source = os.path.join(work, f"graph-{number}-{place}.json")
            write(source, step["records"])
            policy = dice.choice(POLICIES + [step["on_conflict"]] * len(POLICIES))
            options = ["--entity", step["entity"], "--records", "$[*]", "--on-conflict", policy]
            steps.append((source, options + ["--max-errors", "none"]))
        yield Case(f"graph {seed}/{number}", model, steps, may_be_guarded=is_alone)


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

    def guard(self, is_on):
        """Gives each table something that might refuse rows, so that they are settled in another way, or takes it away."""
        addition = " || ', ADD CONSTRAINT guard CHECK (true)'" if is_on else ""
        self.execute(f"""
            DO $$ DECLARE name text; BEGIN
                FOR name IN SELECT oid::regclass FROM pg_class
                    WHERE relnamespace = '{self.schema}'::regnamespace AND relkind = 'r' AND relname !~ '^_import_'
                LOOP EXECUTE 'ALTER TABLE ' || name || ' DROP CONSTRAINT IF EXISTS guard'{addition}; END LOOP;
            END $$""")

    def drop(self):
        """Drops the schema."""
        self.execute(f"DROP SCHEMA IF EXISTS {self.schema} CASCADE")


def mended_rejects(importer, places, job, dice):
    """Exports a job's rejects, and mends some of them; gives back a repair file for each place, None where there is no line.

    The numbers of rejects differ, but the lines have the same order and length.
    """
    numbers, lines = {}, []
    for place in places:
        words = [importer, "rejects", place, "--job", str(job), "--to", "-"]
        told = subprocess.run(words, capture_output=True, text=True).stdout.splitlines()
        lines = [json.loads(line) for line in told]
        numbers[place] = {line["ordinal"]: line["reject"] for line in lines}
    lines = [line for line in lines if dice.random() < 0.9]
    for line in lines:
        if isinstance(line["record"], dict) and dice.random() < 0.8:
            for error in line["errors"]:
                line["record"].pop(re.split(r"[.\[]", error["key_path"])[0], None)

    def text(place):
        records = [(numbers[place].get(line["ordinal"], 0), json.dumps(line["record"], ensure_ascii=False)) for line in lines]
        return "".join(f'{{"reject": {number:6}, "record": {record}}}\n' for number, record in records)

    return {place: text(place) for place in places} if lines else None


# What may differ where lists contradict one another.
COUNTS = re.compile(
    r"ledger: [^:]*: \(.*'unlinked', \d+\)$|status --json [^:]*: (ledger\..*\.unlinked|(.*\.)?(nested_)?(updated|unchanged)): \d+, not \d+$")


def outcome(case, importer, server, work, dice, may_count=False):
    """`same`, `refused` or `differs`, and what there is to say."""
    store, url = os.path.join(work, "store.sqlite"), server.empty()
    is_guarded = dice.random() < 0.3 and case.may_be_guarded

    def steps():
        """The commands of all steps, but for what a server's has beside."""
        for number, (source, options) in enumerate(case.steps, 1):
            words = ["--model", case.model, *options]
            yield f"step {number}", lambda place, source=source, words=words: ["import", source, "--into", place, *words]
        for job in range(1, len(case.steps) + 1):
            mended = mended_rejects(importer, (store, url), job, dice)
            if not mended:
                continue
            file = os.path.join(work, f"mended-{job}.ndjson")

            def retry(place, file=file, mended=mended):
                with open(file, "w", encoding="utf-8") as opened:
                    opened.write(mended[place])
                return ["retry", place, file]

            yield f"retry of job {job}", retry

    for name, words in steps():
        endings = []
        for place in (store, url):
            command = [importer, *words(place), "--progress", "none"]
            if place == url:
                # Relationships cross chunks.
                command += ["--chunks", os.path.join(work, "chunks"), "--chunk-size", dice.choice(["300", "1K", "64K"])]
                command += ["--workers", dice.choice(["1", "2"])]
            try:
                result = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
            except subprocess.TimeoutExpired:
                return "differs", [f"{name}: no end after 120 s"]
            endings.append(result)
        ours, theirs = endings
        said = theirs.stderr.strip().splitlines()
        if theirs.returncode == 64 and ours.returncode != 64 and REFUSED.search(theirs.stderr):
            return "refused", [next((line for line in said if "error:" in line), said[0]).rsplit(": ", 1)[-1]]
        if ours.returncode != theirs.returncode:
            return "differs", [f"{name}: ends with {theirs.returncode}, not {ours.returncode}: {' '.join(said)[:400]}"]
        if is_guarded:
            server.guard(True)
    if not os.path.exists(store):
        return "same", []
    server.guard(False)
    differences, _ = compare_stores.compared(store, url, importer, most=1 << 30 if may_count else 2)
    if may_count:
        differences = [text for text in differences if not COUNTS.match(text)]
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
    parser.add_argument("--features", type=lambda text: text.split(","))
    parser.add_argument("--shapes", type=lambda text: list(map(int, text.split(","))), default=graphs.random_graphs.SHAPES)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--having", default="")
    parser.add_argument("--refused", type=int)
    parser.add_argument("--but-counts", action="store_true")
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
        cases += random_cases(options.graphs, options.seed, base, options.features, options.shapes, options.having)
        for case in cases:
            if not case.name.startswith(options.only):
                continue
            work = os.path.join(base, re.sub(r"\W", "-", case.name))
            shutil.rmtree(work, ignore_errors=True)
            os.makedirs(work)
            try:
                kind, texts = outcome(case, importer, server, work, dice, options.but_counts)
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
