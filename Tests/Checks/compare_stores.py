#!/usr/bin/env python3
"""Compares a SQLite store with a PostgreSQL schema that the same imports have made.

usage: compare_stores.py STORE URL --importer PATH [--psql PATH] [--most N] [--only-tables]

  --importer PATH  the program, whose `status` and `rejects` of both are compared, too
  --most N         how many differences of each kind are printed [5]
  --only-tables    nothing of the `_import_` tables

Rows are compared as multisets. A row id of an object without identifier is a name that each side gives as it likes: two tables are
the same if one way of renaming makes all rows the same. So such rows are told apart by their values, by what they refer to, and by
what refers to them, all the way. Columns and their types, keys, indexes and foreign keys on the server must be those that
RELATIONSHIPS.md has for the model; a foreign key is not valid just where the store has references without a row.

Prints what is compared and each difference; lines that begin with `note:` are none. Exit code 0 if there are no differences, 1 if
there are, 64 for usage, 69 where a side cannot be read. As a module: `compared(store, url, importer)` gives differences and notes.
"""
import argparse
import collections
import hashlib
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from stored_tables import NUMBERS, Failure, ForeignKey, ServerTables, StoreTables, fitting, server_columns  # noqa: E402

# What depends on where, when and in how many pieces something was done.
UNLIKE = {"seconds", "chunks", "chunks_done", "unfinished", "started", "finished", "job", "number"}


class Pair:
    """A table of the store beside that of the server."""

    def __init__(self, ours, theirs):
        self.ours, self.theirs = ours, theirs
        self.names = dict(zip(ours.columns, server_columns(ours.columns)))
        self.kinds = {column: theirs.types.get(name) for column, name in self.names.items()}
        self.is_readable = all(self.kinds.values())


