"""The slow and obvious reading of what importing into a table with constraints of its own comes to.

usage: constraint_model.py POLICY yes|no FILE...

Reads NDJSON, one file after the other, as ConstraintTests' table takes it, with its triggers or without. Prints the
rows in the order in which they came, a line each with columns separated by `|`, then the counts (inserted, updated,
unchanged, ignored, rejected), and then the number and the fault of each reject.
"""
import json
import sys

COLUMNS = ["id", "email", "age", "name"]


def main(policy, has_triggers, files):
    rows, rejects = {}, []
    counts = dict(inserted=0, updated=0, unchanged=0, ignored=0, rejected=0)
    ordinal = 0
    for name in files:
        for line in open(name, encoding="utf-8"):
            ordinal += 1
            outcome = take(policy, has_triggers, rows, json.loads(line))
            if outcome in counts:
                counts[outcome] += 1
            else:
                counts["rejected"] += 1
                rejects.append(f"{ordinal} {outcome}")
    for row in rows.values():
        print("|".join("" if row[column] is None else str(row[column]) for column in COLUMNS))
    print(*counts.values())
    print(*rejects, sep="\n")


def take(policy, has_triggers, rows, record):
    stored = rows.get(record["id"])
    # What lacks the key gets the table's default.
    whole = {column: record.get(column, "none" if column == "name" else None) for column in COLUMNS}
    if stored and policy in ("ignore", "error"):
        return "ignored" if policy == "ignore" else "duplicateIdentifier"
    new = {**stored, **record} if stored and policy == "merge" else whole
    if new == stored:
        return "unchanged"
    if has_triggers and new["name"] == ("still" if stored else "bad"):
        return "constraintViolation"
    if new["name"] is None or (new["age"] is not None and new["age"] < 0):
        return "constraintViolation"
    if any(row is not stored and None is not row["email"] == new["email"] for row in rows.values()):
        return "constraintViolation"
    rows[record["id"]] = new
    return "updated" if stored else "inserted"


main(sys.argv[1], sys.argv[2] == "yes", sys.argv[3:])
