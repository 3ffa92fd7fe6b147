"""Random frames, written by the programs that people have frames in, and imported as people do.

pandas, polars, DuckDB, ClickHouse, R's jsonlite and PHP write a frame in one of their JSON shapes; Python's json reads the document by
that shape. Every value of it is in the store, in the row and column where the frame has it, if the shape is one of those that are
recognized (OddJSON.md); any other is read as it is written, and all its values are somewhere. What the document has lost of the frame is
the writer's loss, of a kind that is known for that writer. A writer that is not installed is left out, which is said.
"""

import collections
import json
import os
import shutil
import subprocess
import sys

import documents
from case import Found
from frame_readings import LOSSES, SHAPES, Reading, lost, with_key
from frame_values import filled, frame_of
from kept import canonical, quoted, scalars
from records import Number

import store_dump  # isort: skip

HERE = os.path.dirname(os.path.abspath(__file__))

# MARK: Writers


class Writers:
    """The programs, started once, and what they are."""

    def __init__(self):
        self.processes, self.versions = {}, {}
        python = os.environ.get("FUZZ_PYTHON", sys.executable)
        for command in (
            [python, "-B", f"{HERE}/frame_writers.py"],
            ["Rscript", "--vanilla", f"{HERE}/frame_writers.R"],
            ["php", f"{HERE}/frame_writers.php"],
        ):
            if not shutil.which(command[0]):
                continue
            environment = dict(os.environ, TZ="UTC", LC_ALL="C.UTF-8")
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
            try:
                found = json.loads(process.stdout.readline())
            except ValueError:
                process.kill()
                process.wait()
                continue
            self.versions |= found
            self.processes |= dict.fromkeys(found, process)
        missing = [writer for writer in SHAPES if writer not in self.versions]
        if missing:
            print(f"frames: not installed, left out: {', '.join(missing)}", flush=True)

    def write(self, writer, shape, frame, case, name):
        """The document, or None if the writer refuses the frame."""
        plan, output = case.path(name + ".frame"), case.path(name)
        with open(plan, "w", encoding="utf-8") as file:
            json.dump(frame, file)
        process = self.processes[writer]
        process.stdin.write(json.dumps([plan, writer, shape, output]).encode() + b"\n")
        process.stdin.flush()
        answer = process.stdout.readline().decode("utf-8", "replace").strip()
        if answer != "ok":
            case.refused = answer
            if not answer and process.poll() is not None:
                raise Found(f"{writer} has ended")
            return None
        with open(output, encoding="utf-8") as file:
            return file.read()


writers = None


# MARK: The frame and the document


def check_writer(writer, shape, frame, reading):
    """The document has the frame, but for what the writer is known to lose."""
    found = collections.Counter()
    if len(reading.rows) == frame["rows"] and reading.how != "turned-values":
        for number, column in enumerate(frame["columns"], 1):
            name = f"column_{number}" if "values" in reading.how or "value-" in reading.how else column["name"]
            for (_, record), value in zip(reading.rows, column["values"]):
                if name not in record and value is not None:
                    found["names"] += 1
                else:
                    found[lost(column["kind"], value, record.get(name))] += 1
    del found[None]
    if how_many := {kind: number for kind, number in found.items() if kind not in LOSSES[writer] | {"names"}}:
        raise Found(f"{writer}'s {shape} has not the frame: {how_many}")


# MARK: The store


def leaves(value):
    return collections.Counter(scalars(value))


