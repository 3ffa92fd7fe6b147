"""Random models with relationships and random records, against the slow reading of Tests/Checks, and against themselves.

Whatever the workers, the sizes of chunks and of commits, and wherever it is killed, an import has the same rows, row ids, rejects and
ledger. They are those of taking one record after the other.
"""
import json
import os
import sys

from case import Found

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Checks"))

import random_graphs  # noqa: E402
import relationship_comparison  # noqa: E402
import relationships  # noqa: E402
import store_dump  # noqa: E402
from records import parsed  # noqa: E402

# Features of which the importer and the slow reading are known to have different ideas: only compared with itself.
DISPUTED = {"symmetric", "rules", "local"}


def random_graph(random, rejects=False):
    """A graph of some features, perhaps one whose references must not lead to nothing, and whether the slow reading is a reference
    for it."""
    while True:
        kind = random.randrange(4)
        if kind == 0:
            features = set()
        elif kind == 1:
            features = {random.choice(random_graphs.FEATURES)}
        else:
            share = random.choice([0.15, 0.3, 0.6])
            features = {name for name in random_graphs.FEATURES if random.random() < share}
        if random.random() < 0.7:
            features -= DISPUTED
        if "counts" in features:
            # Whether null for a list breaks its `minCount` is another question.
            features.discard("nulls")
        shapes = random_graphs.SHAPES if random.random() < 0.6 else random.sample(random_graphs.SHAPES, random.randint(1, 3))
        # In the order of the list: that of a set is another one in every process.
        named = [name for name in random_graphs.FEATURES if name in features]
        seed, records, steps = random.randrange(1 << 32), random.choice([None, None, 40]), random.choice([None, 1])
        graph = random_graphs.graph(seed, sorted(shapes), named, records=records, steps=steps)
        # Tables without relationships are the work of `lines`: their row ids have gaps where an object came again.
        if relationships_of(graph):
            return graph if rejects else without_refused(graph), not features & DISPUTED and not is_disputed(graph)


def relationships_of(graph):
    return [raw for entity in graph["model"]["entities"].values() for raw in entity.get("relationships", {}).values()]


def without_refused(graph):
    """A graph without what imports refuse."""
    for relationship in relationships_of(graph):
        if relationship.get("unresolved") == "reject":
            del relationship["unresolved"]
    return graph


def is_disputed(graph):
    """Whether elements without identifier have several parents, or may be replaced with what is around them."""
    model, around = graph["model"]["entities"], relationships_of(graph)
    keyless = [name for name, entity in model.items() if not entity.get("identifier") and not entity.get("parent")]
    if keyless and any(relationship.get("onConflict") == "replace" for relationship in around):
        return True
    return any(sum(relationship["entity"] == name for relationship in around) > 1 for name in keyless)


def source_text(random, records):
    """An array, written in one of several ways."""
    texts = [json.dumps(record, ensure_ascii=random.random() < 0.5) for record in records]
    return "[" + random.choice([",", ", ", ",\n"]).join(texts) + "]"


def sizes(random):
    chunk_size = random.choice(["200", "600", "2K", "8M"])
    return ["--workers", random.choice([1, 2, 4]), "--chunk-size", chunk_size, "--commit-every", random.choice([1, 2, 3, 7, 10_000])]


def imported(case, store, steps, killed=False):
    """Imports all steps into a store, and gives back the rows, and the rejects of each step. May kill each, and resume it."""
    for number, step in enumerate(steps):
        run = sizes(case.random)
        command = ["import", f"step-{number}.json", "--into", store, "--model", "model.json", "--entity", step["entity"]]
        command += ["--records", "$[*]", "--on-conflict", step["on_conflict"], "--max-errors", "none", "--progress", "none"]
        for _ in range(case.random.randint(1, 3) if killed else 0):
            case.killed(*command, *run, seconds=case.random.uniform(0.005, 0.08))
        # A step whose records are all rejected ends with 65; one that was finished before it was killed has all already.
        case.importer(*command, *run, "--report", f"report-{number}.json", allowed={0, 65})
    case.importer("verify", store, allowed={0})
    path = case.path(store)
    return store_dump.digest(path), store_dump.bookkeeping(path)


def compare_with_reference(case, graph, store):
    """The rows, the rejects and the counts are those of the slow reading."""
    reference = relationships.Store(graph["model"])
    has_stubs = any(relationship.get("unresolved") == "stub" for relationship in relationships_of(graph))
    expected = []
    for number, step in enumerate(graph["steps"]):
        with open(case.path(f"step-{number}.json"), encoding="utf-8") as file:
            values = [parsed(file.read())]
        report = reference.take(values, step["entity"], ["$[*]"], step["on_conflict"])
        expected += [(number + 1, reject["record"]) for reject in report["rejects"]]
        with open(case.path(f"report-{number}.json"), encoding="utf-8") as file:
            told = json.load(file)
        # Whether a record that sets a link and sets it back has changed it is another question, and so is what fills a stub.
        counted = ["ignored"] if has_stubs else ["inserted", "ignored"]
        found = {key: told[key] for key in ["rejected", *counted]}
        wanted = {key: sum(counts[key] for counts in report["entities"].values()) for key in counted}
        wanted["rejected"] = len(report["rejects"])
        if found != wanted:
            raise Found(f"step {number}: {found}, not {wanted}")
    listed = case.importer("rejects", store, "--json", "--all", allowed={0}).output.decode().splitlines()
    rejects = [(reject["job"], reject["ordinal"]) for reject in map(json.loads, listed)]
    if sorted(rejects) != sorted(expected):
        raise Found(f"the rejects are {sorted(rejects)}, not {sorted(expected)}")
    path = case.path("expected.sqlite")
    reference.write(path)
    wrong = relationship_comparison.unlike(case.path(store), path)
    if wrong:
        raise Found("; ".join(wrong))


def run(case):
    graph, is_known = random_graph(case.random)
    case.write("model.json", json.dumps(graph["model"], ensure_ascii=False, indent=1).encode())
    for number, step in enumerate(graph["steps"]):
        case.write(f"step-{number}.json", source_text(case.random, step["records"]).encode())
    case.importer("model", "check", "model.json", allowed={0})
    first = imported(case, "first.sqlite", graph["steps"])
    if is_known:
        compare_with_reference(case, graph, "first.sqlite")
    for store, killed in [("other.sqlite", False), ("killed.sqlite", True)]:
        found = imported(case, store, graph["steps"], killed)
        for name, one, other in zip(["rows", "rejects or ledger"], first, found):
            if one != other:
                raise Found(f"the {name} of first.sqlite and {store} differ")