class Comparison:
    """One comparison, and what it has found."""

    def __init__(self, store, server, most=5):
        self.store, self.server, self.most = store, server, most
        self.differences, self.notes = [], []
        self.pairs = {}

    def differ(self, text):
        """Says that something differs."""
        self.differences.append(text)

    def some(self, title, texts):
        """Says the first of several differences, and how many there are."""
        for text in texts[:self.most]:
            self.differ(f"{title}: {text}")
        if len(texts) > self.most:
            self.differ(f"{title}: and {len(texts) - self.most} more")

    def compare_tables(self):
        """All that is about the tables, and their rows."""
        wanted = {fitting(name): table for name, table in self.store.tables.items()}
        for name in self.server.left:
            self.differ(f"{name}: is left of settling")
        for name in sorted(set(wanted) - set(self.server.tables)):
            self.differ(f"{name}: the server has no such table")
        for name in sorted(set(self.server.tables) - set(wanted)):
            self.differ(f"{name}: the store has no such table")
        for name, table in wanted.items():
            if name in self.server.tables:
                self.pairs[table.name] = Pair(table, self.server.tables[name])
        for pair in self.pairs.values():
            self.compare_columns(pair)
            self.compare_indexes(pair)
            self.compare_foreign_keys(pair)
        self.compare_rows()

    # Descriptions

    def compare_columns(self, pair):
        """Names, order, types, and that nothing is mandatory."""
        name, ours, theirs = pair.ours.name, pair.ours, pair.theirs
        if theirs.columns != list(pair.names.values()):
            self.differ(f"{name}: columns {theirs.columns}, not {list(pair.names.values())}")
        for key in ours.foreign_keys:
            target = self.pairs.get(key.target)
            for column, other in zip(key.columns, key.target_columns):
                # As the key that it names.
                if target and column not in ours.types and target.kinds.get(other):
                    ours.types[column] = (target.kinds[other],)
        for column, kind in pair.kinds.items():
            fitting_kinds = ours.types.get(column, NUMBERS)
            if kind and kind not in fitting_kinds:
                self.differ(f"{name}.{column}: is {kind}, not {' or '.join(fitting_kinds)}")
            if pair.names[column] in theirs.mandatory and column not in ours.key:
                self.differ(f"{name}.{column}: is NOT NULL")

    def compare_indexes(self, pair):
        """The same columns, and whether they are unique."""
        name, theirs = pair.ours.name, dict(pair.theirs.indexes)
        self.notes += [f"{name}: {remark}" for remark in pair.ours.remarks]
        for remark in pair.theirs.remarks:
            self.differ(f"{name}: {remark}")
        for columns, is_unique in pair.ours.indexes.items():
            found = theirs.pop(tuple(pair.names.get(column) for column in columns), None)
            if found is None:
                self.differ(f"{name}: no {'unique ' if is_unique else ''}index on {', '.join(columns)}")
            elif found != is_unique:
                self.differ(f"{name}: the index on {', '.join(columns)} is {'' if found else 'not '}unique")
        for columns, is_unique in theirs.items():
            text = f"{name}: an index on {', '.join(columns)} more"
            if is_unique:
                self.differ(text + ", which is unique")
            else:
                self.notes.append(text)

    def compare_foreign_keys(self, pair):
        """The same columns, targets, actions and timing; valid just where no reference is without a row."""
        name = pair.ours.name
        theirs = collections.defaultdict(list)
        for key in pair.theirs.foreign_keys:
            theirs[key.columns].append(key)
        for key in pair.ours.foreign_keys:
            target = self.pairs.get(key.target)
            others = [target.names.get(column) if target else column for column in key.target_columns]
            columns = [pair.names[column] for column in key.columns]
            wanted = ForeignKey(columns, fitting(key.target), others, key.action, key.timing)
            found = theirs.pop(wanted.columns, [])
            if [str(one) for one in found] != [str(wanted)]:
                self.differ(f"{name}: foreign key {'; '.join(map(str, found)) or 'missing'}, not {wanted}")
            for one in found:
                if key.is_valid and not one.is_valid:
                    self.differ(f"{name}: the foreign key {one} is not valid, though every reference has its row")
                elif one.is_valid and not key.is_valid:
                    self.differ(f"{name}: the foreign key {one} is valid, though references are without a row")
                elif not one.is_valid:
                    self.notes.append(f"{name}: the foreign key {one} is not valid, as references are without a row")
        for found in theirs.values():
            self.some(f"{name}: a foreign key more", list(map(str, found)))

    # Rows

    def compare_rows(self):
        """The rows of all tables that are on both sides."""
        readable = [pair for pair in self.pairs.values() if pair.is_readable]
        numbers = self.row_id_columns()
        for pair in readable:
            if not numbers[pair.ours.name]:
                self.compare_values(pair)
        named = [pair for pair in readable if numbers[pair.ours.name]]
        if named:
            self.compare_graphs(named, numbers)

    def row_id_columns(self):
        """For each table the columns that hold row ids, of which table: its own, and those that references carry."""
        found = {name: {} for name in self.pairs}
        for name, pair in self.pairs.items():
            if pair.ours.row_id:
                found[name][pair.ours.row_id] = name
        is_done = False
        while not is_done:
            is_done = True
            for name, pair in self.pairs.items():
                for key in pair.ours.foreign_keys:
                    for column, other in zip(key.columns, key.target_columns):
                        home = found.get(key.target, {}).get(other)
                        if home and column not in found[name]:
                            found[name][column], is_done = home, False
        return found

    def compare_values(self, pair):
        """The rows of a table in which no row id is: as they are."""
        def digests(rows):
            return collections.Counter(digest(row) for row in rows)

        ours, theirs = digests(self.store_rows(pair)), digests(self.server_rows(pair))
        self.counts(pair, ours.total(), theirs.total())
        if ours == theirs:
            return
        for rows, more, what in (
                (self.store_rows(pair), ours - theirs, "missing"), (self.server_rows(pair), theirs - ours, "not expected")):
            texts = []
            for row in rows:
                mark = digest(row)
                if more[mark] > 0:
                    more[mark] -= 1
                    texts.append(shown(dict(zip(pair.ours.columns, row))))
            self.some(f"{pair.ours.name}: {what}", texts)

    def counts(self, pair, ours, theirs):
        """Says how many rows there are."""
        self.notes.append(f"{pair.ours.name}: {theirs:,} rows")
        if ours != theirs:
            self.differ(f"{pair.ours.name}: {theirs:,} rows, not {ours:,}")

    def store_rows(self, pair):
        """The store's rows."""
        return self.store.rows(pair.ours, pair.kinds)

    def server_rows(self, pair):
        """The server's rows, with their columns in the store's order."""
        names = list(pair.names.values())
        order = [pair.theirs.columns.index(name) for name in names]
        return ([row[place] for place in order] for row in self.server.rows(pair.theirs))

    def compare_graphs(self, pairs, numbers):
        """The rows of tables that have row ids or name them, told apart by all that they hang together with."""
        ours = Graph([(p.ours, self.store_rows(p)) for p in pairs], numbers)
        theirs = Graph([(p.ours, self.server_rows(p)) for p in pairs], numbers)
        for pair in pairs:
            self.counts(pair, len(ours.rows[pair.ours.name]), len(theirs.rows[pair.ours.name]))
        for text in ours.twice + theirs.twice:
            self.differ(text)
        # The first round in which they differ says it best: values first, then links to rows beside, and so on.
        distance = 0
        while True:
            found = [(pair, *ours.difference(theirs, pair.ours.name)) for pair in pairs]
            if any(missing or more for _, missing, more in found):
                break
            before = ours.distinct(), theirs.distinct()
            ours.refine()
            theirs.refine()
            distance += 1
            if (ours.distinct(), theirs.distinct()) == before:
                found = [(pair, *ours.difference(theirs, pair.ours.name)) for pair in pairs]
                break
        where = f", with what it is linked to in {distance} steps" if distance else ""
        for pair, missing, more in found:
            self.some(f"{pair.ours.name}: missing{where}", [shown(row) for row in missing])
            self.some(f"{pair.ours.name}: not expected{where}", [shown(row) for row in more])

    # The importer's own tables

    def compare_bookkeeping(self):
        """Rejects and ledger, as the tables have them."""
        found = []
        for side in (self.store, self.server):
            rejects, ledger, jobs = side.bookkeeping()
            # A server may leave numbers out.
            ranks = {job: rank for rank, job in enumerate(jobs, 1)}
            found.append([{(ranks[row[0]], *row[1:]) for row in rows} for rows in (rejects, ledger)] + [len(jobs)])
        (rejects, ledger, jobs), (their_rejects, their_ledger, their_jobs) = found
        if jobs != their_jobs:
            self.differ(f"{their_jobs} jobs, not {jobs}")
        self.notes.append(f"{len(their_rejects):,} rejects, {len(their_ledger):,} kinds of loss")
        for title, mine, other in (("reject", rejects, their_rejects), ("ledger", ledger, their_ledger)):
            self.some(f"{title}: missing", [cut(str(row)) for row in sorted(mine - other)])
            self.some(f"{title}: not expected", [cut(str(row)) for row in sorted(other - mine)])

    def compare_reports(self, importer, store, url):
        """What the program says of both."""
        jobs = [side.bookkeeping()[2] for side in (self.store, self.server)]
        asked = [(["status"], ["--json", "--job"], pair) for pair in zip(*jobs)]
        asked += [(["rejects"], ["--json", "--all"], None), (["status"], ["--json", "--unresolved"], None)]
        for command, options, pair in asked:
            name = " ".join(command + options + ([str(pair[1])] if pair else []))
            ours, theirs = (
                subprocess.run(
                    [importer, *command, side, *options, *([str(pair[place])] if pair else [])], capture_output=True, text=True)
                for place, side in enumerate((store, url)))
            if theirs.returncode == 64 and "needs a SQLite store" in theirs.stderr:
                self.notes.append(f"{name}: {theirs.stderr.splitlines()[0]}")
                continue
            if ours.returncode != theirs.returncode:
                self.differ(f"{name}: ends with {theirs.returncode}, not {ours.returncode}: {theirs.stderr.strip()}")
                continue
            try:
                told = [parsed(result.stdout, is_whole=pair is not None) for result in (ours, theirs)]
            except ValueError as error:
                self.differ(f"{name}: not JSON: {error}")
                continue
            self.some(name, list(unlike(*told)))
        verified = subprocess.run([importer, "verify", url], capture_output=True, text=True)
        if verified.returncode:
            lines = (verified.stdout + verified.stderr).strip().splitlines()
            self.some("verify", [line for line in lines if not line.startswith("ok ")])


