"""DuckDB's read_json into a table of a PostgreSQL server, timed from DuckDB's start to its end.

usage: peer_duckdb_server.py SOURCE URL SCHEMA COLUMNS
"""
import glob
import json
import os
import sys
import time

import duckdb
import duckdb_extension_postgres_scanner

EXTENSION = os.path.join(os.path.dirname(duckdb_extension_postgres_scanner.__file__), "extensions", "*", "*.duckdb_extension")


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def main(source, url, schema, columns):
    extension, = glob.glob(EXTENSION)
    start = time.perf_counter()
    connection = duckdb.connect()
    connection.execute(f"LOAD {quoted(extension)}")
    connection.execute(f"ATTACH {quoted(url)} AS server (TYPE postgres)")
    connection.execute(
        f"INSERT INTO server.{schema}.people SELECT id, guid, name, age, score, balance, active, created, address.street,"
        f" address.city, address.zip, tags, note FROM read_json({quoted(source)}, format='array', columns={columns})")
    connection.close()
    print(json.dumps({"seconds_counted": time.perf_counter() - start}))


main(*sys.argv[1:])
