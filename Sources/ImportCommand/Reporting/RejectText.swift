import ImportModel
import Importer

/// A reject for people.
enum RejectText {
    private static let columns = 80

    /// One line of its number, state and place, one for each error, and the record's beginning if it is to be shown.
    static func text(_ reject: StoreInspection.Reject, showsRecord: Bool) -> String {
        var lines = [
            "#\(reject.number)  \(reject.state.rawValue)  \(TerminalText.escaped(reject.source)) at byte \(NumberText.grouped(reject.byteOffset))"
                + ", record \(NumberText.grouped(reject.ordinal)), \(TerminalText.escaped(reject.entity))"
        ]
        lines += reject.errors.map { error in
            let place = error.keyPath.isEmpty ? "$" : error.keyPath
            let value = showsRecord ? value(of: error, in: reject) : nil
            return TerminalText.escaped(
                "    \(place): \(error.words(value: value)) (byte \(NumberText.grouped(error.byteOffset)))"
            )
        }
        if showsRecord { lines.append("    " + TerminalText.excerpt(reject.record, columns: columns - 4)) }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The number, text or literal that an error is about; nil where it is no such value, or a long one.
    private static func value(of error: RecordError, in reject: StoreInspection.Reject) -> String? {
        let offset = error.byteOffset.subtractingReportingOverflow(reject.byteOffset)
        guard !offset.overflow, offset.partialValue > 0, let start = Int(exactly: offset.partialValue),
            start < reject.record.count
        else { return nil }
        let isContainer = [UInt8(ascii: "{"), UInt8(ascii: "[")].contains(reject.record[start])
        guard !isContainer, let range = JSONValueEnd.range(at: start, in: reject.record), range.count < columns / 2
        else {
            return nil
        }
        return String(validating: reject.record[range], as: UTF8.self)
    }
}
