import GRDB
import ImportEngine
import ImportModel
import ImportSources

import struct ImportSources.Record

/// Some records of an entity for somebody who looks through them, and where the next ones are.
package struct RecordPage: Sendable {
    /// Which page is wanted.
    package struct Request: Sendable {
        /// The entity's name.
        package var entity: String
        /// What must hold for a record; nil for all of them.
        package var predicate: RecordPredicate?
        /// What to sort by; without anything, by row id.
        package var sort: [RecordSort]
        /// The attribute by which records are put into sections, which precedes what is sorted by.
        package var section: String?
        /// What a page before it has named as the next; nil for the first one.
        package var after: String?
        /// How many records at most.
        package var limit: Int
        /// True if no value of a record may be in what names the next page.
        package var hidesValues: Bool

        /// Which page is wanted.
        package init(
            entity: String,
            predicate: RecordPredicate? = nil,
            sort: [RecordSort] = [],
            section: String? = nil,
            after: String? = nil,
            limit: Int,
            hidesValues: Bool = false
        ) {
            self.entity = entity
            self.predicate = predicate
            self.sort = sort
            self.section = section
            self.after = after
            self.limit = limit
            self.hidesValues = hidesValues
        }
    }

    /// One record of it.
    package struct Row: Sendable {
        /// The record, with a value for each attribute of the entity; long ones are cut.
        package let record: Record
        /// The indexes of the attributes whose values are cut.
        package let cut: Set<Int>
    }

    /// The entity, with an attribute for each value of a record.
    package let entity: EntityDescription
    /// The records, in order.
    package let rows: [Row]
    /// Where the next page begins; nil where there is none.
    package let next: String?
}

extension StoreReader {
    /// Reads a page by keys: a page deep inside of an entity takes no longer than the first one, where an index gives the order.
    ///
    /// - Throws: `ImportError` when there is no such entity or attribute, when the store cannot be read, or with `.optionInvalid` when
    ///   `after` is no position in this order; `RecordPredicateError` when the predicate does not fit the entity.
    package func page(_ request: RecordPage.Request, _ interruption: Interruption) throws -> RecordPage {
        try read(interruption) { database in
            let entity = try entity(named: request.entity, database)
            let columns = max(entity.description.attributes.count, 1)
            let limit = max(1, min(request.limit, RecordPage.mostValues / columns))
            let bytes = max(RecordPage.leastBytes, min(RecordPage.pageBytes / (limit * columns), RecordPage.mostBytes))
            let fetch = FetchRequest(
                entity: request.entity,
                where: request.predicate,
                sortedBy: (request.section.map { [RecordSort($0)] } ?? []) + request.sort
            )
            // Room for the rest of a character that is cut.
            let query = try WindowQuery(fetch, of: entity, valueBytes: bytes + 4, database)
            let start = try request.after.map { try self.start($0, query, database) } ?? WindowQuery.Start.offset(0)
            let window = try query.window(start, limit: limit + 1, database)
            let shown = window.records.prefix(limit)
            var next: String?
            if window.records.count > limit, let last = shown.last {
                let key = try query.key(of: last.rowID, database)
                next = RecordCursor(after: key, hidesValues: request.hidesValues).text
            }
            return RecordPage(
                entity: entity.description,
                rows: shown.map { RecordPage.Row($0, bytes: bytes) },
                next: next
            )
        }
    }

    private func start(_ text: String, _ query: WindowQuery, _ database: Database) throws -> WindowQuery.Start {
        let lost = ImportError(
            .optionInvalid,
            "after is not a position in this order, or its record was deleted",
            advice: "Begin at the first page."
        )
        switch RecordCursor(text)?.place {
        case .after(let key) where key.values.count == query.order.terms.count: return .after(key)
        case .afterRow(let rowID):
            guard let key = try? query.key(of: rowID, database) else { throw lost }
            return .after(key)
        case .value(let value): return .value(value)
        case .after, nil: throw lost
        }
    }
}

extension RecordPage {
    /// A page has no more values than these.
    fileprivate static let mostValues = 200_000
    /// The approximate number of bytes of values in a page, at most.
    fileprivate static let pageBytes = 8 << 20
    /// Of one value at most, and at least where there are many.
    fileprivate static let mostBytes = 4_000
    fileprivate static let leastBytes = 64
    /// More characters of a text than these are not shown.
    package static let mostCharacters = 1_000
    /// More bytes of a binary than these are not shown.
    package static let mostBinaryBytes = 1_000
}

extension RecordPage.Row {
    /// Cuts what is longer.
    ///
    /// - Parameters:
    ///   - bytes: of a text at most.
    ///   - characters: of a text at most.
    ///   - binaryBytes: of a binary at most.
    init(
        _ record: Record,
        bytes: Int,
        characters: Int = RecordPage.mostCharacters,
        binaryBytes: Int = RecordPage.mostBinaryBytes
    ) {
        var cut: Set<Int> = []
        var values = record.values
        for (index, value) in values.enumerated() {
            switch value {
            case .text(let text):
                guard text.utf8.count > bytes || text.utf8.count > characters && text.unicodeScalars.count > characters
                else { continue }
                var count = 0
                let end = text.unicodeScalars.prefix(characters).prefix { scalar in
                    count += UTF8.width(scalar)
                    return count <= bytes
                }.endIndex
                values[index] = .text(String(text.unicodeScalars[..<end]))
                cut.insert(index)
            case .blob(let blob) where blob.count > min(bytes, binaryBytes):
                values[index] = .blob(Array(blob.prefix(min(bytes, binaryBytes))))
                cut.insert(index)
            case .null, .integer, .real, .blob: continue
            }
        }
        self.init(record: Record(rowID: record.rowID, values: values), cut: cut)
    }
}
