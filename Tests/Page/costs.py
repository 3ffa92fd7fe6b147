"""What open pages cost an import: costs.py IMPORTER ROUNDS [RECORDS].

Each round imports the same records with no page, one and five open, each in a window of its own; a process serves them all. Prints
the medians: seconds of the import, its processor time, and the server's, as a share of those seconds. What a browser takes to draw
is not the importer's, but it takes it from the same processors.
"""

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import stores
from browser import Browser

PAGES = (0, 1, 5)


def main():
    importer, rounds = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 1_500_000
    folder = tempfile.mkdtemp(prefix="importer-page-")
    try:
        source = os.path.join(folder, "people.json")
        with open(source, "wb") as file:
            subprocess.run([os.path.join(stores.ROOT, "scripts", "generate-records"), str(count)], stdout=file, check=True)
        measured = {pages: [] for pages in PAGES}
        for _ in range(rounds):
            for pages in PAGES:
                measured[pages].append(measure(importer, folder, count, pages))
        print(f"{count:,} records, medians of {rounds}")
        print("pages  import s  processor s  server s  server %")
        for pages, runs in measured.items():
            seconds, processor, server = (statistics.median(column) for column in zip(*runs))
            share = statistics.median(100 * run[2] / run[0] for run in runs)
            print(f"{pages:5}  {seconds:8.2f}  {processor:11.2f}  {server:8.3f}  {share:8.1f}")
    finally:
        shutil.rmtree(folder)


def measure(importer, folder, count, pages):
    """The seconds of an import, its processor time, and that of the server meanwhile."""
    for name in os.listdir(folder):
        if name.startswith("people.sqlite"):
            os.remove(os.path.join(folder, name))
    server = stores.Server(importer, os.path.join(folder, "people.sqlite"))
    browser = Browser() if pages else None
    try:
        for page in range(pages):
            if page:
                browser.driver.switch_to.new_window("window")
            browser.open(server.address)
        before, spent, begun = children(), processor_time(server.process.pid), time.monotonic()
        stores.run(
            importer, folder, "import", "people.json", "--into", "people.sqlite", "--model",
            os.path.join(stores.ROOT, "scripts", "people.model.json"), "--entity", "people", "--quiet")
        seconds = time.monotonic() - begun
        result = seconds, children() - before, processor_time(server.process.pid) - spent
        if browser:
            # The page has followed the import to its end.
            browser.wait("document.getElementById('state').textContent === 'finished'")
        rows = stores.query(folder, "people.sqlite", "SELECT count(*) FROM people")
        if rows != [(count,)]:
            raise RuntimeError(f"the store has {rows} and not {count} records")
        return result
    finally:
        if browser:
            browser.quit()
        server.stop()


def children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def processor_time(process):
    """Of a process that still runs, in seconds."""
    with open(f"/proc/{process}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


main()
