"""The rows of the table: what is compared, the goal and the stretch, and the verdict."""
import statistics

from machine import megabytes

# The goals are for this many records.
FULL = 1_500_000
MEMORY_RUNS = ("import", "import-ndjson", "import-inferred", "import-uuid", "import-partial", "import-again", "split",
               "import-small", "import-large", "import-orders", "import-flat-orders", "import-long-texts",
               "import-nested-json", "migrate", "migrate-uuid", "diff-integer", "diff-text", "diff-shuffled", "diff-workers",
               "patch", "undo", "merge", "import-mirror")
SERVER_MEMORY_RUNS = ("import-server", "import-server-uuid")


class Results:
    """The measurements of every run, what went wrong with it, and why it cannot be run here."""

    def __init__(self):
        self.measurements = {}
        self.failures = {}
        self.skipped = {}

    def add(self, run, measurement):
        self.measurements.setdefault(run.name, []).append(measurement)

    def fail(self, run, reason):
        self.failures.setdefault(run.name, reason)

    def skip(self, run, reason):
        self.skipped[run.name] = reason

    def of(self, name):
        """A run's measurements; none where one of its results was wrong."""
        return [] if name in self.failures else self.measurements.get(name, [])

    def median(self, name, value="seconds"):
        found = [getattr(measurement, value) for measurement in self.of(name)]
        return statistics.median(found) if found else None


class Row:
    """A ratio of two runs: the first one's median against the second one's."""

    unit = " ×"

    def __init__(self, name, title, over, under, goal=None, stretch=None, is_peer_over=False):
        self.name = name
        self.title = title
        self.over = over
        self.under = under
        self.goal = goal
        self.stretch = stretch
        # Then more is better: the peer takes so many times as long.
        self.is_peer_over = is_peer_over

    def runs(self):
        return [self.over, self.under]

    def value(self, results, runs):
        over, under = results.median(self.over), results.median(self.under)
        return over / under if over is not None and under else None

    def note(self, results, runs):
        over, under = results.median(self.over), results.median(self.under)
        return f"{over:.2f} s / {under:.2f} s" if over is not None and under is not None else ""

    def verdict(self, results, runs):
        failed = [name for name in self.runs() if name in results.failures]
        if failed:
            return f"no figure: {failed[0]} failed"
        skipped = [name for name in self.runs() if name in results.skipped]
        if skipped:
            return f"skipped: {skipped[0]}: {results.skipped[skipped[0]]}"
        value = self.value(results, runs)
        if value is None:
            return "not run"
        if self.goal is None:
            return "no goal"
        if self.reaches(value, self.stretch):
            return "pass, stretch"
        return "pass" if self.reaches(value, self.goal) else "FAIL"

    def reaches(self, value, mark):
        if mark is None:
            return False
        return value >= mark if self.is_peer_over else value <= mark

    def share(self, value):
        """A value as a share of the goal, where less is better."""
        return self.goal / value if self.is_peer_over else value / self.goal

    def mark(self, value):
        """A goal or stretch as people read it."""
        return "–" if value is None else ("≥ " if self.is_peer_over else "≤ ") + self.text(value)

    def text(self, value):
        """A value as people read it."""
        if value is None:
            return "–"
        return (f"{value:.2f}" if value < 10 else f"{value:.1f}") + self.unit


class WorkRow(Row):
    """A ratio of two runs' processor times."""

    def value(self, results, runs):
        over, under = (results.median(name, "processor") for name in self.runs())
        return over / under if over is not None and under else None

    def note(self, results, runs):
        over, under = (results.median(name, "processor") for name in self.runs())
        return f"{over:.2f} s / {under:.2f} s of processor time" if over is not None and under is not None else ""


class WorkOfTwoRow(WorkRow):
    """A run's processor time against that of two others together."""

    def __init__(self, name, title, over, first, second, goal):
        super().__init__(name, title, over, first, goal)
        self.second = second

    def runs(self):
        return [self.over, self.under, self.second]

    def value(self, results, runs):
        over, first, second = (results.median(name, "processor") for name in self.runs())
        return over / (first + second) if None not in (over, first, second) else None

    def note(self, results, runs):
        over, first, second = (results.median(name, "processor") for name in self.runs())
        return "" if None in (over, first, second) else f"{over:.2f} s / ({first:.2f} s + {second:.2f} s) of processor time"


