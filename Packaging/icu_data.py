"""What of ICU's data goes into the packaged program.

    icu_data.py ARCHIVE OUTPUT      ARCHIVE is the toolchain's lib_FoundationICU.a, OUTPUT an object file

Half of a program with a static Foundation is ICU's data: the words, collations and character sets of all languages. The
importer needs time zones, and character names and the ends of words in patterns, and Foundation the root and English: see `kept`.
Prints what the linker is given as `--defsym`: ICU's name for its data then leads to OUTPUT's, and that of ARCHIVE, which
nothing refers to any more, is left out as a section without use (`--gc-sections`).

The format is ICU's common data (unicode/udata.h): a header, the number of items, a pair of offsets for each, their names in
order, and the items, each at a multiple of 16.
"""

import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

# Without collations, transliterations, currencies, units, names of places and languages, and character sets.
kept = re.compile(
    r"""
      (root|en|en_US|en_US_POSIX|pool|res_index)\.res
    | (supplementalData|likelySubtags|metadata|keyTypeData|numberingSystems|plurals|pluralRanges|dayPeriods)\.res
    | (zoneinfo64|timezoneTypes|metaZones|windowsZones|icuver|icustd)\.res
    | (nfkc|uts46)\.nrm | (unames|uemoji|ulayout)\.icu
    | brkitr/(root|en|en_US|en_US_POSIX|res_index)\.res | brkitr/(char|word|word_POSIX|line|sent|title)\.brk
    """,
    re.VERBOSE,
)

# What the object file calls the data.
own_symbol = "importer_icu_data"


def items(data):
    """The header, and the name and bytes of each item."""
    header = struct.unpack_from("<H", data)[0]
    if data[2:4] != b"\xda\x27" or data[12:16] != b"CmnD":
        sys.exit("icu_data.py: the data is not in ICU's common format")
    count = struct.unpack_from("<I", data, header)[0]
    offsets = [struct.unpack_from("<II", data, header + 4 + 8 * index) for index in range(count)]
    ends = [offset for _, offset in offsets[1:]] + [len(data) - header]
    found = []
    for (name, start), end in zip(offsets, ends):
        name = data[header + name : data.index(b"\0", header + name)].decode()
        found.append((name, data[header + start : header + end]))
    return data[:header], found


def packed(header, chosen):
    """The common data of these items."""
    names = 4 + 8 * len(chosen)
    start = names + sum(len(name) + 1 for name, _ in chosen)
    table, texts, body = b"", b"", b""
    for name, content in chosen:
        # Offsets count from the end of the header, whose size is a multiple of 16.
        padding = -(start + len(body)) % 16
        body += bytes(padding)
        table += struct.pack("<II", names + len(texts), start + len(body))
        texts += name.encode() + b"\0"
        body += content
    return header + struct.pack("<I", len(chosen)) + table + texts + body


def main(archive, output):
    listing = subprocess.run(["nm", "-A", "--defined-only", archive], capture_output=True, text=True, check=True).stdout
    member, symbol = re.search(r":([^:\n]+):\S+ R (icudt\d+_dat)$", listing, re.MULTILINE).groups()
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        subprocess.run(["ar", "x", archive, member], cwd=folder, check=True)
        subprocess.run(
            ["objcopy", "-O", "binary", "--only-section=.rodata*", folder / member, folder / "all"], check=True
        )
        header, found = items((folder / "all").read_bytes())
        chosen = [(name, content) for name, content in found if kept.fullmatch(name.split("/", 1)[1])]
        (folder / "chosen").write_bytes(packed(header, chosen))
        assembly = f"""
            .section .rodata
            .globl {own_symbol}
            .balign 16
            {own_symbol}: .incbin "chosen"
            .section .note.GNU-stack, "", %progbits
        """
        subprocess.run(["as", "-o", Path(output).absolute()], cwd=folder, input=assembly, text=True, check=True)
        size = (folder / "chosen").stat().st_size
    everything = sum(len(content) for _, content in found)
    print(f"ICU's data: {len(chosen)} of {len(found)} items, {size / 1e6:.1f} of {everything / 1e6:.1f} MB", file=sys.stderr)
    print(f"{symbol}={own_symbol}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
