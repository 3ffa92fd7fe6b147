import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

import struct ImportSources.Record

/// The records with one value of an attribute, and where they begin.
package struct RecordSection: Sendable {
    /// The value that they have in common.
    package let value: Record.Value
    /// How many there are.
    package let count: Int64
    /// Where its first page begins; nil where its value is too long to be a position.
    package let start: String?
}

extension StoreReader {
    /// Counts the records of each section.
    ///
    /// - Parameters:
    ///   - request: with its section; its limit and where it begins do not matter.
    ///   - most: up to this many sections are read.
    /// - Returns: the first sections in order, and whether there are more; none without an attribute to be sections of.
    /// - Throws: as `page` does; `ImportError` with `.optionInvalid` when each record would be a section of its own.
    package func sections(
        _ request: RecordPage.Request,
        most: Int,
        _ interruption: Interruption
    ) throws -> (sections: [RecordSection], hasMore: Bool) {
        guard let section = request.section else { return ([], false) }
        return try read(interruption) { database in
            let entity = try entity(named: request.entity, database)
            let fetch = FetchRequest(entity: request.entity, where: request.predicate, sortedBy: [RecordSort(section)])
            let query = try WindowQuery(fetch, of: entity, database)
            guard let term = query.order.terms.first else {
                throw ImportError(
                    .optionInvalid,
                    "\(section) is the row id, which no two records share",
                    advice: "Choose another attribute for sections."
                )
            }
            var statement = SQLFragment("SELECT \(term.column), count(*) FROM \(query.table)")
            if let predicate = query.predicate { statement = statement + SQLFragment(" WHERE ") + predicate }
            statement.sql += " GROUP BY \(term.collated) ORDER BY \(term.collated) LIMIT ?"
            statement.arguments.append(.integer(Int64(most) + 1))
            let rows = try RawRowCursor(database, statement)
            defer { rows.reset() }
            var sections: [RecordSection] = []
            while let row = try rows.next() {
                sections.append(
                    RecordSection(
                        value: row.stored(at: 0),
                        count: row.integer(at: 1),
                        start: RecordCursor(at: RawArgument(row.value(at: 0)))?.text
                    )
                )
            }
            return (Array(sections.prefix(most)), sections.count > most)
        }
    }

    /// Counts the records of which a page is a part, one by one.
    ///
    /// - Throws: as `page` does.
    package func count(of request: RecordPage.Request, _ interruption: Interruption) throws -> Int64 {
        try read(interruption) { database in
            let entity = try entity(named: request.entity, database)
            let fetch = FetchRequest(entity: request.entity, where: request.predicate)
            return Int64(try WindowQuery(fetch, of: entity, database).count(database))
        }
    }
}
