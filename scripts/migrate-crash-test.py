"""Kills migrations. Called by migrate-crash-test, which has the usage."""

import argparse
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "Tests", "Checks"))

import store_dump  # noqa: E402

MODEL = {
    "entities": {
        "order": {
            "identifier": ["id"],
            "attributes": {"id": {"type": "integer64"}, "note": {"type": "string", "optional": True}},
            "relationships": {"lines": {"entity": "line", "toMany": True, "deleteRule": "cascade"}},
        },
        "line": {"attributes": {"sku": {"type": "string"}, "count": {"type": "integer32"}}},
    }
}


def later_model():
    """Another identifier, so that all tables are made again and all references rewritten."""
    model = json.loads(json.dumps(MODEL))
    order = model["entities"]["order"]
    order["attributes"]["uid"] = {"type": "uuid", "generated": True}
    order["identifier"] = ["uid"]
    model["entities"]["line"]["attributes"]["count"]["type"] = "decimal"
    return model


def content(store):
    """The user tables, byte by byte, and the schema."""
    digest = store_dump.digest(store)
    connection = sqlite3.connect(store)
    try:
        whole = connection.execute("PRAGMA integrity_check").fetchone()[0]
        schema = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY 1, 2").fetchall()
        dangling = connection.execute("PRAGMA foreign_key_check").fetchall()
    finally:
        connection.close()
    return digest, whole, str(schema), str(dangling)


def main():
    parser = argparse.ArgumentParser(prog="migrate-crash-test")
    parser.add_argument("--importer", default=os.path.join(ROOT, ".build", "release", "importer"))
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--records", type=int, default=30000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not os.path.exists(options.importer):
        subprocess.run(["swift", "build", "-c", "release", "--product", "importer"], cwd=ROOT, check=True)
    moments = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        for name, model in (("old.json", MODEL), ("new.json", later_model())):
            with open(path(name), "w", encoding="utf-8") as file:
                json.dump(model, file)
        with open(path("orders.ndjson"), "w", encoding="utf-8") as file:
            for number in range(1, options.records + 1):
                lines = [{"sku": f"s{number}-{line}", "count": line} for line in range(number % 4)]
                file.write(json.dumps({"id": number, "note": "n" * (number % 50), "lines": lines}) + "\n")
        imported = ["import", path("orders.ndjson"), "--into", path("old.sqlite"), "--model", path("old.json")]
        subprocess.run([options.importer, *imported, "--entity", "order", "--quiet"], check=True)
        before = content(path("old.sqlite"))
        migrate = lambda store: [options.importer, "migrate", store, "--model", path("new.json"), "--quiet"]
        shutil.copy(path("old.sqlite"), path("new.sqlite"))
        start = time.monotonic()
        subprocess.run(migrate(path("new.sqlite")), check=True)
        whole = time.monotonic() - start
        after = content(path("new.sqlite"))
        assert before != after and before[1] == after[1] == "ok"
        ends = {"before": 0, "after": 0}
        store = path("store.sqlite")
        for number in range(1, options.kills + 1):
            for suffix in ("", "-journal", "-wal", "-shm", ".lock"):
                if os.path.exists(store + suffix):
                    os.remove(store + suffix)
            shutil.copy(path("old.sqlite"), store)
            process = subprocess.Popen(migrate(store), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(moments.uniform(0, 1.1 * whole))
            process.send_signal(signal.SIGKILL)
            process.wait()
            found = content(store)
            if found not in (before, after):
                print(f"kill {number}: the store is neither as before nor as after")
                return 1
            ends["before" if found == before else "after"] += 1
            # Given again, it does the rest.
            subprocess.run(migrate(store), check=True)
            if content(store) != after:
                print(f"kill {number}: given again, the migration makes another store")
                return 1
        print(f"{options.kills} kills: {ends['before']} as before, {ends['after']} as after, none between")
    return 0


if __name__ == "__main__":
    sys.exit(main())
