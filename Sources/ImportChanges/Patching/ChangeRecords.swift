import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// The changes of a change set from some byte offset on, each with its bytes.
///
/// What several lines say of one object is one record.
package struct ChangeRecords {
    package struct Record {
        /// Counted in the change set, from 1.
        package let ordinal: Int64
        package let change: ObjectChange
        /// Its lines as they are, without the last line feed.
        package let bytes: [UInt8]
        /// What of the file is read for it: of a repair file more than its lines.
        package let source: [UInt8]
        package let byteOffset: Int64
        /// Just past it.
        let endOffset: Int64
    }

    private let lines: ChangeSetLines
    private let reader: ChangeLineReader
    private let endOffset: Int64
    private let repairs: RecordReader?
    private var ordinal: Int64
    private var ahead: Record?
    private let hasher = XXH3Hasher()

    /// - Parameters:
    ///   - path: the change set's.
    ///   - reader: of lines.
    ///   - endOffset: just past the last change.
    ///   - isRepairFile: whether the changes are the records of a repair file.
    package init(
        _ path: String,
        _ reader: ChangeLineReader,
        after marker: Marker,
        upTo endOffset: Int64,
        isRepairFile: Bool = false
    ) throws {
        repairs = isRepairFile ? RepairLine.makeReader() : nil
        lines = try ChangeSetLines(path, maxLineBytes: 256 << 20, at: marker.byteOffset)
        self.reader = reader
        self.endOffset = endOffset
        ordinal = marker.recordOrdinal
        // The header.
        if !isRepairFile, marker.byteOffset == 0, let line = try lines.next() { add(line) }
    }

    private func add(_ line: [UInt8]) {
        line.withUnsafeBytes { hasher.update($0) }
        [UInt8(ascii: "\n")].withUnsafeBytes { hasher.update($0) }
    }

    /// True if there is no change after the one that was returned last.
    package mutating func isAtEnd() throws -> Bool {
        if ahead == nil { ahead = try read() }
        return ahead == nil
    }

    /// The next change; nil after the last.
    package mutating func next() throws -> Record? {
        guard let first = try ahead ?? read() else { return nil }
        ahead = nil
        add(first.source)
        var (change, bytes, endOffset) = (first.change, first.bytes, first.endOffset)
        while let next = try read() {
            guard next.change.isContinued, next.change.entity.hasSameBytes(as: change.entity),
                next.change.identifier == change.identifier
            else {
                ahead = next
                break
            }
            add(next.source)
            change.join(next.change)
            bytes.append(UInt8(ascii: "\n"))
            bytes += next.bytes
            endOffset = next.endOffset
        }
        ordinal += 1
        return Record(
            ordinal: ordinal,
            change: change,
            bytes: bytes,
            source: first.source,
            byteOffset: first.byteOffset,
            endOffset: endOffset
        )
    }

    private func read() throws -> Record? {
        var source: [UInt8] = []
        var begin: Int64?
        while lines.nextOffset < endOffset, let line = try lines.next() {
            source += source.isEmpty ? line : [UInt8(ascii: "\n")] + line
            begin = begin ?? lines.byteOffset
            if repairs != nil, line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
            let bytes = try repairs.map { try record(of: line, $0) } ?? line
            return Record(
                ordinal: 0,
                change: try change(in: bytes),
                bytes: bytes,
                source: source,
                byteOffset: begin ?? 0,
                endOffset: lines.nextOffset
            )
        }
        return nil
    }

    /// The change in a line of a repair file.
    private func record(of line: [UInt8], _ reader: RecordReader) throws -> [UInt8] {
        do {
            return try (line + [UInt8(ascii: "\n")]).withUnsafeBufferPointer { bytes throws(RepairLine.Problem) in
                try RepairLine.record(in: ByteView(bytes), reader)
            }
        } catch {
            throw lines.error("the line \(error.text)")
        }
    }

    /// The changes in lines of a record that was kept.
    package func change(in bytes: [UInt8]) throws -> ObjectChange {
        var joined: ObjectChange?
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let line = Array(line)
            do {
                let change = try line.withUnsafeBufferPointer { bytes throws(ChangeSetScanner.LineError) in
                    try reader.change(ByteView(bytes))
                }
                if joined == nil { joined = change } else { joined?.join(change) }
            } catch {
                throw lines.error(error)
            }
        }
        guard let joined else { throw ImportError(.fault, "a change without lines") }
        return joined
    }

    /// The hash of the bytes since the last call, and just past them; of the last call, up to the end of the file.
    package mutating func range() throws -> (hash: String, endOffset: Int64) {
        var end = ahead?.byteOffset ?? lines.nextOffset
        if ahead == nil {
            while let line = try lines.next() {
                line.withUnsafeBytes { hasher.update($0) }
                if lines.nextOffset > lines.byteOffset + Int64(line.count) {
                    [UInt8(ascii: "\n")].withUnsafeBytes { hasher.update($0) }
                }
            }
            end = lines.nextOffset
        }
        defer { hasher.reset() }
        return (hasher.digest, end)
    }
}
