import Foundation
import ImportEngine
import ImportModel
import ImportSources

/// The result of an export of rejects.
public struct RejectExport: Sendable, Hashable {
    /// The formats of exported rejects.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        /// A repair file for a retry: a line of JSON for each reject, with its number, position and errors, and the record to edit.
        case repairLines
        /// The original bytes of the records only, one per line.
        case raw
    }

    /// The number of rejects written.
    public package(set) var rejects: Int64 = 0
    /// The number of them that have only the first bytes of their records.
    public package(set) var partial: Int64 = 0

    /// Creates an empty result.
    public init() {}
}

/// Rejects on their way out.
package struct RejectExporter {
    /// What was written.
    package private(set) var export = RejectExport()
    private let format: RejectExport.Format
    private let leavesOutPartial: Bool
    private let writer = RepairLineWriter()
    private var pending: [UInt8] = []

    /// - Parameter leavesOutPartial: whether those are left out of which only the first bytes are kept.
    package init(as format: RejectExport.Format, leavesOutPartial: Bool = false) {
        self.format = format
        self.leavesOutPartial = leavesOutPartial
    }

    /// Takes a reject.
    ///
    /// - Parameter body: given bytes of one or more whole lines at a time.
    /// - Throws: what `body` throws.
    package mutating func append(_ reject: StoreInspection.Reject, to body: ([UInt8]) throws -> Void) throws {
        if reject.isPartial {
            export.partial += 1
            if leavesOutPartial { return }
        }
        export.rejects += 1
        switch format {
        case .repairLines: writer.append(reject, to: &pending)
        case .raw: pending += reject.record + [0x0A]
        }
        if pending.count >= 1 << 16 { try flush(to: body) }
    }

    /// Writes what is left.
    package mutating func flush(to body: ([UInt8]) throws -> Void) throws {
        if !pending.isEmpty { try body(pending) }
        pending.removeAll(keepingCapacity: true)
    }
}
