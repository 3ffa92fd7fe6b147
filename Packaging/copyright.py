"""The copyright file of the Debian package, in the machine-readable format 1.0.

    copyright.py OBJECTS CHECKOUTS      OBJECTS lists the object files that were linked, CHECKOUTS has the dependencies

Those whose objects are linked are named with their holders and licences, and so are those of their sources that somebody else
holds; what the toolchain links is in copyright.toolchain. Stops where a dependency has no licence, or such a source.
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


def linked_folders(checkout, modules):
    """The folders of those of the modules that are targets of the package: each has one of its name."""
    folders = (checkout / folder / module for module in sorted(modules) for folder in ("", "Sources", "Source", "src"))
    return [folder for folder in folders if folder.is_dir()]


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


def borrowed_sources(checkout, modules, held):
    """The linked sources that name other holders than held has, with these holders and their licences."""
    pattern = re.compile(r"^[ \t/*#]*Copyright (?:\(c\)|©) ([-0-9, ]*\d{4}),? (.+)", re.IGNORECASE | re.MULTILINE)
    expat = " ".join(granted((here.parent / "LICENSE").read_text()).split())
    known = {re.sub(r"^[-0-9]+ ", "", holder) for holder in held}
    found = {}
    files = (file for folder in linked_folders(checkout, modules) for file in sorted(folder.rglob("*")))
    for file in (file for file in files if file.suffix in (".swift", ".c", ".h")):
        text = file.read_text(errors="replace")
        notices = [(years, re.sub(r"\.? All rights .*", "", holder.strip())) for years, holder in pattern.findall(text)]
        others = tuple(f"{re.sub(' *- *', '-', years)} {holder}" for years, holder in notices if holder not in known)
        if not others:
            continue
        licenses = []
        if expat in " ".join(re.sub(r"^[ \t]*[/*#]+", "", text, flags=re.MULTILINE).split()):
            licenses.append("Expat")
        if "Licensed under Apache License v2.0 with Runtime Library Exception" in text:
            licenses.append("Apache-2.0 with Swift exception")
        if not licenses:
            sys.exit(f"copyright.py: {file} is somebody else's, and has no licence that is known")
        found.setdefault((others, *licenses), []).append(f"{checkout.name}/{file.relative_to(checkout)}")
    return [(paths, others, licenses) for (others, *licenses), paths in found.items()]


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


def stanza(files, held, license_name, comment=""):
    lines = "\n           ".join(held)
    print(f"\nFiles: {files}\nCopyright: {lines}\nLicense: {license_name}{comment}")


def main(objects, checkouts):
    ours = (here.parent / "LICENSE").read_text()
    print("Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/")
    print("Upstream-Name: importer")
    print("Comment: The program contains the packages below, and of the Swift toolchain what it needs of its libraries.")
    # What the toolchain's parts, and sources of others, refer to.
    licenses = {"Expat": name_and_text("", ours)[1], "Apache-2.0 with Swift exception": apache}
    modules = linked_modules(objects)
    linked = [checkout for checkout in sorted(Path(checkouts).iterdir()) if linked_folders(checkout, modules)]
    stanza("*", holders(ours, None), "Expat")
    for folder in linked:
        text = license_file(folder)
        license_name, license_text = name_and_text(folder.name, text)
        licenses[license_name] = license_text
        held = holders(text, folder)
        stanza(f"{folder.name}/*", held, license_name, version(folder))
        for paths, others, names in borrowed_sources(folder, modules, held):
            stanza("\n ".join(paths), [*held, *others], " and ".join(dict.fromkeys([license_name, *names])))
    print()
    toolchain = (here / "copyright.toolchain").read_text().strip()
    print(toolchain)
    for license_name, license_text in licenses.items():
        if f"\nLicense: {license_name}\n " not in toolchain:
            print(f"\nLicense: {license_name}\n{license_text}", end="")
    print(f"copyright.py: {', '.join(checkout.name for checkout in linked)}", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
