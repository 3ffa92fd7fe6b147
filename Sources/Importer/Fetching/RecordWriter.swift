import GRDB
import ImportEngine
import ImportModel
import ImportSQLite

import struct ImportSources.Record

/// Writes records in one of the formats.
package struct RecordWriter {
    private let format: RecordFormat
    private let object: JSONObjectWriter
    private let values: [ValueWriter]
    private let names: [String]
    /// Whether the values are numbers, which are at the right.
    private let areNumbers: [Bool]
    private var isFirst = true
    private var field: [UInt8] = []

    /// - Parameter related: what JSON objects have nested in them; other formats have no place for it.
    init(
        _ attributes: [AttributeDescription],
        _ related: [RelatedObjects],
        as format: RecordFormat,
        dates: DateStyle
    ) {
        self.format = format
        object = JSONObjectWriter(attributes, related, dates: dates)
        values = attributes.map { ValueWriter($0, dates: dates) }
        names = attributes.map(\.name)
        areNumbers = attributes.map { $0.type.family == .number || $0.type.family == .decimal }
    }

    /// Writes records with nothing nested in them.
    package init(_ attributes: [AttributeDescription], as format: RecordFormat, dates: DateStyle) {
        self.init(attributes, [], as: format, dates: dates)
    }

    /// Appends what precedes the first record.
    package mutating func begin(_ output: inout [UInt8]) {
        switch format {
        case .ndjson: break
        case .json: output.append(UInt8(ascii: "["))
        case .csv:
            appendFields(names.map { Array($0.utf8) }, to: &output)
        case .markdown:
            for name in names {
                output.append(contentsOf: "| ".utf8)
                Self.appendMarkdown(Array(name.utf8), to: &output)
                output.append(UInt8(ascii: " "))
            }
            output.append(contentsOf: "|\n".utf8)
            for isNumber in areNumbers { output.append(contentsOf: (isNumber ? "| ---: " : "| --- ").utf8) }
            output.append(contentsOf: "|\n".utf8)
        }
    }

    /// Appends a record.
    ///
    /// - Parameters:
    ///   - row: the row id and then the values, and what the related objects need.
    ///   - database: what these are read from.
    mutating func append(_ row: StoredRow, to output: inout [UInt8], _ database: Database) throws {
        switch format {
        case .ndjson, .json:
            beginObject(&output)
            try object.append(row, to: &output, database)
            endObject(&output)
        case .csv, .markdown:
            for index in values.indices { appendField(index, row.value(at: index + 1), to: &output) }
            endLine(&output)
        }
        isFirst = false
    }

    /// Appends a record with nothing nested in it.
    package mutating func append(_ record: [Record.Value], to output: inout [UInt8]) {
        switch format {
        case .ndjson, .json:
            beginObject(&output)
            object.append(record, to: &output)
            endObject(&output)
        case .csv, .markdown:
            for (index, value) in record.enumerated() { value.withRowValue { appendField(index, $0, to: &output) } }
            endLine(&output)
        }
        isFirst = false
    }

    private func beginObject(_ output: inout [UInt8]) {
        if format == .json { output.append(contentsOf: (isFirst ? "\n" : ",\n").utf8) }
    }

    private func endObject(_ output: inout [UInt8]) {
        if format == .ndjson { output.append(UInt8(ascii: "\n")) }
    }

    private mutating func appendField(_ index: Int, _ value: StoredRow.Value, to output: inout [UInt8]) {
        field.removeAll(keepingCapacity: true)
        guard format == .csv else {
            output.append(contentsOf: "| ".utf8)
            values[index].appendPlain(value, to: &field)
            Self.appendMarkdown(field, to: &output)
            return output.append(UInt8(ascii: " "))
        }
        if index > 0 { output.append(UInt8(ascii: ",")) }
        if case .null = value { return }
        values[index].appendPlain(value, to: &field)
        Self.appendField(field, to: &output)
    }

    private func endLine(_ output: inout [UInt8]) {
        output.append(contentsOf: (format == .csv ? "\n" : "|\n").utf8)
    }

    /// Appends what is after the last record.
    package mutating func end(_ output: inout [UInt8]) {
        if format == .json { output.append(contentsOf: (isFirst ? "]\n" : "\n]\n").utf8) }
    }

    // MARK: Fields

    private func appendFields(_ fields: [[UInt8]], to output: inout [UInt8]) {
        for (index, field) in fields.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            Self.appendField(field, to: &output)
        }
        output.append(UInt8(ascii: "\n"))
    }

    private static func isSpecial(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: ","), UInt8(ascii: "\r"), UInt8(ascii: "\n"): true
        default: false
        }
    }

    /// The field as it is: CSV has no escapes, and programs read it.
    ///
    /// Quotes where there must be quotes (RFC 4180), and around what is empty, to tell it from null.
    private static func appendField(_ field: [UInt8], to output: inout [UInt8]) {
        let quote = UInt8(ascii: "\"")
        guard field.contains(where: isSpecial) || field.isEmpty || field.first == 0x20 || field.last == 0x20 else {
            output.append(contentsOf: field)
            return
        }
        output.append(quote)
        for byte in field {
            if byte == quote { output.append(quote) }
            output.append(byte)
        }
        output.append(quote)
    }

    /// Escapes what Markdown would take for a mark, and what a terminal would take for a command or that changes how text
    /// reads.
    private static func appendMarkdown(_ field: [UInt8], to output: inout [UInt8]) {
        for scalar in String(decoding: field, as: UTF8.self).unicodeScalars {
            switch scalar {
            case "|", "\\", "`", "*", "_", "[", "]", "<", ">", "~":
                output.append(UInt8(ascii: "\\"))
                output.append(UInt8(scalar.value))
            case "&": output.append(contentsOf: "&amp;".utf8)
            case "\n": output.append(contentsOf: "<br>".utf8)
            case "\r": break
            default:
                if scalar.isUnprintable {
                    output.append(contentsOf: "\\\\u{\(String(scalar.value, radix: 16, uppercase: true))}".utf8)
                } else {
                    output.append(contentsOf: String(scalar).utf8)
                }
            }
        }
    }
}
