import GRDB
import ImportEngine
import ImportModel

import struct ImportSources.Record

extension RecordView {
    /// What is made of the request and the entity that it is for.
    struct Source: Sendable {
        let entity: EntityDescription
        let query: WindowQuery
        let sections: RecordViewSections?
        /// True if an index has the window's order.
        let isIndexed: Bool
    }

    /// What the view knows of the store.
    struct State: Sendable {
        /// Nil while the store does not have the entity, as after an import was restarted.
        var source: Source?
        /// Changes when a table or an index comes or goes (<https://www.sqlite.org/pragma.html#pragma_schema_version>).
        var schemaVersion: Int64?
        var limit: Int
        var snapshot = RecordViewSnapshot()
        var offset: Int
        var records: [Record] = []
        var rowIDs: [Int64] = []
        /// The keys of the window's first and last record.
        var first: RecordKey?
        var last: RecordKey?
        /// The window is as it was right after this commit.
        var position = StorePosition.start
        /// All rows up to this one have their part in the window's offset.
        var lastRowID: Int64 = 0
        var total: RecordCounter?

        init(offset: Int, limit: Int) {
            self.offset = offset
            self.limit = limit
        }

        var isFull: Bool { records.count >= limit }

        /// How many rows that came since the offset was counted precede a key.
        ///
        /// - Returns: nil where nobody knows which came since: where new rows may have any row id.
        func countNew(before key: RecordKey, _ query: WindowQuery, _ database: Database) throws -> Int? {
            guard query.order.onlyAppends, lastRowID < .max else { return nil }
            return try query.count(lastRowID + 1...Int64.max, before: key, database)
        }

        mutating func take(_ window: WindowQuery.Window) {
            records = window.records
            rowIDs = records.map(\.rowID).sorted()
            first = window.first
            last = window.last
        }
    }
}
