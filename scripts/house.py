"""Draws the rooms of the sources and checks their arrows. Called by house, which has the usage."""

import argparse
import collections
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TABLES = os.path.join(ROOT, "CONTRIBUTING.md")
PICTURE = os.path.join(ROOT, "Sources", "Importer", "Importer.docc", "Resources", "house.svg")
# The room of the files at a target's root.
TOP = "(root)"
PACKAGE = os.path.join(ROOT, "Package.swift")
IMPORT = re.compile(r"^(?:@\w+ |\w+ )*import (?:(?:struct|class|enum|protocol|func) )?(\w+)", re.M)
# What comes with the compiler.
GIVEN = {"Dispatch", "Foundation", "FoundationNetworking", "FoundationXML", "Glibc", "Musl", "Darwin", "Synchronization"}

WORDS = r"(?:public|package|internal|fileprivate|private|final|indirect|static|class|mutating|nonmutating|nonisolated"
WORDS = WORDS + r"(?:\(unsafe\))?|override|required|convenience|lazy|weak|@\w+(?:\([^)\n]*\))?)\s+"
TYPE = re.compile(rf"^( *)((?:{WORDS})*)(?:struct|class|enum|protocol|actor|typealias|macro)\s+(\w+)", re.M)
EXTENSION = re.compile(r"^(?:public |package |private |fileprivate )*extension\s+(\w+)([^{]*)\{((?:.|\n)*?)^\}", re.M)
MEMBER = re.compile(rf"^ {{4}}(?!private|fileprivate)((?:{WORDS})*)(?:func|var|let|case|typealias)\s+(\w+)", re.M)
DECLARED = re.compile(r"\b(?:func|var|let|case|struct|class|enum|typealias)\s+(\w+)")


class Failure(Exception):
    """What a person has to see to; its text says what."""


class Arguments(argparse.ArgumentParser):
    def error(self, message):
        print(f"house: {message}\n`scripts/house --help` lists the options.", file=sys.stderr)
        sys.exit(64)


def code(text):
    """The text without comments and without what is between quotes, but with interpolations."""
    text = re.sub(r"//[^\n]*|/\*(?:.|\n)*?\*/", "", text)
    text = re.sub(r'"""(?:.|\n)*?"""', lambda match: interpolations(match.group()), text)
    return re.sub(r'"(?:\\\((?:[^()\n]|\([^()\n]*\))*\)|\\.|[^"\\\n])*"', lambda match: interpolations(match.group()), text)


def interpolations(literal):
    inside = re.findall(r"\\\(((?:[^()\n]|\([^()\n]*\))*)\)", literal)
    return '"' + " ".join(re.sub(r'"[^"]*"', "", one) for one in inside) + '"'


class Target:
    """A target's rooms and arrows, as its sources have them."""

    def __init__(self, name):
        self.name = name
        folder = os.path.join(ROOT, "Sources", name)
        self.texts, self.lines, self.rooms = {}, collections.Counter(), collections.defaultdict(list)
        for base, folders, files in sorted(os.walk(folder)):
            folders[:] = [one for one in folders if not one.endswith(".docc")]
            for file in sorted(files):
                if file.endswith(".swift"):
                    path = os.path.relpath(os.path.join(base, file), folder)
                    with open(os.path.join(base, file), encoding="utf-8") as source:
                        text = source.read()
                    self.texts[path] = code(text)
                    self.rooms[self.room(path)].append(path)
                    self.lines[self.room(path)] += text.count("\n")
        self.find_arrows()

    @staticmethod
    def room(path):
        return path.split(os.sep)[0] if os.sep in path else TOP

    def find_arrows(self):
        types, members = collections.defaultdict(set), collections.defaultdict(set)
        own = {path: set() for path in self.texts}
        counts = collections.Counter()
        for path, text in self.texts.items():
            counts.update(DECLARED.findall(text))
            for indent, words, name in TYPE.findall(text):
                # A type in a type, or a private one, is known in its file and nowhere else by its name alone.
                own[path].add(name)
                if not indent and "private" not in words:
                    types[name].add(path)
        for path, text in self.texts.items():
            for name, _, body in EXTENSION.findall(text):
                if any(self.room(place) == self.room(path) for place in types[name]):
                    continue
                for words, member in MEMBER.findall(body):
                    # Others of this name may be what is meant.
                    if "override" not in words and counts[member] == 1:
                        members[member].add(path)
        # Per pair of rooms the uses: a name, and the file that uses it.
        self.arrows = collections.defaultdict(set)
        for path, text in self.texts.items():
            for name in set(re.findall(r"(?<![.\w])[A-Z]\w*", text)) - own[path]:
                self.add_arrows(path, name, types.get(name, ()))
            for name in set(re.findall(r"\.(\w+)\b", text)):
                self.add_arrows(path, name, members.get(name, ()))

    def add_arrows(self, path, name, places):
        start = self.room(path)
        for place in places:
            if self.room(place) != start:
                self.arrows[start, self.room(place)].add((name, path))

    def mutual_pairs(self):
        return sorted(pair for pair in self.arrows if pair[0] < pair[1] and pair[::-1] in self.arrows)


