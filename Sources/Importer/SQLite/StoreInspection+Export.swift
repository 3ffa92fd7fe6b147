import Foundation
import ImportModel

/// What was exported.
public struct RejectExport: Sendable, Hashable {
    /// How the rejects are written.
    public enum Format: String, Sendable, Hashable, CaseIterable {
        /// A line of JSON for each, with its number, position and errors, and the record to edit: what a retry reads.
        case repairLines
        /// The records' original bytes alone, one per line.
        case raw
    }

    /// How many rejects were written.
    public internal(set) var rejects: Int64 = 0
    /// How many of them have only their records' first bytes.
    public internal(set) var partial: Int64 = 0

    /// Nothing yet.
    public init() {}
}

extension StoreInspection {
    /// Writes rejects job by job in source order.
    ///
    /// - Parameters:
    ///   - selection: which ones.
    ///   - format: how.
    ///   - body: given bytes of one or more whole lines at a time.
    /// - Throws: `ImportError` as `status` does, and what `body` throws.
    public func exportRejects(
        _ selection: RejectSelection = RejectSelection(),
        as format: RejectExport.Format,
        _ body: ([UInt8]) throws -> Void
    ) throws -> RejectExport {
        let (export, damage) = try exportRejects(selection, as: format, leavingOutPartial: false, body)
        if let damage { throw damage }
        return export
    }

    /// - Returns: what was exported, and what is wrong where some rejects cannot be read.
    private func exportRejects(
        _ selection: RejectSelection,
        as format: RejectExport.Format,
        leavingOutPartial: Bool,
        _ body: ([UInt8]) throws -> Void
    ) throws -> (RejectExport, ImportError?) {
        var export = RejectExport()
        var pending: [UInt8] = []
        let writer = RepairLineWriter()
        let damage = try scanRejects(selection) { reject in
            if reject.isPartial {
                export.partial += 1
                if leavingOutPartial { return }
            }
            export.rejects += 1
            switch format {
            case .repairLines: writer.append(reject, to: &pending)
            case .raw: pending += reject.record + [0x0A]
            }
            guard pending.count >= 1 << 16 else { return }
            try body(pending)
            pending.removeAll(keepingCapacity: true)
        }
        if !pending.isEmpty { try body(pending) }
        return (export, damage)
    }

    /// Writes rejects to a file, all or nothing: under a temporary name first, and then renamed.
    ///
    /// - Parameters:
    ///   - selection: which ones.
    ///   - format: how.
    ///   - path: the file; its folder must be there.
    ///   - overwrites: whether an existing file may be replaced.
    /// - Throws: `ImportError`: `.cannotCreate` when the file exists or cannot be created, `.io` when it cannot be
    ///   written, and as `status` does.
    public func exportRejects(
        _ selection: RejectSelection = RejectSelection(),
        as format: RejectExport.Format,
        toFile path: String,
        overwrites: Bool = false
    ) throws -> RejectExport {
        let file = try ExportFile(path: path, overwrites: overwrites)
        let (export, damage) = try exportRejects(selection, as: format, leavingOutPartial: false) {
            try file.write($0[...])
        }
        try file.finish()
        if let damage { throw damage }
        return export
    }

    /// Calls `body` with rejects that are whole, as lines of a repair file: with one or more whole lines at a time.
    ///
    /// - Returns: how many were left out, as only their records' first bytes are kept.
    func forEachRepairLine(_ selection: RejectSelection, _ body: (ArraySlice<UInt8>) throws -> Void) throws -> Int64 {
        let (export, damage) = try exportRejects(selection, as: .repairLines, leavingOutPartial: true) {
            try body($0[...])
        }
        if let damage { throw damage }
        return export.partial
    }
}
