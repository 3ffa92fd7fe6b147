import Foundation
import ImportModel

/// Reads a change set, one change after the other, in constant memory.
///
/// ```swift
/// var options = DifferenceOptions()
/// options.entities = ["people"]
/// let difference = try StoreDifference(from: "sunday.sqlite", to: "monday.sqlite", options: options)
/// try difference.write(to: ChangeSetWriter(URL(fileURLWithPath: "monday.changes.ndjson")))
///
/// let reader = try ChangeSetReader(URL(fileURLWithPath: "monday.changes.ndjson"))
/// while let change = try reader.next() {
///     print(change.kind, change.entity)
/// }
/// ```
///
/// The file may be anybody's: what is wrong with it is an error, and nothing that it holds is trusted. It is made and used by one
/// thread.
public final class ChangeSetReader {
    /// What the change set says before its first change.
    public let header: ChangeSetHeader
    /// What it says after its last one; nil until `next()` has returned nil.
    public private(set) var footer: ChangeSetFooter?

    private let lines: LineReader
    private let changes: ChangeLineReader
    private let hasher = XXH3Hasher()
    private var lineCount: Int64 = 0
    private var counts: [ExactText: ChangeCounts] = [:]
    private var failure: ImportError?

    /// Opens a change set and reads its header.
    ///
    /// - Parameters:
    ///   - url: the file's path.
    ///   - maxLineBytes: the longest line that is read; 256 MiB unless given.
    /// - Throws: `ImportError` with `.noInput` when there is no such file, `.badInput` when it is no change set.
    public init(_ url: URL, maxLineBytes: Int = 256 << 20) throws {
        lines = try LineReader(url.path, maxLineBytes: maxLineBytes)
        guard let line = try lines.next() else { throw lines.error("the file is empty") }
        do {
            header = try ChangeSetHeader(line)
        } catch {
            throw lines.error(error)
        }
        changes = ChangeLineReader(header.entities)
        lines.add(line, to: hasher)
    }

    /// The next change; nil after the last one, when the footer was found to fit.
    ///
    /// - Throws: `ImportError` with `.badInput` for what is no change, for a footer that is missing, and for one whose counts or
    ///   checksum are not those of the changes; with `.io` when the file cannot be read.
    public func next() throws -> ObjectChange? {
        if let failure { throw failure }
        if footer != nil { return nil }
        do {
            return try read()
        } catch let error as ImportError {
            failure = error
            throw error
        }
    }

    private func read() throws -> ObjectChange? {
        guard let line = try lines.next() else {
            throw lines.error("the footer is missing: the file is not whole")
        }
        do {
            // Only a line without `change` is one; that costs a look at its first bytes.
            if !line.starts(with: "{\"change\":".utf8), let footer = try ChangeSetFooter(line) {
                try check(footer)
                self.footer = footer
                return nil
            }
            let change = try line.withUnsafeBufferPointer { bytes throws(ChangeJSON.Fault) in
                try changes.change(ByteView(bytes))
            }
            lines.add(line, to: hasher)
            lineCount += 1
            count(change)
            return change
        } catch let fault as ChangeJSON.Fault {
            throw lines.error(fault)
        }
    }

    private func count(_ change: ObjectChange) {
        if !change.isContinued {
            switch change.kind {
            case .inserted: counts[ExactText(change.entity), default: ChangeCounts()].inserted += 1
            case .deleted: counts[ExactText(change.entity), default: ChangeCounts()].deleted += 1
            case .updated where change.changesObject:
                counts[ExactText(change.entity), default: ChangeCounts()].updated += 1
            case .updated: break
            }
        }
        for owned in change.relationships {
            guard case .objects(let changes) = owned.content else { continue }
            for change in changes { count(change) }
        }
    }

    private func check(_ footer: ChangeSetFooter) throws {
        guard footer.changes == lineCount else {
            throw lines.error("the footer says \(footer.changes) changes, and there are \(lineCount)")
        }
        for entity in footer.entities {
            let own = counts[ExactText(entity.name)] ?? ChangeCounts()
            let said = entity.counts
            guard own.inserted == said.inserted, own.updated == said.updated, own.deleted == said.deleted else {
                throw lines.error("the footer's counts of \(entity.name) are not those of the changes")
            }
        }
        if let checksum = footer.checksum, checksum != hasher.digest {
            throw lines.error("the footer's checksum is not that of the file: it was edited or damaged")
        }
        guard try lines.next() == nil else { throw lines.error("something follows the footer") }
    }
}

/// Reads a file's lines.
private final class LineReader {
    private let path: String
    private let file: Descriptor
    private let maxLineBytes: Int
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false
    private var lineNumber: Int64 = 0
    private var byteOffset: Int64 = 0
    private var nextOffset: Int64 = 0

    init(_ path: String, maxLineBytes: Int) throws {
        self.path = path
        self.maxLineBytes = maxLineBytes
        file = try Descriptor.open(path, waits: true)
    }

    /// The next line without its line feed; nil at the end of the file.
    func next() throws -> [UInt8]? {
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) { return line(to: end, breakLength: 1) }
            searched = buffer.count
            guard searched - start <= maxLineBytes else {
                begin()
                throw error("a line of more than \(maxLineBytes) bytes")
            }
            if isAtEnd { return start < buffer.count ? line(to: buffer.count, breakLength: 0) : nil }
            if start > 0 {
                buffer.removeSubrange(..<start)
                searched -= start
                start = 0
            }
            try fill()
        }
    }

    private func begin() {
        lineNumber += 1
        byteOffset = nextOffset
    }

    private func line(to end: Int, breakLength: Int) -> [UInt8] {
        begin()
        let line = Array(buffer[start..<end])
        start = end + breakLength
        nextOffset += Int64(line.count + breakLength)
        return line
    }

    private func fill() throws {
        let block = [UInt8](unsafeUninitializedCapacity: 1 << 16) { bytes, count in
            count = 0
            while true {
                let length = read(file.number, bytes.baseAddress, bytes.count)
                if length >= 0 { count = length }
                if length >= 0 || errno != EINTR { break }
            }
        }
        if block.isEmpty {
            // Nothing was read: the end, or an error, which a read of nothing tells.
            if read(file.number, nil, 0) < 0 { throw ImportError.cannotRead(path, errno: errno) }
            isAtEnd = true
        }
        buffer += block
    }

    /// Adds a line that was read to a checksum.
    func add(_ line: [UInt8], to hasher: XXH3Hasher) {
        line.withUnsafeBytes { hasher.update($0) }
        [UInt8(ascii: "\n")].withUnsafeBytes { hasher.update($0) }
    }

    /// What is wrong with the last line.
    func error(_ reason: String) -> ImportError { error(ChangeJSON.Fault(reason: reason, byteOffset: 0)) }

    func error(_ fault: ChangeJSON.Fault) -> ImportError {
        let offset = byteOffset + Int64(fault.byteOffset)
        return ImportError(
            .changeSetInvalid,
            at: path,
            position: ImportError.Position(
                line: max(lineNumber, 1),
                column: Int64(fault.byteOffset) + 1,
                byteOffset: offset
            ),
            "line \(max(lineNumber, 1)): \(fault.reason)",
            advice: "Make the change set again."
        )
    }
}
