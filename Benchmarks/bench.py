"""Measures the stages of an import. Called by scripts/bench, which has the usage."""
import argparse
import concurrent.futures
import contextlib
import json
import math
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIMITS = os.path.join(ROOT, "Benchmarks", "limits.json")
# What --compare takes from here, so that both sides do the same work.
SHARED = ("Benchmarks/Stages", "Benchmarks/Suite", "Benchmarks/CCallgrind")
# How the benchmarks reach the stages: each revision's own, as its stages are, if it has any.
PROBING = "Sources/Importer/Probing"
TARGET = "StageRun"


class Failure(Exception):
    """Something that a person has to see to; its text says what."""


class Arguments(argparse.ArgumentParser):
    def error(self, message):
        say(f"bench: {message}\n`scripts/bench --help` prints the options.")
        sys.exit(64)


def say(text):
    print(text, file=sys.stderr, flush=True)


def options():
    parser = Arguments(prog="bench", add_help=False, allow_abbrev=False)
    parser.add_argument("--filter", type=expression)
    parser.add_argument("--records", type=int)
    parser.add_argument("--compare", metavar="REV")
    parser.add_argument("--time", action="store_true")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--importer")
    given = parser.parse_args()
    if given.check and (given.compare or given.filter or given.records):
        parser.error("--check accepts no other options but --write and --importer")
    if (given.write or given.importer) and not given.check:
        parser.error("--write and --importer go with --check")
    if (given.time or given.runs is not None) and not given.compare:
        parser.error("--time and --runs go with --compare")
    if given.records is not None and not 1_000 <= given.records <= 10_000_000:
        parser.error("--records from 1,000 to 10,000,000")
    if given.runs is not None and given.runs < 1:
        parser.error("--runs from 1")
    return given


def expression(text):
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text} is no regular expression: {error}")


def done(command, advice, **settings):
    """Runs a command to its end and gives back what it printed; both outputs are shown only when it fails."""
    outcome = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, errors="replace", **settings)
    if outcome.returncode == -signal.SIGINT:
        raise KeyboardInterrupt
    if outcome.returncode != 0:
        raise Failure("\n".join(part for part in (outcome.stdout.strip(), outcome.stderr.strip(), advice) if part))
    return outcome.stdout


def table(lines):
    """Lines with their columns under each other; figures are on the right."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    for line in lines:
        print("  ".join(text.rjust(width) if column > 0 and not text[:1].isalpha() else text.ljust(width)
                        for column, (text, width) in enumerate(zip(line, widths))).rstrip())


# MARK: The benchmarks

@contextlib.contextmanager
def kept(path):
    """Leaves a file as it was: a usual build would download all that Package.resolved names."""
    before = None
    if os.path.exists(path):
        with open(path, "rb") as file:
            before = file.read()
    try:
        yield
    finally:
        if before is not None:
            with open(path, "wb") as file:
                file.write(before)
        elif os.path.exists(path):
            os.remove(path)


class Build:
    """The benchmarks, built with the sources of a folder."""

    def __init__(self, sources, scratch):
        self.sources = sources
        self.scratch = scratch
        self.environment = dict(os.environ, IMPORTER_BENCHMARKS="1")
        self.program = None
        self.stripped = None
        self.resolved = os.path.join(sources, "Package.resolved")

    def build(self):
        swift = ["swift", "build", "--package-path", self.sources, "--scratch-path", self.scratch, "-c", "release"]
        with kept(self.resolved):
            done(swift + ["--product", TARGET], "the benchmarks do not build", env=self.environment)
            folder = done(swift + ["--show-bin-path"], "", env=self.environment).strip()
        self.program = os.path.join(folder, TARGET)

    def floors(self):
        """The benchmarks' names in their order, each with the name of its floor, or none."""
        lines = done([self.program, "list"], "the benchmarks do not run", env=self.environment).splitlines()
        return {name: floor or None for name, floor in (line.split("\t") for line in lines)}

    def figure(self, name, records, counts, folder):
        """Instructions per record, or nanoseconds of processor time."""
        environment = dict(self.environment, IMPORTER_BENCHMARK_RECORDS=str(records))
        if not counts:
            _, records, _, processor = done([self.program, name], f"{name} failed", env=environment).split("\t")
            return int(processor) / int(records)
        if not self.stripped:
            self.stripped = without_debugging(self.program, tempfile.mkdtemp(dir=folder))
        # The program itself says when to begin and to end.
        line, count = count_instructions([self.stripped, name], os.path.join(folder, "callgrind"), ["--instr-atstart=no"],
                                         f"{name} failed", env=environment)
        return count / int(line.split("\t")[1])


def without_debugging(program, folder):
    """A copy of a program that valgrind can read, which does not know the newest debugging information."""
    copy = os.path.join(folder, os.path.basename(program))
    done(["strip", "--strip-debug", "-o", copy, program], f"{program} cannot be copied")
    return copy


