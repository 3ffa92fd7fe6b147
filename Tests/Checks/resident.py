#!/usr/bin/env python3
"""Runs Python programs, each in a process of its own that begins where the start of Python ends.

Starting Python and importing what the checks need takes longer than most checks run. A line of standard input is a
request, in JSON:

    program     path of a program, or its text if it has a line break
    arguments   its arguments
    input, output, errors   paths of what are its standard input, output and error

The answer is a line with its exit code; the negative number of a signal if that ended it. Ends with its input.
"""
import gc
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

# What checks import, so that they find it there.
import argparse  # noqa: E402, F401
import calendar  # noqa: E402, F401
import collections  # noqa: E402, F401
import datetime  # noqa: E402, F401
import decimal  # noqa: E402, F401
import fractions  # noqa: E402, F401
import gzip  # noqa: E402, F401
import hashlib  # noqa: E402, F401
import json  # noqa: E402
import random  # noqa: E402, F401
import re  # noqa: E402, F401
import shutil  # noqa: E402, F401
import sqlite3  # noqa: E402, F401
import struct  # noqa: E402, F401
import tempfile  # noqa: E402, F401
import traceback  # noqa: E402
import urllib.parse  # noqa: E402, F401
import uuid  # noqa: E402, F401

import records  # noqa: E402, F401
import store_dump  # noqa: E402, F401

compiled = {}


def code_of(program):
    """Compiled once; a text may be of any test."""
    if "\n" in program:
        return compile(program, "<program>", "exec")
    if program not in compiled:
        with open(program, "rb") as file:
            compiled[program] = compile(file.read(), program, "exec")
    return compiled[program]


def become(request, code):
    """Runs the program in this process, and ends with it."""
    ways = [(request["input"], os.O_RDONLY), (request["output"], os.O_WRONLY), (request["errors"], os.O_WRONLY)]
    for number, (path, way) in enumerate(ways):
        file = os.open(path, way | (os.O_CREAT | os.O_APPEND if number else 0), 0o600)
        os.dup2(file, number)
        os.close(file)
    sys.stdin = open(0, encoding="utf-8", closefd=False)
    sys.argv = [request["program"] if "\n" not in request["program"] else "-c"] + request["arguments"]
    scope = {"__name__": "__main__", "__file__": request["program"]}
    status = 0
    try:
        exec(code, scope)
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        status = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
    except BaseException:
        traceback.print_exc()
        status = 1
    # Closes what it has left open, as an interpreter does at its end.
    scope.clear()
    gc.collect()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status & 0xFF)


def main():
    # What is there now outlives all of them.
    gc.freeze()
    # Not through the object, which would read ahead of a child that has it too.
    requests = open(0, "rb", closefd=False)
    for line in iter(requests.readline, b""):
        request = json.loads(line)
        status = 1
        try:
            code = code_of(request["program"])
            child = os.fork()
        except Exception as failure:
            with open(request["errors"], "a", encoding="utf-8") as file:
                print(failure, file=file)
        else:
            if child == 0:
                try:
                    become(request, code)
                finally:
                    os._exit(1)
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        os.write(1, b"%d\n" % status)


if __name__ == "__main__":
    main()
