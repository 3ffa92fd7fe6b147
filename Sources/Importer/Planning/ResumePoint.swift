import GRDB
import ImportModel

/// Where a job goes on: the chunks that are cut but not committed, and where cutting begins.
///
/// The store is what counts. The chunk directory only saves work: what of it is whole and continues the marker is used,
/// all else is cut again from the source.
struct ResumePoint {
    /// Sealed chunks that still have to be imported, in order; the first one may be committed in part.
    var chunks: [ChunkEntry]
    /// What of the first chunk to be imported is committed.
    let committed: CommittedPrefix
    /// Where the split goes on after `chunks`.
    var split: SplitStart
    /// The manifest to go on writing; nil to make a new one.
    var manifest: ChunkManifest.Content?
    /// Whether nothing is left to be cut.
    let isSplit: Bool

    /// The beginning of a job.
    static let start = ResumePoint(
        chunks: [],
        committed: .none,
        split: SplitStart(),
        manifest: nil,
        isSplit: false
    )

    private init(
        chunks: [ChunkEntry],
        committed: CommittedPrefix,
        split: SplitStart,
        manifest: ChunkManifest.Content?,
        isSplit: Bool
    ) {
        self.chunks = chunks
        self.committed = committed
        self.split = split
        self.manifest = manifest
        self.isSplit = isSplit
    }

    /// Works it out from the marker and from what stands in the chunk directory.
    ///
    /// - Parameters:
    ///   - outsideNames: of the marker's source, as far as the store knows them.
    ///   - sourceCount: how many sources the job has.
    /// - Throws: `ImportError` when the chunk directory cannot be read.
    init(
        marker: Marker,
        outsideNames: [String],
        sourceCount: Int,
        directory: ChunkDirectory,
        token: String?
    ) throws {
        committed = marker.committed
        let content = try ChunkManifest.read(in: directory).flatMap { $0.header.job == token ? $0 : nil }
        var usable: [ChunkEntry] = []
        var kept = 0
        if let content {
            let first = content.entries.firstIndex {
                $0.source == marker.source && $0.firstByte == marker.chunkStart.byteOffset
            }
            kept = first ?? (marker.source == sourceCount ? content.entries.count : 0)
            for entry in content.entries[kept...] {
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
            chunkNumber: (content?.entries.prefix(kept).last?.number ?? marker.chunksDone) + 1,
            minimumEnd: marker.chunkRecords > 0 ? marker.byteOffset : nil,
            outsideNames: outsideNames
        )
        if let last = usable.last {
            let names = usable.filter { $0.source == last.source }.flatMap { $0.outside.keys.sorted() }
            let known = last.source == marker.source ? outsideNames : []
            split = SplitStart(
                source: last.isLast ? last.source + 1 : last.source,
                position: last.isLast ? .start : last.end,
                firstOrdinal: last.firstOrdinal + Int64(last.records),
                chunkNumber: last.number + 1,
                outsideNames: last.isLast ? [] : known + names.filter { !known.contains($0) }
            )
        }
        isSplit = split.source >= sourceCount
    }

    /// Every chunk of a directory that `split` made.
    init(marker: Marker, of content: ChunkManifest.Content) {
        let first = content.entries.firstIndex {
            $0.source == marker.source && $0.firstByte == marker.chunkStart.byteOffset
        }
        chunks = first.map { Array(content.entries[$0...]) } ?? []
        committed = marker.committed
        split = SplitStart(source: content.header.sources.count)
        manifest = nil
        isSplit = true
    }
}
