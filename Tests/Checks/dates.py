#!/usr/bin/env python3
"""Prints dates in every format with the instants that Python takes from them.

usage: dates.py formats | zones | calendar | real DIRECTORY

Each line has, between tabs: the format, the time zone (or -), `wall` or `instant`, the JSON value, and the text that
is to be stored, or `error`, or `null`; then the ledger kinds, separated by commas.
"""
import datetime
import email.utils
import gzip
import json
import random
import re
import sys
import zoneinfo
from fractions import Fraction

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
UTC = datetime.timezone.utc
FIRST = -62135596800
LAST = 253402300799


def stored(moment):
    """The text of a datetime that is in UTC or naive, milliseconds cut off."""
    return "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ" % (
        moment.year, moment.month, moment.day, moment.hour, moment.minute, moment.second, moment.microsecond // 1000)


def instant(seconds, microseconds=0):
    return EPOCH + datetime.timedelta(seconds=seconds, microseconds=microseconds)


def line(format, value, expected, *kinds, zone="-", wall=False):
    print("\t".join([format, zone, "wall" if wall else "instant", json.dumps(value, ensure_ascii=False), expected,
                     ",".join(kinds)]))


def offset_text(minutes, colon):
    return "%s%02d%s%02d" % ("-" if minutes < 0 else "+", abs(minutes) // 60, ":" if colon else "", abs(minutes) % 60)


def with_offset(generator):
    """A random datetime with an offset, away from the ends of the calendar."""
    seconds = generator.randrange(FIRST + 86400 * 2, LAST - 86400 * 2)
    minutes = generator.choice([0, 60, -300, 330, 345, -570, generator.randrange(-1439, 1440)])
    moment = instant(seconds, generator.choice([0, 0, 5000, 428000, 999999, generator.randrange(1000000)]))
    return moment.astimezone(datetime.timezone(datetime.timedelta(minutes=minutes))), minutes


def losses(moment, minutes):
    kinds = []
    if minutes:
        kinds.append("timeZoneLost")
    if moment.microsecond % 1000:
        kinds.append("subMillisecondLost")
    return kinds


def both(format, text, moment, minutes, *others):
    """The same text as an instant and on the writer's clock."""
    kinds = losses(moment, minutes) + list(others)
    line(format, text, stored(moment.astimezone(UTC)), *kinds)
    line(format, text, stored(moment.replace(tzinfo=None)), *kinds, wall=True)


def iso8601(generator):
    moment, minutes = with_offset(generator)
    text = moment.replace(tzinfo=None).isoformat(sep=generator.choice("T "), timespec="microseconds")
    if generator.random() < 0.2:
        text = moment.strftime("%%04d%m%dT%H%M%S.%f") % moment.year
    both("iso8601", text + ("Z" if minutes == 0 else offset_text(minutes, generator.random() < 0.7)), moment, minutes)


def rfc2822(generator):
    moment, minutes = with_offset(generator)
    moment = moment.replace(microsecond=0)
    if moment.year < 1900:
        moment = moment.replace(year=1900 + moment.year % 100, day=min(moment.day, 28))
    text = email.utils.format_datetime(moment)
    assert email.utils.parsedate_to_datetime(text) == moment, text
    if generator.random() < 0.3:
        text = text.split(", ")[1]
    if generator.random() < 0.3:
        text = text.upper() + " (a (nested) comment)"
        text = text.replace(" ", " \t ", 1)
    both("rfc2822", text, moment, minutes)
    zone = generator.choice(["EST", "EDT", "CST", "CDT", "MST", "MDT", "PST", "PDT", "GMT", "UT"])
    text = "%d %s %02d %02d:%02d %s" % (moment.day, moment.strftime("%b"), moment.year % 100, moment.hour,
                                        moment.minute, zone)
    parsed = email.utils.parsedate_tz(text)
    # Python has POSIX's century for two digits, RFC 2822 another.
    year = moment.year % 100 + (2000 if moment.year % 100 < 50 else 1900)
    try:
        day = datetime.datetime(year, moment.month, moment.day)
    except ValueError:
        line("rfc2822", text, "error")
        return
    zoned = day.replace(hour=moment.hour, minute=moment.minute,
                        tzinfo=datetime.timezone(datetime.timedelta(seconds=parsed[9])))
    both("rfc2822", text, zoned, parsed[9] // 60)


def numbers(generator):
    digits = generator.choice([0, 0, 1, 3, 6, 12, 30])
    scale = 10 ** digits
    seconds = Fraction(generator.randrange(FIRST * scale, LAST * scale), scale)
    if generator.random() < 0.2:
        seconds = Fraction(generator.randrange(-10 ** 6, 10 ** 6), scale)
    text = decimal_text(seconds, digits)
    if generator.random() < 0.2:
        power = generator.randrange(-12, 13)
        text = decimal_text(seconds / Fraction(10) ** power, digits + 12) + generator.choice(["e%d", "E%+d"]) % power
    for format, milliseconds in (("unix", seconds * 1000), ("unixMilliseconds", seconds)):
        whole = milliseconds.numerator // milliseconds.denominator
        kinds = ["subMillisecondLost"] if whole != milliseconds else []
        expected = stored(EPOCH + datetime.timedelta(milliseconds=whole))
        print("\t".join([format, "-", "instant", text, expected, ",".join(kinds)]))
        line(format, text, expected, "kindChanged", *kinds)


def decimal_text(value, digits):
    """An exact decimal notation with so many digits after the point, or more if it needs them."""
    while (value * 10 ** digits).denominator != 1:
        digits += 1
    whole = str(abs(int(value * 10 ** digits))).rjust(digits + 1, "0")
    sign = "-" if value < 0 else ""
    return sign + (whole if digits == 0 else whole[:-digits] + "." + whole[-digits:])


def dotnet(generator):
    moment, minutes = with_offset(generator)
    moment = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    milliseconds = (moment - EPOCH) // datetime.timedelta(milliseconds=1)
    text = "/Date(%d%s)/" % (milliseconds, offset_text(minutes, False) if generator.random() < 0.7 or minutes else "")
    both("dotnet", text, moment, minutes)
    expected = stored(moment.astimezone(UTC))
    print("\t".join(["dotnet", "-", "instant", json.dumps(text).replace("/", "\\/"), expected,
                     ",".join(losses(moment, minutes))]))


def mongo(generator):
    moment, minutes = with_offset(generator)
    text = moment.replace(tzinfo=None).isoformat(timespec="milliseconds")
    text += "Z" if minutes == 0 else offset_text(minutes, False)
    milliseconds = (moment - EPOCH) // datetime.timedelta(milliseconds=1)
    cut = moment.replace(microsecond=moment.microsecond // 1000 * 1000)
    both("mongo", {"$date": text}, cut, minutes)
    expected = stored(cut.astimezone(UTC))
    line("mongo", {"$date": milliseconds}, expected)
    line("mongo", {"$date": {"$numberLong": str(milliseconds)}}, expected)


PATTERNS = [
    ("yyyy-MM-dd", "%Y-%m-%d"), ("dd/MM/yyyy", "%d/%m/%Y"), ("yyyyMMddHHmmss", "%Y%m%d%H%M%S"),
    ("dd.MM.yy HH:mm", "%d.%m.%y %H:%M"), ("MMM d yyyy", "%b %d %Y"), ("EEEE, d MMMM yyyy", "%A, %d %B %Y"),
    ("E MMM dd HH:mm:ss Z yyyy", "%a %b %d %H:%M:%S %z %Y"), ("M/d/y h:mm:ss a", "%m/%d/%Y %I:%M:%S %p"),
    ("yyyy-MM-dd'T'HH:mm:ss.SSSSSSXX", "%Y-%m-%dT%H:%M:%S.%f%z"), ("d 'o''clock' yyyy MMM", "%d o'clock %Y %b"),
    ("hh a dd-MM-yyyy x", "%I %p %d-%m-%Y %z"), ("yyyy年M月d日", "%Y年%m月%d日"),
]


def patterns(generator):
    moment, minutes = with_offset(generator)
    pattern, directives = generator.choice(PATTERNS)
    if "%y" in directives:
        moment = moment.replace(year=1969 + moment.year % 100, day=min(moment.day, 28))
    text = moment.strftime(directives.replace("%Y", "%04d" % moment.year))
    if generator.random() < 0.3:
        text = text.replace(moment.strftime("%b"), moment.strftime("%b").upper())
    # What stands in the text is what Python reads back from it.
    parsed = datetime.datetime.strptime(text, directives)
    if parsed.tzinfo is None:
        parsed, minutes = parsed.replace(tzinfo=UTC), 0
    both(pattern, text, parsed, minutes)


def formats():
    generator = random.Random(20141017)
    for _ in range(1200):
        for make in (iso8601, rfc2822, numbers, dotnet, mongo, patterns):
            make(generator)


def zones():
    """Local times in many zones, above all around the changes of their clocks."""
    generator = random.Random(7)
    names = sorted(name for name in zoneinfo.available_timezones() if "/" in name and not name.startswith("Etc/"))
    for name in generator.sample(names, 60) + ["Europe/Oslo", "America/New_York", "Australia/Lord_Howe",
                                               "Pacific/Apia", "Africa/Casablanca", "Asia/Kathmandu"]:
        zone = zoneinfo.ZoneInfo(name)
        # Zone data differs between systems: before 1970 by intention, and in the future.
        low, high = 0, 1640995200
        moments = [instant(generator.randrange(low, high)) for _ in range(10)]
        for _ in range(20):
            start = generator.randrange(low, high - 200 * 86400)
            end = start + 200 * 86400
            if instant(start).astimezone(zone).utcoffset() == instant(end).astimezone(zone).utcoffset():
                continue
            while end - start > 1:
                middle = (start + end) // 2
                same = instant(middle).astimezone(zone).utcoffset() == instant(start).astimezone(zone).utcoffset()
                start, end = (middle, end) if same else (start, middle)
            moments += [instant(end + change) for change in
                        (-7200, -3601, -3600, -1800, -1, 0, 1, 1799, 3599, 3600, 7199)]
        for moment in moments:
            for local in (moment.astimezone(zone), (moment + zone.utcoffset(moment.replace(tzinfo=None))).replace(
                    tzinfo=zone)):
                local = local.replace(fold=0)
                text = local.replace(tzinfo=None).isoformat()
                line("iso8601", text, stored(local.astimezone(UTC)), zone=name)


def calendar():
    """Days of all years, there or not."""
    for year in range(1, 10000):
        for month, day in ((2, 29), (year % 15, year % 33)):
            text = "%04d-%02d-%02d" % (year, month, day)
            try:
                expected = stored(datetime.datetime(year, month, day))
            except ValueError:
                expected = "error"
            line("iso8601" if year % 2 else "yyyy-MM-dd", text, expected)


def strings(value, found):
    """All values that look like dates, anywhere in a document."""
    if isinstance(value, dict):
        if list(value) == ["$date"]:
            found.append(("mongo", value))
        for child in value.values():
            strings(child, found)
    elif isinstance(value, list):
        for child in value:
            strings(child, found)
    elif isinstance(value, str):
        if value.startswith("/Date("):
            found.append(("dotnet", value))
        elif re.fullmatch(r"[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d [\d:]{8} \+0000 \d{4}", value):
            found.append(("E MMM dd HH:mm:ss Z yyyy", value))


def real(directory):
    """The dates of published files."""
    found = []
    for name in ["northwind-odata/Orders.json", "twitter.json"]:
        with open(directory + "/" + name, encoding="utf-8") as file:
            strings(json.load(file), found)
    for name in ["mongodb-json-files/books.json.gz", "mongodb-json-files/profiles.json.gz"]:
        with gzip.open(directory + "/" + name, "rt", encoding="utf-8") as file:
            for record in file:
                strings(json.loads(record), found)
    for format, value in found:
        if format == "mongo":
            moment = datetime.datetime.strptime(value["$date"], "%Y-%m-%dT%H:%M:%S.%f%z")
        elif format == "dotnet":
            moment = instant(int(value[6:-2]) // 1000, int(value[6:-2]) % 1000 * 1000)
        else:
            moment = datetime.datetime.strptime(value, "%a %b %d %H:%M:%S %z %Y")
        line(format, value, stored(moment.astimezone(UTC)), *losses(moment, moment.utcoffset()))


if __name__ == "__main__":
    {"formats": formats, "zones": zones, "calendar": calendar, "real": real}[sys.argv[1]](*sys.argv[2:])
