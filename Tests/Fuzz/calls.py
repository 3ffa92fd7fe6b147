"""Calls of the command one after the other, with whatever arguments, on the same few files: what no call leaves is a store that no
other opens, or rows of a finished import gone.

What a call says is not asked. It ends with a documented exit code, `status` and `verify` open the store after it, and rows that are
there stay unless the call is one that takes them back.
"""
import os

import kept
from case import Found
from framings import Framing, Values
from kept import Store

SIZES = [["--workers", "1"], ["--chunk-size", "100"], ["--commit-every", "1"], ["--keep-chunks"], ["--durability", "off"]]
JOBS = [["--limit", "0"], ["--limit", "1"], ["--skip", "9"], ["--lossless"], ["--max-errors", "0"], ["--on-error", "stop"]]
JOBS += [["--nested", "tables"], ["--nested", "json"], ["--identifier", "id"], ["--identifier", "a"], ["--identifier", "missing"]]
JOBS += [["--type", "id:string"], ["--type", "a:integer64"], ["--type", "a:date"], ["--records", "$"], ["--records", "$[*]"]]
JOBS += [["--records", "$.missing[*]"], ["--max-depth", "1"], ["--max-record-bytes", "20"], ["--on-conflict", "error"], ["--mirror"]]
JOBS += [["--on-conflict", "ignore"], ["--index", "a"], ["--index", "missing"], ["--dry-run"], ["--again"], ["--entity", "u"]]
# These may take rows away, as they say.
TAKING = {"undo", "--mirror", "--restart"}


def sources(case, framing):
    """Files of the same kind, one broken off, one without a byte, one that is no JSON, and some that are not there."""
    random = case.random
    names = []
    for number in range(2):
        text = framing.text()
        names.append(f"a{number}{framing.extension}")
        case.write(names[-1], text.encode())
    content = text.encode()
    case.write(f"cut{framing.extension}", content[: random.randint(0, len(content))])
    case.write("empty.json", b"")
    case.write("text.csv", b'id,x\n1,"{""a"":1}"\n')
    case.write("bad.ndjson", b'{"id":1,"a":2}\n{"id":\n{"id":3}\n')
    return names * 3 + [f"cut{framing.extension}", "empty.json", "text.csv", "bad.ndjson", "missing.json", "-", "-", "-", "."]


def call(case, names):
    """A call with arguments that somebody could type."""
    random = case.random
    kind = random.choice(["import"] * 6 + ["resume"] * 3 + ["retry", "undo", "status", "rejects", "verify", "infer", "sources"])
    if kind == "import":
        given = random.sample(names, random.choice([0, 1, 1, 1, 1, 2, 3]))
        words = ["import", *given, "--into", "s.sqlite", "--progress", "none"]
        words += ["--entity", random.choice(["t", "t", "t", ""])] if random.random() < 0.8 else []
        for options in random.sample(SIZES, random.choice([0, 0, 1, 2])) + random.sample(JOBS, random.choice([0, 0, 1, 2])):
            words += options
        return words
    if kind == "resume":
        return ["resume", "s.sqlite", "--progress", "none"] + random.choice([[], [], ["--restart"], ["--max-errors", "none"]])
    if kind == "retry":
        return ["retry", "s.sqlite"] + random.choice([[], ["empty.json"], ["bad.ndjson"], ["missing.json"]])
    if kind == "undo":
        return ["undo", "s.sqlite"] + random.choice([[], ["--job", "1"], ["--job", "9"], ["--dry-run"]])
    if kind == "infer":
        return ["infer", random.choice(names)]
    return [kind, "s.sqlite"]


def run(case):
    random = case.random
    framing = Framing(random, Values(random))
    names = sources(case, framing)
    store = case.path("s.sqlite")
    if random.random() < 0.1:
        case.write("s.sqlite", b"")
    # Often something is interrupted already: a stream of lines that breaks off.
    is_streamed = random.random() < 0.3
    if is_streamed:
        case.write("stream", b'{"id":1,"a":2}\n{"id":2,"a":"x"}\n{"id":')
        case.importer("import", "-", "--into", "s.sqlite", "--entity", "t", "--progress", "none", given="stream")
    for number in range(random.randint(1, 4)):
        words = ["resume", "s.sqlite"] if is_streamed and number == 0 and random.random() < 0.5 else call(case, names)
        before = Store(store)
        opens = os.path.exists(store) and os.path.getsize(store) > 0
        if random.random() < 0.1 and words[0] in ("import", "resume", "undo"):
            case.killed(*words, seconds=random.uniform(0.005, 0.08))
        else:
            files = [name for name in os.listdir(case.folder) if name.endswith(framing.extension)]
            is_read = "-" in words or words[0] == "resume" and random.random() < 0.5
            result = case.importer(*words, given=random.choice(sorted(files)) if is_read else os.devnull)
            if b"damaged" in result.messages and opens:
                raise Found(f"damaged: {result}")
            after = Store(store)
            if TAKING & set(words):
                pass
            elif result.code in (64, 66, 73, 75):
                kept.unchanged(case, before, after, result)
            elif result.code == 65 and any(len(after.tables.get(name, [])) < len(rows) for name, rows in before.tables.items()):
                raise Found(f"gone: rows that were there before: {result}")
        if os.path.exists(store) and os.path.getsize(store) > 0:
            status = case.importer("status", "s.sqlite")
            if status.code not in (0, 66) or b"damaged" in status.messages:
                raise Found(f"status: the store does not open any more: {status}")
