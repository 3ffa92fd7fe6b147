import Foundation
import ImportModel
import ImportSources

/// Decides whether the sources of an interrupted job are still what was imported: the bytes before the marker must be
/// the same, what follows may have been completed or mended.
package struct SourceCheck {
    package let opener: SourceOpener
    package let interruption: Interruption
    /// What was read of sources a moment ago; nil where each is read from its beginning.
    private let beginnings: ReadBeginnings?

    package init(opener: SourceOpener, interruption: Interruption, beginnings: ReadBeginnings? = nil) {
        self.opener = opener
        self.interruption = interruption
        self.beginnings = beginnings
    }

    /// True if all that the system notes of a file says that nothing has changed.
    ///
    /// A file of the same size and time that has another inode or was changed since is read again. So is one that was
    /// described before these were noted, and one that had more than was read.
    package static func isUntouched(_ now: SourceDescription, since before: SourceDescription) -> Bool {
        isAlike(now, before) && now.inode == before.inode && now.changed == before.changed
            && now.wholeEnd == before.wholeEnd
    }

    /// True if size and modification time are the same, which anybody can set.
    static func isAlike(_ now: SourceDescription, _ before: SourceDescription) -> Bool {
        now.size == before.size && now.modified == before.modified
    }

    /// How a source compares with what was read of one before.
    package enum Comparison: Equatable {
        /// It has the same bytes, as far as they were wanted.
        case same
        /// It begins with the same bytes, and other values follow.
        case longer(SourceDescription.EarlierPart)
        case other
    }

    /// Compares a source with what a finished job has read of one.
    ///
    /// - Parameters:
    ///   - now: what it is now.
    ///   - index: the other source's index in the job.
    ///   - wasBad: whether something was wrong with it then.
    /// - Throws: `ImportError` when the source cannot be opened.
    package func compare(
        _ now: SourceDescription,
        with job: StoredJob,
        source index: Int,
        _ journal: any JournalReader,
        wasBad: Bool = false
    ) throws -> Comparison {
        let before = job.sources[index]
        let known = try beginnings?.known(of: now, as: before.description, opener, interruption)
        let committed = try journal.committed(of: job, source: index, from: known?.end ?? 0)
        let stream = try opener.open(now.read(as: before.description), at: known?.end ?? 0, interruption: interruption)
        var next: [UInt8] = [0]
        let beginning: Beginning
        var following: [UInt8] = []
        do {
            guard let found = try self.beginning(of: stream, before.description, committed.ranges, known) else {
                return try compareArray(now, with: job, source: index, committed, journal)
            }
            beginning = found
            beginnings?.keep(found, of: now, as: before.description, opener, interruption)
            if committed.hasReachedLimit { return .same }
            // One that is sound by now is done with what is noted of it.
            let ended: Comparison =
                wasBad ? .longer(earlierPart(upTo: found.prefix, found.whole.digest, in: "", job, before)) : .same
            guard try stream.read(into: &next) > 0 else { return ended }
            following = next
            // White space brings nothing.
            while following.allSatisfy(ByteScan.isSpace) {
                following = [UInt8](repeating: 0, count: 4096)
                let count = try stream.read(into: &following)
                if count == 0 { return ended }
                following.removeLast(following.count - count)
            }
        } catch let error as ImportError where error.code == .badInput {
            return .other
        }
        guard beginning.prefix.byteOffset > 0, before.shape.fault == nil else { return .other }
        // An array that was bad behind an element.
        let isInArray =
            following.first { !ByteScan.isSpace($0) }.map { ",]".utf8.contains($0) } == true
            && beginning.last == UInt8(ascii: "}")
        let array = isInArray && before.description.form == nil ? GrownArray(of: before.shape) : nil
        guard array != nil || canGoOn(before.shape.layout, after: beginning.last, with: next[0]) else { return .other }
        let enclosing = array?.enclosing ?? ""
        return .longer(earlierPart(upTo: beginning.prefix, beginning.whole.digest, in: enclosing, job, before))
    }

    /// Compares a document with one of an array that was imported, which may have more elements now.
    private func compareArray(
        _ now: SourceDescription,
        with job: StoredJob,
        source index: Int,
        _ committed: CommittedSource,
        _ journal: any JournalReader
    ) throws -> Comparison {
        let before = job.sources[index]
        guard !committed.hasReachedLimit, before.description.form == nil, let array = GrownArray(of: before.shape)
        else {
            return .other
        }
        var ranges = try journal.committed(of: job, source: index).ranges
        if let earlier = before.description.earlier {
            ranges.insert(HashedRange(firstByte: 0, endByte: earlier.end.byteOffset, hash: earlier.hash), at: 0)
        }
        let stream = try opener.open(now.plain, interruption: interruption)
        guard let match = try array.match(stream, ranges) else { return .other }
        return .longer(earlierPart(upTo: match.prefix, match.hash, in: array.enclosing, job, before))
    }

    private func earlierPart(
        upTo prefix: SourcePrefix,
        _ hash: String,
        in enclosing: String,
        _ job: StoredJob,
        _ before: StoredJob.Source
    ) -> SourceDescription.EarlierPart {
        var end = SplitPosition.start
        (end.byteOffset, end.lineBreaks, end.lineStart) = (prefix.byteOffset, prefix.lineBreaks, prefix.lineStart)
        end.enclosing = enclosing
        // A header row was the first; what was to be skipped is passed.
        let isCounted = job.options.skip > 0 || before.shape.headers != nil
        if isCounted { end.recordsBefore = before.shape.paths.map { _ in 1 << 52 } }
        return SourceDescription.EarlierPart(job: job.id, end: end, hash: hash)
    }

    /// True if a source begins with all that a job has read of one, or has committed of it.
    package func begins(
        _ now: SourceDescription,
        as job: StoredJob,
        source index: Int,
        _ journal: any JournalReader
    ) throws -> Bool {
        let ranges = try journal.committed(of: job, source: index).ranges
        do {
            let before = job.sources[index].description
            let stream = try opener.open(now.read(as: before), interruption: interruption)
            return try beginning(of: stream, before, ranges, nil) != nil
        } catch let error as ImportError where error.code == .badInput {
            return false
        }
    }

    /// The bytes of a source up to where a job has read it.
    struct Beginning {
        let prefix: SourcePrefix
        /// Has read all of them.
        let whole: XXH3Hasher
        let last: UInt8
        var end: Int64 { prefix.byteOffset }
    }

    /// Reads as much of a source as was read of it before.
    ///
    /// - Parameters:
    ///   - before: what it was.
    ///   - ranges: what a job has committed of it, after an earlier part.
    ///   - known: what `stream` is behind, and what was read of that; nil where it is at the beginning.
    /// - Returns: nil where it is not the same.
    private func beginning(
        of stream: SourceStream,
        _ before: SourceDescription,
        _ ranges: [HashedRange],
        _ known: Beginning?
    ) throws -> Beginning? {
        var ranges = ranges
        if let earlier = before.earlier, known == nil {
            ranges.insert(HashedRange(firstByte: 0, endByte: earlier.end.byteOffset, hash: earlier.hash), at: 0)
        }
        let whole = XXH3Hasher()
        if let known { whole.copy(from: known.whole) }
        let prefix = SourcePrefix(
            byteOffset: stream.offset,
            lineBreaks: known?.prefix.lineBreaks ?? 0,
            lineStart: known?.prefix.lineStart ?? 0
        )
        var last = known?.last ?? UInt8(ascii: "\n")
        for range in ranges {
            prefix.resetHash()
            let isThere = try stream.read(upTo: range.endByte) { bytes in
                whole.update(UnsafeRawBufferPointer(bytes))
                if let base = bytes.baseAddress { prefix.advance(base, bytes.count) }
                last = bytes.last ?? last
            }
            guard isThere, prefix.digest == range.hash else { return nil }
        }
        return Beginning(prefix: prefix, whole: whole, last: last)
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
    ) throws -> Bool { try compare(now, with: job, source: index, journal) == .same }

    /// True if a value ended between two bytes, and another one may begin.
    private func canGoOn(_ layout: SourceShape.Layout, after last: UInt8, with next: UInt8) -> Bool {
        switch layout {
        case .lines: last == 0x0A || next == 0x0A || next == 0x0D
        case .stream: ByteScan.isSpace(last) || ByteScan.isSpace(next) || next == 0x1E || "}]".utf8.contains(last)
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
        let isThere = try stream.read(upTo: end) { hasher.update(UnsafeRawBufferPointer($0)) }
        return isThere ? hasher.digest : nil
    }

}

extension SourceStream {
    /// Calls `body` with the next bytes up to an offset, in portions.
    ///
    /// - Returns: false where the stream ends before.
    @discardableResult
    func read(upTo end: Int64, _ body: (UnsafeBufferPointer<UInt8>) -> Void) throws -> Bool {
        var block = [UInt8](repeating: 0, count: 256 << 10)
        while offset < end {
            let wanted = min(Int64(256 << 10), end - offset)
            if block.count != Int(wanted) { block = [UInt8](repeating: 0, count: Int(wanted)) }
            let count = try read(into: &block)
            guard count > 0 else { return false }
            block.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[..<count])) }
        }
        return true
    }
}