def check_kept(case, readings, report):
    """All values of the documents are in cells, wherever."""
    connection = store_dump.connect(case.path("t.sqlite"))
    cells = collections.Counter()
    names = store_dump.user_tables(connection)
    connection.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
    for table in names:
        cursor = connection.execute(f"SELECT * FROM {quoted(table)}")
        for row in cursor:
            for cell in row:
                if isinstance(cell, str) and cell[:1] in ("[", "{", '"'):
                    try:
                        cells.update(scalars(json.loads(cell, parse_int=Number, parse_float=Number)))
                    except ValueError:
                        pass
                if cell is not None:
                    cells[canonical(cell)] += 1
                    cells.update({"true": ["1"], "false": ["0"]}.get(cell, []))
    connection.close()
    wanted = sum((leaves([record for _, record in reading.rows] or reading.document) for reading in readings), collections.Counter())
    if any("notFinite" in kinds for counts in report["ledger"].values() for kinds in counts.values()):
        cells.update({word: wanted[word] for word in ("NaN", "Infinity", "-Infinity")})
    missing = {value: number for value, number in wanted.items() if cells[value] < number}
    if missing:
        raise Found(f"not in the store: {dict(list(missing.items())[:5])}")


def fetched(case, described):
    entity = "t" if "t" in described else next(iter(described), None)
    if entity is None:
        return None, []
    output = case.importer("fetch", "t.sqlite", entity, "--format", "ndjson", allowed={0})
    decoder = json.JSONDecoder(parse_int=Number, parse_float=Number)
    return entity, [decoder.decode(line) for line in output.output.decode("utf-8").split("\n")[:-1]]


def tables(case):
    """The columns and the number of rows of each table."""
    if not os.path.exists(case.path("t.sqlite")):
        return {}
    connection = store_dump.connect(case.path("t.sqlite"))
    found = {}
    for table in store_dump.user_tables(connection):
        cursor = connection.execute(f"SELECT * FROM {quoted(table)}")
        found[table] = ([column[0] for column in cursor.description], len(cursor.fetchall()))
    connection.close()
    return found


def check_rows(case, readings, report):
    """The rows are those of the frames, in their order."""
    described = documents.model(case, [], "t.sqlite")
    entity, rows = fetched(case, described)
    expected = [(None, with_key(*row)) if reading.has_key_column else row for reading in readings for row in reading.rows]
    kinds = {kind for counts in report["ledger"].values() for kinds in counts.values() for kind in kinds}
    if "unboxed" in kinds:
        expected = [
            (key, {name: value[0] if isinstance(value, list) and len(value) == 1 else value for name, value in record.items()})
            for key, record in expected
        ]
    if "notFinite" in kinds:
        attributes = described[entity]["attributes"]
        numbers = {name for name, properties in attributes.items() if properties["type"] in ("double", "integer64", "decimal")}
        words = ("NaN", "Infinity", "-Infinity")
        expected = [
            (key, {name: None if name in numbers and value in words else value for name, value in record.items()})
            for key, record in expected
        ]
    documents.compare(entity, described[entity], expected, rows)
    others = {name: counts for name, counts in tables(case).items() if name != entity and counts[1]}
    if others:
        raise Found(f"there are other tables: {others}")


def check_empty(result, before, after, is_new):
    if result.code not in (0, 65, 66):
        raise Found(f"a frame without rows: {result}")
    rows = {table: counts[1] for table, counts in after.items()}
    if sum(rows.values()) != sum(counts[1] for counts in before.values()):
        raise Found(f"a frame without rows has given some: {after}")
    if not is_new and {table: counts for table, counts in after.items() if table in before} != before:
        raise Found(f"a frame without rows has changed the table: {before} is {after}")


