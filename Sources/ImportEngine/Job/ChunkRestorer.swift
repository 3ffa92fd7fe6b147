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

    /// Thrown to end a split after its first chunk.
    private struct Done: Error {}

    /// Makes a chunk's file again; it is on the disk when this returns.
    ///
    /// - Parameter before: that of the chunk before it; nil for the first one.
    /// - Throws: `ImportError`, with `.sourceChanged` when something else is in the chunk's place by now; it has no file then.
    package func restore(_ entry: ChunkEntry, after before: ChunkEntry?) throws {
        let source = run.job.sources[entry.source]
        let position = before.flatMap { $0.source == entry.source ? $0.end : nil } ?? .start
        let (context, directory) = (run.context, run.directory)
        let stream = try context.opener.open(
            source.description,
            at: position.byteOffset,
            interruption: context.interruption
        )
        let name = ChunkDirectory.fileName(entry.number)
        try directory.remove(name)
        var made: ChunkEntry?
        let splitter = try SourceSplitter(
            stream: stream,
            at: stream.offset,
            settings: SourceSplitter.Settings(
                of: source.shape,
                source.description.name,
                run.limits,
                skipsFaults: run.job.options.onBadSource == .skip
            ),
            writer: ChunkWriter(again: entry.number, in: directory),
            // No chunk ends before this one did.
            start: SplitStart(
                source: entry.source,
                position: position,
                firstOrdinal: entry.firstOrdinal,
                minimumEnd: entry.endByte
            )
        ) {
            made = $0
            throw Done()
        }
        do {
            _ = try splitter.run()
        } catch is Done {}
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
