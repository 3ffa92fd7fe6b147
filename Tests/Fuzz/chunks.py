"""Chunk directories that were tampered with, as sources and as what an interrupted import goes on from.

As a source: the rows are those of the untouched directory, or the first of them and an exit code that says so. An import that is
resumed has its source, so whatever became of its chunks, it ends with all rows.
"""
import json
import os
import shutil
import stat
import sys

from case import Found

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Checks"))

import store_dump  # noqa: E402

NUMBERS = [-1, 0, 1, 2, 2**31, 2**32, 2**53 + 1, 200 << 30, 2**62, 2**63 - 1, -(2**63), 2**64, 10**30, 1.5, 1e300]
VALUES = NUMBERS + [None, True, "", "x", "0" * 16, [], {}, [[]], [[1]], [[2**62, 1], [2**62, 1]], [[0, 0]] * 1000, "$.a[*]"]
VALUES += ["lines", "../../t.ndjson", "/etc/passwd", "\x1b[31m", "a\0b"]


def random_source(random):
    records = []
    for number in range(random.choice([3, 40, 40, 200])):
        record = {"id": number, "name": random.choice(["Ann", "Bö", "x" * 200]), "at": random.choice([1, 2.5, "a"])}
        records.append(json.dumps(record, ensure_ascii=random.random() < 0.5))
    if random.random() < 0.5:
        if random.random() < 0.3:
            # Not among the first lines, by which the importer knows that these are lines.
            records.insert(random.randint(2, len(records)), '{"id": 1, "name": }')
        return "\n".join(records).encode() + b"\n"
    return ("[" + random.choice([",", ",\n ", " , "]).join(records) + "]").encode()


# MARK: What is done to a directory


def flipped(random, content):
    content = bytearray(content)
    for _ in range(random.choice([1, 1, 3])):
        at = random.randrange(len(content))
        choice = random.randrange(4)
        if choice == 0:
            content[at] ^= 1 << random.randrange(8)
        elif choice == 1:
            content[at] = random.choice(b'0123456789"{}[],:\n\0\xff ')
        elif choice == 2:
            del content[at : at + random.choice([1, 1, 10])]
        else:
            content[at:at] = random.choice([b"0", b"9", b"\n", b"{}", b"\n\n", b"\xc3"])
        if not content:
            break
    return bytes(content)


def changed_digit(random, content):
    digits = [at for at, byte in enumerate(content) if 0x30 <= byte <= 0x39]
    if not digits:
        return content
    at = random.choice(digits)
    return content[:at] + bytes([0x30 + (content[at] - 0x30 + random.randint(1, 9)) % 10]) + content[at + 1 :]


def edited_line(random, content):
    """One member of one line's object, with another value."""
    lines = content.split(b"\n")
    at = random.randrange(len(lines))
    try:
        value = json.loads(lines[at])
        places = []

        def walk(inner):
            for key in inner if isinstance(inner, dict) else range(len(inner)):
                places.append((inner, key))
                if isinstance(inner[key], (dict, list)):
                    walk(inner[key])

        walk(value)
        inner, key = random.choice(places)
        if random.random() < 0.15:
            del inner[key]
        else:
            inner[key] = random.choice(VALUES)
        lines[at] = json.dumps(value, separators=(",", ":")).encode()
    except (ValueError, TypeError, IndexError):
        lines[at] = flipped(random, lines[at]) if lines[at] else b"{}"
    return b"\n".join(lines)


def moved_lines(random, content):
    lines = content.split(b"\n")
    one, other = random.randrange(len(lines)), random.randrange(len(lines))
    choice = random.randrange(3)
    if choice == 0:
        lines[one], lines[other] = lines[other], lines[one]
    elif choice == 1:
        lines.insert(one, lines[other])
    else:
        del lines[one]
    return b"\n".join(lines)


def tamper(case, folder):
    random = case.random
    names = sorted(os.listdir(folder))
    # Half of it happens to the manifest, which says what the rest should be.
    name = "manifest.ndjson" if random.random() < 0.5 and "manifest.ndjson" in names else random.choice(names)
    path = os.path.join(folder, name)
    if not stat.S_ISREG(os.lstat(path).st_mode) or os.lstat(path).st_size > 1 << 30:
        return
    with open(path, "rb") as file:
        content = file.read()
    choice = random.randrange(14)
    if choice < 7 and content:
        edits = [flipped, changed_digit, edited_line, moved_lines]
        weights = [2, 2, 3, 2] if name == "manifest.ndjson" else [2, 2, 1, 1]
        content = random.choices(edits, weights)[0](random, content)
    elif choice == 7:
        content = content[: random.randrange(len(content) + 1)]
    elif choice == 8:
        content += random.choice([b"\n", b"x", content, bytes(100), b"{}\n", b'{"number":9}\n', b"[" * 100_000])
    elif choice == 9:
        os.remove(path)
        kind = random.choice(["pipe", "folder", "link", "loop", "nothing", "device", "dangling"])
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "folder":
            os.mkdir(path)
        elif kind == "link":
            copy = case.path(f"elsewhere-{name}")
            with open(copy, "wb") as file:
                file.write(content)
            os.symlink(copy, path)
        elif kind == "loop":
            os.symlink(path, path)
        elif kind == "device":
            os.symlink(random.choice(["/dev/zero", "/dev/null", "/dev/full", "/proc/self/mem", "/proc/kmsg"]), path)
        elif kind == "dangling":
            os.symlink(case.path("not-there"), path)
        return
    elif choice == 10:
        os.truncate(path, random.choice([100 << 30, 200 << 30, len(content) + 1, len(content) * 2, 1 << 20]))
        return
    elif choice == 11:
        other = os.path.join(folder, random.choice(names))
        if stat.S_ISREG(os.lstat(other).st_mode):
            os.rename(path, path + ".swap")
            if other != path:
                os.rename(other, path)
            os.rename(path + ".swap", other)
        return
    elif choice == 12:
        added = ["chunk-000000.ndjson", "chunk-000099.ndjson", "chunk-000002.ndjson.partial", "manifest.ndjson.partial", "x"]
        with open(os.path.join(folder, random.choice(added + ["chunk-1.ndjson"])), "ab") as file:
            file.write(content)
        return
    else:
        headers = [b'{"format":999}\n', b'{"format":-1}\n', b'{"format":1}\n']
        content = random.choice([b"", b"\n", b"{}", b"null\n", b"[]\n", b"\xff\xfe", b"\0" * 4096] + headers)
    os.chmod(path, 0o600)
    with open(path, "wb") as file:
        file.write(content)


