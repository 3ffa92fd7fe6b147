"""Runs the importer beside what people use today. Called by scripts/bench-peers, which has the usage."""
import argparse
import datetime
import json
import os
import shutil
import signal
import sys
import tempfile

import plot
import report
import server_runs
from data import Data, check_room
from every_run import all_runs
from machine import ROOT, Failure, Machine, say
from mirrors import Night
from orders import Orders
from pairs import Pair
from partial import Partial
from rows import FULL, ROWS, Results, names_of_runs
from server import Server
from server_rows import ServerRows
from shapes import Shape

SMALL, LARGE = 0.1e9, 5e9
# Of the records of other shapes: enough that the memory for them is that for any number of them.
SHAPE = 0.15e9
BYTES_PER_RECORD = 314.5
# What takes less is run more often: its time depends more on what the machine does in just those seconds.
QUICK_SECONDS, QUICK_TURNS = 10, 3


class Arguments(argparse.ArgumentParser):
    def error(self, message):
        say(f"bench-peers: {message}\n`scripts/bench-peers --help` prints the options.")
        sys.exit(64)


def options():
    parser = Arguments(prog="bench-peers", add_help=False, allow_abbrev=False)
    parser.add_argument("--only", nargs="+", choices=[row.name for row in ROWS], metavar="ROW")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--records", type=int, default=FULL)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--keep-large", action="store_true")
    parser.add_argument("--data", metavar="DIR")
    parser.add_argument("--importer", metavar="PATH")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--json", action="store_true")
    parsed = parser.parse_args()
    if parsed.runs < 1 or not 100 <= parsed.records <= 100_000_000 or not 0 <= parsed.seed < 10 ** 9:
        parser.error("--runs from 1, --records from 100 to 100,000,000, --seed from 0 to 999,999,999")
    if parsed.write and parsed.only:
        parser.error("--write needs all rows: leave --only out")
    return parsed


def remove(work, names):
    for name in names:
        path = os.path.join(work, name)
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif os.path.exists(path):
            os.remove(path)


def rounds(count, runs, machine, work):
    """Runs everything in turn, `count` rounds of it; what is quick takes part in `QUICK_TURNS` turns of each round."""
    results = Results()
    for run in runs.values():
        reason = run.lacking(machine)
        if reason:
            results.skip(run, reason)
            say(f"Skipped: {run.title}: {reason}")
    for number in range(1, count + 1):
        label = f"round {number} of {count}"
        turn(label, runs, results, machine, work)
        quick = {name: run for name, run in runs.items() if is_quick(run, results)}
        for _ in range(QUICK_TURNS - 1):
            turn(label, quick, results, machine, work)
    return results


def is_quick(run, results):
    """Whether a run, and what it comes after, took less than `QUICK_SECONDS` whenever it was run."""
    found = results.measurements.get(run.name, [])
    return bool(found) and max(one.seconds for one in found) < QUICK_SECONDS and all(
        is_quick(first, results) for first in run.after)


def turn(label, runs, results, machine, work):
    """Runs each once, but what is skipped and what has failed before."""
    is_terminal = sys.stderr.isatty()
    followed = {first.name for run in runs.values() for first in run.after}
    for run in runs.values():
        if run.name in results.failures or run.name in results.skipped:
            continue
        if is_terminal:
            print(f"\r\033[K{label}: {run.title} …", end="", file=sys.stderr, flush=True)
        try:
            lacking = [first.name for first in run.after if first.name in results.failures]
            if lacking:
                raise Failure(f"{lacking[0]} failed")
            # The large file may well be larger than the memory; reading it first would only push others out.
            if run.name != "import-large":
                run.data.warm(run.source)
            measurement = run.measured(machine, work)
            results.add(run, measurement)
            outcome = f"{measurement.seconds:.2f} s"
        except Failure as failure:
            results.fail(run, " ".join(str(failure).split()))
            outcome = f"FAILED: {results.failures[run.name]}"
        if is_terminal:
            print("\r\033[K", end="", file=sys.stderr)
        say(f"{label}: {run.title}: {outcome}")
        if run.name not in followed:
            remove(work, run.leftovers())
    for run in runs.values():
        remove(work, run.leftovers())


def scaled(options, size):
    """How many records the file of another size has: in proportion, so that a trial is small in all."""
    return max(100, round(size / BYTES_PER_RECORD * options.records / FULL))


def interrupt(number, frame):
    raise KeyboardInterrupt


def main():
    asked = options()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    busy = os.getloadavg()[0]
    if busy > 0.5:
        say(f"This machine is doing other things (load {busy:.1f}): the figures will be worse than they need to be.")
    folder = os.path.join(ROOT, ".build", "bench")
    machine = Machine(folder, asked.importer)
    machine.set_up()

    stored = os.path.abspath(asked.data or os.path.join(folder, "data"))
    data = Data(stored, asked.records, asked.seed)
    small = Data(stored, scaled(asked, SMALL), asked.seed, is_array_only=True)
    large = Data(stored, scaled(asked, LARGE), asked.seed, is_array_only=True) if asked.large else None
    nested = Orders(stored, max(100, asked.records // 3), asked.seed)
    texts, lists = (Shape(stored, name, round(SHAPE * asked.records / FULL), asked.seed) for name in ("texts", "lists"))
    pairs = [Pair(data, kind) for kind in ("integer", "text", "shuffled")]
    server = Server()
    available = all_runs(data, small, large, Partial(data), nested, texts, lists, pairs, Night(data), ServerRows(data), server)
    rows = [row for row in ROWS if not asked.only or row.name in asked.only]
    runs = {name: available[name] for name in names_of_runs(rows, available)}
    used = {id(run.data): run.data for run in runs.values()}

    try:
        for needed in used.values():
            needed.make()
        # A store, its chunks and one more store, with room to spare.
        largest = max(needed.size() for needed in used.values())
        with tempfile.TemporaryDirectory(dir=folder, prefix="work-") as work:
            check_room(work, 3 * largest)
            results = rounds(asked.runs, runs, machine, work)
        description = machine.description() + server_runs.description(machine, server)
        date = datetime.date.today().isoformat()
        if asked.json:
            print(json.dumps(report.as_object(rows, results, runs, asked, description, date), indent=2,
                             ensure_ascii=False))
        else:
            print("\n" + report.plain(rows, results, runs, asked, description))
        if asked.write:
            written(rows, results, runs, asked, description, date)
    finally:
        server.stop()
        if large and not asked.keep_large:
            large.remove_sources()
    return 1 if results.failures else 0


def written(rows, results, runs, asked, description, date):
    folder = os.path.join(ROOT, "Benchmarks")
    with open(os.path.join(folder, "RESULTS.md"), "w", encoding="utf-8") as out:
        out.write(report.markdown(rows, results, runs, asked, description, date))
    subtitle = f"{asked.records:,} records, {runs['import'].data.size() / 1e6:,.0f} MB; {dict(description)['machine']}"
    with open(os.path.join(folder, "results.svg"), "w", encoding="utf-8") as out:
        out.write(plot.svg(rows, results, runs, subtitle))
    say("Written: Benchmarks/RESULTS.md, Benchmarks/results.svg")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        say(f"bench-peers: {failure}")
        sys.exit(1)
    except KeyboardInterrupt:
        say("\nbench-peers: interrupted; what was made so far of the data is kept, the stores are gone")
        sys.exit(130)
