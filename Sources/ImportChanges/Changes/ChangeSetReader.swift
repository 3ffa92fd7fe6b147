import Foundation
import ImportEngine
import ImportModel
import ImportSources

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
/// The file need not be trusted: every mistake in it is an error. A reader is created and used by one thread.
public final class ChangeSetReader {
    /// The header of the change set.
    public let header: ChangeSetHeader
    /// The footer of the change set; nil until `next()` has returned nil.
    public private(set) var footer: ChangeSetFooter?

    /// The file's path.
    package let path: String
    private let lines: ChangeSetLines
    private var changes: ChangeLineReader
    private let hasher = XXH3Hasher()
    private var lineCount: Int64 = 0
    private var counts: [BytewiseString: ChangeCounts] = [:]
    private var failure: ImportError?
    /// True if what is whole is read of a change set that breaks off.
    package var isPartial = false
    /// What is wrong where such a change set breaks off.
    private(set) var breakOff: ImportError?
    /// Just past the last change that was read.
    private(set) var endOffset: Int64 = 0

    /// Opens a change set and reads its header.
    ///
    /// - Parameters:
    ///   - url: the file's path.
    ///   - maxLineBytes: the maximum length of a line in bytes; by default 256 MiB.
    /// - Throws: `ImportError` with `.noInput` when there is no such file, `.badInput` when it is not a change set.
    public convenience init(_ url: URL, maxLineBytes: Int = 256 << 20) throws {
        try self.init(path: url.path, named: url.path, maxLineBytes: maxLineBytes)
    }

    /// - Parameter name: what messages call the file.
    package init(path: String, named name: String, maxLineBytes: Int = 256 << 20) throws {
        self.path = path
        lines = try ChangeSetLines(path, named: name, maxLineBytes: maxLineBytes)
        guard let line = try lines.next() else { throw lines.error("the file is empty") }
        do {
            header = try ChangeSetHeader(line)
        } catch {
            throw lines.error(error)
        }
        changes = ChangeLineReader(header.entities)
        lines.add(line, to: hasher)
        endOffset = lines.nextOffset
    }

    /// Reads the changes that come otherwise than by the header.
    package func read(by reader: ChangeLineReader) { changes = reader }

    /// The next change; nil after the last one, if the footer is right.
    ///
    /// A conflict of a merge must have a resolution, whose change is returned.
    ///
    /// - Throws: `ImportError` with `.badInput` for a line that is not a change, for an open conflict, for a missing footer, and for one
    ///   whose counts or checksum are not those of the changes; with `.io` when the file cannot be read.
    public func next() throws -> ObjectChange? {
        if let failure { throw failure }
        if footer != nil { return nil }
        do {
            return try read()
        } catch let error as ImportError {
            if isPartial, error.reason == .changeSetInvalid {
                breakOff = error
                footer = ChangeSetFooter(changes: lineCount, entities: [], checksum: nil)
                return nil
            }
            failure = error
            throw error
        }
    }

    private func read() throws -> ObjectChange? {
        guard let line = try lines.next() else {
            throw lines.error("the footer is missing: the file is incomplete")
        }
        do {
            // Only a line without `change` is one; that costs a look at its first bytes.
            if !line.starts(with: "{\"change\":".utf8), let footer = try ChangeSetFooter(line) {
                try check(footer)
                self.footer = footer
                return nil
            }
            let change = try line.withUnsafeBufferPointer { bytes throws(ChangeSetScanner.LineError) in
                try changes.change(ByteView(bytes))
            }
            lines.add(line, to: hasher)
            lineCount += 1
            endOffset = lines.nextOffset
            if !line.withUnsafeBufferPointer({ ChangeLineReader.isConflict(ByteView($0)) }) { counts.count(change) }
            return change
        } catch let error as ChangeSetScanner.LineError {
            throw lines.error(error)
        }
    }

    private func check(_ footer: ChangeSetFooter) throws {
        guard footer.changes == lineCount else {
            throw lines.error("the footer says \(footer.changes.grouped) changes, and there are \(lineCount.grouped)")
        }
        for entity in footer.entities {
            let own = counts[BytewiseString(entity.name)] ?? ChangeCounts()
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
