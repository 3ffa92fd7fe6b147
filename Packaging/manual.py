"""A manual page, as it is installed.

    manual.py PAGE

Prints the page that the argument parser has written, without the empty lines that troff warns of: a paragraph begins there,
or where a macro follows nothing does. Each line of text stays a line, and no option is broken at its hyphens; examples are not
filled, so that they can be copied. Pages are named as people look for them: importer-model-check, while the synopsis has the
command as it is typed.
"""

import re
import sys
from pathlib import Path


def lines(text):
    previous = "."
    for line in text.splitlines():
        if line.strip() and not line.startswith("."):
            if not previous.strip():
                yield ".Pp"
            elif not previous.startswith("."):
                yield ".br"
        if line.strip():
            yield line
        previous = line


def main(page):
    command = None
    section = ""
    examples = False
    for line in lines(Path(page).read_text()):
        if line != ".br" and examples != (section == "DESCRIPTION" and line.startswith("  ")):
            examples = not examples
            print(".Bd -literal -compact" if examples else ".Ed")
        if line.startswith(".Sh "):
            section = line[4:]
        elif line.startswith((".Dt ", ".Xr ")):
            line = line.replace(".", "-").replace("-", ".", 1)
        elif section == "NAME" and line.startswith(".Nm "):
            command = line[4:].strip('"')
            line = f".Nm {command.replace(' ', '-')}"
        elif section == "SYNOPSIS" and line == ".Nm":
            line = f'.Nm "{command}"'
        elif section == "DESCRIPTION" and line == "EXAMPLES":
            line = ".Sy Examples"
        if not line.startswith("."):
            line = re.sub(r"(?<![\w-])--?[a-z][a-z-]*", lambda option: option[0].replace("-", r"\-"), line)
        if not (examples and line == ".br"):
            print(line)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
