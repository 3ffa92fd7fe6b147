import GRDB
import ImportEngine
import ImportModel
import ImportSQLite

/// Reads the objects that a relationship of each record leads to, and writes them as JSON: a to-many as an array, a to-one as an
/// object or null.
///
/// Each record's are read by a search of their own in an index, in the transaction that the record is read in; none are held.
struct RelatedObjects: Sendable {
    /// The relationship's name.
    let name: String
    /// The name as a member of a JSON object, with its colon.
    let key: [UInt8]
    /// The columns of a record, in SQL, by which its objects are found.
    let sources: [String]

    private let isToMany: Bool
    private let statement: String
    /// The columns that it has no room for.
    private let beyond: SelectedColumns.Rest?
    private let object: JSONObjectWriter
    /// The members of an object that is not there, each by the index of its column among those of the key.
    private let identifier: [(index: Int, member: JSONObjectWriter.Member)]
    /// True if the key of what is not there is in the record.
    private let isReference: Bool
    /// Where the key is among the columns that are read.
    private let firstKey: Int

    /// - Parameters:
    ///   - number: tells its statement apart from others that are read at the same time.
    ///   - related: what is nested in each of the objects.
    init(
        _ link: RelationshipJoin,
        _ attributes: [AttributeDescription],
        _ related: [RelatedObjects],
        number: Int,
        dates: DateStyle
    ) {
        name = link.name
        key = JSONObjectWriter.Member.key(link.name)
        sources = link.source
        isToMany = link.isToMany
        isReference = link.isReference
        object = JSONObjectWriter(attributes, related, dates: dates)
        identifier = link.key.enumerated().compactMap { index, attribute in
            attribute.map { (index, JSONObjectWriter.Member($0, dates: dates)) }
        }
        let columns = ["rowid"] + attributes.map(\.column.quotedIdentifier) + related.flatMap(\.sources)
        let table = "\(link.destination.description.table.quotedIdentifier) AS \("@\(number)".quotedIdentifier)"
        let selected = SelectedColumns(columns, of: table, besides: link.keyCount)
        statement = link.selection(of: selected.first, number: number)
        beyond = selected.beyond
        firstKey = columns.count
    }

    /// Appends the objects of a record.
    ///
    /// - Parameter first: where its `sources` begin in the row.
    func append(of row: StoredRow, at first: Int, to output: inout [UInt8], _ database: Database) throws {
        let values = sources.indices.map { RawArgument(row.value(at: first + $0)) }
        if values.contains(.null) {
            output.append(contentsOf: (isToMany ? "[]" : "null").utf8)
            return
        }
        let rows = try RawRowCursor(database, SQLFragment(statement, values), beyond: beyond)
        defer { rows.reset() }
        guard isToMany else {
            if let found = try rows.next() {
                try object.append(found, to: &output, database)
            } else if isReference {
                appendMissing(row, at: first, to: &output)
            } else {
                output.append(contentsOf: "null".utf8)
            }
            return
        }
        output.append(UInt8(ascii: "["))
        var isFirst = true
        while let found = try rows.next() {
            if !isFirst { output.append(UInt8(ascii: ",")) }
            isFirst = false
            if case .null = found.value(at: 0) {
                appendMissing(found, at: firstKey, to: &output)
            } else {
                try object.append(found, to: &output, database)
            }
        }
        output.append(UInt8(ascii: "]"))
    }

    /// Appends the identifier of an object that is not in the store, by which the record refers to it.
    private func appendMissing(_ row: StoredRow, at first: Int, to output: inout [UInt8]) {
        guard !identifier.isEmpty else {
            output.append(contentsOf: "null".utf8)
            return
        }
        for (place, part) in identifier.enumerated() {
            output.append(UInt8(ascii: place == 0 ? "{" : ","))
            output.append(contentsOf: part.member.key)
            part.member.value.appendJSON(row.value(at: first + part.index), to: &output)
        }
        output.append(UInt8(ascii: "}"))
    }
}
