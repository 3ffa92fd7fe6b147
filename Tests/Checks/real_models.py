#!/usr/bin/env python3
"""Published files as a model is to read them, read by Python alone; compares with what a store holds.

usage: real_models.py CASE SOURCE STORE    exits with 1 and says what differs, if anything does
       real_models.py counts CASE SOURCE   how many records the source has, and how many of them fit

Every column of every row is compared with its storage class, and so are the number of rows, and of each column the
number of nulls, the least and the greatest value, and the sum of numbers.
"""
import calendar
import datetime
import decimal
import gzip
import html
import json
import math
import sqlite3
import struct
import sys
import urllib.parse
import zoneinfo

UTC = datetime.timezone.utc


def read(path):
    """The file's text; a byte order mark is no part of it."""
    opened = gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb")
    with opened as file:
        return file.read().decode("utf-8-sig")


def lines(path):
    return [json.loads(line) for line in read(path).split("\n") if line.strip()]


def stored(moment):
    """An instant as the store has it."""
    moment = moment.astimezone(UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def canonical(value):
    """A decimal without an exponent, and without zeros at its end."""
    text = format(decimal.Decimal(str(value)), "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def maybe(function, value):
    return None if value is None else function(value)


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class Misfit(Exception):
    """A record that does not fit its model."""


# What each case's columns are, of a record. The names are those of the model.


def movie(record):
    day = datetime.datetime.strptime(record["Release Date"], "%b %d %Y")
    return {
        "title": maybe(str, record["Title"]),
        "gross": maybe(canonical, record["US Gross"]),
        "worldwide": record["Worldwide Gross"],
        "dvd": record["US DVD Sales"],
        "budget": maybe(float, record["Production Budget"]),
        "released": stored(day.replace(tzinfo=UTC)),
        "minutes": record["Running Time min"],
        "rating": maybe(float, record["IMDB Rating"]),
        "votes": maybe(str, record["IMDB Votes"]),
    }


def citation(record):
    issued = datetime.datetime.strptime(record["IssueData"], "%Y-%m-%dT%H:%M:%S")
    issued = issued.replace(tzinfo=zoneinfo.ZoneInfo("America/Los_Angeles"))
    fine = record["Fine"]
    return {
        "ticket": int(record["Ticket"]) if record["Ticket"].isdigit() else None,
        "code": record["Ticket"],
        "fine": None if fine == "" else int(fine),
        "amount": None if fine == "" else canonical(fine),
        "issued": int(issued.timestamp()),
        "latitude": float(record["Latitude"]),
        "longitude": canonical(record["Longitude"]),
        "make": maybe(str.lower, record["Make"].strip() or None),
    }


def mongo_date(value):
    return datetime.datetime.strptime(value["$date"].replace("Z", "+0000"), "%Y-%m-%dT%H:%M:%S.%f%z")


def book(record):
    number = record["_id"]
    published = maybe(mongo_date, record.get("publishedDate"))
    return {
        "object": number["$oid"] if isinstance(number, dict) else None,
        "id": compact(number),
        "title": record["title"],
        "isbn": record.get("isbn"),
        "pages": record["pageCount"],
        "published": maybe(stored, published),
        # A clock's time is written as if it were in UTC.
        "local": published and published.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
        "cover": record.get("thumbnailUrl"),
        "authors": compact(record["authors"]),
    }


def restaurant(record):
    if isinstance(record["rating"], str):
        raise Misfit
    return {
        "object": record["_id"]["$oid"],
        "name": html.unescape(record["name"]),
        "address": str(record["address"]),
        "town": record["address line 2"],
        "rating": float(record["rating"]),
    }


def profile(record):
    moment = mongo_date(record["ts"])
    scanned = record.get("nscanned")
    cursor = record.get("cursorid")
    return {
        "object": record["_id"]["$oid"],
        "at": calendar.timegm(moment.utctimetuple()) * 1000 + moment.microsecond // 1000,
        "millis": record["millis"],
        "scanned": maybe(int, scanned),
        "cursor": maybe(float, cursor),
        "locked": maybe(int, record["lockStats"]["timeLockedMicros"].get("w")),
        "op": record["op"],
    }


def dot_net(text):
    assert text.startswith("/Date(") and text.endswith(")/")
    return stored(datetime.datetime.fromtimestamp(int(text[6:-2]) // 1000, UTC))


def order(record):
    return {
        "id": record["OrderID"],
        "customer": record["CustomerID"],
        "ordered": dot_net(record["OrderDate"]),
        "required": dot_net(record["RequiredDate"]),
        "shipped": int(record["ShippedDate"][6:-2]),
        "freight": canonical(record["Freight"]),
        "region": record["ShipRegion"],
        "link": record["__metadata"]["uri"],
    }


def detail(record):
    return {
        "order": record["OrderID"],
        "product": str(record["ProductID"]),
        "price": canonical(record["UnitPrice"]),
        "cost": struct.unpack("f", struct.pack("f", float(record["UnitPrice"])))[0],
        "quantity": record["Quantity"],
        "discount": float(record["Discount"]),
    }


def country(record):
    return {
        "id": record["id"],
        "code": record["iso3"],
        "number": int(record["numeric_code"]),
        "digits": record["numeric_code"],
        "latitude": float(record["latitude"]),
        "longitude": canonical(record["longitude"]),
        "population": maybe(int, record["population"]),
        "gdp": maybe(float, record["gdp"]),
        "french": record["translations"].get("fr"),
        "flag": record["emoji"],
        # The file's writer escapes them, and the store has the record's own bytes.
        "zones": compact(record["timezones"]).replace("/", "\\/"),
    }


def city(record):
    if "id" not in record:
        raise Misfit
    zone = zoneinfo.ZoneInfo("Europe/London")

    def moment(text):
        return stored(datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S").replace(tzinfo=zone))

    return {
        "id": record["id"],
        "name": record["name"],
        "latitude": float(record["latitude"]),
        "longitude": float(record["longitude"]),
        "created": moment(record["created_at"]),
        "updated": moment(record["updated_at"]),
        "flagged": maybe(int, record["flag"]),
    }


def tweet(record):
    def moment(text):
        return stored(datetime.datetime.strptime(text, "%a %b %d %H:%M:%S %z %Y"))

    return {
        "id": record["id"],
        "text": html.unescape(record["text"]),
        "created": moment(record["created_at"]),
        "joined": moment(record["user"]["created_at"]),
        "author": record["user"]["screen_name"],
        "reply": record["in_reply_to_status_id"],
        "original": record.get("retweeted_status", {}).get("id_str"),
        "retweets": record["retweet_count"],
        "isFavorite": int(record["favorited"]),
    }


def array(path):
    return json.loads(read(path))


# How a case's records are read, and what its columns are.
CASES = {
    "movie": (array, movie),
    "citation": (lines, citation),
    "book": (lines, book),
    "restaurant": (lines, restaurant),
    "profile": (lines, profile),
    "order": (lambda path: array(path)["d"]["results"], order),
    "detail": (lambda path: array(path)["d"]["results"], detail),
    "country": (array, country),
    "city": (array, city),
    "tweet": (lambda path: array(path)["statuses"], tweet),
}


def rows_of(case, path):
    """The rows that the source gives, and how many records it has."""
    reader, columns = CASES[case]
    records = reader(path)
    rows = []
    for record in records:
        try:
            rows.append(columns(record))
        except Misfit:
            pass
    return rows, len(records)


def summary(values):
    present = [value for value in values if value is not None]
    numbers = [value for value in present if not isinstance(value, str)]
    result = [len(values) - len(present), min(present, default=None), max(present, default=None)]
    return result + ([math.fsum(numbers)] if len(numbers) == len(present) else [])


def compare(case, path, store):
    expected, _ = rows_of(case, path)
    names = list(expected[0])
    connection = sqlite3.connect("file:" + urllib.parse.quote(store) + "?mode=ro", uri=True)
    columns = ", ".join('"' + name + '"' for name in names)
    found = connection.execute(f"SELECT {columns} FROM \"{case}\"").fetchall()
    differences = []
    if len(found) != len(expected):
        differences.append(f"{len(found)} rows, {len(expected)} expected")
    for index, name in enumerate(names):
        one, other = summary([row[index] for row in found]), summary([row[name] for row in expected])
        if one != other:
            differences.append(f"{name}: nulls, least, greatest, sum are {one}, {other} expected")

    # An integer identifier is the row id, so that the rows stand in its order.
    def order(row):
        return [(value is not None, str(value)) for value in row]

    wanted = [tuple(row.values()) for row in expected]
    for row, other in zip(sorted(found, key=order), sorted(wanted, key=order)):
        if row != other or [type(value) for value in row] != [type(value) for value in other]:
            differences.append(f"{row!r}, {other!r} expected")
    return differences[:10]


def main(arguments):
    if len(arguments) != 3 or arguments[0] in ("-h", "--help"):
        print(__doc__)
        return 64
    if arguments[0] == "counts":
        rows, count = rows_of(arguments[1], arguments[2])
        print(count, len(rows))
        return 0
    differences = compare(*arguments)
    for difference in differences:
        print(difference)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
