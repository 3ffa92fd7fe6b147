import ImportModel
import ImportSources

/// Where a job continues: the chunks that are cut but not committed, and where cutting begins.
///
/// The store is what counts. The chunk directory only saves work: what of it is whole and continues the marker is used,
/// all else is cut again from the source.
package struct ResumePoint {
    /// Sealed chunks that still have to be imported, in order; the first one may be committed in part.
    package var chunks: [ChunkEntry]
    /// What of the first chunk to be imported is committed.
    package let committed: CommittedPrefix
    /// Where the split continues after `chunks`.
    package var split: SplitStart
    /// The manifest to continue writing; nil to make a new one.
    package var manifest: ChunkManifest.Content?
    /// True if nothing is left to be cut.
    package let isSplit: Bool

    /// Works it out from the marker and from what is in the chunk directory.
    ///
    /// - Parameters:
    ///   - outsideNames: of the marker's source, as far as the store knows them.
    ///   - ends: where the sources end, which chunks that were cut up to other places do not know.
    ///   - directory: where the chunks are.
    ///   - token: the job's; nil for a split.
    /// - Throws: `ImportError` when the chunk directory cannot be read.
    package init(
        marker: Marker,
        outsideNames: [String],
        shapes: [SourceShape],
        ends: [Int64?],
        directory: ChunkDirectory,
        token: String?,
        interruption: Interruption
    ) throws {
        committed = marker.committed
        let content = try ChunkManifest.readWhatIsSound(in: directory).flatMap {
            $0.header.job == token && $0.header.shapes == shapes && $0.header.sources.map(\.end) == ends ? $0 : nil
        }
        var usable: [ChunkEntry] = []
        var kept = 0
        if let content {
            kept = Self.first(of: content.entries, after: marker)
            for entry in content.entries[kept...] {
                try interruption.check()
                guard !usable.isEmpty || Self.continues(marker, with: entry) else { break }
                guard try directory.isIntact(entry) else { break }
                usable.append(entry)
            }
            kept += usable.count
        }
        chunks = usable
        manifest = content?.prefix(kept)
        split = SplitStart(
            source: marker.source,
            position: marker.chunkStart,
            firstOrdinal: marker.recordOrdinal - Int64(marker.chunkRecords) + 1,
            chunkNumber: (content?.entries.prefix(kept).last?.number ?? min(marker.chunksDone, 1 << 32)) + 1,
            minimumEnd: marker.chunkRecords > 0 ? marker.byteOffset : nil,
            outsideNames: outsideNames
        )
        if let last = usable.last {
            split = SplitStart(
                source: last.isLast ? last.source + 1 : last.source,
                position: last.isLast ? .start : last.end,
                firstOrdinal: last.firstOrdinal + Int64(last.records),
                chunkNumber: last.number + 1,
                outsideNames: outsideNames + usable.flatMap(\.outside.keys)
            )
        }
        isSplit = split.source >= shapes.count
    }

    /// True if a chunk begins where the marker's chunk does.
    private static func continues(_ marker: Marker, with entry: ChunkEntry) -> Bool {
        entry.source == marker.source
            && (entry.firstByte == marker.chunkStart.byteOffset || marker.chunkStart == .start)
            && entry.firstOrdinal == marker.recordOrdinal - Int64(marker.chunkRecords) + 1
    }

    /// The index of the first entry that the marker has not passed.
    private static func first(of entries: [ChunkEntry], after marker: Marker) -> Int {
        entries.firstIndex { !marker.hasPassed($0) } ?? entries.count
    }

    /// Every chunk of a directory that `split` made.
    ///
    /// - Parameters:
    ///   - committed: what the store has of each source, which must be what was in these chunks.
    ///   - directory: where the chunks are.
    /// - Throws: `ImportError` when the directory holds other chunks than those that were imported.
    package init(
        marker: Marker,
        of content: ChunkManifest.Content,
        committed ranges: [HashedRange],
        in directory: ChunkDirectory
    ) throws {
        let first = Self.first(of: content.entries, after: marker)
        let passed = content.entries[..<first].map(\.sourceRange)
        guard passed == ranges else {
            throw ImportError(
                .chunksChanged,
                at: directory.path,
                "holds other chunks than those that the import was started with",
                advice: "Give the chunks as they were, or restart the import with \(.restart)."
            )
        }
        self.init(marker: marker, of: content.entries, sources: content.header.sources.count)
    }

    /// Where nothing is left to be cut.
    ///
    /// - Parameters:
    ///   - entries: all chunks.
    ///   - sources: how many sources there are.
    package init(marker: Marker, of entries: [ChunkEntry], sources: Int) {
        chunks = Array(entries.drop { marker.hasPassed($0) })
        committed = marker.committed
        split = SplitStart(source: sources)
        manifest = nil
        isSplit = true
    }
}
