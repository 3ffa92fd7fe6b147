"""The 13 columns of the made-up people, and what they must add up to, whoever stored them.

Every column is boiled down to one integer: the sum over all rows of the row's weight times a number made of the value
(for a text its bytes, first and last character). The weight is `id` modulo 97, so values that got into the wrong row
are noticed. Python works the numbers out from the JSON itself; SQLite and DuckDB say them in SQL.
"""
import calendar
import json
import time

TEXTS = ("guid", "name", "address_street", "address_city", "address_zip", "note")
# The table as the importer makes it with scripts/people.model.json.
TABLE = (
    'CREATE TABLE "people" ("id" INTEGER, "guid" TEXT, "name" TEXT, "age" INTEGER, "score" REAL, "balance" REAL,'
    ' "active" INTEGER, "created" TEXT, "address_street" TEXT, "address_city" TEXT, "address_zip" TEXT, "tags" TEXT,'
    ' "note" TEXT)'
)
# The types of its columns as the importer makes them in a schema of PostgreSQL.
SERVER_TYPES = {
    "id": "bigint", "guid": "uuid", "name": "text", "age": "integer", "score": "double precision",
    "balance": "double precision", "active": "boolean", "created": "timestamp(3) with time zone", "address_street": "text",
    "address_city": "text", "address_zip": "text", "tags": "json", "note": "text",
}
INSERT = 'INSERT INTO "people" VALUES (' + ", ".join("?" * 13) + ")"


def columns_of(record):
    """A record's values in the order of the columns, in the forms in which the importer stores them."""
    address = record["address"]
    return (
        record["id"],
        record["guid"],
        record["name"],
        record["age"],
        float(record["score"]),
        float(record["balance"]),
        int(record["active"]),
        record["created"][:-1] + ".000Z",
        address["street"],
        address["city"],
        address["zip"],
        json.dumps(record["tags"], ensure_ascii=False, separators=(",", ":")),
        record["note"],
    )


def text_number(text):
    return len(text.encode()) + ord(text[0]) + ord(text[-1]) if text else 0


def epoch(date):
    return calendar.timegm(time.strptime(date[:19], "%Y-%m-%dT%H:%M:%S"))


def empty_sums():
    names = ("id", "age", "score", "balance", "active", "created", "tags") + TEXTS
    return {"rows": 0, "notes": 0} | {name: 0 for name in names}


def add(sums, row, epochs):
    """Adds a row, as `columns_of` gives it; `epochs` remembers days, which is quicker than reading dates again."""
    weight = row[0] % 97
    sums["rows"] += 1
    sums["notes"] += row[12] is not None
    sums["id"] += weight * row[0]
    sums["age"] += weight * row[3]
    sums["score"] += weight * round(row[4] * 100)
    sums["balance"] += weight * round(row[5] * 100)
    sums["active"] += weight * row[6]
    day, clock = row[7][:10], row[7]
    if day not in epochs:
        epochs[day] = epoch(day + "T00:00:00")
    seconds = int(clock[11:13]) * 3600 + int(clock[14:16]) * 60 + int(clock[17:19])
    sums["created"] += weight * (epochs[day] + seconds)
    tags = row[11]
    sums["tags"] += weight * (len(tags.replace(" ", "").encode()) + (ord(tags[2]) if len(tags) > 2 else 0))
    for name, at in zip(TEXTS, (1, 2, 8, 9, 10, 12)):
        sums[name] += weight * text_number(row[at])


def _query(numbers, text, prefixes):
    """One SELECT with a sum for each column."""
    columns = dict(numbers)
    for name in TEXTS:
        columns[name] = text.format(prefixes.get(name, name))
    sums = [f"CAST(sum((id % 97) * ({columns[name]})) AS BIGINT) AS {name}" for name in empty_sums() if name in columns]
    return "SELECT count(*) AS rows, count(note) AS notes, " + ", ".join(sums) + " FROM people"


SQLITE_QUERY = _query(
    {
        "id": "id",
        "age": "age",
        "score": "CAST(round(CAST(score AS REAL) * 100) AS INTEGER)",
        "balance": "CAST(round(balance * 100) AS INTEGER)",
        "active": "active",
        "created": "CAST(strftime('%s', created) AS INTEGER)",
        "tags": "length(CAST(replace(tags, ' ', '') AS BLOB)) + coalesce(unicode(substr(tags, 3, 1)), 0)",
    },
    "length(CAST({0} AS BLOB)) + unicode({0}) + unicode(substr({0}, -1))",
    {},
)
# DuckDB keeps the address as a struct, and without a model the score as JSON and the tags as a list.
DUCKDB_QUERY = _query(
    {
        "id": "id",
        "age": "age",
        "score": "CAST(round(CAST(CAST(score AS VARCHAR).trim('\"') AS DOUBLE) * 100) AS BIGINT)",
        "balance": "CAST(round(balance * 100) AS BIGINT)",
        "active": "CAST(active AS BIGINT)",
        "created": "CAST(epoch(created) AS BIGINT)",
        "tags": "strlen(replace(CAST(to_json(tags) AS VARCHAR), ' ', ''))"
                " + CASE WHEN json_array_length(to_json(tags)) = 0 THEN 0"
                " ELSE unicode(substr(CAST(to_json(tags) AS VARCHAR), 3, 1)) END",
    },
    "strlen({0}) + unicode({0}) + unicode(right({0}, 1))",
    {"guid": "CAST(guid AS VARCHAR)"} | {f"address_{key}": f"address.{key}" for key in ("street", "city", "zip")},
)

# A text has no character where it is empty, as `ascii` has no number for it.
SERVER_QUERY = _query(
    {
        "id": "id",
        "age": "age",
        "score": "CAST(round(CAST(score * 100 AS numeric)) AS BIGINT)",
        "balance": "CAST(round(CAST(balance * 100 AS numeric)) AS BIGINT)",
        "active": "CAST(active AS INTEGER)",
        "created": "CAST(extract(epoch FROM created) AS BIGINT)",
        "tags": "octet_length(replace(CAST(tags AS text), ' ', '')) + ascii(substr(CAST(tags AS text), 3, 1))",
    },
    "octet_length({0}) + ascii({0}) + ascii(right({0}, 1))",
    {"guid": "CAST(guid AS text)"},
)


def differences(found, expected):
    """What of the sums is not as it should be, for people; empty where all agree."""
    wrong = [name for name in expected if found.get(name) != expected[name]]
    return ", ".join(f"{name} is {found.get(name)}, not {expected[name]}" for name in wrong[:3])