def tables():
    """Per target its rooms in the order of their table in CONTRIBUTING.md."""
    with open(TABLES, encoding="utf-8") as file:
        text = file.read()
    found = {}
    for name, table in re.findall(r"^### Rooms of (\w+)\n\n((?:\|.*\n)+)", text, re.M):
        rows = [row.split("|")[1].strip().strip("`") for row in table.splitlines()[2:]]
        found[name] = [TOP if row == "the root" else row for row in rows]
    if not found:
        raise Failure("CONTRIBUTING.md has no tables of rooms")
    return found


def check(target, order):
    """What is not as the target's table says."""
    faults = []
    for room in target.rooms:
        if room not in order:
            faults.append(f"{target.name}: {room} is not in the table of CONTRIBUTING.md")
    for room in order:
        if room not in target.rooms:
            faults.append(f"{target.name}: the table of CONTRIBUTING.md has {room}, and there is no such folder")
    rank = {room: index for index, room in enumerate(order)}
    for (start, end), uses in sorted(target.arrows.items()):
        if rank.get(start, 0) < rank.get(end, 0):
            names = ", ".join(f"{name} in {path}" for name, path in sorted(uses)[:5])
            faults.append(f"{target.name}: {start} may not name {end}, which is below it in the table: {names}")
    declared = dependencies(target.name) | GIVEN
    for path, text in sorted(target.texts.items()):
        for name in sorted(set(IMPORT.findall(text)) - declared):
            faults.append(f"{target.name}: {path} may not import {name}, on which Package.swift has it not depend")
    return faults


def dependencies(target):
    """What Package.swift says that a target depends on."""
    with open(PACKAGE, encoding="utf-8") as file:
        text = file.read()
    found = re.search(rf'[tT]arget\(\s*name: "{target}",?(.*?)\n        \)?\.?(?=\S)|[tT]arget\(name: "{target}"(.*?)\),\n', text, re.S)
    return set(re.findall(r'"([\w.]+)"', (found[1] or found[2] or "") if found else ""))


def describe(target, order):
    print(f"{target.name}: {len(target.rooms)} rooms, {len(target.texts)} files, {sum(target.lines.values()):,} lines")
    for room in order:
        ends = [end for end in order if (room, end) in target.arrows]
        size = f"{len(target.rooms[room]):4} files {target.lines[room]:6,} lines"
        print(f"  {room:<12}{size}   {'-> ' + ', '.join(ends) if ends else ''}".rstrip())
    pairs = target.mutual_pairs()
    print(f"  {len(pairs)} mutual pairs" + "".join(f", {a} and {b}" for a, b in pairs) + "\n")


def draw(targets, orders):
    """The rooms as boxes, one below the other; arrows as lines at their right."""
    width, row, box = 560, 30, 170
    parts, top = [], 20
    for target in targets:
        order = orders[target.name]
        parts.append(f'<text x="20" y="{top + 14}" class="target">{target.name}</text>')
        top += 26
        middle = {room: top + index * row + 12 for index, room in enumerate(order)}
        for room in order:
            y = middle[room]
            parts.append(f'<rect x="20" y="{y - 11}" width="{box}" height="22" rx="4"/>')
            parts.append(f'<text x="30" y="{y + 4}">{"the root" if room == TOP else room}</text>')
        for index, room in enumerate(order):
            for end in order[:index]:
                if (room, end) not in target.arrows:
                    continue
                distance = index - order.index(end)
                reach = 20 + box + 12 + 20 * distance
                start, y = middle[room] - 5, middle[end] + 5
                kind = "" if distance == 1 else ' class="far"'
                parts.append(
                    f'<path{kind} d="M{20 + box} {start} C{reach} {start} {reach} {y} {20 + box + 2} {y}" '
                    'marker-end="url(#head)"/>'
                )
        top += len(order) * row + 26
    style = (
        "text{font:13px sans-serif;fill:#333}.target{font-weight:bold}rect{fill:#eef3fa;stroke:#8aa4c8}"
        "path{fill:none;stroke:#5b7fb0;stroke-width:1.2}.far{stroke:#b9c9de;stroke-width:.8}"
    )
    head = (
        '<marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 Z" style="fill:#8aa4c8;stroke:none"/></marker>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{top}" viewBox="0 0 {width} {top}">\n'
        f"<title>The rooms of the sources: each names rooms above it only</title>\n<style>{style}</style>\n"
        f'<defs>{head}</defs>\n<rect width="100%" height="100%" style="fill:#fff;stroke:none"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def main():
    parser = Arguments(prog="house", add_help=False, allow_abbrev=False)
    parser.add_argument("--draw", action="store_true")
    parser.add_argument("--arrows", metavar="ROOM")
    given = parser.parse_args()
    orders = tables()
    targets = [Target(name) for name in orders]
    faults = []
    for target in targets:
        describe(target, orders[target.name])
        faults += check(target, orders[target.name])
        for (start, end), uses in sorted(target.arrows.items()):
            if start == given.arrows:
                for path in sorted({path for _, path in uses}):
                    print(f"  {path} -> {end}: {' '.join(sorted(name for name, place in uses if place == path))}")
    picture = draw(targets, orders)
    if given.draw:
        with open(PICTURE, "w", encoding="utf-8") as file:
            file.write(picture)
    with open(PICTURE, encoding="utf-8") as file:
        if file.read() != picture:
            faults.append(f"{os.path.relpath(PICTURE, ROOT)} is not as the code is: `scripts/house --draw` draws it")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"house: {failure}", file=sys.stderr)
        sys.exit(1)
