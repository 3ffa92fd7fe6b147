import Foundation
import ImportEngine
import ImportModel
import ImportSources

/// The `split` command: cuts sources into chunks for anyone who wants them.
struct SplitTool {
    let directory: String
    let job: JobOptions
    let run: RunOptions
    let opener: SourceOpener
    let progress: ImportProgress
    let interruption: Interruption

    func split(_ arguments: [String]) throws -> SplitSummary {
        try job.check()
        try run.check()
        progress.update { $0.phase = .importing }
        let planner = JobPlanner(options: job, opener: opener, interruption: interruption) { [progress] text in
            progress.update { $0.messages.append(text) }
        }
        let limits = SplitLimits(job)
        let shapes = try planner.shapes(of: planner.list(arguments).sources)
        let directory = try ChunkDirectory(path: JobResolver.absolute(directory), creates: true)
        let place = ChunkDirectoryCheck(
            path: directory.path,
            sources: shapes.map(\.description),
            setting: .splitDirectory
        )
        let header = ChunkManifest.Header(
            sources: shapes.map(\.description),
            shapes: shapes.map(\.shape),
            limits: limits,
            entity: job.entity,
            entities: shapes.contains { $0.entities == nil } ? nil : shapes.compactMap(\.entities)
        )
        let isSynced = header.sources.contains { !$0.isRepeatable }
        let (manifest, start, before) = try begin(header, in: directory, place, synced: isSynced)
        let stage = SourceCutter(
            sources: shapes.map { StoredJob.Source(description: $0.description, shape: $0.shape, entities: []) },
            limits: limits,
            chunkSize: run.chunkSize,
            skipsBadSources: job.onBadSource == .skip,
            directory: directory,
            manifest: manifest,
            opener: opener,
            interruption: interruption,
            progress: progress
        )
        var open: [Int: SourceStream] = [:]
        for (index, shape) in shapes.enumerated() where start.source == index && start.position == .start {
            open[index] = shape.open
        }
        showStart(start, before, header)
        let tally = Tally(before, shapes: header.shapes)
        if let fault = try stage.run(from: start, open: open, onSealed: { $0.forEach { tally.add($0.entry) } }) {
            throw fault
        }
        progress.update { $0.phase = .finished }
        return tally.summary(directory: directory.path)
    }

    /// Makes the manifest, or continues with the one of the same split.
    private func begin(
        _ header: ChunkManifest.Header,
        in directory: ChunkDirectory,
        _ place: ChunkDirectoryCheck,
        synced: Bool
    ) throws -> (ChunkManifest, SplitStart, [ChunkEntry]) {
        try ChunkManifest.removeBeginning(of: header, in: directory)
        let isEmpty = try place.check(directory, token: nil, isOwn: false)
        guard !isEmpty, let content = try ChunkManifest.readWhatIsSound(in: directory) else {
            return (try ChunkManifest(creatingIn: directory, header: header, synced: synced), SplitStart(), [])
        }
        guard content.header.job == nil, content.header.shapes == header.shapes, content.header.limits == header.limits,
            content.header.sources.map(\.path) == header.sources.map(\.path),
            content.header.sources.map(\.member) == header.sources.map(\.member),
            header.sources.allSatisfy(\.isRepeatable)
        else {
            throw ImportError(
                .chunkDirectoryTaken,
                at: directory.path,
                "holds the chunks of another split",
                advice: "Give another directory, or remove this one."
            )
        }
        if let damage = content.damage, !damage.isTorn {
            throw damage.error(in: "\(directory.path)/\(ChunkManifest.fileName)")
        }
        try checkSources(content, now: header.sources)
        try directory.remove(ChunkDirectory.temporaryName(ChunkManifest.fileName))
        let point = try ResumePoint(
            marker: Marker(),
            outsideNames: [],
            shapes: header.shapes,
            ends: header.sources.map(\.end),
            directory: directory,
            token: nil,
            interruption: interruption
        )
        try directory.removeChunks(content.numbers, keeping: Set(point.chunks.map(\.fileNumber)))
        guard let kept = point.manifest, content.header == header else {
            // The sources' sizes and times are others by now, or the format is.
            let manifest = try ChunkManifest(
                creatingIn: directory,
                header: header,
                entries: point.chunks,
                reserved: content.numbers,
                replaces: true,
                synced: synced
            )
            return (manifest, point.split, point.chunks)
        }
        return (try ChunkManifest(resuming: kept, in: directory, synced: synced), point.split, point.chunks)
    }

    /// Makes sure that the sources are what was cut, as far as they were.
    private func checkSources(_ content: ChunkManifest.Content, now: [SourceDescription]) throws {
        let check = SourceCheck(opener: opener, interruption: interruption)
        for (index, source) in now.enumerated()
        where !SourceCheck.isUntouched(source, since: content.header.sources[index]) {
            let ranges = content.entries.filter { $0.source == index }.map {
                HashedRange(firstByte: $0.firstByte, endByte: $0.endByte, hash: $0.sourceHash)
            }
            guard let last = ranges.last else { continue }
            let stream = try opener.open(source, interruption: interruption)
            try check.verify(stream, source.name, ranges, upTo: last.endByte)
            let entries = content.entries.filter { $0.source == index }
            let records = entries.reduce(0) { $0 + Int64($1.records) }
            let paths = content.header.shapes[index].paths.count
            if entries.contains(where: \.isLast), !content.header.limits.isReached(records: records, paths: paths) {
                try check.verifyEnd(of: stream, source.name)
            }
        }
    }

    private func showStart(_ start: SplitStart, _ before: [ChunkEntry], _ header: ChunkManifest.Header) {
        let bytes = before.reduce(0) { $0 + $1.endByte - $1.firstByte }
        progress.update {
            $0.totalBytes = header.limits.limit == nil ? header.sources.plainSize : nil
            $0.splitBytes = bytes
            $0.splitRecords = start.firstOrdinal - 1
            $0.resumedBytes = bytes
            $0.resumedRecords = start.firstOrdinal - 1
        }
    }

    /// Sums up what the chunks hold.
    private final class Tally {
        private var chunks = 0
        private var records: Int64 = 0
        private var passedOver: Int64 = 0
        private var bytes: Int64 = 0
        private var outside: [String: Int64] = [:]
        private let shapes: [SourceShape]
        /// Per record path, in how many sources nothing is at it.
        private var unseen: [String: Int] = [:]

        init(_ entries: [ChunkEntry], shapes: [SourceShape]) {
            self.shapes = shapes
            for entry in entries { add(entry) }
        }

        func add(_ entry: ChunkEntry) {
            if entry.records > 0 { chunks += 1 }
            records += Int64(entry.records)
            passedOver += Int64(entry.rejects.count)
            bytes += entry.endByte - entry.firstByte
            outside.merge(entry.outside, uniquingKeysWith: +)
            guard entry.isLast else { return }
            for path in entry.end.missingPaths ?? [] { unseen[shapes[entry.source].paths[path], default: 0] += 1 }
        }

        func summary(directory: String) -> SplitSummary {
            SplitSummary(
                directory: directory,
                chunks: chunks,
                records: records,
                passedOver: passedOver,
                bytes: bytes,
                outside: outside,
                notFound: unseen.filter { path, count in count == shapes.count { $0.paths.contains(path) } }.keys
                    .sorted()
            )
        }
    }
}