def night(case, names, readings, earlier, is_new):
    """Imports the documents. Gives back whether it went as it must."""
    before = tables(case)
    options = [
        "--entity",
        "t",
        "--progress",
        "none",
        "--json",
        "--workers",
        case.some([1, 2]),
        "--chunk-size",
        case.some(["100", "1K", "8M"]),
    ]
    given = {"given": names[0]} if len(names) == 1 and case.chance(0.1) else {}
    result = case.importer("import", *(["-"] if given else names), "--into", "t.sqlite", *readings[0].options, *options, **given)
    case.said = result.messages.decode("utf-8", "replace")
    after = tables(case)
    rows = sum(len(reading.rows) for reading in readings)
    if rows == 0:
        return check_empty(result, before, after, is_new) or False
    is_certain = all(reading.is_certain or not is_new and reading.is_short for reading in readings if reading.rows)
    if is_certain and result.code != 0:
        if result.code == 65 and not is_new and after == before:
            return False  # other kinds of values than those of the first night
        raise Found(f"it is refused: {result}")
    if result.code != 0:
        return False
    report = json.loads(result.output)
    if report["rejected"] and not is_new:
        return False
    if report["rejected"]:
        raise Found(f"{report['rejected']} rejects in a new table: {result}")
    try:
        check_rows(case, earlier + readings, report)
    except Found as found:
        if is_certain:
            ledger = {path: kinds for counts in report["ledger"].values() for path, kinds in counts.items()}
            if not is_new and any(
                "Lost" in kind or kind in ("nulled", "notAnObject", "respelled", "kindChanged")
                for kinds in ledger.values()
                for kind in kinds
            ):
                return False  # counted
            raise Found(f"{found}\n  {case.said}\n  {ledger}")
        check_kept(case, earlier + readings, report)
        return False
    # Of short columns alone the model that is printed does not tell that they are columns.
    is_any_certain = any(reading.is_certain for reading in readings if reading.rows)
    if is_new and is_any_certain and not given and case.chance(0.1):
        check_model(case, names, readings[0].options)
    return True


def check_model(case, names, options):
    """The model that is inferred gives the same store."""
    printed = case.importer("infer", *names, "--entity", "t", "--progress", "none", *options, allowed={0})
    case.write("model.json", printed.output)
    case.importer("import", *names, "--into", "model.sqlite", "--model", "model.json", "--progress", "none", *options, allowed={0})
    if store_dump.digest(case.path("model.sqlite")) != store_dump.digest(case.path("t.sqlite")):
        raise Found("the inferred model gives another store")


# MARK: The case


def run(case):
    global writers
    writers = writers or Writers()
    if not writers.versions:
        return
    random = case.random
    writer = random.choice([writer for writer in SHAPES if writer in writers.versions])
    shape = random.choice(list(SHAPES[writer]))
    how = SHAPES[writer][shape]
    frame = frame_of(random, writer, shape)
    suffix = random.choice([".json", ".ndjson"]) if how in ("lines", "value-lines", "header", "header-types") else ".json"
    nights = random.choice(["one", "one", "one", "two", "together"])
    frames = [frame]
    if nights != "one":
        frames.append(filled(random, frame, random.choice([0, 1, 1, 2, 3, 10]), frame["rows"]))
    names, readings = [], []
    for number, frame in enumerate(frames, 1):
        name = f"t-{number}{suffix}"
        text = writers.write(writer, shape, frame, case, name)
        if text is None or not text.strip():
            case.commands.append(f"# {writer} {shape}: {getattr(case, 'refused', 'nothing')}")
            return
        try:
            reading = Reading(how, text, frame, name)
        except (ValueError, KeyError, IndexError, AttributeError, TypeError) as error:
            if how.startswith("header") or frame["rows"] == 0 or str(error) == "a key twice":
                return
            raise
        check_writer(writer, shape, frame, reading)
        names.append(name)
        readings.append(reading)
    case.commands.append(
        f"# {writer} {shape}, rows {[frame['rows'] for frame in frames]}, certain {[reading.is_certain for reading in readings]}"
    )
    try:
        if nights == "together":
            night(case, names, readings, [], True)
        elif night(case, names[:1], readings[:1], [], True) and nights == "two":
            night(case, names[1:], readings[1:], readings[:1], False)
    except Found as found:
        kinds = " ".join(column["kind"] for column in frames[0]["columns"])
        raise Found(f"{writer} {shape}, {nights}, {[frame['rows'] for frame in frames]} rows of {kinds}: {found}") from found
