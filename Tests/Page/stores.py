"""Makes the stores that the page is tested with, by the importer itself, and reads them back with Python's SQLite."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# In seconds, for what never comes on a machine that is very busy.
PATIENCE = 60

# Texts that a page must show as text, and no browser may take for anything else.
HOSTILE = {
    "<script>window.hit = 1</script>": "<script>window.hit = 2</script>",
    "<img src=x onerror='window.hit = 3'>": "<img src=x onerror='window.hit = 4'>",
    "control": "bell \u0007, escape \u001b[31m, null \u0000, end",
    "direction": "\u202egnp.exe\u202c and \u2066isolated\u2069 and \u200bno width",
    "lines": "one\r\ntwo\tthree\u2028four",
    "markup": "&lt;b&gt; &amp; </td></tr></table><!-- ]]>",
    "style": "\" style=\"position:fixed\" onclick=\"window.hit = 5\" x=\"",
    "address": "javascript:window.hit=6",
    "emoji": "\U0001f469\u200d\U0001f680 é e\u0301 \U0001d518",
}
LONG = ("0123456789" * 100 + "\n") * 1000
COLUMNS = 2000


def run(importer, folder, *arguments):
    """Runs the importer in a folder, to its end."""
    result = subprocess.run([importer, *arguments], cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if result.returncode != 0:
        raise RuntimeError(f"importer {' '.join(arguments)}: exit {result.returncode}: {result.stderr}")


def people(folder, count):
    """A file of people, some of whom do not fit, and their model with an identifier."""
    lines = subprocess.run(
        [os.path.join(ROOT, "scripts", "generate-records"), str(count), "--format", "ndjson"],
        capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL).stdout.splitlines()
    for index in range(300, count, 997):
        record = json.loads(lines[index])
        record["age"] = "n/a"
        lines[index] = json.dumps(record, ensure_ascii=False)
    for index in range(700, count, 4999):
        record = json.loads(lines[index])
        record["created"] = "last Tuesday"
        lines[index] = json.dumps(record, ensure_ascii=False)
    with open(os.path.join(ROOT, "scripts", "people.model.json"), encoding="utf-8") as file:
        model = json.load(file)
    model["entities"]["people"]["identifier"] = ["id"]
    write(os.path.join(folder, "people.model.json"), json.dumps(model))
    write(os.path.join(folder, "people.ndjson"), "\n".join(lines) + "\n")


def import_people(importer, folder, store, source="people.ndjson"):
    run(importer, folder, "import", source, "--into", store, "--model", "people.model.json", "--entity", "people", "--quiet")


def orders(importer, folder, count, faults):
    """A store of orders with all that belongs to them, and rejects."""
    subprocess.run(
        [sys.executable, "-B", os.path.join(ROOT, "scripts", "generate-orders"), os.path.join(folder, "orders"), "--records",
         str(count), "--faults", str(faults)], check=True, capture_output=True, stdin=subprocess.DEVNULL)
    run(importer, folder, "import", "orders/orders.ndjson", "--into", "orders.sqlite", "--model", "orders/model.json", "--quiet")


def hostile(importer, folder):
    """A store of texts and names that mean harm, one text of 1 MB, and an entity of very many columns."""
    write(os.path.join(folder, "hostile.json"), json.dumps([HOSTILE, {key: None for key in HOSTILE}]))
    write(os.path.join(folder, "long.json"), json.dumps([{"id": 1, "text": LONG}]))
    wide = [{f"c{index}": f"<b>{row} {index}" for index in range(COLUMNS)} for row in range(3)]
    write(os.path.join(folder, "wide.json"), json.dumps(wide))
    # So many columns are not inferred, but may be asked for.
    model = {"entities": {"wide": {"attributes": {f"c{index}": {"type": "string"} for index in range(COLUMNS)}}}}
    write(os.path.join(folder, "wide.model.json"), json.dumps(model))
    for name, options in (("hostile", []), ("long", []), ("wide", ["--model", "wide.model.json"])):
        run(importer, folder, "import", name + ".json", "--into", "hostile.sqlite", "--quiet", *options)


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def query(folder, store, sql):
    """The rows of a query, by Python's SQLite and not by the code under test."""
    connection = sqlite3.connect(f"file:{os.path.join(folder, store)}?mode=ro", uri=True)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


class Server:
    """`importer serve`, until it is stopped."""

    def __init__(self, importer, store, *options, port=0):
        self.process = subprocess.Popen(
            [importer, "serve", store, "--port", str(port), *options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL, text=True)
        self.address = address(self.process.stdout)

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(PATIENCE)


def address(output):
    """What a program prints first: where its page is."""
    for line in output:
        for word in line.split():
            if word.startswith("http://"):
                return word.rstrip("/") + "/"
    raise RuntimeError("the importer printed no address")


class SlowImport:
    """An import that is stopped most of the time, so that it can be watched however fast the machine is."""

    def __init__(self, importer, folder, *arguments, share=0.1):
        self.process = subprocess.Popen([importer, "import", *arguments], cwd=folder, stdin=subprocess.DEVNULL)
        self.share = share
        threading.Thread(target=self.pulse, daemon=True).start()

    def pulse(self):
        while self.process.poll() is None:
            time.sleep(0.02)
            if self.share < 1 and self.process.poll() is None:
                self.process.send_signal(signal.SIGSTOP)
                time.sleep(0.02 / self.share - 0.02)
                self.process.send_signal(signal.SIGCONT)

    def finish(self):
        """Runs on at full speed, to its end."""
        self.share = 1
        if self.process.wait(PATIENCE) != 0:
            raise RuntimeError(f"the import ended with {self.process.returncode}")
