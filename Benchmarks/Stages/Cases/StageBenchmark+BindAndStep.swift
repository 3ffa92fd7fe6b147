import Foundation

/// Binding decoded rows and stepping the statement, within a transaction that is open.
extension StageBenchmark {
    static var binding: [StageBenchmark] {
        [
            StageBenchmark("Bind_people", floor: "Bind_floor_sqlite3_step") { place in
                let probe = try place.probe()
                let rows = try probe.rows(imaging: false)
                return { measure in
                    let path = place.fresh("bind.sqlite")
                    let store = try probe.store(at: path)
                    try expect("inserted", try store.bind(rows, measure: measure), is: place.records)
                    try store.close()
                    place.remove(path)
                }
            },
            StageBenchmark("Bind_floor_sqlite3_step") { place in
                let rows = try RawRows(of: try place.store())
                return { measure in
                    let path = place.fresh("floor.sqlite")
                    let store = try RawStore(path)
                    let insert = try rows.prepare(store)
                    try store.execute("BEGIN IMMEDIATE")
                    try measure { try rows.write(insert, commitEvery: nil, store) }
                    try expect("sums", try store.sums(), is: place.people.sums)
                    try store.execute("ROLLBACK")
                    place.remove(path)
                }
            },
        ]
    }
}
