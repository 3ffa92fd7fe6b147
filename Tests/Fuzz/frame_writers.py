"""Writes frames as pandas, polars, DuckDB and ClickHouse write them. frames.py starts it once, with a Python that has some of these.

The first line it prints is a JSON object of versions by writer. Then each line that it reads is [frame file, writer, shape, output file]
in JSON, and each line that it prints is "ok" or the writer's error.
"""

import datetime
import decimal
import importlib
import json
import math
import os
import sys


def versions():
    found = {}
    for writer, module in (("pandas", "pandas"), ("polars", "polars"), ("duckdb", "duckdb"), ("clickhouse", "chdb")):
        try:
            found[writer] = importlib.import_module(module).__version__
        except ImportError:
            pass
    return found


def load(path):
    """The frame: its columns with their values as Python has them."""
    with open(path, encoding="utf-8") as file:
        frame = json.load(file)
    parse = {"day": datetime.date.fromisoformat, "instant": datetime.datetime.fromisoformat, "float": float, "decimal": decimal.Decimal}
    for column in frame["columns"]:
        convert = parse.get(column["kind"], lambda value: value)
        column["values"] = [None if value is None else convert(value) for value in column["values"]]
    return frame


# MARK: pandas


def pandas_frame(frame):
    import pandas

    types = {"int": "Int64", "big": "Int64", "bool": "boolean", "text": "string"}
    index = frame["index"]
    series = []
    for column in frame["columns"]:
        kind, values = column["kind"], column["values"]
        if kind in ("int", "bool") and None not in values and values:
            dtype = {"int": "int64", "bool": "bool"}[kind]
        elif kind == "instant":
            values, dtype = pandas.to_datetime(values), "datetime64[ns]"
        elif kind == "float":
            dtype = "float64"
        else:
            dtype = types.get(kind, object) if column["nullable"] else object
        series.append(pandas.Series(values, dtype=dtype, index=range(frame["rows"])))
    table = pandas.concat(series, axis=1) if series else pandas.DataFrame()
    table.columns = frame["numbers"] or [column["name"] for column in frame["columns"]]
    if index is not None:
        table.index = index
    return table


def write_pandas(frame, shape, path):
    table = pandas_frame(frame)
    options = {"date_format": "iso", "double_precision": 15, "force_ascii": frame["ascii"], "indent": 2 if frame["pretty"] else None}
    if shape == "lines":
        options["indent"] = None
        table.to_json(path, orient="records", lines=True, **options)
    elif shape == "default":
        table.to_json(path, **options)
    elif shape == "tight":
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps(table.to_dict("tight"), default=str, allow_nan=True))
    elif shape in ("dict", "list"):
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps(table.to_dict(shape), default=str, allow_nan=True))
    else:
        table.to_json(path, orient=shape, **options)


# MARK: polars


def write_polars(frame, shape, path):
    import polars

    types = {
        "int": polars.Int64,
        "big": polars.Int64,
        "float": polars.Float64,
        "bool": polars.Boolean,
        "text": polars.String,
        "day": polars.Date,
    }
    types |= {"instant": polars.Datetime("ms"), "ints": polars.List(polars.Int64), "texts": polars.List(polars.String), "null": polars.Null}
    types |= {"floats": polars.List(polars.Float64), "object": polars.Struct({"p": polars.Int64, "q": polars.String})}
    types |= {"decimal": polars.Decimal(38, 4), "uuid": polars.String}
    columns = [polars.Series(c["name"], c["values"], dtype=types[c["kind"]], strict=False) for c in frame["columns"]]
    table = polars.DataFrame(columns)
    if shape == "records":
        table.write_json(path)
    elif shape == "lines":
        table.write_ndjson(path)
    elif shape == "columns":
        with open(path, "w", encoding="utf-8") as file:
            json.dump(table.to_dict(as_series=False), file, default=str, ensure_ascii=frame["ascii"], indent=1 if frame["pretty"] else None)
    else:
        with open(path, "w", encoding="utf-8") as file:
            json.dump([list(row) for row in table.rows()], file, default=str)


# MARK: SQL


def sql_name(name, quote='"'):
    if quote == "`":
        return "`" + name.replace("\\", "\\\\").replace("`", "\\`") + "`"
    return quote + name.replace(quote, quote * 2) + quote


