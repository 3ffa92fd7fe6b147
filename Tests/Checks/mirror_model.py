"""Imports random sources one after the other with --mirror, and compares the store with what a slow model says must be left.

mirror_model.py IMPORTER SEED DIRECTORY SHAPE [undo]

SHAPE is integer, text, pair or related. With undo, each mirror is taken back, which gives the store before it with its row ids, and
done again.
"""

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys

importer, seed, directory, shape = sys.argv[1:5]
undoes = sys.argv[5:] == ["undo"]
random = random.Random(f"{seed} {shape}")
store = os.path.join(directory, f"{shape}-{seed}.sqlite")
TEN = 10


def fail(*text):
    print(*text)
    sys.exit(1)


def run(*arguments, exits=(0,)):
    command = [importer, *arguments]
    result = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if result.returncode not in exits:
        fail("seed", seed, shape, "exit", result.returncode, command, result.stdout[-800:], result.stderr[-800:])
    return result


def allows(gone, scope, limit):
    if limit is None:
        return gone <= TEN or gone * 100 <= 10 * scope
    if limit.endswith("%"):
        return gone * 100 <= float(limit[:-1]) * scope
    return gone <= int(limit)


def rows(table, columns, order):
    database = sqlite3.connect(store)
    found = database.execute(f'SELECT {columns} FROM "{table}" ORDER BY {order}').fetchall()
    database.close()
    return found


def everything():
    """All rows of the user tables, with their row ids."""
    database = sqlite3.connect(store)
    names = [
        (name, "WITHOUT ROWID" in sql)
        for name, sql in database.execute(
            "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_import\\_%' ESCAPE '\\'"
            " AND name NOT LIKE 'sqlite%' ORDER BY name"
        )
    ]
    found = {}
    for name, is_without in names:
        key = "*" if is_without else "rowid, *"
        found[name] = sorted(database.execute(f'SELECT {key} FROM "{name}"').fetchall(), key=repr)
    database.close()
    return found


def execute(sql, *values):
    database = sqlite3.connect(store)
    database.execute(sql, values)
    database.commit()
    database.close()


def how():
    """Options that must not change anything."""
    return [
        "--workers", str(random.choice([1, 2, 3])), "--chunk-size", random.choice(["40", "200", "2K", "8M"]),
        "--commit-every", str(random.choice([1, 3, 20, 10000])),
    ]


def options(number):
    """The options of a mirror: for the command, and for the model."""
    chosen = {"limit": None, "empty": False, "despite": False, "scope": "imported"}
    arguments = ["--mirror"]
    if random.random() < 0.5:
        chosen["limit"] = random.choice(["0", "1", "3", "20", "5%", "30%", "60%", "100%"])
        arguments += ["--max-delete", chosen["limit"]]
    if random.random() < 0.3:
        chosen["empty"] = True
        arguments += ["--allow-empty"]
    if random.random() < 0.4:
        chosen["despite"] = True
        arguments += ["--despite-rejects"]
    if shape != "related" and random.random() < 0.5:
        chosen["scope"] = random.choice(["all", "mark = 'x'"])
        arguments += ["--mirror-scope", chosen["scope"]]
    return chosen, arguments


