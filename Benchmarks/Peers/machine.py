"""What the runs need from the machine: programs built, peers installed, a child process measured."""
import contextlib
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(ROOT, "Benchmarks", "Peers")


class Failure(Exception):
    """Something that a person has to see to; its text says what."""


def say(text):
    print(text, file=sys.stderr, flush=True)


def megabytes(size):
    if size >= 1e9:
        return f"{size / 1e9:.2f} GB"
    return f"{size / 1e6:,.0f} MB" if size >= 1e7 else f"{size / 1e6:,.1f} MB"


def done(command, advice, **options):
    """Runs a command of the preparation; its output is shown only when it fails."""
    outcome = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, errors="replace", **options)
    if outcome.returncode < 0:
        raise KeyboardInterrupt
    if outcome.returncode != 0:
        raise Failure(f"{outcome.stdout.strip()}\n{advice}")
    return outcome.stdout


class Machine:
    """The programs that are compared, ready to run: in `.build/bench`, never in the sources."""

    def __init__(self, folder, importer):
        self.folder = folder
        self.importer = importer
        self.is_own_build = False
        self.python = self.python_of("venv")
        os.makedirs(folder, exist_ok=True)

    def set_up(self):
        self._install_packages()
        self._make_environment()
        for name, library in (("measure", None), ("floor_yajl", "yajl"), ("floor_sqlite", "sqlite3")):
            self._compile(name, library)
        if not self.importer:
            self.importer, self.is_own_build = self._release_build(), True
        elif not os.access(self.importer, os.X_OK):
            raise Failure(f"{self.importer}: there is no such program; leave --importer out to have it built")
        self.importer = os.path.abspath(self.importer)

    def tool(self, name):
        """A program of this folder's own, or of the virtual environment."""
        own = os.path.join(self.folder, name)
        return own if os.path.exists(own) else os.path.join(self.folder, "venv", "bin", name)

    def python_of(self, environment):
        return os.path.join(self.folder, environment, "bin", "python")

    def script(self, name, *arguments):
        return [self.python, os.path.join(HERE, name), *arguments]

    def _install_packages(self):
        packages = ("install_missing gcc=gcc pkg-config=pkg-config libyajl-dev=lib:yajl libsqlite3-dev=lib:sqlite3"
                    " sqlite3=sqlite3 sqlite3-tools=sqldiff jq=jq python3-venv=python:ensurepip")
        if not self.importer:
            packages += "; install_for_building"
        if not self._has_installed(packages):
            raise Failure("the machine lacks what is named above")

    def _has_installed(self, packages):
        # Not `done`: a password may be asked for, and what is installed is worth seeing.
        shell = 'source "$1/scripts/setup.bash"; ' + packages
        return subprocess.run(["bash", "-euo", "pipefail", "-c", shell, "bench-peers", ROOT]).returncode == 0

    def lacks_packages(self, *packages):
        """Why a peer cannot be had that is in Debian's packages; None once they are installed."""
        return None if self._has_installed(" ".join(["install_missing", *packages])) else "it cannot be installed here"

    def lacks_environment(self, name, requirements):
        """Why a peer cannot be had that needs a virtual environment of its own; None once that is made."""
        try:
            self._make_environment(name, requirements)
        except Failure as failure:
            say(str(failure))
            return "it cannot be installed here"
        return None

    def has_environment(self, name, requirements):
        """Whether a virtual environment has just what is wanted."""
        stamp, wanted = os.path.join(self.folder, name, requirements), os.path.join(HERE, requirements)
        return os.path.exists(stamp) and open(stamp).read() == open(wanted).read()

    def _make_environment(self, name="venv", requirements="requirements.txt"):
        if self.has_environment(name, requirements):
            return
        environment, wanted = os.path.join(self.folder, name), os.path.join(HERE, requirements)
        say("Installing peers into a virtual environment of their own")
        shutil.rmtree(environment, ignore_errors=True)
        done([sys.executable, "-m", "venv", environment], "no virtual environment could be made")
        done([self.python_of(name), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", wanted],
             "the peers could not be installed: is there a network, and does this Python have such versions?"
             f" They are listed in {os.path.relpath(wanted, ROOT)}.")
        shutil.copy(wanted, os.path.join(environment, requirements))

    def _compile(self, name, library):
        source, program = os.path.join(HERE, name + ".c"), os.path.join(self.folder, name)
        if os.path.exists(program) and os.path.getmtime(program) >= os.path.getmtime(source):
            return
        flags = []
        if library:
            flags = done(["pkg-config", "--cflags", "--libs", library], f"pkg-config does not know {library}").split()
        done(["gcc", "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-O2", "-Wall", "-Wextra", "-o", program, source, *flags],
             f"{name}.c could not be compiled")

    def _release_build(self):
        say("Building in release mode; the first time takes some minutes.")
        build = ["swift", "build", "-c", "release", "--package-path", ROOT]
        done(build + ["--product", "importer"], "the build failed")
        return os.path.join(done(build + ["--show-bin-path"], "the build failed").strip(), "importer")

    def description(self):
        """What a reader needs in order to judge the figures, as (name, text)."""
        processor = platform.machine()
        with open("/proc/cpuinfo") as file:
            names = re.findall(r"^model name\s*:\s*(.*)$", file.read(), re.M)
        cores = len(os.sched_getaffinity(0))
        with open("/proc/meminfo") as file:
            memory = int(re.search(r"MemTotal:\s*(\d+)", file.read()).group(1)) * 1024
        versions = done([self.python, "-c", "import duckdb, ijson, sqlite_utils, orjson, sqlite3\n"
                         "from importlib.metadata import version as v\n"
                         "print('DuckDB', v('duckdb'), '· sqlite-utils', v('sqlite-utils'), '· ijson', v('ijson'),"
                         " 'with', ijson.backend, '· orjson', v('orjson'), '· SQLite', sqlite3.sqlite_version)"],
                        "the peers do not start").strip()
        shell = done(["sqlite3", "--version"], "sqlite3 does not start").split()[0]
        query = done(["jq", "--version"], "jq does not start").strip()
        return [
            ("machine", f"{cores} × {names[0] if names else processor}, {memory / 1e9:.0f} GB of memory"),
            ("system", f"{platform.system()} {platform.release().split('-')[0]}, Python {platform.python_version()}"),
            ("importer", self._revision()),
            ("peers", f"{versions}, its shell {shell} · {query}"),
        ]

    def _revision(self):
        git = ["git", "-C", ROOT]
        outcome = subprocess.run(git + ["rev-parse", "--short", "HEAD"], stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, text=True)
        version, revision = done([self.importer, "--version"], "the importer does not start").splitlines()[:2]
        if not self.is_own_build:
            return f"{version}, {revision}, as given with --importer"
        if outcome.returncode != 0:
            return version
        # What earlier runs wrote is no change to the program.
        changed = subprocess.run(git + ["status", "--porcelain", "--", "Sources", "Package.swift"],
                                 stdout=subprocess.PIPE, text=True).stdout.strip()
        return f"{version}, revision {outcome.stdout.strip()}{' with changes' if changed else ''}"


class Measurement:
    """One run of a program: wall and processor seconds, the most memory it had, and what it printed."""

    def __init__(self, measured, output):
        self.processor = measured["processor"]
        self.memory = measured["memory"]
        self.output = output
        # A program that says what counts is believed.
        self.seconds = self.printed().get("seconds_counted", measured["wall"])

    def printed(self):
        """The object that the program printed, if it is one that does."""
        try:
            value = json.loads(self.output)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


def measure(machine, command, work):
    """Runs a command to its end and measures it, children that it waits for included."""
    # What earlier runs left to be written must not slow this one down.
    os.sync()
    output, errors, measured = (os.path.join(work, name) for name in ("stdout", "stderr", "measured"))
    with open(output, "wb") as out, open(errors, "wb") as err:
        child = subprocess.Popen([machine.tool("measure"), measured, *command], stdin=subprocess.DEVNULL, stdout=out,
                                 stderr=err, cwd=work, start_new_session=True)
        try:
            code = child.wait()
        except BaseException:
            # All that it has started, too; it may have ended in this moment.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            raise
    if code != 0:
        with open(errors, errors="replace") as file:
            last = file.read().strip().splitlines()[-3:]
        raise Failure(f"ended with {code}: {' / '.join(last)}")
    with open(measured) as file, open(output, errors="replace") as printed:
        return Measurement(json.load(file), printed.read())
