#!/usr/bin/env python3
"""What predicates are true of, worked out slowly: predicates.py FILE

FILE is {"types": {attribute: type}, "records": [{…}], "predicates": [[negations, attribute, test, [literal, …]], …]} with
literals as they are written. Prints a line per predicate: the ids of the records of which it is true. Numbers are
fractions; of an attribute that is a double, the literal is the nearest double too. None is neither true nor false.
"""

import json
import sys
from fractions import Fraction


def number(text, kind):
    return Fraction(float(text)) if kind == "double" else Fraction(text)


def literal(text, kind):
    if kind == "string":
        return text[1:-1].replace("''", "'").encode()
    return number(text, kind)


def test(value, name, literals):
    first = literals[0] if literals else None
    if name == "=":
        return value == first
    if name in ("!=", "<>"):
        return value != first
    if name == "<":
        return value < first
    if name == "<=":
        return value <= first
    if name == ">":
        return value > first
    if name == ">=":
        return value >= first
    if name == "between":
        return literals[0] <= value <= literals[1]
    if name == "in":
        return value in literals
    if name == "contains":
        return first in value
    if name == "begins with":
        return value.startswith(first)
    if name == "ends with":
        return value.endswith(first)
    raise ValueError(name)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        # Numbers stay as they are written.
        work = json.load(file, parse_int=str, parse_float=str)
    types = work["types"]
    rows = []
    for record in work["records"]:
        row = {}
        for name, kind in types.items():
            value = record.get(name)
            if value is not None:
                row[name] = value.encode() if kind == "string" else number(value, kind)
        rows.append((int(record["id"]), row))
    for negations, attribute, name, literals in work["predicates"]:
        values = [literal(text, types[attribute]) for text in literals]
        found = []
        for identifier, row in rows:
            if attribute not in row:
                continue
            if test(row[attribute], name, values) != (int(negations) % 2 == 1):
                found.append(str(identifier))
        print(" ".join(found))


main()
