import ImportModel
import ImportSources
import Synchronization

/// The repaired record of a reject, to be imported by `ImportPipeline.init(retrying:in:)`.
///
/// Create it from the reject that it repairs, which `StoreInspection.forEachReject` reads:
///
/// ```swift
/// var repaired: [RepairedRecord] = []
/// try StoreInspection(store: "people.sqlite").forEachReject { reject in
///     var record = try JSONValue(parsing: reject.record)
///     record["age"] = 36
///     repaired.append(RepairedRecord(record, of: reject))
/// }
/// ```
public struct RepairedRecord: Sendable, Hashable {
    /// The number of the reject in its store.
    public let reject: Int64
    /// The record as JSON.
    public let json: String
    /// The reject's job and its record's number in it, which tell it from a reject of another store.
    private let job: Int64
    private let ordinal: Int64
    /// The record's keys, where it is one of a keyed collection, as `RecordKeys` has them.
    private let key: String?

    package init(_ json: String, reject: Int64, job: Int64, ordinal: Int64, key: String?) {
        self.json = json
        self.reject = reject
        self.job = job
        self.ordinal = ordinal
        self.key = key
    }

    /// The line of a repair file that says the same, with the LF that ends it.
    package var line: [UInt8] {
        var text = "{\"reject\": \(reject), \"job\": \(job), \"ordinal\": \(ordinal)"
        if let key { text += ", \"key\": \(RecordKeys.json(of: key))" }
        return Array("\(text), \"record\": \(json)}\n".utf8)
    }
}

/// The repaired records that a program gives to a retry.
package final class ProgramRepairs: Sendable {
    /// What messages call them.
    package static let name = "the repaired records"

    private let isTaken = Atomic(false)
    // Handed over by its maker, and used by the one that takes it first.
    nonisolated(unsafe) private let records: ((RepairedRecord) throws -> Void) throws -> Void

    /// - Parameter records: iterated over once, by one thread.
    package init<Records: Sequence>(_ records: sending Records) where Records.Element == RepairedRecord {
        // Only the closure has it.
        nonisolated(unsafe) let records = records
        self.records = { body in for record in records { try body(record) } }
    }

    /// Calls `body` with the line of each.
    ///
    /// - Throws: what `body` throws, and `ImportError` when they were read before.
    package func forEachLine(_ body: ([UInt8]) throws -> Void) throws {
        guard !isTaken.exchange(true, ordering: .acquiringAndReleasing) else {
            throw ImportError(
                .pipelineSpent,
                at: Self.name,
                "cannot be read a second time",
                advice: "Make a new pipeline with the records."
            )
        }
        try records { try body($0.line) }
    }
}