def write_duckdb(frame, shape, path):
    import duckdb

    types = {
        "int": "BIGINT",
        "big": "HUGEINT",
        "float": "DOUBLE",
        "bool": "BOOLEAN",
        "text": "VARCHAR",
        "day": "DATE",
        "instant": "TIMESTAMP",
    }
    types |= {
        "ints": "BIGINT[]",
        "texts": "VARCHAR[]",
        "floats": "DOUBLE[]",
        "object": "STRUCT(p BIGINT, q VARCHAR)",
        "null": "INTEGER",
        "decimal": "DECIMAL(38, 4)",
        "uuid": "UUID",
    }
    connection = duckdb.connect()
    connection.execute("CREATE TABLE f (" + ", ".join(f"{sql_name(c['name'])} {types[c['kind']]}" for c in frame["columns"]) + ")")
    rows = list(zip(*(c["values"] for c in frame["columns"])))
    if rows:
        connection.executemany(f"INSERT INTO f VALUES ({', '.join('?' * len(frame['columns']))})", rows)
    quoted = path.replace("'", "''")
    connection.execute(f"COPY f TO '{quoted}' (FORMAT json, ARRAY {'true' if shape == 'array' else 'false'})")
    connection.close()


def clickhouse_literal(kind, value):
    if value is None:
        return "NULL"
    if kind in ("ints", "texts", "floats"):
        return "[" + ", ".join(clickhouse_literal(kind[:-1], element) for element in value) + "]"
    if kind == "object":
        return f"({clickhouse_literal('int', value['p'])}, {clickhouse_literal('text', value['q'])})"
    if kind == "float":
        return "nan" if math.isnan(value) else ("-inf" if value < 0 else "inf") if math.isinf(value) else repr(value)
    if kind in ("text", "day", "instant", "uuid", "decimal"):
        text = str(value) if kind != "instant" else value.isoformat(" ", "milliseconds")
        return (
            "'"
            + "".join(f"\\x{byte:02x}" if byte < 32 or byte in b"'\\" else chr(byte) for byte in text.encode()).encode("latin-1").decode()
            + "'"
        )
    return str(value).lower()


def write_clickhouse(frame, shape, path):
    import chdb

    types = {
        "int": "Int64",
        "big": "Int128",
        "float": "Float64",
        "bool": "Bool",
        "text": "String",
        "day": "Date32",
        "instant": "DateTime64(3)",
        "decimal": "Decimal(38, 4)",
        "uuid": "UUID",
    }
    columns = []
    for column in frame["columns"]:
        kind, nullable = column["kind"], column["nullable"]
        if kind in ("ints", "texts", "floats"):
            name = f"Array({ {'ints': 'Int64', 'texts': 'String', 'floats': 'Float64'}[kind] })"
        elif kind == "object":
            name = "Tuple(p Int64, q String)"
        else:
            name = "Nullable(Nothing)" if kind == "null" else f"Nullable({types[kind]})" if nullable else types[kind]
        columns.append((column, name))
    parts = []
    for column, name in columns:
        literals = ", ".join(clickhouse_literal(column["kind"], value) for value in column["values"])
        parts.append(f"CAST([{literals}] AS Array({name}))[`row number`] AS {sql_name(column['name'], '`')}")
    query = f"SELECT {', '.join(parts)} FROM (SELECT toUInt64(number + 1) AS `row number` FROM numbers({frame['rows']}))"
    settings = {
        "output_format_json_quote_64bit_integers": int(frame["quoted"]),
        "output_format_json_quote_denormals": int(frame["denormals"]),
    }
    settings |= dict.fromkeys(("max_query_size", "max_ast_elements", "max_expanded_ast_elements"), 10_000_000)
    query += " SETTINGS " + ", ".join(f"{name} = {value}" for name, value in settings.items())
    with open(path, "wb") as file:
        file.write(chdb.query(query, shape).bytes())


def main():
    found = versions()
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    print(json.dumps(found), file=answers, flush=True)
    for line in sys.stdin:
        frame, writer, shape, output = json.loads(line)
        try:
            globals()[f"write_{writer}"](load(frame), shape, output)
            answer = "ok"
        except Exception as error:  # The writer refuses the frame: frames.py takes another one.
            answer = f"{type(error).__name__}: {error}"
        print(" ".join(answer.split())[:300], file=answers, flush=True)


if __name__ == "__main__":
    main()
