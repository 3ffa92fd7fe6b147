extension ChunkEntry {
    /// True if the entry makes sense as the next one of a manifest: files are not to be trusted, also our own.
    ///
    /// - Parameters:
    ///   - before: the entry before; nil for the first one.
    ///   - header: the manifest's header.
    package func isSound(after before: ChunkEntry?, in header: ChunkManifest.Header) -> Bool {
        guard header.shapes.indices.contains(source) else { return false }
        let paths = Int64(header.shapes[source].paths.count)
        guard 1...ReservedChunkNumbers.most ~= number, records >= 0, 1...Self.mostRecords ~= firstOrdinal,
            records <= Self.mostRecords,
            bytes >= Int64(records), 0...Self.mostFileBytes ~= bytes, hasSoundPart(after: before),
            0...Self.mostBytes ~= endByte,
            0...endByte ~= firstByte, end.byteOffset == endByte,
            self.paths.allSatisfy({ 0..<paths ~= $0.value }), Self.count(self.paths) == records,
            Self.count(gaps) == records, isWithinRange, outside.values.allSatisfy({ 0...(endByte - firstByte) ~= $0 }),
            hasSoundOutsideValues,
            (end.recordsBefore ?? []).allSatisfy({ 0...Self.mostRecords ~= $0 }),
            end.recordsBefore.map({ $0.count == paths }) ?? true,
            (end.missingPaths ?? []).allSatisfy({ 0..<Int(paths) ~= $0 })
        else { return false }
        guard let before else { return true }
        guard number > before.number, firstOrdinal == before.firstOrdinal + Int64(before.records) else { return false }
        return before.isLast ? source == before.source + 1 : source == before.source && firstByte == before.endByte
    }

    /// True if its lines have room in its file, right after those of the chunk before where they share one.
    private func hasSoundPart(after before: ChunkEntry?) -> Bool {
        guard let part else { return true }
        guard 0...Self.mostFileBytes ~= part.size, 0...part.size - bytes ~= part.offset else { return false }
        guard let before, before.fileNumber == part.file else { return part.file == number && part.offset == 0 }
        return before.part.map { $0.size == part.size && $0.offset + before.bytes == part.offset } ?? false
    }

    /// The largest chunk file that is read, in bytes: one of the largest chunk size and one more record of the largest size.
    static let mostFileBytes: Int64 = 2 << 30

    /// More than any source has, and little enough that whatever is added to it is a number still.
    private static let mostBytes: Int64 = 1 << 62
    private static let mostRecords: Int64 = 1 << 61

    /// True if the values outside of the records can be kept.
    private var hasSoundOutsideValues: Bool {
        guard let outsideValues else { return true }
        var offset = firstByte - 1
        var bytes = 0
        for value in outsideValues {
            guard value.byteOffset > offset, value.byteOffset < endByte, value.value != nil else { return false }
            offset = value.byteOffset
            bytes += value.bytes
        }
        return bytes <= OutsideValue.mostBytes
    }

    /// True if what is beside the lines has room between `firstByte` and `endByte`.
    private var isWithinRange: Bool {
        var room = endByte - firstByte
        for gap in gaps {
            let (bytes, isTooLarge) = gap.value.multipliedReportingOverflow(by: Int64(gap.count))
            guard !isTooLarge, 0...room ~= bytes else { return false }
            room -= bytes
        }
        for reject in rejects {
            guard 0..<records ~= reject.line, firstByte...endByte ~= reject.firstByte, 0...room ~= reject.length else {
                return false
            }
            room -= reject.length
        }
        return true
    }

    /// How many records the runs are for; nil where the sum makes no sense.
    private static func count(_ runs: [Run]) -> Int? {
        var sum = 0
        for run in runs {
            let (next, isTooLarge) = sum.addingReportingOverflow(run.count)
            guard run.count > 0, !isTooLarge else { return nil }
            sum = next
        }
        return sum
    }
}
