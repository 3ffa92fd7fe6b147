"""Debian's changelog, made of CHANGELOG.md.

    changelog.py VERSION MAINTAINER EPOCH

The first part, "Unreleased" or VERSION, is of EPOCH (seconds); those after it of the day in their heading.
"""

import re
import sys
import textwrap
from datetime import datetime, timezone
from email.utils import format_datetime
from pathlib import Path

source = Path(__file__).resolve().parent.parent / "CHANGELOG.md"


def entries(text):
    """The items of a part: each is one line, after the heading that it is under."""
    heading = ""
    for block in re.split(r"\n(?=### |- |\n)", text):
        block = " ".join(block.split())
        if block.startswith("### "):
            heading = block[4:]
        elif block.startswith("- "):
            yield f"{heading}: {block[2:]}" if heading else block[2:]


def main(version, maintainer, epoch):
    parts = re.split(r"^## ", source.read_text(), flags=re.MULTILINE)[1:]
    for index, part in enumerate(parts):
        title, _, text = part.partition("\n")
        number = version if index == 0 else re.search(r"\d+\.\d+\.\d+", title)[0]
        date = datetime.fromtimestamp(int(epoch), timezone.utc)
        if index > 0:
            date = datetime.fromisoformat(re.search(r"\d{4}-\d{2}-\d{2}", title)[0]).replace(tzinfo=timezone.utc)
        print(f"importer ({number}) unstable; urgency=medium\n")
        for entry in entries(text):
            print(textwrap.fill(entry, 80, initial_indent="  * ", subsequent_indent="    ", break_long_words=False))
        print(f"\n -- {maintainer}  {format_datetime(date)}\n")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
