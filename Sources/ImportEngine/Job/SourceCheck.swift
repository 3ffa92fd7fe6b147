import Foundation
import ImportModel
import ImportSources

/// Decides whether the sources of an interrupted job are still what was imported: the bytes before the marker must be
/// the same, what follows may have been completed or mended.
package struct SourceCheck {
    package let opener: SourceOpener
    package let interruption: Interruption

    package init(opener: SourceOpener, interruption: Interruption) {
        self.opener = opener
        self.interruption = interruption
    }

    /// True if all that the system notes of a file says that nothing has changed.
    ///
    /// A file of the same size and time that has another inode or was changed since is read again. So is one that was
    /// described before these were noted.
    package static func isUntouched(_ now: SourceDescription, since before: SourceDescription) -> Bool {
        isAlike(now, before) && now.inode == before.inode && now.changed == before.changed
    }

    /// True if size and modification time are the same, which anybody can set.
    static func isAlike(_ now: SourceDescription, _ before: SourceDescription) -> Bool {
        now.size == before.size && now.modified == before.modified
    }

    /// True if a source has the very bytes that a finished job has read of it.
    ///
    /// - Parameters:
    ///   - now: what it is now.
    ///   - index: the source's index in the job.
    package func isSame(
        _ now: SourceDescription,
        as job: StoredJob,
        source index: Int,
        _ journal: any JournalReader
    ) throws -> Bool {
        let committed = try journal.committed(of: job, source: index)
        let stream = try opener.open(now, interruption: interruption)
        do {
            try verify(stream, now.name, committed.ranges, upTo: committed.ranges.last?.endByte ?? 0)
            if !committed.hasReachedLimit { try verifyEnd(of: stream, now.name) }
            return true
        } catch let error as ImportError where error.code == .badInput {
            return false
        }
    }

    /// Reads a source from where `stream` is and compares it with what is known of it.
    ///
    /// - Parameters:
    ///   - ranges: in order, without gaps.
    ///   - end: where to stop, which is where `stream` is left; at or after the last range's end.
    /// - Throws: `ImportError` with `.badInput` when a range has changed or the source is too short.
    package func verify(_ stream: SourceStream, _ name: String, _ ranges: [HashedRange], upTo end: Int64) throws {
        for range in ranges where range.endByte <= end {
            let hash = try hash(stream, upTo: range.endByte)
            guard hash == range.hash else {
                throw ImportError(
                    .sourceChanged,
                    at: name,
                    hash == nil
                        ? "ended after \(stream.offset.grouped) bytes, and the import has read \(range.endByte.grouped) of it before"
                        : "bytes \(max(0, range.firstByte).grouped) to \(range.endByte.grouped) differ from those that were imported",
                    advice: "Give the source that the import was started with, or restart the import with \(.restart)."
                )
            }
        }
        _ = try hash(stream, upTo: end)
    }

    /// Makes sure that a source that was read to its end still ends there.
    ///
    /// - Throws: `ImportError` with `.badInput` when it continues.
    package func verifyEnd(of stream: SourceStream, _ name: String) throws {
        var block: [UInt8] = [0]
        guard try stream.read(into: &block) == 0 else {
            throw ImportError(
                .sourceChanged,
                at: name,
                "has grown since it was imported",
                advice: "Give the source as it was, or restart the import with \(.restart)."
            )
        }
    }

    private func hash(_ stream: SourceStream, upTo end: Int64) throws -> String? {
        let hasher = XXH3Hasher()
        var block = [UInt8](repeating: 0, count: 256 << 10)
        while stream.offset < end {
            let wanted = min(Int64(256 << 10), end - stream.offset)
            if block.count != Int(wanted) { block = [UInt8](repeating: 0, count: Int(wanted)) }
            let count = try stream.read(into: &block)
            guard count > 0 else { return nil }
            block.withUnsafeBytes { hasher.update(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
        }
        return hasher.digest
    }
}
