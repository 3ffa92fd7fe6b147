"""The copyright file of the Debian package, in the machine-readable format 1.0.

    copyright.py OBJECTS CHECKOUTS      OBJECTS lists the object files that were linked, CHECKOUTS has the dependencies

Those whose objects are linked are named with their holders and licences; what the toolchain links is in copyright.toolchain.
Stops where a dependency has no licence.
"""

import re
import subprocess
import sys
from pathlib import Path

here = Path(__file__).resolve().parent

apache = """\
 Licensed under the Apache License, Version 2.0. On Debian systems, its text is in /usr/share/common-licenses/Apache-2.0.
 .
 Runtime Library Exception to the Apache 2.0 License:
 .
 As an exception, if you use this Software to compile your source code and portions of this Software are embedded into the
 binary product as a result, you may redistribute such product without providing attribution as would otherwise be required
 by Sections 4(a), 4(b) and 4(d) of the License.
"""


def linked_modules(objects):
    """The modules whose objects were linked."""
    return {module for module in re.findall(r"/([^/\s]+)\.build/", Path(objects).read_text())}


def has_linked(checkout, modules):
    """Whether one of the modules is a target of the package, which has a folder of its name."""
    return any((checkout / folder / module).is_dir() for module in modules for folder in ("", "Sources", "Source", "src"))


def license_file(checkout):
    files = [file for file in sorted(checkout.iterdir()) if re.match(r"(?i)(licen[cs]e|copying)", file.name)]
    if not files:
        sys.exit(f"copyright.py: {checkout.name} has no licence")
    return files[0].read_text()


def holders(text, checkout):
    """The lines of the licence that name its holders; where there are none, those of the sources."""
    pattern = re.compile(r"Copyright \(c\) ([-0-9, ]*\d{4}) (.+)", re.IGNORECASE)
    found = {}
    texts = [text]
    if not pattern.search(text):
        texts = (file.read_text(errors="replace")[:1000] for file in sorted(checkout.glob("Sources/**/*.swift")))
    for years, holder in (match for text in texts for match in pattern.findall(text)):
        found.setdefault(holder.strip(" ./"), set()).update(map(int, re.findall(r"\d{4}", years)))
    if not found:
        sys.exit(f"copyright.py: {checkout.name} names no holder of its copyright")
    spans = {holder: sorted({min(years), max(years)}) for holder, years in found.items()}
    return [f"{'-'.join(map(str, years))} {holder}" for holder, years in sorted(spans.items())]


def version(checkout):
    """The version that was built, as a field; nothing where it is not a clone."""
    command = ["git", "-C", checkout, "describe", "--tags", "--always"]
    result = subprocess.run(command, capture_output=True, text=True)
    return f"\nComment: Version {result.stdout.strip()}." if result.returncode == 0 else ""


def indented(text):
    """As the text of a field."""
    return "".join(f" {line.rstrip() or '.'}\n" for line in text.strip().splitlines())


def granted(text):
    """What a licence says, without its title and holders."""
    lines = text.strip().splitlines()
    while lines and (not lines[0].strip() or re.match(r"(?i)\s*(the )?mit licen[cs]e|\s*copyright|all rights", lines[0])):
        lines.pop(0)
    return "\n".join(lines)


def name_and_text(name, text):
    """The short name of a licence, and what is printed of it."""
    if text.lstrip().startswith("Apache License"):
        if "Runtime Library Exception" not in text:
            return "Apache-2.0", "".join(apache.splitlines(keepends=True)[:1])
        return "Apache-2.0 with Swift exception", apache
    own = granted((here.parent / "LICENSE").read_text())
    if granted(text).split() == own.split():
        return "Expat", indented(own)
    return f"{name}-license", indented(granted(text))


def main(objects, checkouts):
    ours = (here.parent / "LICENSE").read_text()
    print("Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/")
    print("Upstream-Name: importer")
    print("Comment: The program contains the packages below, and of the Swift toolchain what it needs of its libraries.")
    licenses = {}
    modules = linked_modules(objects)
    linked = [checkout for checkout in sorted(Path(checkouts).iterdir()) if has_linked(checkout, modules)]
    for name, files, folder in [("importer", "*", None)] + [(c.name, f"{c.name}/*", c) for c in linked]:
        text = license_file(folder) if folder else ours
        license_name, license_text = name_and_text(name, text)
        licenses[license_name] = license_text
        lines = "\n           ".join(holders(text, folder))
        print(f"\nFiles: {files}\nCopyright: {lines}\nLicense: {license_name}{version(folder) if folder else ''}")
    print()
    print((here / "copyright.toolchain").read_text().strip())
    for license_name, license_text in licenses.items():
        print(f"\nLicense: {license_name}\n{license_text}", end="")
    if "Apache-2.0 with Swift exception" not in licenses:
        print(f"\nLicense: Apache-2.0 with Swift exception\n{apache}", end="")
    print(f"copyright.py: {', '.join(checkout.name for checkout in linked)}", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
