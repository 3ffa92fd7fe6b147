import Foundation
import ImportEngine
import ImportSources

/// Writes a change set, one change after the other, in constant memory.
///
/// ```swift
/// let writer = try ChangeSetWriter(URL(fileURLWithPath: "monday.changes.ndjson"), overwrites: true)
/// var options = DifferenceOptions()
/// options.entities = ["people"]
/// try StoreDifference(from: "sunday.sqlite", to: "monday.sqlite", options: options).write(to: writer)
/// ```
///
/// A writer is created and used by one thread.
public final class ChangeSetWriter {
    /// The size in bytes above which lines are divided, if possible; by default 64 MiB.
    public var maxRecordBytes = 64 << 20

    private let output: ([UInt8]) throws -> Void
    private let file: AtomicFile?
    private let hasher = XXH3Hasher()
    private var lines: ChangeLineWriter?
    private var pending: [UInt8] = []
    private var lineCount: Int64 = 0
    /// True if a conflict is open: those who resolve it edit the file.
    private var isToBeEdited = false

    /// Creates a writer to a file, which gets its name when it is complete.
    ///
    /// - Parameters:
    ///   - url: the file's path.
    ///   - overwrites: true if an existing file may be replaced.
    /// - Throws: `ImportError` with `.cannotCreate` when the file cannot be created, or exists and must not be replaced.
    public convenience init(_ url: URL, overwrites: Bool = false) throws {
        let file = try AtomicFile(path: url.path, overwrites: overwrites)
        self.init(file) { try file.write($0[...]) }
    }

    /// Creates a writer that passes the bytes to `output`, some lines at a time.
    public convenience init(_ output: @escaping ([UInt8]) throws -> Void) {
        self.init(nil, output)
    }

    private init(_ file: AtomicFile?, _ output: @escaping ([UInt8]) throws -> Void) {
        self.file = file
        self.output = output
    }

    /// Writes the header; call it once, before all changes.
    public func begin(_ header: ChangeSetHeader) throws {
        lines = ChangeLineWriter(header.entities)
        ChangeLineWriter.append(header, to: &pending)
        try flush(ifLarge: true)
    }

    /// Writes a change as a line, or as several if one would be too long because of owned objects.
    ///
    /// - Throws: `ImportError` with `.fault` before `begin`; otherwise what writing throws.
    public func write(_ change: ObjectChange) throws {
        guard let lines else { throw ImportError(.fault, "a change was written before the header") }
        let start = pending.count
        lines.append(change, to: &pending)
        if pending.count - start > maxRecordBytes, let parts = change.divided(at: maxRecordBytes, lines) {
            pending.removeSubrange(start...)
            for part in parts {
                lines.append(part, to: &pending)
                try endLine()
            }
        } else {
            try endLine()
        }
    }

    /// Writes a conflict of a merge as a line.
    ///
    /// - Throws: `ImportError` with `.fault` before `begin`; otherwise what writing throws.
    public func write(_ conflict: MergeConflict) throws {
        guard let lines else { throw ImportError(.fault, "a conflict was written before the header") }
        lines.append(conflict, to: &pending)
        if conflict.take == nil { isToBeEdited = true }
        try endLine()
    }

    /// Writes the footer, and gives the file its name.
    ///
    /// The footer has no checksum if a conflict is open, as resolving it means editing the file.
    ///
    /// - Parameter entities: the counts of each entity.
    public func end(_ entities: [ChangeSetFooter.Entity]) throws {
        try flush(ifLarge: false)
        ChangeLineWriter.append(
            ChangeSetFooter(changes: lineCount, entities: entities, checksum: isToBeEdited ? nil : hasher.digest),
            to: &pending
        )
        try flush(ifLarge: false)
        try file?.finish()
    }

    private func endLine() throws {
        pending.append(UInt8(ascii: "\n"))
        lineCount += 1
        try flush(ifLarge: true)
    }

    private func flush(ifLarge: Bool) throws {
        guard !pending.isEmpty, !ifLarge || pending.count >= 1 << 16 else { return }
        pending.withUnsafeBytes { hasher.update($0) }
        try output(pending)
        pending.removeAll(keepingCapacity: pending.count < 1 << 20)
    }
}

extension ObjectChange {
    /// The change in parts that are about as long as they may be; nil where nothing in it can be divided.
    fileprivate func divided(at limit: Int, _ lines: ChangeLineWriter) -> [ObjectChange]? {
        var parts: [ObjectChange] = []
        var part = self
        part.relationships = []
        part.moved = []
        part.order = []
        var size = 0
        func close() {
            parts.append(part)
            part = ObjectChange(kind, entity: entity, identifier: identifier, isContinued: true)
            size = 0
        }
        var bytes: [UInt8] = []
        for owned in relationships {
            guard case .objects(let changes) = owned.content else {
                part.relationships.append(owned)
                continue
            }
            var taken: [ObjectChange] = []
            for change in changes {
                bytes.removeAll(keepingCapacity: true)
                lines.append(change, to: &bytes)
                if size > 0, size + bytes.count > limit {
                    if !taken.isEmpty { part.relationships.append(OwnedChange(owned.name, .objects(taken))) }
                    taken = []
                    close()
                }
                taken.append(change)
                size += bytes.count
            }
            part.relationships.append(OwnedChange(owned.name, .objects(taken)))
        }
        part.moved = moved
        part.order = order
        parts.append(part)
        return parts.count > 1 ? parts : nil
    }
}