def count_instructions(command, file, settings, advice, **others):
    """What a command printed, and how many instructions callgrind counted in all of its threads."""
    printed = done(["valgrind", "--tool=callgrind", "-q", f"--callgrind-out-file={file}", *settings, *command],
                   advice, **others)
    with open(file, encoding="utf-8", errors="replace") as lines:
        found = [int(line.split()[1]) for line in lines if line.startswith("totals:")]
    os.remove(file)
    if not found:
        raise Failure(f"valgrind counted nothing in {' '.join(command)}")
    return printed, found[-1]


def chosen(floors, pattern):
    names = [name for name in floors if pattern is None or pattern.search(name)]
    if not names:
        raise Failure(f"no benchmark matches; there are {', '.join(floors)}")
    return names


def measure(given, folder):
    """Everything that is asked for, through the benchmark package's own plugin."""
    build = Build(ROOT, os.path.join(ROOT, ".build", "benchmarks"))
    say("Building in release mode; the first time takes some minutes.")
    build.build()
    floors = build.floors()
    names = chosen(floors, given.filter)
    wanted = list(dict.fromkeys(names + [floors[name] for name in names if floors[name]]))
    say(f"Running {len(wanted)} benchmarks, a few seconds each")
    environment = dict(build.environment, IMPORTER_BENCHMARK_RECORDS=str(given.records or 50_000))
    with kept(build.resolved):
        done(["swift", "package", "--package-path", ROOT, "--scratch-path", build.scratch,
              "--allow-writing-to-directory", folder, "benchmark", "--target", "StageSuite",
              "--filter", "|".join(wanted), "--format", "jmh", "--path", folder, "--no-progress", "--quiet"],
             "not all benchmarks ran and were right", env=environment)
    medians = {}
    for file in os.listdir(folder):
        if file.endswith(".jmh.json"):
            with open(os.path.join(folder, file), encoding="utf-8") as results:
                for result in json.load(results):
                    medians[result["benchmark"].rsplit(".", 1)[-1]] = median(result)
    missing = [name for name in wanted if name not in medians]
    for name in missing:
        # The plugin says nothing of the reason.
        build.figure(name, given.records or 50_000, False, folder)
    if missing:
        raise Failure(f"without a result: {', '.join(missing)}")
    lines = [("benchmark", "median", "floor", "median", "ratio")]
    for name in floors:
        if name in names and floors[name]:
            own, least = medians[name], medians[floors[name]]
            lines.append((name, f"{own:,.3f} ms", floors[name], f"{least:,.3f} ms", f"{own / least:.2f}"))
    if len(lines) > 1:
        table(lines)
    else:
        table([("floor", "median")] + [(name, f"{medians[name]:,.3f} ms") for name in names])


def median(result):
    """A benchmark's time by the clock, in milliseconds; the file has microseconds."""
    return result["secondaryMetrics"]["Time (wall clock)"]["scorePercentiles"]["50.0"] / 1e3


# MARK: Comparing

def compare(given, folder):
    counts = not given.time and shutil.which("valgrind") is not None
    records = given.records or (10_000 if counts else 50_000)
    rounds = given.runs or (1 if counts else 7)
    name = done(["git", "-C", ROOT, "rev-parse", "--short", "--verify", "--quiet", given.compare + "^{commit}"],
                f"{given.compare} is no revision").strip()
    here = Build(ROOT, os.path.join(ROOT, ".build", "benchmarks"))
    there = Build(checkout(name), os.path.join(ROOT, ".build", "compare", "build"))
    for build, what in ((here, "the sources that are here"), (there, f"those of {name}")):
        say(f"Building in release mode with {what}; the first time takes some minutes.")
        try:
            build.build()
        except Failure as failure:
            raise Failure(f"{failure}\nwith {what}")
    figures = {}
    names = chosen(here.floors(), given.filter)
    for number in range(rounds):
        for benchmark in names:
            say(f"{benchmark}, {number + 1} of {rounds}" if rounds > 1 else benchmark)
            # Each goes first every other time.
            for build in ((there, here), (here, there))[number % 2]:
                figures.setdefault((benchmark, build), []).append(build.figure(benchmark, records, counts, folder))
    unit = "instructions" if counts else "ns"
    lines = [(f"{unit} per record", name, "here", "ratio")]
    ratios = []
    for benchmark in names:
        before, after = (statistics.median(figures[benchmark, build]) for build in (there, here))
        ratios.append(after / before)
        lines.append((benchmark, f"{before:,.1f}", f"{after:,.1f}", f"{after / before:.3f}"))
    lines.append(("geometric mean", "", "", f"{math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f}"))
    table(lines)


