import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

import struct ImportSources.Record

/// One object in full, and which objects its relationships lead to.
package struct ObjectDetail: Sendable {
    /// Another object, as a link to it shows it.
    package struct Link: Sendable {
        /// Its row id.
        package let rowID: Int64
        /// What people know it by; nil where nothing of it is that.
        package let title: Record.Value?
    }

    /// What a relationship leads to.
    package struct Related: Sendable {
        /// The relationship's name.
        package let name: String
        /// The name of the entity that it leads to.
        package let entity: String
        /// The attribute whose values are the titles; nil where there is none.
        package let titleAttribute: AttributeDescription?
        /// True if there may be several.
        package let isToMany: Bool
        /// How many there are.
        package let count: Int64
        /// The first of them, in their order.
        package let links: [Link]
    }

    /// The entity, with an attribute for each value.
    package let entity: EntityDescription
    /// The object's values; those of more than a MiB are cut.
    package let row: RecordPage.Row
    /// In the order of the entity's relationships.
    package let related: [Related]

    /// More objects of a relationship than these are only counted.
    package static let mostLinks = 50
    /// More bytes of a value than these are not read.
    fileprivate static let mostBytes = 1 << 20
}

extension StoreReader {
    /// The object with a row id; nil where there is none, or it is another entity's.
    ///
    /// - Throws: `ImportError` when there is no such entity, or the store cannot be read.
    package func object(_ rowID: Int64, of name: String, _ interruption: Interruption) throws -> ObjectDetail? {
        try read(interruption) { database -> ObjectDetail? in
            let entity = try entity(named: name, database)
            let contents = try RecordProjection(of: entity)
            let links = entity.links
            let mostBytes = ObjectDetail.mostBytes
            let values = contents.attributes.map {
                WindowQuery.value(of: $0.column.quotedIdentifier, bytes: mostBytes + 4)
            }
            let sources = links.flatMap(\.source)
            let conditions = [SQLFragment("rowid = ?", [.integer(rowID)])] + [entity.condition].compactMap(\.self)
            let table = entity.description.table.quotedIdentifier
            let columns = SelectedColumns(["rowid"] + values + sources, of: table)
            let statement = SQLFragment("SELECT \(columns.list) FROM \(table) WHERE ") + .all(conditions)
            let rows = try RawRowCursor(database, statement, beyond: columns.beyond)
            defer { rows.reset() }
            guard let row = try rows.next() else { return nil }
            let record = try Record(row, contents, database)
            var keys: [[RawArgument]] = []
            var next = 1 + values.count
            for link in links {
                keys.append((next..<next + link.source.count).map { RawArgument(row.value(at: $0)) })
                next += link.source.count
            }
            let related = try zip(links, keys).map { try self.related(by: $0, to: $1, database) }
            return ObjectDetail(
                entity: entity.description,
                row: RecordPage.Row(record, bytes: mostBytes, characters: .max, binaryBytes: mostBytes),
                related: related
            )
        }
    }

    private func related(
        by link: RelationshipJoin,
        to key: [RawArgument],
        _ database: Database
    ) throws -> ObjectDetail.Related {
        let title = link.destination.titleAttribute
        var links: [ObjectDetail.Link] = []
        var count: Int64 = 0
        if !key.contains(.null) {
            let columns = ["rowid"] + [title?.column.quotedIdentifier].compactMap(\.self)
            let rows = try RawRowCursor(database, SQLFragment(link.selection(of: columns, number: 1), key))
            defer { rows.reset() }
            var isWhole = true
            while let row = try rows.next() {
                // The key of what is not there.
                guard case .integer(let rowID) = row.value(at: 0) else { continue }
                guard links.count < ObjectDetail.mostLinks else {
                    isWhole = false
                    break
                }
                links.append(ObjectDetail.Link(rowID: rowID, title: title.map { _ in row.stored(at: 1) }))
            }
            count = Int64(links.count)
            if !isWhole {
                let marks = link.source.map { _ in "?" }
                let counting = SQLFragment("SELECT " + link.count(as: "\"@counted\"", where: marks), key)
                count = try RawRowCursor.number(database, counting) ?? count
            }
        }
        return ObjectDetail.Related(
            name: link.name,
            entity: link.destination.description.name,
            titleAttribute: title,
            isToMany: link.isToMany,
            count: count,
            links: links
        )
    }
}

extension StoredGraph.Entity {
    /// What people know an object by: its name or title, or another text, or else its identifier.
    fileprivate var titleAttribute: AttributeDescription? {
        let own = ownAttributes
        for name in ["name", "title", "label"] {
            if let attribute = own.first(where: { $0.name.asciiLowercased == name }) { return attribute }
        }
        let identifier = description.identifier.first.flatMap { name in own.first { $0.name == name } }
        return own.first { $0.type == .string && $0.name != identifier?.name } ?? identifier ?? own.first
    }
}
