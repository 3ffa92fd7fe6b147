import Foundation
import GRDBSQLite
import Importer

/// Bringing a view up to what a commit has changed.
extension StageBenchmark {
    static var viewing: [StageBenchmark] {
        [
            view("ViewMerge_window", sort: [], floor: "ViewMerge_floor_window"),
            view("ViewMerge_sorted", sort: [RecordSort("name")], floor: "ViewMerge_floor_sorted"),
            select("ViewMerge_floor_window", order: "rowid"),
            select("ViewMerge_floor_sorted", order: "name ASC, rowid"),
        ]
    }

    private static let size = 100

    private static func view(_ name: String, sort: [RecordSort], floor: String) -> StageBenchmark {
        StageBenchmark(name, floor: floor) { place in
            let path = try place.store()
            let request = FetchRequest(entity: "people", sortedBy: sort, limit: size)
            let view = try RecordView(request, in: try StoreReader(store: path))
            let writer = try RawStore(path)
            return { measure in
                // As an import would do: change a row that is in the window.
                let rowID = view.snapshot.records.last?.rowID ?? 0
                try writer.execute("UPDATE people SET age = age + 1 WHERE rowid = \(rowID)")
                var changed: RecordViewSnapshot?
                try measure { changed = try view.refresh()?.snapshot }
                try expect("total", changed?.total, is: place.records)
                try expect("rows", changed?.records.count, is: size)
                try expect("the last row", changed?.records.last?.rowID, is: rowID)
            }
        }
    }

    /// The view's queries alone.
    private static func select(_ name: String, order: String) -> StageBenchmark {
        StageBenchmark(name) { place in
            let store = try RawStore(try place.store())
            let window = try store.prepare("SELECT rowid, * FROM people ORDER BY \(order) LIMIT \(size) OFFSET 0")
            let total = try store.prepare("SELECT count(*) FROM people")
            return { measure in
                var (rows, bytes, count) = (0, 0, 0)
                try measure {
                    try store.execute("BEGIN")
                    while try window.step() {
                        rows += 1
                        for column in 0..<sqlite3_column_count(window.pointer) {
                            bytes += Int(sqlite3_column_bytes(window.pointer, column))
                        }
                    }
                    sqlite3_reset(window.pointer)
                    _ = try total.step()
                    count = Int(sqlite3_column_int64(total.pointer, 0))
                    sqlite3_reset(total.pointer)
                    try store.execute("COMMIT")
                }
                try expect("total", count, is: place.records)
                try expect("rows", rows, is: size)
                try expect("whether there were values", bytes > 0, is: true)
            }
        }
    }
}
