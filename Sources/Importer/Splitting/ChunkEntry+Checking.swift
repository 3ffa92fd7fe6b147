extension ChunkEntry {
    /// Whether the entry makes sense as the next one of a manifest: files are not to be trusted, also our own.
    ///
    /// - Parameters:
    ///   - before: the entry before; nil for the first one.
    ///   - header: the manifest's header.
    func isSound(after before: ChunkEntry?, in header: ChunkManifest.Header) -> Bool {
        guard header.shapes.indices.contains(source) else { return false }
        let paths = Int64(header.shapes[source].paths.count)
        guard number > 0, firstOrdinal > 0, records >= 0, bytes >= Int64(records), firstByte >= 0,
            firstByte <= endByte, end.byteOffset >= 0, self.paths.allSatisfy({ 0..<paths ~= $0.value }),
            Self.count(self.paths) == records, Self.count(gaps) == records, gaps.allSatisfy({ $0.value >= 0 }),
            (end.recordsBefore ?? []).allSatisfy({ $0 >= 0 }), end.recordsBefore.map({ $0.count == paths }) ?? true,
            rejects.allSatisfy({ 0..<records ~= $0.line && $0.length >= 0 && $0.firstByte >= 0 })
        else { return false }
        guard let before else { return true }
        let (ordinal, isTooLarge) = before.firstOrdinal.addingReportingOverflow(Int64(before.records))
        guard number > before.number, !isTooLarge, firstOrdinal == ordinal else { return false }
        return before.isLast ? source == before.source + 1 : source == before.source && firstByte == before.endByte
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
