import Foundation
import ImportModel
import Importer

/// One reject as JSON: in short for a list, or with its bytes and what to do about it.
struct RejectContent: Sendable {
    /// More bytes of a record than these are not sent.
    static let mostBytes = 1 << 20

    let reject: StoreInspection.Reject
    let store: String
    let hidesValues: Bool

    /// Its number, where it is, and its errors.
    var short: JSONValue {
        [
            "number": .integer(reject.number), "state": .string(reject.state.rawValue), "job": .integer(reject.job),
            "source": .string(reject.source), "entity": .string(reject.entity), "ordinal": .integer(reject.ordinal),
            "byte_offset": .integer(reject.byteOffset), "length": .integer(reject.length),
            "errors": .array(reject.errors.map(members)),
        ]
    }

    /// The same with the record's bytes, and the commands that repair it.
    var members: JSONValue {
        var members = short
        if hidesValues {
            members["hidden"] = .boolean(true)
        } else {
            let bytes = reject.record.prefix(Self.mostBytes)
            members["record_base64"] = .string(Data(bytes).base64EncodedString())
            members["record"] = String(validating: bytes, as: UTF8.self).map { .string($0) }
            if bytes.count < reject.record.count || reject.isPartial { members["truncated"] = .boolean(true) }
        }
        let name = URL(fileURLWithPath: store).lastPathComponent
        members["repair"] = .strings([
            "importer rejects \(name.shellQuoted) --to rejects.ndjson",
            "importer retry \(name.shellQuoted) rejects.ndjson",
        ])
        return members
    }

    private func members(_ error: RecordError) -> JSONValue {
        let fault = fault(of: error)
        var members: JSONValue = [
            "key_path": .string(error.keyPath), "code": .string(error.code.rawValue),
            "expected": .string(error.expected), "found": .string(error.found),
            "byte_offset": .integer(error.byteOffset), "message": .string(error.words()),
        ]
        if let fault {
            members["start"] = .integer(Int64(fault.lowerBound))
            members["end"] = .integer(Int64(fault.upperBound))
        }
        return members
    }

    /// The bytes of the record that an error is about: a whole value, or else the first byte.
    private func fault(of error: RecordError) -> Range<Int>? {
        let offset = error.byteOffset.subtractingReportingOverflow(reject.byteOffset)
        guard !offset.overflow, let start = Int(exactly: offset.partialValue), reject.record.indices.contains(start)
        else { return nil }
        return JSONValueEnd.range(at: start, in: reject.record) ?? start..<start + 1
    }
}
