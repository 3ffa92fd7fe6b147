"""DuckDB's read_json into a new DuckDB file, timed from opening the file to having closed it; or the check of one.

usage: peer_duckdb.py array|newline_delimited SOURCE STORE COLUMNS
       peer_duckdb.py check STORE QUERY

COLUMNS is DuckDB's list of columns, or nothing to have it work them out from its sample.
"""
import json
import sys
import time

import duckdb


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def main(arguments):
    if arguments[0] == "check":
        connection = duckdb.connect(arguments[1], read_only=True)
        cursor = connection.execute(arguments[2])
        print(json.dumps(dict(zip([column[0] for column in cursor.description], cursor.fetchone()))))
        return
    form, source, store, columns = arguments
    reading = f"read_json({quoted(source)}, format={quoted(form)}" + (f", columns={columns}" if columns else "") + ")"
    start = time.perf_counter()
    connection = duckdb.connect(store)
    connection.execute("CREATE TABLE people AS SELECT * FROM " + reading)
    # Closing writes what the log still holds into the file.
    connection.close()
    print(json.dumps({"seconds_counted": time.perf_counter() - start}))


main(sys.argv[1:])
