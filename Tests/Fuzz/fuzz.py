"""What scripts/fuzz runs: the targets in turns, until the time or the cases are used up."""
import argparse
import os
import random
import shutil
import sys
import tempfile
import time
import traceback

import calls
import chunks
import documents
import follow
import frames
import graphs
import kept
import lines
import nights
import odd
import plain
import predicates
import stores
import tables
from case import Case, Found

TARGETS = {module.__name__: module for module in (documents, lines, chunks, stores, predicates, graphs, kept, calls, plain, odd, nights, follow, frames, tables)}


def options():
    parser = argparse.ArgumentParser(add_help=False, usage="scripts/fuzz [OPTION...]; scripts/fuzz -h prints them")
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--cases", type=int)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--only", action="append", choices=sorted(TARGETS))
    parser.add_argument("--case", type=int)
    parser.add_argument("--keep", action="store_true")
    try:
        parsed = parser.parse_args()
    except SystemExit:
        sys.exit(64)
    if parsed.case is not None and (parsed.seed is None or not parsed.only or len(parsed.only) != 1):
        print("fuzz: --case needs --seed and one --only", file=sys.stderr)
        sys.exit(64)
    if parsed.seed is None:
        parsed.seed = random.SystemRandom().randrange(1_000_000)
    parsed.only = [name for name in TARGETS if parsed.only is None or name in parsed.only]
    return parsed


def turns(settings):
    """The targets' names and numbers of cases, in turns."""
    if settings.case is not None:
        yield settings.only[0], settings.case
        return
    limit = None
    if settings.minutes is not None or settings.seconds is not None:
        limit = (settings.minutes or 0) * 60 + (settings.seconds or 0)
    elif settings.cases is None:
        limit = 60
    end = None if limit is None else time.monotonic() + limit
    number = 0
    while settings.cases is None or number < settings.cases:
        number += 1
        for name in settings.only:
            if end is not None and time.monotonic() >= end:
                return
            yield name, number


class Run:
    def __init__(self, settings, executable, folder):
        self.settings, self.executable, self.folder = settings, executable, folder
        self.tried = {name: 0 for name in settings.only}
        self.commands = {name: 0 for name in settings.only}
        self.found = []

    def run(self):
        for name, number in turns(self.settings):
            self.run_case(name, number)

    def run_case(self, name, number):
        folder = os.path.join(self.folder, f"{name}-{number}")
        os.mkdir(folder)
        case = Case(name, self.settings.seed, number, folder, self.executable)
        self.tried[name] += 1
        try:
            TARGETS[name].run(case)
            text = None
        except Found as found:
            text = str(found)
        except Exception:  # A fault of the target itself is something found too.
            text = traceback.format_exc()
        self.commands[name] += len(case.commands)
        if text is not None:
            self.report(case, text)
        elif not self.settings.keep:
            shutil.rmtree(folder)

    def report(self, case, text):
        again = f"scripts/fuzz --seed {case.seed} --only {case.target} --case {case.number}"
        self.found.append(again)
        shown = "\n".join("  " + line for line in text.encode("unicode_escape").decode().replace("\\n", "\n").split("\n"))
        print(f"FOUND in {case.target} {case.number}:\n{shown}")
        for command in case.commands[-int(os.environ.get("FUZZ_COMMANDS", 3)):]:
            print(f"  {command.encode('unicode_escape').decode()[:2000]}")
        print(f"  files: {case.folder}\n  again: {again}", flush=True)


def main():
    settings = options()
    folder = tempfile.mkdtemp(prefix="importer-fuzz-")
    executable = os.path.abspath(os.environ["IMPORTER_EXECUTABLE"])
    print(f"seed {settings.seed}", flush=True)
    run = Run(settings, executable, folder)
    started = time.monotonic()
    try:
        run.run()
    except KeyboardInterrupt:
        print("stopped")
    for name in settings.only:
        print(f"{name:<11} {run.tried[name]:6,} cases, {run.commands[name]:7,} commands")
    print(f"in {time.monotonic() - started:.0f} s")
    if run.found:
        print(f"found: {len(run.found)}\n  " + "\n  ".join(run.found))
        return 1
    if not settings.keep:
        shutil.rmtree(folder, ignore_errors=True)
    print("nothing found")
    return 0


if __name__ == "__main__":
    sys.exit(main())
