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
    var short: JSONMembers {
        var members = JSONMembers()
        members["number"] = .integer(reject.number)
        members["state"] = .string(reject.state.rawValue)
        members["job"] = .integer(reject.job)
        members["source"] = .string(reject.source)
        members["entity"] = .string(reject.entity)
        members["ordinal"] = .integer(reject.ordinal)
        members["byte_offset"] = .integer(reject.byteOffset)
        members["length"] = .integer(reject.length)
        members["errors"] = .array(reject.errors.map { self.members($0).value })
        return members
    }

    /// The same with the record's bytes, and the commands that repair it.
    var members: JSONMembers {
        var members = short
        if hidesValues {
            members["hidden"] = .boolean(true)
        } else {
            let bytes = reject.record.prefix(Self.mostBytes)
            members["record_base64"] = .string(Data(bytes).base64EncodedString())
            members.set("record", String(validating: bytes, as: UTF8.self).map { .string($0) })
            if bytes.count < reject.record.count || reject.isPartial { members["truncated"] = .boolean(true) }
        }
        let name = URL(fileURLWithPath: store).lastPathComponent
        members["repair"] = .array(
            [
                "importer rejects \(name.shellQuoted) --to rejects.ndjson",
                "importer retry \(name.shellQuoted) rejects.ndjson",
            ].map { .string($0) }
        )
        return members
    }

    private func members(_ error: RecordError) -> JSONMembers {
        let fault = fault(of: error)
        var members = JSONMembers()
        members["key_path"] = .string(error.keyPath)
        members["code"] = .string(error.code.rawValue)
        members["expected"] = .string(error.expected)
        members["found"] = .string(error.found)
        members["byte_offset"] = .integer(error.byteOffset)
        members["message"] = .string(error.words())
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
        return JSONExtent.range(at: start, in: reject.record) ?? start..<start + 1
    }
}
