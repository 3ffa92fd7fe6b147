import ImportModel
import Synchronization

/// A program's own records as a source: a stream of lines of JSON that can be read once, as standard input can.
package final class ProgramRecords: Sendable {
    private static let prefix = "records: "

    /// The source's name, which has the entity in it: a resume tells by it which records are meant.
    package let name: String
    private let isTaken = Atomic(false)
    // Handed over by its maker, and used by the one that takes it first.
    nonisolated(unsafe) private let stream: (Interruption) -> any ByteStream

    /// - Parameter records: read by one thread, from their beginning.
    package init<Records: Sequence>(_ records: sending Records, of entity: String) where Records.Element: Encodable {
        name = Self.prefix + entity
        // Only the closure has it.
        nonisolated(unsafe) let records = records
        stream = { _ in RecordSequenceStream(records) }
    }

    /// - Parameter records: read by a task.
    package init<Records: AsyncSequence & Sendable>(
        asynchronous records: Records,
        of entity: String
    ) where Records.Element: Encodable {
        name = Self.prefix + entity
        stream = { RecordTaskStream(records, interruption: $0) }
    }

    /// True if a source of this name is one of a program's records, which nobody else can open.
    package static func isName(_ name: String) -> Bool { name.hasPrefix(prefix) }

    /// The records from the first one on.
    ///
    /// - Throws: `ImportError` when they were read before.
    package func open(_ interruption: Interruption) throws -> any ByteStream {
        guard !isTaken.exchange(true, ordering: .acquiringAndReleasing) else {
            throw ImportError(
                .fault,
                at: name,
                "cannot be read a second time",
                advice: "Make a new pipeline with the records: it resumes where this one stopped."
            )
        }
        return stream(interruption)
    }

    /// What ends a source whose next record cannot be had.
    package static func failure(_ error: any Error, after count: Int) -> any Error {
        if let error = error as? ImportError { return error }
        guard let invalid = error as? EncodingError, case .invalidValue(_, let context) = invalid else {
            return ImportError(
                .recordsFailed,
                "the records end with an error after record \(count.grouped): \(error)",
                advice: "The records before it are imported. Give all of them again to resume."
            )
        }
        let path = context.codingPath.map(\.stringValue).joined(separator: ".")
        return ImportError(
            .recordsFailed,
            position: ImportError.Position(record: Int64(count) + 1, keyPath: path),
            "record \((count + 1).grouped): \(path.isEmpty ? "" : "\(path): ")cannot be encoded: \(context.debugDescription)",
            advice: "The records before it are imported. Give all of them again to resume."
        )
    }

    /// What no records are as JSON: an array without elements, spelled as none is encoded.
    package static let none = Array("[ ]\n".utf8)
    /// Where their records are.
    package static let pathOfNone = RecordPath(steps: [.anyElement])
    /// The fingerprint of every source without records.
    package static let fingerprintOfNone = none.withUnsafeBytes { XXH3Hasher.digest(of: $0) }
}
