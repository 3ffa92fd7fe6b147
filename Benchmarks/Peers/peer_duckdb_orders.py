"""Orders with DuckDB: read_json once, then a table each by unnest, timed from opening the file to having closed it; or the check.

usage: peer_duckdb_orders.py SOURCE STORE
       peer_duckdb_orders.py check STORE QUERY
"""
import json
import sys
import time

import duckdb

COLUMNS = ("{id: 'BIGINT', placed: 'VARCHAR', customer: 'STRUCT(id BIGINT, name VARCHAR, city VARCHAR)',"
           " lines: 'STRUCT(sku VARCHAR, count INTEGER, price DOUBLE)[]', tags: 'VARCHAR[]'}")
TABLES = [
    "CREATE TABLE customer AS SELECT customer.id AS id, last(customer.name) AS name, last(customer.city) AS city"
    " FROM source GROUP BY customer.id",
    "CREATE TABLE orders AS SELECT id, placed, customer.id AS customer_id FROM source",
    "CREATE TABLE line AS SELECT line.sku AS sku, line.count AS count, line.price AS price, id AS order_id,"
    " place - 1 AS order_position FROM (SELECT id, unnest(lines) AS line, generate_subscripts(lines, 1) AS place"
    " FROM source)",
    "CREATE TABLE order_tags AS SELECT id AS order_id, unnest(tags) AS tags_name,"
    " generate_subscripts(tags, 1) - 1 AS position FROM source",
    "CREATE TABLE tag AS SELECT DISTINCT tags_name AS name FROM order_tags",
]


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def main(arguments):
    if arguments[0] == "check":
        connection = duckdb.connect(arguments[1], read_only=True)
        cursor = connection.execute(arguments[2])
        print(json.dumps({column[0]: int(value) for column, value in zip(cursor.description, cursor.fetchone())}))
        return
    source, store = arguments
    start = time.perf_counter()
    connection = duckdb.connect(store)
    connection.execute(
        f"CREATE TEMPORARY TABLE source AS SELECT * FROM read_json({quoted(source)}, format='array', columns={COLUMNS})")
    for statement in TABLES:
        connection.execute(statement)
    # Closing writes what the log still holds into the file.
    connection.close()
    print(json.dumps({"seconds_counted": time.perf_counter() - start}))


main(sys.argv[1:])
