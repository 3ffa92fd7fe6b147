import Foundation
import ImportEngine
import ImportModel
import ImportSources

/// Writes rejects as lines that a person can read, edit and retry.
///
/// Made and used by one thread.
final class RepairLineWriter {
    private let reader = RepairLine.makeReader()
    private let lenientReader = RecordReader(maxDepth: 100_001, taking: .record)

    /// Appends the reject's line, with the LF that ends it.
    ///
    /// Under `record` are the record's bytes as they are, or what was imported for JSON in their place. Where they are not JSON, or
    /// only the first of them are kept, they are a JSON string.
    func append(_ reject: StoreInspection.Reject, to bytes: inout [UInt8]) {
        var head = "{\"reject\": \(reject.number), \"job\": \(reject.job), \"entity\": \(quoted(reject.entity))"
        head += ", \"source\": \(quoted(reject.source)), \"byte_offset\": \(reject.byteOffset)"
        head += ", \"ordinal\": \(reject.ordinal)"
        let errors = reject.errors.map { error in
            "{\"key_path\": \(quoted(error.keyPath)), \"code\": \(quoted(error.code.rawValue))"
                + ", \"expected\": \(quoted(error.expected)), \"found\": \(quoted(error.found))"
                + ", \"byte_offset\": \(error.byteOffset)}"
        }
        head += ", \"errors\": [\(errors.joined(separator: ", "))]"
        if reject.isPartial { head += ", \"is_partial\": true" }
        if let key = reject.key { head += ", \"key\": \(RecordKeys.json(of: key))" }
        bytes += (head + ", \"record\": ").utf8
        if !reject.isPartial, RepairLine.isJSON(reject.record, reader) {
            bytes += reject.record
        } else if !reject.isPartial, !reject.errors.contains(where: { $0.code == .malformed }),
            RepairLine.isJSON(reject.record, lenientReader)
        {
            reject.record.withUnsafeBufferPointer { JSONMinify.appendLenient(ByteView($0), to: &bytes) }
        } else {
            bytes += quoted(RepairLine.text(of: reject.record)).utf8
        }
        bytes += [UInt8(ascii: "}"), 0x0A]
    }

    private func quoted(_ text: String) -> String { JSONValue.string(text).serialized() }
}

/// A line of a repair file: which reject it is, and what of it the retry needs.
package struct RepairLine {
    /// Why a line cannot be retried.
    package struct Problem: Error {
        package let text: String
    }

    /// The number of the reject that it repairs.
    package private(set) var reject: Int64 = 0
    /// What it says of where the record was; nil where it says nothing.
    package private(set) var job: Int64?
    package private(set) var ordinal: Int64?
    /// The record's keys in its collections, as `RecordKeys` has them, if it has any.
    package private(set) var key: String?
    /// The record's text, if it is a JSON string.
    package private(set) var text: [UInt8]?
    /// Where the record is in the reader's tape.
    private var record = 0

    /// A reader for records of any depth that a record may have, and the line around them.
    package static func makeReader() -> RecordReader { RecordReader(maxDepth: 100_001) }

    /// True if `record` is one JSON value that may be in a line as it is.
    package static func isJSON(_ record: [UInt8], _ reader: RecordReader) -> Bool {
        guard !record.contains(where: { $0 == 0x0A || $0 == 0x0B || $0 == 0x0C }) else { return false }
        return (record + [0x0A]).withUnsafeBufferPointer { buffer in
            let line = ByteView(buffer)
            return UTF8Validation.firstInvalid(in: line) == nil && reader.read(line: line) == .record
        }
    }

    /// The record as text, with U+FFFD for what is not UTF-8.
    package static func text(of record: [UInt8]) -> String { String(decoding: record, as: UTF8.self) }

    /// Reads a line.
    ///
    /// - Parameters:
    ///   - line: with the LF that ends it.
    ///   - reader: keeps its memory from line to line.
    package init(_ line: ByteView, _ reader: RecordReader) throws(Problem) {
        guard memchr(line.base, 0x0B, line.count) == nil, memchr(line.base, 0x0C, line.count) == nil else {
            throw Problem(text: "is not JSON")
        }
        switch reader.read(line: line) {
        case .record: break
        case .tooDeep: throw Problem(text: "is nested too deeply")
        case .malformed(let place):
            throw Problem(text: "is not one JSON object, at byte \(place) of the line")
        }
        let tokens = reader.tape.tokens
        guard tokens[0].kind == .object else { throw Problem(text: "is not a JSON object") }
        var seen: Set<String> = []
        var index = 1
        while index < Int(tokens[0].next) {
            let name = Self.string(index, line, reader)
            let value = index + 1
            index = Int(tokens[value].next)
            guard ["reject", "job", "ordinal", "key", "record"].contains(name) else { continue }
            guard seen.insert(name).inserted else { throw Problem(text: "has \"\(name)\" twice") }
            try take(name, value, line, reader)
        }
        guard seen.contains("reject") else { throw Problem(text: "has no \"reject\"") }
        guard seen.contains("record") else { throw Problem(text: "has no \"record\"") }
    }

    /// The bytes of a line's record; of a string, its text.
    package static func record(in line: ByteView, _ reader: RecordReader) throws(Problem) -> [UInt8] {
        let parsed = try RepairLine(line, reader)
        return parsed.text ?? Array(reader.tape.token(parsed.record, in: line).bytes.buffer)
    }

    private mutating func take(
        _ name: String,
        _ value: Int,
        _ line: ByteView,
        _ reader: RecordReader
    ) throws(Problem) {
        let kind = reader.tape.tokens[value].kind
        switch name {
        case "record":
            record = value
            if kind == .string { text = Array(Self.string(value, line, reader).utf8) }
        case "key":
            var places = [value]
            if kind == .array {
                places = []
                var place = value + 1
                while place < Int(reader.tape.tokens[value].next) {
                    places.append(place)
                    place = Int(reader.tape.tokens[place].next)
                }
            }
            guard !places.isEmpty, places.allSatisfy({ reader.tape.tokens[$0].kind == .string }) else {
                throw Problem(text: "has a \"key\" that is neither a string nor an array of strings")
            }
            key = RecordKeys.text(of: places.map { Self.string($0, line, reader) })
        default:
            let digits = Self.string(value, line, reader)
            guard kind == .number, let number = Int64(digits), number > 0 else {
                throw Problem(text: "has a \"\(name)\" that is no number of one")
            }
            switch name {
            case "job": job = number
            case "ordinal": ordinal = number
            default: reject = number
            }
        }
    }

    /// A string or key without its escapes.
    private static func string(_ index: Int, _ line: ByteView, _ reader: RecordReader) -> String {
        reader.tape.token(index, in: line).text
    }
}
