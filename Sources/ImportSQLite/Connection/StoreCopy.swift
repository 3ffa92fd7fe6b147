import GRDB
import ImportSources

/// A copy of a store that nobody else knows of, page by page, so that all of its rows have their row ids.
package enum StoreCopy {
    /// Makes it; nothing where there is no store.
    ///
    /// - Parameter path: where no file is.
    /// - Throws: `ImportError`.
    package static func make(of store: String, at path: String, _ interruption: Interruption) throws {
        guard DeviceAndInode(store) != nil else { return }
        do {
            let source = try StoreConnection.reader(store)
            defer { try? source.retire() }
            let copy = try DatabaseQueue(path: path)
            defer { try? copy.retire() }
            try source.backup(to: copy, pagesPerStep: 1_000) { _ in try interruption.check() }
            // The files that it records are the store's, and not the copy's to remove.
            try copy.write { database in
                try database.execute(sql: "DROP TABLE IF EXISTS _import_file")
            }
        } catch let error as DatabaseError {
            try interruption.check()
            throw ImportError(store: store, error)
        }
    }
}
