"""Prints made-up records: COUNT FORMAT SEED. Called by generate-records."""

import json
import os
import sys

FIRST = ["Ada", "Åsa", "Bjørn", "Chloë", "Đorđe", "Élodie", "Γιώργος", "Håkon", "Íris", "Jürgen", "Katarína", "Łukasz",
         "Мария", "Noël", "Ólafur", "Péter", "Renée", "Søren", "Şebnem", "Tomáš", "Ünal", "Věra", "Władysław", "渚",
         "Zoë", "Amélie", "Müjgan", "Nuñez", "Özge", "Aoife", "Jörg", "אביגיל"]
LAST = ["Ångström", "Béranger", "Čapek", "D'Angelo", "Ekström", "Fernández", "Grün", "Høeg", "Ibáñez", "Jönsson",
        "Kőszegi", "Löwe", "Müller", "Nguyễn", "O'Brien", "Pérez", "Quiñones", "Rößler", "Šimek", "Tóth", "Ümit",
        "Vögel", "Wójcik", "山田", "Ypsilanti", "Žižek", "Århus", "Bůžek", "Çelik", "Dvořák", "Eðvald", "Smith"]
STREETS = ["Allée des Tilleuls", "Birkenstraße", "Calle Mayor", "Dronningens gate", "Elm Street", "Fő utca",
           "Główna", "High Street", "İstiklal Caddesi", "Jánska", "Kärntner Straße", "Lange Gasse"]
CITIES = ["Århus", "Bruxelles", "Cádiz", "Dún Laoghaire", "Eger", "Firenze", "Gdańsk", "Hradec Králové", "İzmir",
          "Jyväskylä", "København", "Łódź", "München", "Nîmes", "Örebro", "Plzeň"]
TAGS = ["alpha", "beta", "gamma", "delta", "épsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu"]
# As JSON has them, escapes included.
NOTES = [r'said \"yes\",\nthen left', r'path C:\\data\\in', r'tab\there', r'caf\u00e9 at noon', r'smile \ud83d\ude00',
         r'a\/b', 'plain', r'line one\r\nline two', 'größer als nötig', r'\u4f60\u597d']

MASK = (1 << 64) - 1
BATCH = 10_000


def lines(count, seed):
    """The records, one line each; all arithmetic is on integers, so it is the same on every machine."""
    state = (seed * 0x9E3779B97F4A7C15 + 0x1234567) & MASK
    # Combined once, looked up a million times.
    names = [f"{first} {last}" for first in FIRST for last in LAST]
    tags = ["[" + ", ".join(f'"{TAGS[(start + step * 5) % 12]}"' for step in range(size)) + "]"
            for start in range(12) for size in range(5)]
    dates = [f"{2000 + day // 336:04d}-{day // 28 % 12 + 1:02d}-{day % 28 + 1:02d}" for day in range(336 * 24)]
    for number in range(1, count + 1):
        # Two steps of splitmix64, which passes its tests with any seed.
        state = (state + 0x9E3779B97F4A7C15) & MASK
        a = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        a = ((a ^ (a >> 27)) * 0x94D049BB133111EB) & MASK
        a ^= a >> 31
        b = ((a ^ number) * 0xD6E8FEB86659FD93) & MASK
        b ^= b >> 32
        digits = f"{a:016x}{b:016x}"
        score = a % 100_000
        text = f'"{score // 100}.{score % 100:02d}"' if b % 40 == 7 else f"{score // 100}.{score % 100:02d}"
        cents = b % 20_000_000 - 5_000_000
        sign, cents = ("-", -cents) if cents < 0 else ("", cents)
        second = (a >> 20) % 86_400
        note = f'"{NOTES[(b >> 9) % 10]}"' if (b >> 5) % 3 == 0 else "null"
        yield (
            f'{{"id": {number}, "guid": "{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}", '
            f'"name": "{names[(a >> 8) % 1024]}", "age": {18 + (a >> 18) % 80}, "score": {text}, '
            f'"balance": {sign}{cents // 100}.{cents % 100:02d}, "active": {"true" if b & 1 else "false"}, '
            f'"created": "{dates[(b >> 16) % 8064]}T{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}Z", '
            f'"address": {{"street": "{1 + (a >> 40) % 200} {STREETS[(a >> 48) % 12]}", '
            f'"city": "{CITIES[(b >> 24) % 16]}", "zip": "{(b >> 28) % 100_000:05d}"}}, '
            f'"tags": {tags[(b >> 46) % 60]}, "note": {note}}}')


def main():
    count, form, seed = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    out = sys.stdout.buffer
    is_array = form != "ndjson"
    separator = ",\n" if is_array else "\n"
    if is_array:
        out.write(b"[\n" if count else b"[")
    batch, is_first = [], True
    for line in lines(count, seed):
        if form == "pretty":
            line = "  " + json.dumps(json.loads(line), indent=2, ensure_ascii=False).replace("\n", "\n  ")
        batch.append(line)
        if len(batch) == BATCH:
            out.write((("" if is_first else separator) + separator.join(batch)).encode())
            batch, is_first = [], False
    if batch:
        out.write((("" if is_first else separator) + separator.join(batch)).encode())
    out.write((b"\n" if count else b"") + b"]\n" if is_array else b"\n" if count else b"")
    out.flush()


try:
    main()
except BrokenPipeError:
    # The reader has enough, as `head` does.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
