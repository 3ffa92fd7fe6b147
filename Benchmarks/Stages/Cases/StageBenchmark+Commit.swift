import Foundation

/// Committing decoded batches: rows, counts and the marker in one transaction each.
extension StageBenchmark {
    static var committing: [StageBenchmark] {
        [
            commit("Commit_tenThousand", every: 10_000, floor: "Commit_floor_tenThousand"),
            commit("Commit_oneThousand", every: 1_000, floor: "Commit_floor_oneThousand"),
            floor("Commit_floor_tenThousand", every: 10_000),
            floor("Commit_floor_oneThousand", every: 1_000),
        ]
    }

    private static func commit(_ name: String, every count: Int, floor: String) -> StageBenchmark {
        StageBenchmark(name, floor: floor) { place in
            let probe = try place.probe()
            let rows = try probe.rows(commitEvery: count, imaging: true)
            return { measure in
                let path = place.fresh("commit.sqlite")
                let store = try probe.store(at: path)
                var inserted: Int64 = 0
                try measure { inserted = try store.commit(rows) }
                try store.close()
                try expect("inserted", inserted, is: Int64(place.records))
                try expect("sums", try RawStore(path).sums(), is: place.people.sums)
                place.remove(path)
            }
        }
    }

    /// The same commits with nothing in them but the rows.
    static func floor(_ name: String, every count: Int) -> StageBenchmark {
        StageBenchmark(name) { place in
            let rows = try RawRows(of: try place.store())
            return { measure in
                let path = place.fresh("floor.sqlite")
                let store = try RawStore(path)
                let insert = try rows.prepare(store)
                try measure { try rows.write(insert, commitEvery: count, store) }
                try expect("sums", try store.sums(), is: place.people.sums)
                place.remove(path)
            }
        }
    }
}
