"""A case: seeded random numbers, a folder of its own, and the command under test with what must hold of every run."""
import os
import random
import re
import resource
import shlex
import signal
import subprocess
import threading

# The documented exit codes. Input may not bring about 70, a fault of the importer itself, nor 71, a shortage of the system.
EXIT_CODES = {0, 64, 65, 66, 73, 74, 75}
MOST_SECONDS = 300
# What makes a terminal do or show something else than the text says.
UNSAFE = re.compile("[\\x00-\\x09\\x0b-\\x1f\\x7f-\\x9f\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]")
MOST_MEMORY = 600 << 20
# So that a claim on the whole machine fails in the importer alone: address space, of which threads take much more than they use.
MOST_ADDRESSES = 16 << 30


class Found(Exception):
    """Something that must not be."""


class Result:
    """How a command ended."""

    def __init__(self, code, output, messages):
        self.code, self.output, self.messages = code, output, messages

    def __str__(self):
        tail = self.messages.decode("utf-8", "replace").strip()[-1500:]
        return f"exit code {self.code}\n{tail}"


class Case:
    def __init__(self, target, seed, number, folder, executable):
        self.target, self.seed, self.number = target, seed, number
        self.folder, self.executable = folder, executable
        self.random = random.Random(f"{target} {seed} {number}")
        self.commands = []

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def write(self, name, content):
        path = self.path(name)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def some(self, choices):
        """One of these; where pairs with a number are given, as often as the numbers say."""
        return self.random.choice(choices)

    def chance(self, share):
        return self.random.random() < share

    def killed(self, *arguments, seconds):
        """Runs the command, and kills it after this time if it has not ended: where that is in its work, no seed can say."""
        arguments = [os.fsencode(str(argument)) for argument in arguments]
        shown = " ".join(shlex.quote(os.fsdecode(argument)) for argument in arguments)
        self.commands.append(f"timeout -s KILL {seconds:.3f} importer {shown}")
        process = subprocess.Popen(
            [os.fsencode(self.executable)] + arguments,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=dict(os.environ, SWIFT_BACKTRACE="enable=no", TZ="UTC"),
        )
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return
        if code < 0:
            raise Found(f"ended by {signal.Signals(-code).name} before it was killed")

    def importer(self, *arguments, allowed=EXIT_CODES, given=os.devnull):
        """Runs the command, and finds fault with a signal, a code that is not allowed, a hang and too much memory. Its standard input
        is the file that is given."""
        arguments = [os.fsencode(str(argument)) for argument in arguments]
        self.commands.append("importer " + " ".join(shlex.quote(os.fsdecode(a)) for a in arguments))
        if given != os.devnull:
            self.commands[-1] += f" <{shlex.quote(given)}"
        source = open(os.path.join(self.folder, given), "rb")
        process = subprocess.Popen(
            [os.fsencode(self.executable)] + arguments,
            cwd=self.folder,
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            # A trap's backtrace takes seconds, and says nothing that the case itself does not.
            env=dict(os.environ, SWIFT_BACKTRACE="enable=no", TZ="UTC"),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESSES, MOST_ADDRESSES)),
        )
        source.close()
        texts = {}

        def read(name, stream):
            texts[name] = stream.read()

        readers = [
            threading.Thread(target=read, args=("output", process.stdout)),
            threading.Thread(target=read, args=("messages", process.stderr)),
        ]
        for reader in readers:
            reader.start()
        hung = threading.Event()

        def stop():
            hung.set()
            process.kill()

        timer = threading.Timer(MOST_SECONDS, stop)
        timer.start()
        # Not process.wait(): only wait4 tells this child's memory.
        _, status, used = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        for reader in readers:
            reader.join()
        process.stdout.close()
        process.stderr.close()
        result = Result(process.returncode, texts["output"], texts["messages"])
        if hung.is_set():
            raise Found(f"it has not ended after {MOST_SECONDS} s")
        if result.code < 0:
            raise Found(f"ended by {signal.Signals(-result.code).name}: {result}")
        if result.code not in allowed:
            raise Found(f"not one of the exit codes {sorted(allowed)}: {result}")
        unsafe = UNSAFE.search(result.messages.decode("utf-8", "replace"))
        if unsafe:
            raise Found(f"a message has {unsafe.group()!r}: {result}")
        if used.ru_maxrss * 1024 > MOST_MEMORY:
            raise Found(f"took {used.ru_maxrss / 1024:.0f} MiB of memory")
        return result
