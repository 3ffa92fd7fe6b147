#!/usr/bin/env python3
"""Runs a program, and prints how many bytes of memory it had at most.

usage: peak_memory.py COMMAND ARGUMENT...

Ends with its exit code.
"""
import os
import subprocess
import sys


def main(command):
    # A new process's figure begins with that of the one that starts it: a small one here, and not a test runner.
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    print(usage.ru_maxrss * 1024)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