class FloorRow(Row):
    """What a ratio would be if only `floors` were added to the second run's time."""

    def __init__(self, name, title, floors, under):
        super().__init__(name, title, floors[0], under)
        self.floors = floors

    def runs(self):
        return [*self.floors, self.under]

    def _seconds(self, results):
        """The medians of all runs; none where one is lacking."""
        seconds = [results.median(name) for name in self.runs()]
        return [] if None in seconds else seconds

    def value(self, results, runs):
        seconds = self._seconds(results)
        return sum(seconds) / seconds[-1] if seconds else None

    def note(self, results, runs):
        seconds = self._seconds(results)
        if not seconds:
            return ""
        return f"({' + '.join(f'{value:.2f} s' for value in [seconds[-1], *seconds[:-1]])}) / {seconds[-1]:.2f} s"


class MemoryRow(Row):
    """The most memory that any of some runs of the importer had."""

    unit = " MB"

    def __init__(self, name, title, names, goal, stretch):
        super().__init__(name, title, None, None, goal, stretch)
        self.names = names

    def runs(self):
        return list(self.names)

    def _peak(self, results):
        peaks = [(measurement.memory, name) for name in self.names for measurement in results.of(name)]
        return max(peaks, default=None)

    def value(self, results, runs):
        peak = self._peak(results)
        return peak[0] / 1e6 if peak else None

    def note(self, results, runs):
        peak = self._peak(results)
        if peak is None:
            return ""
        largest = max(run.data.size() for name, run in runs.items() if results.of(name) and name in self.names)
        lacking = "" if "import-large" in runs or "import-large" not in self.names else "; the large size needs --large"
        return f"{peak[1]}, of sources up to {megabytes(largest)}{lacking}"

    def text(self, value):
        return "–" if value is None else f"{value:.0f}{self.unit}"


class ProcessorRow(Row):
    """Processor time per record, large against small."""

    def _per_record(self, name, results, runs):
        seconds = results.median(name, "processor")
        return seconds / runs[name].data.records if seconds is not None else None

    def value(self, results, runs):
        over = self._per_record(self.over, results, runs)
        under = self._per_record(self.under, results, runs)
        return over / under if over and under else None

    def note(self, results, runs):
        parts = []
        for name in ("import-large", "import", "import-small"):
            cost = self._per_record(name, results, runs) if name in runs else None
            if cost is not None:
                parts.append(f"{cost * 1e6:.2f} µs at {megabytes(runs[name].data.size())}")
        return ", ".join(parts) + ("" if self.over in runs else "; the large size needs --large")