class Flat:
    """Objects with an identifier and three attributes; by their identifiers, whether an import has inserted them."""

    tables = {"thing": "*"}

    def __init__(self):
        self.objects = {}
        names = {"integer": ["id"], "text": ["code"], "pair": ["host", "number"]}[shape]
        types = {"id": "integer64", "code": "string", "host": "string", "number": "integer32"}
        self.names = names
        attributes = {name: {"type": types[name]} for name in names}
        attributes["mark"] = {"type": "string", "optional": True}
        attributes["count"] = {"type": "integer32", "optional": True}
        self.model = {"entities": {"thing": {"identifier": names, "attributes": attributes}}}
        self.columns = names + ["mark", "count"]
        self.all = [self.key() for _ in range(random.choice([6, 40, 150]))]

    def key(self):
        if shape == "integer":
            return (random.choice([random.randrange(60), random.randrange(10**6), random.randrange(-2**63, 2**63)]),)
        if shape == "text":
            return (random.choice(["a", "A", "å", "b\u0000", "'", '"', "x"]) + str(random.randrange(500)),)
        return (random.choice("ab"), random.randrange(300))

    def by_hand(self):
        for _ in range(random.randrange(3)):
            key = self.key()
            if key in self.objects:
                continue
            mark = random.choice(["x", None, "y"])
            marks = ", ".join("?" for _ in self.columns)
            names = ", ".join(f'"{name}"' for name in self.columns)
            execute(f"INSERT INTO thing ({names}) VALUES ({marks})", *key, mark, 7)
            self.objects[key] = {"mark": mark, "count": 7, "imported": False}

    def source(self, path):
        """Writes a source.

        Returns its records in order, each with its identifier, None for one that nobody can read; and what is wrong with it.
        """
        keep = random.choice([0, 0.05, 0.6, 0.9, 0.97, 1])
        lines = []
        for key in self.all + list(self.objects):
            if random.random() > keep:
                continue
            record = dict(zip(self.names, key))
            if random.random() < 0.7:
                record["mark"] = random.choice(["x", "y", None])
            if random.random() < 0.4:
                record["count"] = random.randrange(3)
            kind = random.random()
            if kind < 0.03:
                record["count"] = {"no": "number"}
                lines.append((record, key, True))
            elif kind < 0.04:
                record[self.names[-1]] = random.choice([None, [1]])
                lines.append((record, None, True))
            else:
                lines.append((record, key, False))
        if random.random() < 0.5:
            random.shuffle(lines)
        with open(path, "w") as file:
            for record, _, _ in lines:
                file.write(json.dumps(record, ensure_ascii=random.random() < 0.5) + "\n")
            if len(lines) > 1 and random.random() < 0.05:
                file.write("{\n")
                lines.append((None, None, True))
            if not lines:
                # An empty file is no source.
                file.write("[]")
        return lines

    def imports(self, lines):
        for record, key, is_wrong in lines:
            if is_wrong:
                continue
            own = self.objects.setdefault(key, {"mark": None, "count": None, "imported": True})
            for name in ("mark", "count"):
                if name in record:
                    own[name] = record[name]

    def mirrors(self, lines, chosen):
        """Returns how many objects go, how many are withheld, and why."""

        def is_in_scope(own):
            if chosen["scope"] == "imported":
                return own["imported"]
            return chosen["scope"] == "all" or own["mark"] == "x"

        scope = [key for key, own in self.objects.items() if is_in_scope(own)]
        seen = {key for _, key, _ in lines if key is not None}
        gone = [key for key in scope if key not in seen]
        if gone:
            if not lines and not chosen["empty"]:
                return 0, len(gone), "empty"
            if any(key is None for _, key, _ in lines) and not chosen["despite"]:
                return 0, len(gone), "rejects"
            if not allows(len(gone), len(scope), chosen["limit"]):
                return 0, len(gone), "limit"
        for key in gone:
            del self.objects[key]
        return len(gone), 0, None

    def expected(self):
        return {"thing": sorted([(*key, own["mark"], own["count"]) for key, own in self.objects.items()], key=repr)}

    def found(self):
        names = ", ".join(f'"{name}"' for name in self.columns)
        return {"thing": sorted(rows("thing", names, "1"), key=repr)}