def checkout(revision):
    """A work tree of a revision with the benchmarks that are here."""
    tree = os.path.join(ROOT, ".build", "compare", "tree")
    git = ["git", "-C", ROOT, "worktree"]
    done(git + ["prune"], "")
    if not os.path.exists(tree):
        done(git + ["add", "--quiet", "--force", "--detach", tree, revision], "there is no work tree to be had")
    done(["git", "-C", tree, "checkout", "--quiet", "--force", "--detach", revision], f"{revision}: no such sources")
    done(["git", "-C", tree, "clean", "--quiet", "--force", "-d"], "")
    probing = () if os.path.exists(os.path.join(tree, PROBING)) else (PROBING,)
    for path in SHARED + probing:
        shutil.rmtree(os.path.join(tree, path), ignore_errors=True)
        shutil.copytree(os.path.join(ROOT, path), os.path.join(tree, path))
    with open(os.path.join(tree, "Package.swift"), encoding="utf-8") as manifest:
        if TARGET not in manifest.read():
            shutil.copy(os.path.join(ROOT, "Package.swift"), tree)
    return tree


# MARK: Checking

# The difference between a small run and a smaller one is what records cost; what every start costs is in both.
FEW, MANY = 4_000, 11_000


def check(given, folder):
    """Counts the instructions of small imports and a split by the command itself."""
    if not shutil.which("valgrind"):
        raise Failure("valgrind is needed to count instructions")
    importer = without_debugging(given.importer or release_build(), folder)
    model = os.path.join(ROOT, "scripts", "people.model.json")
    keyed = os.path.join(folder, "guid.model.json")
    with open(model, encoding="utf-8") as file:
        described = json.load(file)
    described["entities"]["people"]["identifier"] = ["guid"]
    with open(keyed, "w", encoding="utf-8") as file:
        json.dump(described, file)
    for form in ("array", "ndjson"):
        for records in (FEW, MANY):
            with open(os.path.join(folder, f"{form}.{records}"), "wb") as file:
                subprocess.run([os.path.join(ROOT, "scripts", "generate-records"), str(records), "--format", form],
                               stdout=file, check=True)
    cases = {
        "split": ("array", None), "import, array": ("array", model), "import, NDJSON": ("ndjson", model),
        "import, identifier guid": ("array", keyed), "import, no model": ("array", ""),
    }
    found = per_record(importer, folder, cases, "first")
    if given.write:
        with open(LIMITS, "w", encoding="utf-8") as file:
            json.dump({name: math.ceil(count / 80) * 100 for name, count in found.items()}, file, indent=2)
            file.write("\n")
    with open(LIMITS, encoding="utf-8") as file:
        limits = json.load(file)
    # Threads that wait for each other on a busy machine spin now and then, for a fifth of all that is counted.
    again = {name: case for name, case in cases.items() if found[name] > limits[name]}
    for name, count in per_record(importer, folder, again, "again").items():
        found[name] = min(found[name], count)
    excesses = [name for name, count in found.items() if count > limits[name]]
    table([("instructions per record", "counted", "limit", "")] +
          [(name, f"{count:,.0f}", f"{limits[name]:,.0f}", "too many" if name in excesses else "")
           for name, count in found.items()])
    if excesses:
        raise Failure("More instructions per record than Benchmarks/limits.json allows. If there is a good reason for "
                      "it, `scripts/bench --check --write` sets new limits.")


def release_build():
    """Builds the program if it is not up to date and gives back its path."""
    say("Building in release mode; the first time takes some minutes.")
    swift = ["swift", "build", "--package-path", ROOT, "-c", "release"]
    done(swift + ["--product", "importer"], "the build failed")
    return os.path.join(done(swift + ["--show-bin-path"], "").strip(), "importer")


def per_record(importer, folder, cases, label):
    """Instructions per record of each case; the label keeps apart what several calls leave behind."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        running = {name: [pool.submit(counted, importer, folder, form, records, model, f"{label}.{number}.{records}")
                          for records in (FEW, MANY)]
                   for number, (name, (form, model)) in enumerate(cases.items())}
        return {name: (many.result() - few.result()) / (MANY - FEW) for name, (few, many) in running.items()}


def counted(importer, folder, form, records, model, name):
    """Instructions of one run of the command, from its start to its end."""
    source, target = os.path.join(folder, f"{form}.{records}"), os.path.join(folder, name)
    if model is None:
        command = ["split", source, "--to", target, "--json"]
    else:
        command = ["import", source, "--into", target, "--entity", "people", "--workers", "1", "--json"]
        command += ["--model", model] if model else []
    printed, count = count_instructions([importer, *command], target + ".callgrind", [], "the importer failed")
    taken = json.loads(printed)["records" if model is None else "inserted"]
    if taken != records:
        raise Failure(f"importer {' '.join(command)}: {taken} records instead of {records}")
    return count


def main():
    given = options()
    with tempfile.TemporaryDirectory(prefix="importer-bench-") as folder:
        # The benchmarks' own folders go with it, however they end.
        os.environ["TMPDIR"] = folder
        (check if given.check else compare if given.compare else measure)(given, folder)


try:
    main()
except Failure as failure:
    say(f"bench: {failure}")
    sys.exit(1)
except KeyboardInterrupt:
    sys.exit(130)
