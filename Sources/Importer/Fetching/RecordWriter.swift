import GRDB
import ImportModel

/// Writes records in one of the formats.
struct RecordWriter {
    private let format: RecordFormat
    private let object: ObjectWriter
    private let values: [ValueWriter]
    private let names: [String]
    /// Whether the values are numbers, which are at the right.
    private let areNumbers: [Bool]
    private var isFirst = true
    private var field: [UInt8] = []

    /// - Parameter related: what JSON objects have nested in them; other formats have no place for it.
    init(
        _ attributes: [AttributeDescription],
        _ related: [RelatedObjects] = [],
        as format: RecordFormat,
        dates: DateStyle
    ) {
        self.format = format
        object = ObjectWriter(attributes, related, dates: dates)
        values = attributes.map { ValueWriter($0, dates: dates) }
        names = attributes.map(\.name)
        areNumbers = attributes.map { $0.type.family == .number || $0.type.family == .decimal }
    }

    /// Appends what precedes the first record.
    mutating func begin(_ output: inout [UInt8]) {
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
        case .ndjson:
            try object.append(row, to: &output, database)
            output.append(UInt8(ascii: "\n"))
        case .json:
            output.append(contentsOf: (isFirst ? "\n" : ",\n").utf8)
            try object.append(row, to: &output, database)
        case .csv:
            for index in values.indices {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                let value = row.value(at: index + 1)
                if case .null = value { continue }
                field.removeAll(keepingCapacity: true)
                values[index].appendPlain(value, to: &field)
                Self.appendField(field, to: &output)
            }
            output.append(UInt8(ascii: "\n"))
        case .markdown:
            for index in values.indices {
                output.append(contentsOf: "| ".utf8)
                field.removeAll(keepingCapacity: true)
                values[index].appendPlain(row.value(at: index + 1), to: &field)
                Self.appendMarkdown(field, to: &output)
                output.append(UInt8(ascii: " "))
            }
            output.append(contentsOf: "|\n".utf8)
        }
        isFirst = false
    }

    /// Appends what is after the last record.
    mutating func end(_ output: inout [UInt8]) {
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
