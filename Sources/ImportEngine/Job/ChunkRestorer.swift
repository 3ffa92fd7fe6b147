import ImportModel
import ImportSources

/// Cuts single chunks again whose files are gone or altered, while chunks after them are done already.
///
/// It is known where each begins and ends in its source: what is cut is the same, byte for byte, or it is refused.
package struct ChunkRestorer {
    private let run: JobRun

    package init(_ run: JobRun) {
        self.run = run
    }

    /// True if a chunk can be cut again: its source is not gone once it is read.
    package func canRestore(_ entry: ChunkEntry) -> Bool {
        !run.job.takesChunks && run.job.sources[entry.source].description.isRepeatable
    }

    /// Makes a chunk's file again; it is on the disk when this returns.
    ///
    /// - Parameter before: that of the chunk before it; nil for the first one.
    /// - Throws: `ImportError`, with `.sourceChanged` when something else is in the chunk's place by now; it has no file then.
    package func restore(_ entry: ChunkEntry, after before: ChunkEntry?) throws {
        let source = run.job.sources[entry.source]
        let position = before.flatMap { $0.source == entry.source ? $0.end : nil } ?? .start
        let (directory, name) = (run.directory, ChunkDirectory.fileName(entry.number))
        try directory.remove(name)
        let made = try run.cutAgain(
            entry.number,
            of: source.description,
            // No chunk ends before this one did.
            from: SplitStart(
                source: entry.source,
                position: position,
                firstOrdinal: entry.firstOrdinal,
                minimumEnd: entry.endByte
            ),
            skipsFaults: run.job.options.onBadSource == .skip
        )
        guard let made, made.endByte == entry.endByte, made.bytes == entry.bytes, made.checksum == entry.checksum else {
            try directory.remove(name)
            throw ImportError(
                .sourceChanged,
                at: source.description.name,
                """
                bytes \(entry.firstByte.grouped) to \(entry.endByte.grouped) differ from those that were cut into the chunk \(entry.number), \
                whose file is gone or altered
                """,
                advice: "Give the source that the import was started with, or restart the import with \(.restart)."
            )
        }
    }
}

extension JobRun {
    /// Cuts a single chunk again.
    ///
    /// - Parameter start: where it begins in the job's source, which `source` describes as it is now.
    /// - Returns: the chunk, whose file is written; nil where nothing is left there.
    func cutAgain(
        _ number: Int,
        of source: SourceDescription,
        from start: SplitStart,
        skipsFaults: Bool = false
    ) throws -> ChunkEntry? {
        struct Done: Error {}
        let stream = try context.opener.open(
            source,
            at: start.position.byteOffset,
            interruption: context.interruption
        )
        let shape = job.sources[start.source].shape
        var made: ChunkEntry?
        let splitter = try SourceSplitter(
            stream: stream,
            at: stream.offset,
            settings: SourceSplitter.Settings(of: shape, source.name, limits, skipsFaults: skipsFaults),
            writer: ChunkWriter(again: number, in: directory),
            start: start
        ) {
            made = $0
            throw Done()
        }
        do { _ = try splitter.run() } catch is Done {}
        return made
    }
}