class Graph:
    """Rows as nodes, references by row id as edges; each has a color that stands for what is known of it."""

    def __init__(self, tables, numbers):
        self.rows, self.colors, self.nodes, self.edges, self.twice = {}, {}, {}, [], []
        self.numbers = numbers
        for table, rows in tables:
            name, places = table.name, numbers[table.name]
            own = table.columns.index(table.row_id) if table.row_id else None
            links = [(place, column) for place, column in enumerate(table.columns) if column in places and place != own]
            kept = [place for place, column in enumerate(table.columns) if column not in places]
            self.rows[name], self.colors[name], known = [], [], {}
            for number, row in enumerate(rows):
                if own is not None:
                    if row[own] in known or row[own] is None:
                        self.twice.append(f"{name}: the row id {row[own]} is there twice, or null")
                    known[row[own]] = number
                values = [row[place] for place in kept] + [row[place] is None for place, _ in links]
                self.rows[name].append(dict(zip(table.columns, row)))
                self.colors[name].append(digest(values))
                self.edges += [
                    (name, number, column, places[column], row[place]) for place, column in links if row[place] is not None]
            self.nodes[name] = known

    def refine(self):
        """Each row's color takes in those of the rows that it names and that name it."""
        added = {name: [0] * len(colors) for name, colors in self.colors.items()}
        for name, number, column, home, row_id in self.edges:
            other = self.nodes.get(home, {}).get(row_id)
            if other is None:
                added[name][number] += weight("nothing", column)
                continue
            # Sums do not depend on the order.
            added[name][number] += weight("to", column, self.colors[home][other])
            added[home][other] += weight("from", name, column, self.colors[name][number])
        for name, colors in self.colors.items():
            self.colors[name] = [digest([color, str(more % (1 << 128))]) for color, more in zip(colors, added[name])]

    def distinct(self):
        """How many rows can be told apart, for each table."""
        return {name: len(set(colors)) for name, colors in self.colors.items()}

    def difference(self, other, name):
        """The rows of a table that only this graph has, and those that only the other one has."""
        counts = collections.Counter(self.colors[name]), collections.Counter(other.colors[name])
        found = []
        for graph, more in ((self, counts[0] - counts[1]), (other, counts[1] - counts[0])):
            rows = []
            if more:
                for color, row in zip(graph.colors[name], graph.rows[name]):
                    if more[color] > 0:
                        more[color] -= 1
                        rows.append(row)
            found.append(rows)
        return found


