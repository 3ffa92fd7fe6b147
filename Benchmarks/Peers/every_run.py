"""Everything that is run, in the order of a round."""
from differences import Diff, FloorDifference, SQLDiff
from migrations import FloorMigration, Migrate, MigrateIdentifiers, SQLiteUtilsTransform
from mirrors import ImportNight
from patches import DiffOther, Merge, Patch, Undo
from runs import (
    DUCKDB_COLUMNS, DuckDB, DuckDBOrders, FloorIndex, FloorMerge, FloorOrderIndexes, FloorOrders, FloorSQLite, FloorYajl, Ijson,
    Import, ImportAgain, ImportFlatOrders, ImportOrders, ImportPartial, ImportShape, Jq, Split, SQLiteShell, SQLiteUtils,
    SQLiteUtilsOrders)
from server_runs import DuckDBServer, FloorServer, ImportServer, Pgloader


def all_runs(data, small, large, partial, nested, texts, lists, pairs, night, server_rows, server):
    """Every run by its name, in the order of a round: what is compared is side by side."""
    array = Import("import", "importer, array, model", data)
    first = Import("import-uuid", "importer, array, model, identifier guid", data, identifier="guid")
    index = FloorIndex("raw-index", "SQLite alone, unique index on guid", data, array, "guid")
    related = ImportOrders("import-orders", "importer, orders into related tables", nested)
    runs = [
        DuckDB("duckdb", "DuckDB, array, columns given", data, columns=DUCKDB_COLUMNS),
        FloorSQLite("raw-sqlite", "raw SQLite in C, rows ready", data),
        array,
        first,
        # Of copies of a store that nothing has changed yet.
        Migrate("migrate", "importer migrate, age to text", data, array),
        SQLiteUtilsTransform("transform", "sqlite-utils transform, age to text", data, array),
        FloorMigration("raw-migrate", "SQLite alone, age to text", data, array),
        MigrateIdentifiers("migrate-uuid", "importer migrate, a UUID for each row", data, array),
        index,
        FloorMerge("raw-merge", "SQLite alone, partial duplicates merged", partial, array, index),
        ImportPartial("import-partial", "importer, the same with partial duplicates", partial),
        ImportNight("import-night", "importer, the next night's file", night, first),
        ImportNight("import-mirror", "importer, the next night's file as a mirror", night, first, is_mirror=True),
        ImportAgain("import-again", "importer, the same once more", data, first),
        Import("import-ndjson", "importer, NDJSON, model", data, is_ndjson=True),
        DuckDB("duckdb-ndjson", "DuckDB, NDJSON, columns given", data, is_ndjson=True, columns=DUCKDB_COLUMNS),
        Import("import-inferred", "importer, array, no model", data, has_model=False),
        DuckDB("duckdb-auto", "DuckDB, array, no columns given", data),
        Split("split", "importer split, array", data),
        FloorYajl("yajl", "yajl alone in C, array", data),
        Import("import-small", "importer, array, model, small", small),
        Ijson("ijson", "ijson + executemany, array", data),
        SQLiteUtils("sqlite-utils", "sqlite-utils insert --nl", data),
        SQLiteShell("shell", "sqlite3 json_each(readfile())", data),
        Jq("jq", "jq to CSV, sqlite3 .import", data),
        DuckDBOrders("duckdb-orders", "DuckDB, orders by unnest", nested),
        related,
        # Before its store is changed.
        FloorOrders("raw-orders", "SQLite alone, orders copied and indexed", nested, related),
        FloorOrderIndexes("raw-order-indexes", "SQLite alone, the indexes of links", nested, related),
        ImportFlatOrders("import-flat-orders", "importer, orders as flat records", nested),
        ImportShape("import-long-texts", "importer, long texts, model", texts),
        ImportShape("import-nested-json", "importer, arrays kept as JSON, model", lists),
        SQLiteUtilsOrders("sqlite-utils-orders", "sqlite-utils, orders a table each", nested),
    ]
    for pair, title in zip(pairs, ("integer identifier", "other identifier, same row ids", "other identifier, any order")):
        runs += [
            Diff(f"diff-{pair.kind}", f"importer diff, {title}", pair),
            SQLDiff(f"sqldiff-{pair.kind}", f"sqldiff, {title}", pair),
            FloorDifference(f"raw-diff-{pair.kind}", f"SQLite alone, {title}, counted", pair),
        ]
    difference = next(run for run in runs if run.name == "diff-integer")
    patch = Patch("patch", "importer patch, what diff found", pairs[0], difference)
    runs += [
        Diff("diff-workers", "importer diff, integer identifier, two workers", pairs[0], workers=2),
        patch,
        Undo("undo", "importer undo of that patch", pairs[0], patch),
        DiffOther("diff-other", "importer diff, the old state and somebody else's", pairs[0]),
        Merge("merge", "importer merge, the new state into somebody else's", pairs[0]),
    ]
    runs += [
        FloorServer("raw-server", r"psql \copy, binary rows ready, into PostgreSQL", server_rows, server),
        ImportServer("import-server", "importer, array into PostgreSQL, model", server_rows, server),
        ImportServer("import-server-uuid", "importer, array into PostgreSQL, model, identifier guid", server_rows, server,
                     identifier="guid"),
        DuckDBServer("duckdb-server", "DuckDB, array into PostgreSQL, columns given", server_rows, server),
        Pgloader("pgloader", "pgloader, CSV ready, into PostgreSQL", server_rows, server),
    ]
    if large:
        runs.append(Import("import-large", "importer, array, model, large", large))
    return {run.name: run for run in runs}
