"""Makes a Swift program of the samples in the documentation, runs it, and checks what it prints.

    samples.py write          writes the samples of each page as a function, for Tests/Client
    samples.py run PROGRAM    runs them, a page each in a folder of its own

A page is README.md, an article, or the comments of a Swift file. Its samples are its blocks of code that are marked as Swift,
one after the other in one function. Where the text after a block is `This prints:`, the block after that is compared with
what it prints. A block that begins with `// swift-tools-version` is a manifest, and read as one.

The source of all samples is the JSON of GettingStarted.md; pages that import nothing into people.sqlite read the store that
GettingStarted.md makes. Those that compare two stores find it as sunday.sqlite and monday.sqlite, too.
"""

import itertools
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
GENERATED = ROOT / "Tests/Client/Sources/samples/Generated"
FIRST = "GettingStarted"
SEPARATOR = "\x1e"
ALWAYS = ["Foundation", "ImportModel", "Importer"]


class Block:
    """A sample: where it is, its lines, and the lines that it prints, if the page says so."""

    def __init__(self, line, lines):
        self.line, self.lines, self.output = line, lines, None

    @property
    def is_manifest(self):
        return self.lines[0].startswith("// swift-tools-version")


class Page:
    def __init__(self, path, lines):
        self.path, self.name, self.blocks, self.json = path, re.sub(r"\W", "_", path.stem), [], None
        place = 0
        while place < len(lines):
            fence = re.fullmatch(r"```(\w+)", lines[place])
            place += 1
            if not fence:
                continue
            end = lines.index("```", place)
            if fence[1] == "swift":
                self.blocks.append(Block(place + 1, lines[place:end]))
                self.blocks[-1].output = output(lines, end + 1)
            elif fence[1] == "json" and self.json is None:
                self.json = lines[place:end]
            place = end + 1

    @property
    def samples(self):
        return [block for block in self.blocks if not block.is_manifest]

    @property
    def makes_store(self):
        return any('into: "people.sqlite"' in line for block in self.blocks for line in block.lines)

    def swift(self):
        """The page's samples as a function, whose lines are known as the page's."""
        imports, body = list(ALWAYS), []
        for block in self.samples:
            body += [f'print("\\u{{1E}}{block.line}")', f'#sourceLocation(file: "{self.path}", line: {block.line})']
            for line in block.lines:
                found = re.fullmatch(r"import (.+)", line)
                if found:
                    imports.append(found[1])
                body.append("" if found else line)
            body.append("#sourceLocation()")
        imports = [f"import {name}" for name in dict.fromkeys(imports)]
        head = ["// Written by scripts/samples.py.", "// swift-format-ignore-file", *imports, ""]
        return "\n".join([*head, f"func sample{self.name}() async throws {{", *body, "}", ""])


def output(lines, place):
    """The lines that a page says are printed, where it does so right after a sample."""
    rest = itertools.dropwhile(lambda line: not line.strip(), lines[place:])
    if next(rest, "") != "This prints:":
        return None
    rest = itertools.dropwhile(lambda line: not line.strip(), rest)
    block = list(itertools.takewhile(lambda line: line.startswith("    ") or not line.strip(), rest))
    return "\n".join(line[4:] for line in block).strip("\n").split("\n")


def comments(text):
    """The lines of a Swift file's comments for the documentation; all others are empty."""
    found = (re.fullmatch(r"\s*/// ?(.*)", line) for line in text.split("\n"))
    return [line[1] if line else "" for line in found]


def pages():
    """All pages with samples, the one first that the others depend on."""
    paths = [ROOT / "README.md", *sorted(ROOT.glob("Sources/*/*.docc/**/*.md"))]
    found = [Page(path, path.read_text().split("\n")) for path in paths]
    for path in sorted(ROOT.glob("Sources/**/*.swift")):
        text = path.read_text()
        if "/// ```swift" in text:
            found.append(Page(path, comments(text)))
    found = sorted((page for page in found if page.blocks), key=lambda page: page.name != FIRST)
    assert found[0].name == FIRST and len({page.name for page in found}) == len(found)
    return found


def write():
    found = pages()
    names = "".join(f'    "{page.name}": sample{page.name},\n' for page in found)
    # Two files of a program must not have one name, and the samples are known to be in their pages.
    files = {f"{page.name}+Sample.swift": page.swift() for page in found}
    files["Samples.swift"] = (
        "// Written by scripts/samples.py.\n// swift-format-ignore-file\n"
        f"let samples: [String: @Sendable () async throws -> Void] = [\n{names}]\n"
    )
    GENERATED.mkdir(exist_ok=True)
    for path in GENERATED.iterdir():
        if path.name not in files:
            path.unlink()
    for name, text in files.items():
        # What is as it was is not compiled again.
        path = GENERATED / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def run(program):
    found, failures, compared = pages(), 0, 0
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        for page in found:
            folder = scratch / page.name
            folder.mkdir()
            (folder / "people.json").write_text("\n".join(found[0].json))
            if not page.makes_store:
                for name in ["people.sqlite", "sunday.sqlite", "monday.sqlite"]:
                    shutil.copy(scratch / FIRST / "people.sqlite", folder / name)
            # One that waits for what never comes is to fail, too.
            result = subprocess.run([program, page.name], cwd=folder, stdout=subprocess.PIPE, text=True, timeout=600)
            printed = dict(part.split("\n", 1) for part in result.stdout.split(SEPARATOR)[1:])
            if result.returncode != 0:
                failures += 1
                print(f"{page.path}: ends with {result.returncode}:\n{result.stdout}", file=sys.stderr)
                continue
            for block in page.samples:
                lines = printed[str(block.line)].strip("\n").split("\n")
                if block.output is None:
                    continue
                compared += 1
                if lines != block.output:
                    failures += 1
                    text = "\n".join(lines)
                    print(f"{page.path}:{block.line}: the sample prints something else:\n{text}", file=sys.stderr)
        for block in (block for page in found for block in page.blocks if block.is_manifest):
            (scratch / "Package.swift").write_text("\n".join(block.lines))
            command = ["swift", "package", "--package-path", scratch, "dump-package"]
            failures += subprocess.run(command, stdout=subprocess.DEVNULL).returncode != 0
    count = sum(len(page.blocks) for page in found)
    if failures:
        sys.exit(f"{failures} of {count} samples fail")
    print(f"{count} samples of {len(found)} pages work; {compared} print what their pages say.", file=sys.stderr)


if __name__ == "__main__":
    if sys.argv[1:] == ["write"]:
        write()
    elif len(sys.argv) == 3 and sys.argv[1] == "run":
        run(sys.argv[2])
    else:
        sys.exit(__doc__)