# MARK: What must hold


def rows(store):
    """The rows of the user tables, in order."""
    if not os.path.exists(store):
        return []
    connection = store_dump.connect(store)
    try:
        return [line for line in store_dump.lines(connection) if line.startswith(b"row ")]
    finally:
        connection.close()


def state_of(folder):
    """Names, kinds, sizes and the beginnings of files."""
    state = {}
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        found = os.lstat(path)
        beginning = b""
        if stat.S_ISREG(found.st_mode):
            with open(path, "rb") as file:
                beginning = file.read(1 << 20)
        state[name] = (stat.S_IFMT(found.st_mode), found.st_size, beginning)
    return state


def as_source(case):
    """`split`, then `import DIR`."""
    random = case.random
    options = ["--progress", "none", "--entity", "t"]
    split = ["split", "t.json", "--to", "chunks", "--chunk-size", random.choice(["200", "1K", "4K", "1M"])]
    case.importer(*split, *options, allowed={0})
    model = []
    if random.random() < 0.5:
        with open(case.path("model.json"), "wb") as file:
            file.write(case.importer("infer", "t.json", "--entity", "t", "--progress", "none", allowed={0}).output)
        model = ["--model", "model.json"]
    elif random.random() < 0.3:
        model = ["--identifier", "id"]
    case.importer("import", "chunks", "--into", "whole.sqlite", "--progress", "none", *model, allowed={0})
    whole = rows(case.path("whole.sqlite"))
    for _ in range(random.choice([1, 1, 1, 2, 3])):
        tamper(case, case.path("chunks"))
    before = state_of(case.path("chunks"))
    workers = ["--workers", random.choice([1, 4])]
    result = case.importer("import", "chunks", "--into", "t.sqlite", "--progress", "none", *workers, *model)
    found = rows(case.path("t.sqlite"))
    if result.code == 0 and found != whole:
        raise Found(f"{len(found)} rows, not the same {len(whole)}, and yet: {result}")
    if not model and found and found != whole:
        # An inferred model has seen fewer records, so columns may be others.
        if len(found) > len(whole):
            raise Found(f"{len(found)} rows, of {len(whole)}: {result}")
    elif found != whole[: len(found)]:
        raise Found(f"{len(found)} rows, not the first of the {len(whole)}: {result}")
    if state_of(case.path("chunks")) != before:
        raise Found("the directory is a source, and was changed")
    if random.random() < 0.3:
        case.importer(*split, *options)


def as_stage(case):
    """An import that stops in its middle, and goes on with what is left of its chunks."""
    random = case.random
    with open(case.path("t.json"), "rb") as file:
        source = file.read()
    run = ["--entity", "t", "--progress", "none", "--chunk-size", random.choice(["200", "1K", "4K"]), "--commit-every", 7]
    run += ["--identifier", "id"] if random.random() < 0.3 else []
    case.importer("import", "t.json", "--into", "whole.sqlite", *run)
    whole = rows(case.path("whole.sqlite"))
    case.write("t.json", source[: random.randrange(len(source) // 3, len(source))])
    begun = case.importer("import", "t.json", "--into", "t.sqlite", "--chunks", "stage", "--keep-chunks", *run)
    # Its place was kept by the store alone, if nothing was cut.
    if os.path.isdir(case.path("stage")) and os.listdir(case.path("stage")):
        for _ in range(random.choice([1, 1, 2])):
            tamper(case, case.path("stage"))
    case.write("t.json", source)
    result = case.importer("import", "t.json", "--into", "t.sqlite", "--chunks", "stage", *run)
    if begun.code == 0:
        # Lines that end between two records are a whole source: with more of them it is another one.
        if result.code != 64:
            raise Found(f"the source of a finished import has grown, and yet: {result}")
        return
    if result.code == 73 and os.path.isdir(case.path("stage")):
        # What is in the directory now is none that it made: it may say so, and goes on in another.
        shutil.move(case.path("stage"), case.path("stage-refused"))
        result = case.importer("import", "t.json", "--into", "t.sqlite", "--chunks", "stage", *run)
    found = rows(case.path("t.sqlite"))
    if result.code != 0 or found != whole:
        raise Found(f"{len(found)} rows, not the same {len(whole)}: {result}")
    case.importer("verify", "t.sqlite", allowed={0})


def run(case):
    case.write("t.json", random_source(case.random))
    if case.chance(0.7):
        as_source(case)
    else:
        as_stage(case)
