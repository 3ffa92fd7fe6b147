"""Makes generated UUIDs anew, from the documented layout and nothing else.

generated.py SOURCE NUMBER ENTITY ATTRIBUTE prints a line per record of an array, an object keyed by id or NDJSON: the
UUID that the record gets in the source with this number in the job.
"""
import hashlib
import json
import sys
import uuid


def records(text, lines):
    """Each record's text with its first character's place."""
    decoder = json.JSONDecoder()
    white = " \t\r\n"

    def past(at, characters):
        while at < len(text) and text[at] in characters:
            at += 1
        return at

    start = past(0, white)
    isKeyed = text[start] == "{" and not lines
    at = start if lines else start + 1
    while True:
        at = past(at, white + ",")
        if at == len(text) or (not lines and text[at] in "]}"):
            return
        if isKeyed:
            _, at = decoder.raw_decode(text, at)
            at = past(at, white + ":")
        _, end = decoder.raw_decode(text, at)
        yield at, text[at:end]
        at = end


def made(entity, attribute, source, offset, record):
    fields = [
        entity.encode(),
        attribute.encode(),
        source.to_bytes(8, "big"),
        offset.to_bytes(8, "big"),
        b"",
        record.encode().replace(b"\r", b" ").replace(b"\n", b" "),
    ]
    digest = bytearray(hashlib.sha256(b"".join(len(f).to_bytes(8, "big") + f for f in fields)).digest()[:16])
    digest[6] = 0x80 | digest[6] & 0x0F
    digest[8] = 0x80 | digest[8] & 0x3F
    return uuid.UUID(bytes=bytes(digest))


def main():
    path, number, entity, attribute = sys.argv[1:]
    with open(path, "rb") as file:
        text = file.read().decode()
    for at, record in records(text, path.endswith(".ndjson")):
        print(made(entity, attribute, int(number), len(text[:at].encode()), record))


if __name__ == "__main__":
    main()