def digest(values):
    """What stands for a list of texts, numbers and None."""
    return hashlib.blake2b(json.dumps(values, ensure_ascii=False).encode("utf-8", "surrogateescape"), digest_size=16).hexdigest()


def weight(*values):
    """A number that stands for a list of texts."""
    return int(digest(values), 16)


def cut(text):
    """A text that fits into a line or two."""
    return text if len(text) <= 400 else text[:400] + "…"


def shown(row):
    """A row in a message."""
    return cut(", ".join(f"{column}={'NULL' if value is None else repr(value)}" for column, value in row.items()))


# Reports


def parsed(text, is_whole):
    """What a command has printed, one value or one per line, without what is unlike where nothing is wrong."""
    if is_whole:
        return cleaned(json.loads(text))
    lines = [cleaned(json.loads(line)) for line in text.splitlines() if line.startswith("{")]
    return sorted(lines, key=lambda line: json.dumps(line, sort_keys=True))


def cleaned(value):
    """A report without what depends on where, when and in how many pieces the import was done."""
    if isinstance(value, dict):
        return {key: cleaned(inner) for key, inner in value.items() if key not in UNLIKE}
    return [cleaned(inner) for inner in value] if isinstance(value, list) else value


def unlike(ours, theirs, path=""):
    """Where two JSON values differ, in words."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        for key in sorted(set(ours) | set(theirs)):
            yield from unlike(ours.get(key, "nothing"), theirs.get(key, "nothing"), f"{path}.{key}" if path else key)
    elif isinstance(ours, list) and isinstance(theirs, list):
        if len(ours) != len(theirs):
            yield f"{path or 'lines'}: {len(theirs)}, not {len(ours)}"
        for number, (mine, other) in enumerate(zip(ours, theirs)):
            yield from unlike(mine, other, f"{path}[{number}]")
    elif ours != theirs:
        yield f"{path}: {cut(json.dumps(theirs))}, not {cut(json.dumps(ours))}"


def compared(store, url, importer=None, psql="psql", most=5):
    """The differences of a store and a schema, and notes; the whole store without `_import_` tables where there is no importer."""
    comparison = Comparison(StoreTables(store), ServerTables(url, psql), most)
    comparison.compare_tables()
    if importer:
        comparison.compare_bookkeeping()
        comparison.compare_reports(importer, store, url)
    return comparison.differences, comparison.notes


def main():
    if "-h" in sys.argv[1:] or "--help" in sys.argv[1:]:
        print(__doc__.strip())
        return 0
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].removeprefix("usage: "), add_help=False)
    parser.exit_on_error = False
    parser.add_argument("store")
    parser.add_argument("url")
    parser.add_argument("--importer")
    parser.add_argument("--psql", default="psql")
    parser.add_argument("--most", type=int, default=5)
    parser.add_argument("--only-tables", action="store_true")
    try:
        options = parser.parse_args()
    except (argparse.ArgumentError, SystemExit):
        return 64
    if not options.importer and not options.only_tables:
        print("compare_stores.py: --importer or --only-tables must be given", file=sys.stderr)
        return 64
    try:
        importer = None if options.only_tables else os.path.abspath(options.importer)
        differences, notes = compared(options.store, options.url, importer, options.psql, options.most)
    except (Failure, OSError) as failure:
        print(f"compare_stores.py: {failure}", file=sys.stderr)
        return 69
    for note in notes:
        print(f"note: {note}")
    for difference in differences:
        print(difference)
    print(f"{len(differences)} differences" if differences else "no differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