class Related:
    """Users own messages, are in teams that must not go while somebody is in them, and share tags."""

    def __init__(self):
        self.teams, self.users, self.messages, self.tags, self.links = {}, {}, {}, set(), set()
        text = {"type": "string", "optional": True}
        number = {"type": "integer64"}
        self.model = {
            "entities": {
                "team": {
                    "identifier": ["id"], "attributes": {"id": number, "name": text}, "records": "$.teams[*]",
                    "relationships": {"members": {"entity": "user", "toMany": True, "inverse": "team", "deleteRule": "deny", "from": []}},
                },
                "user": {
                    "identifier": ["id"], "attributes": {"id": number, "name": text}, "records": "$.users[*]",
                    "relationships": {
                        "team": {"entity": "team", "inverse": "members"},
                        "messages": {"entity": "message", "toMany": True, "inverse": "user", "deleteRule": "cascade"},
                        "tags": {"entity": "tag", "toMany": True, "inverse": "users", "deleteRule": "nullify"},
                    },
                },
                "message": {
                    "identifier": ["id"], "attributes": {"id": number, "text": text},
                    "relationships": {"user": {"entity": "user", "inverse": "messages", "from": []}},
                },
                "tag": {
                    "identifier": ["id"], "attributes": {"id": number},
                    "relationships": {"users": {"entity": "user", "toMany": True, "inverse": "tags", "deleteRule": "nullify", "from": []}},
                },
            }
        }

    def by_hand(self):
        if random.random() < 0.3:
            key = random.randrange(1000, 2000)
            if key not in self.users:
                execute("INSERT INTO user (id, name) VALUES (?, 'hand')", key)
                self.users[key] = {"name": "hand", "team": None, "imported": False}

    def source(self, path):
        keep = random.choice([0, 0.5, 0.8, 0.95, 1])
        teams = [{"id": key, "name": random.choice("ab")} for key in range(6) if random.random() < max(keep, 0.3)]
        users = []
        for key in range(random.choice([5, 25])):
            if random.random() > keep:
                continue
            record = {"id": key, "name": random.choice("abc")}
            if random.random() < 0.6:
                record["team"] = random.choice([None] + [team["id"] for team in teams] + list(self.teams))
            kind = random.random()
            if kind < 0.5:
                record["messages"] = [
                    {"id": number, "text": random.choice("xyz")} for number in random.sample(range(40), random.randrange(4))
                ]
            elif kind < 0.65:
                record["messages"] = None
            kind = random.random()
            if kind < 0.4:
                record["tags"] = [{"id": number} for number in random.sample(range(8), random.randrange(3))]
            elif kind < 0.5:
                record["tags"] = None
            is_wrong = random.random() < 0.04
            if is_wrong:
                record["name"] = {"no": "name"}
            users.append((record, key, is_wrong))
        with open(path, "w") as file:
            json.dump({"teams": teams, "users": [record for record, _, _ in users]}, file)
        return teams, users

    def imports(self, source):
        teams, users = source
        for team in teams:
            self.teams[team["id"]] = team["name"]
        orphans = set()
        for record, key, is_wrong in users:
            if is_wrong:
                continue
            own = self.users.setdefault(key, {"name": None, "team": None, "imported": True})
            own["name"] = record["name"]
            if "team" in record:
                own["team"] = record["team"]
            if record.get("messages") is not None:
                named = {message["id"] for message in record["messages"]}
                for message, (text, user) in self.messages.items():
                    if user == key and message not in named:
                        self.messages[message] = (text, None)
                        orphans.add(message)
                for message in record["messages"]:
                    self.messages[message["id"]] = (message["text"], key)
            if "tags" in record:
                named = {tag["id"] for tag in record["tags"] or []}
                self.tags |= named
                self.links = {link for link in self.links if link[0] != key} | {(key, tag) for tag in named}
        for message in orphans:
            if self.messages[message][1] is None:
                del self.messages[message]

    def mirrors(self, source, chosen):
        teams, users = source
        gone_users = [key for key, own in self.users.items() if own["imported"] and key not in {user[1] for user in users}]
        gone_teams = [key for key in self.teams if key not in {team["id"] for team in teams}]
        scope_users = sum(own["imported"] for own in self.users.values())
        withheld = len(gone_users) + len(gone_teams)
        if withheld:
            if not chosen["empty"] and (gone_users and not users or gone_teams and not teams):
                return 0, withheld, "empty"
            if not allows(len(gone_users), scope_users, chosen["limit"]):
                return 0, withheld, "limit"
            if not allows(len(gone_teams), len(self.teams), chosen["limit"]):
                return 0, withheld, "limit"
        deleted = 0
        for key in gone_users:
            del self.users[key]
            own = [message for message, (_, user) in self.messages.items() if user == key]
            for message in own:
                del self.messages[message]
            self.links = {link for link in self.links if link[0] != key}
            deleted += 1 + len(own)
        for key in gone_teams:
            if not any(own["team"] == key for own in self.users.values()):
                del self.teams[key]
                deleted += 1
        return deleted, 0, None

    def expected(self):
        return {
            "team": sorted(self.teams.items()),
            "user": sorted((key, own["name"], own["team"]) for key, own in self.users.items()),
            "message": sorted((key, text, user) for key, (text, user) in self.messages.items()),
            "tag": sorted((key,) for key in self.tags),
            "links": sorted(self.links),
        }

    def found(self):
        return {
            "team": rows("team", "id, name", "1"), "user": rows("user", "id, name, team_id", "1"),
            "message": rows("message", "id, text, user_id", "1"), "tag": rows("tag", "id", "1"),
            "links": rows("user_tags", "user_id, tags_id", "1, 2"),
        }


state = Related() if shape == "related" else Flat()
model = os.path.join(directory, f"{shape}-{seed}.json")
with open(model, "w") as file:
    json.dump(state.model, file)
for number in range(random.choice([2, 3, 5])):
    if number:
        state.by_hand()
    path = os.path.join(directory, f"{shape}-{seed}-{number}." + ("json" if shape == "related" else "ndjson"))
    source = state.source(path)
    records = source[0] + source[1] if shape == "related" else source
    is_mirror = shape == "related" or random.random() < 0.8
    chosen, arguments = options(number)
    if shape == "related":
        # Dangling references are not what this is about.
        before_teams = set(state.teams)
    before = everything() if number else None
    state.imports(source)
    wanted = (None, None, None)
    if is_mirror:
        wanted = state.mirrors(source, chosen)
    command = ["import", path, "--into", store, "--model", model, "--again", "--progress", "none", "--json"]
    if shape != "related":
        command += ["--entity", "thing", "--max-errors", "none"]
    else:
        command += ["--max-errors", "none"]
    result = run(*command, *how(), *(arguments if is_mirror else []), exits=(0, 65))
    if not result.stdout.startswith("{"):
        fail("seed", seed, shape, "import", number, "no report", result.stderr)
    report = json.loads(result.stdout)
    if is_mirror:
        found = (report.get("deleted"), report.get("withheld"), report.get("withheld_reason"))
        if found != wanted:
            fail("seed", seed, shape, "import", number, "expected", wanted, "found", found, chosen, result.stderr)
        if (result.returncode == 65) != (wanted[1] > 0) and "every record" not in result.stderr:
            fail("seed", seed, shape, "import", number, "exit", result.returncode, wanted, result.stderr)
    if state.found() != state.expected():
        fail("seed", seed, shape, "import", number, chosen, "expected", state.expected(), "found", state.found())
    run("verify", store)
    if undoes and is_mirror and before is not None:
        after = everything()
        run("undo", store, "--json")
        if everything() != before:
            fail("seed", seed, shape, "undo", number, "expected", before, "found", everything())
        run("undo", store, "--job", str(report["job"] + 1), "--json")
        if everything() != after:
            fail("seed", seed, shape, "redo", number, "expected", after, "found", everything())
