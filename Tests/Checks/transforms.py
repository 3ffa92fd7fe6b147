#!/usr/bin/env python3
"""Prints texts and what Python's own functions make of them.

usage: transforms.py entities | html | text

Each line is a JSON array: the transformer, the text, the result.
"""
import html
import html.entities
import json
import random
import re
import sys
import unicodedata

# All characters that are white space, Unicode's and not Python's choice of them.
SPACE = "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"


def line(transformer, text, result):
    print(json.dumps([transformer, text, result]))


def entities():
    for name in html.entities.html5:
        for text in ("&" + name, "a&%sb" % name, "&%s;" % name, "&%s=" % name, "&" + name[:-1], "&x" + name, "&&" + name):
            line("htmlUnescape", text, html.unescape(text))
    for number in list(range(0x300)) + [0xD7FF, 0xD800, 0xDFFF, 0xE000, 0xFDCF, 0xFDD0, 0xFDEF, 0xFDF0, 0xFFFD, 0xFFFE,
                                        0xFFFF, 0x10000, 0x1FFFE, 0x10FFFD, 0x10FFFE, 0x10FFFF, 0x110000, 10 ** 30]:
        for text in ("&#%d;" % number, "&#%dx" % number, "&#x%x;" % number, "&#X%Xg" % number, "&#0%d" % number):
            line("htmlUnescape", text, html.unescape(text))


def markup():
    generator = random.Random(1)
    names = sorted(html.entities.html5)
    pieces = ["&", "&&", "#", "&#", "&#x", ";", "amp", "&amp", "&lt;", "&gt", "\"", "'", "<b>", "é", "日本", "\U0001F600",
              " ", "not", "&not", "in", "&notit;", "1", "80", "&#128;", "x41", "&" + "a" * 40, "\n", "&#xD83D;", "=", "&#;"]
    for _ in range(6000):
        text = "".join(generator.choice(pieces) if generator.random() < 0.8 else "&" + generator.choice(names)
                       for _ in range(generator.randrange(8)))
        line("htmlUnescape", text, html.unescape(text))
        line("htmlEscape", text, html.escape(text))


def texts():
    generator = random.Random(2)
    composed = [c for c in range(0xA0, 0x30000) if unicodedata.decomposition(chr(c)) or unicodedata.combining(chr(c))]
    # Letters whose case Python and Unicode's plain mapping give alike: no final sigma, no later versions of Unicode.
    letters = [chr(c) for c in list(range(0x20, 0x24F)) + list(range(0x391, 0x3AA)) + list(range(0x400, 0x460))
               if chr(c) not in "\u019b\u03a3\u0130"]
    for _ in range(6000):
        text = "".join(
            chr(generator.choice(composed)) if generator.random() < 0.6
            else generator.choice("aeiouAEZ \u1100\u1161\u11a8\uac00\u0301\u0323\u0345\u05b0\u0344")
            for _ in range(generator.randrange(12)))
        line("normalizeNFC", text, unicodedata.normalize("NFC", text))
        spaced = "".join(generator.choice(SPACE) if generator.random() < 0.5
                         else generator.choice("ab\u200b\x1c\u1681\u2030\u3001\xa1é\u2060\U0001F600")
                         for _ in range(generator.randrange(10)))
        line("trim", spaced, spaced.strip(SPACE))
        line("collapseWhitespace", spaced, re.sub("[" + SPACE + "]+", " ", spaced))
        word = "".join(generator.choice(letters) for _ in range(generator.randrange(10)))
        if generator.random() < 0.5:
            word = word.encode("ascii", "ignore").decode()
        line("lowercase", word, word.lower())
        line("uppercase", word, word.upper())
        line("emptyToNull", word, word or None)


if __name__ == "__main__":
    {"entities": entities, "html": markup, "text": texts}[sys.argv[1]]()
