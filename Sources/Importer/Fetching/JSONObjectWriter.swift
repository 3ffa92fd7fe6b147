import GRDB
import ImportEngine
import ImportModel
import ImportSQLite

import struct ImportSources.Record

/// Writes rows as JSON objects, each with the objects that its relationships lead to.
struct JSONObjectWriter: Sendable {
    /// A member of the object.
    struct Member: Sendable {
        /// The name with its colon: `"name":`.
        let key: [UInt8]
        let value: ValueWriter

        init(_ attribute: AttributeDescription, dates: DateStyle) {
            key = Self.key(attribute.name)
            value = ValueWriter(attribute, dates: dates)
        }

        static func key(_ name: String) -> [UInt8] { Array((JSONValue.string(name).serialized() + ":").utf8) }
    }

    private let members: [Member]
    private let related: [RelatedObjects]
    /// Where the columns begin by which related objects are found, in each row.
    private let firstSource: Int

    /// - Parameter related: what is nested in each object, after the attributes.
    init(_ attributes: [AttributeDescription], _ related: [RelatedObjects], dates: DateStyle) {
        members = attributes.map { Member($0, dates: dates) }
        self.related = related
        firstSource = attributes.count + 1
    }

    /// Appends an object.
    ///
    /// - Parameters:
    ///   - row: the row id, the attributes' values, and then the columns that the related objects need.
    ///   - database: what the related objects are read from, in the transaction that the row is from.
    func append(_ row: StoredRow, to output: inout [UInt8], _ database: Database) throws {
        output.append(UInt8(ascii: "{"))
        for (index, member) in members.enumerated() {
            append(keyOf: index, to: &output)
            member.value.appendJSON(row.value(at: index + 1), to: &output)
        }
        var source = firstSource
        for (index, objects) in related.enumerated() {
            if index > 0 || !members.isEmpty { output.append(UInt8(ascii: ",")) }
            output.append(contentsOf: objects.key)
            try objects.append(of: row, at: source, to: &output, database)
            source += objects.sources.count
        }
        output.append(UInt8(ascii: "}"))
    }

    /// Appends an object with nothing nested in it.
    func append(_ values: [Record.Value], to output: inout [UInt8]) {
        output.append(UInt8(ascii: "{"))
        for (index, value) in values.enumerated() {
            append(keyOf: index, to: &output)
            value.withRowValue { members[index].value.appendJSON($0, to: &output) }
        }
        output.append(UInt8(ascii: "}"))
    }

    private func append(keyOf index: Int, to output: inout [UInt8]) {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        output.append(contentsOf: members[index].key)
    }
}