ROWS = [
    Row("array", "JSON array, model given, against DuckDB's read_json", "import", "duckdb", 0.60, 0.45),
    Row("raw", "the same against raw SQLite in C", "import", "raw-sqlite", 1.6, 1.2),
    Row("ndjson", "NDJSON, model given, against DuckDB's read_json", "import-ndjson", "duckdb-ndjson", 1.0, 0.9),
    Row("inferred", "JSON array, no model, against DuckDB's, which infers too", "import-inferred", "duckdb-auto",
        1.0, 0.8),
    Row("sqlite-utils", "sqlite-utils insert --nl, against NDJSON with a model", "sqlite-utils", "import-ndjson",
        15, 18, is_peer_over=True),
    Row("ijson", "ijson + executemany, against the array with a model", "ijson", "import", 4, 5, is_peer_over=True),
    Row("uuid", "random uuid identifier, against the same without", "import-uuid", "import", 1.5, 1.35),
    FloorRow("uuid-floor", "the same if only SQLite's own CREATE UNIQUE INDEX were added", ["raw-index"],
             "import"),
    Row("partial", "the same with 1 % of partial duplicates, against the array without an identifier", "import-partial",
        "import", 1.6),
    FloorRow("partial-floor", "the same if only SQLite's own CREATE UNIQUE INDEX and UPDATE were added",
             ["raw-index", "raw-merge"], "import"),
    Row("split", "importer split alone, against yajl alone in C", "split", "yajl", 1.6, 1.3),
    Row("again", "the same once more with the identifier, against the first", "import-again", "import-uuid", 3.0, 1.5),
    Row("orders", "orders with lines, customer and tags into related tables, against DuckDB's read_json and unnest",
        "import-orders", "duckdb-orders", 0.8, 0.5),
    Row("orders-floor", "of these, SQLite's own CREATE INDEX for the links, against the same", "raw-order-indexes",
        "duckdb-orders"),
    Row("orders-raw", "orders into related tables, against SQLite copying the finished tables and making their indexes",
        "import-orders", "raw-orders"),
    Row("orders-flat", "the same orders against flat records of their size", "import-orders", "import-flat-orders", 1.3),
    Row("orders-sqlite-utils", "sqlite-utils, the same tables, against it", "sqlite-utils-orders", "import-orders",
        is_peer_over=True),
    Row("migrate", "importer migrate, a column of another type, against sqlite-utils transform", "migrate", "transform", 0.7),
    Row("migrate-floor", "the same with SQLite's own INSERT … SELECT", "raw-migrate", "transform"),
    Row("migrate-uuid", "importer migrate, a new UUID in each row, against a column of another type", "migrate-uuid", "migrate"),
    WorkRow("diff", "importer diff, 1 % changed, integer identifier, against sqldiff", "diff-integer", "sqldiff-integer", 1.1),
    WorkRow("diff-floor", "the same with SQL alone, which counts only", "raw-diff-integer", "sqldiff-integer"),
    Row("diff-workers", "the same on two workers, by the clock", "diff-workers", "sqldiff-integer", 0.65),
    WorkRow("diff-text", "importer diff, UUIDs, same row ids, against sqldiff", "diff-text", "sqldiff-text", 2.5),
    WorkRow("diff-text-floor", "the same with SQL alone, which counts only", "raw-diff-text", "sqldiff-text"),
    WorkRow("diff-order", "importer diff, UUIDs, rows in any order, against sqldiff, whose answer is wrong there", "diff-shuffled",
            "sqldiff-shuffled", 1.1),
    WorkRow("diff-order-floor", "the same with SQL alone, which counts only", "raw-diff-shuffled", "sqldiff-shuffled"),
    WorkRow("patch", "importer patch of these changes, against the diff that found them", "patch", "diff-integer", 1.0),
    WorkRow("undo", "importer undo of that patch, against the same", "undo", "diff-integer", 1.0),
    WorkOfTwoRow("merge", "importer merge, 1 % changed on both sides, against the two diffs", "merge", "diff-integer",
                 "diff-other", 1.1),
    Row("mirror", "importer import --mirror of the next night's file, 1 % changed, against the same without", "import-mirror",
        "import-night", 1.15),
    MemoryRow("memory", "peak memory, defaults", MEMORY_RUNS, 96, 64),
    ProcessorRow("processor", "processor time per record, large against small", "import-large", "import-small",
                 1.1, 1.0),
    Row("server", r"array into PostgreSQL, against psql's \copy of the same rows, ready in its binary format", "import-server",
        "raw-server", 1.25),
    Row("server-uuid", "array into PostgreSQL, random uuid identifier, against the same", "import-server-uuid", "raw-server", 3.0),
    Row("server-duckdb", "array into PostgreSQL, against DuckDB with its PostgreSQL extension", "import-server", "duckdb-server",
        1.0),
    Row("server-pgloader", "array into PostgreSQL, against pgloader of the same rows, ready as CSV", "import-server", "pgloader",
        1.0),
    MemoryRow("server-memory", "peak memory of imports into PostgreSQL, defaults", SERVER_MEMORY_RUNS, 96, 64),
    Row("shell", "sqlite3 json_each(readfile()), against the array with a model", "shell", "import", is_peer_over=True),
    Row("jq", "jq to CSV, sqlite3 .import, against NDJSON with a model", "jq", "import-ndjson", is_peer_over=True),
]


def names_of_runs(rows, available):
    """The runs that rows need, of those there are, in the order of a round."""
    wanted = {name for row in rows for name in row.runs()}
    # What is printed beside the processor time.
    if any(isinstance(row, ProcessorRow) for row in rows):
        wanted.add("import")
    for run in available.values():
        if run.name in wanted:
            wanted.update(first.name for first in run.after)
    return [name for name in available if name in wanted]
