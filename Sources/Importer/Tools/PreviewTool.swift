import Foundation
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// Imports the beginning of a job's sources into a store of its own, and removes it.
///
/// The result is what an import would make of these records: inference begins from what the job's store has of the entities.
struct PreviewTool {
    /// How much is read of a source, in bytes.
    static let sampleBytes = 1 << 20
    /// Of more sources than these, the first are read.
    private static let mostSources = 8
    private static let mostRows = 3
    /// Larger stores are not copied to look identifiers up in them.
    private static let mostCopied: UInt64 = 256 << 20

    let job: StoredJob
    /// Sources that cannot be opened a second time, open already.
    let open: [Int: SourceStream]
    /// The store's path.
    let store: String
    /// True if its texts may have U+0000.
    let textsHaveNUL: Bool
    let run: RunOptions
    /// True if the import changes what is there before its first record: it migrates, or replaces another one.
    let isChangedBefore: Bool
    let opener: SourceOpener
    let transformers: TransformerRegistry
    let interruption: Interruption
    /// Told what the import says.
    let announce: ([MessageText]) -> Void
    /// What an import does with a job that is open.
    let phases: (JobRun, SQLiteDestination) throws -> Void

    /// - Throws: `ImportError` when a source cannot be read, or the import is interrupted.
    func sample() throws -> ImportPreview.Sample { try TemporaryFolder.with(sample) }

    private func sample(in folder: String) throws -> ImportPreview.Sample {
        var sampled = job
        sampled.sources = Array(job.sources.prefix(Self.mostSources))
        sampled.chunkDirectory = folder + "/chunks"
        sampled.updates = []
        for index in sampled.sources.indices { sampled.sources[index].description.replaces = nil }
        var samples: [(sample: SourceStream.Sample, offset: Int64)] = []
        for (index, source) in sampled.sources.enumerated() {
            let first = source.description.earlier?.end.byteOffset ?? 0
            let stream = try open[index] ?? opener.open(source.description, at: first, interruption: interruption)
            let sample = try stream.peek(limit: Self.sampleBytes)
            if sample.bytes.isEmpty, !sample.isWhole {
                // What is wrong with its first byte is said when it is read.
                var byte: [UInt8] = [0]
                _ = try stream.read(into: &byte)
            }
            samples.append((sample, stream.offset))
        }
        let isWhole = sampled.sources.count == job.sources.count && samples.allSatisfy(\.sample.isWhole)
        let own = folder + "/store.sqlite"
        var (report, message, notices) = try importSample(sampled, samples, into: own, isWhole)
        let entities = (try? entities(in: own)) ?? []
        var isMerged: Bool?
        if message == nil, entities.contains(where: { !$0.description.identifier.isEmpty }) {
            isMerged = try TemporaryFolder.with { folder in
                guard let copy = try copy(in: folder) else {
                    return DeviceAndInode(store) == nil && textsHaveNUL ? nil : false
                }
                sampled.chunkDirectory = folder + "/chunks"
                (report, message, notices) = try importSample(sampled, samples, into: copy, isWhole)
                return true
            }
        }
        if isWhole, message == nil { try checkIndexes(entities) }
        announce(notices)
        return ImportPreview.Sample(
            bytes: samples.reduce(0) { $0 + Int64($1.sample.bytes.count) },
            isWhole: isWhole,
            isMerged: isMerged,
            entities: entities,
            report: report,
            message: message
        )
    }

    /// A copy of the store, in which identifiers are looked up; nil where there is none yet, it is too large, or the import changes it
    /// before.
    private func copy(in folder: String) throws -> String? {
        let sizes = ["", "-wal"].map { suffix in
            (try? FileManager.default.attributesOfItem(atPath: store + suffix)[.size] as? UInt64) ?? 0
        }
        guard DeviceAndInode(store) != nil, !isChangedBefore, sizes.reduce(0, +) <= Self.mostCopied else { return nil }
        let path = folder + "/copy.sqlite"
        try StoreCopy.make(of: store, at: path, interruption)
        return path
    }

    /// - Parameter isWhole: whether the samples are all of the sources.
    /// - Returns: its report; what stopped it, nil where nothing did; and what it has said.
    /// - Throws: `ImportError` when it is interrupted, or when an option asks for what no record of whole sources has.
    private func importSample(
        _ job: StoredJob,
        _ samples: [(sample: SourceStream.Sample, offset: Int64)],
        into own: String,
        _ isWhole: Bool
    ) throws -> (report: ImportReport?, message: MessageText?, notices: [MessageText]) {
        var streams: [Int: SourceStream] = [:]
        for (index, (sample, offset)) in samples.enumerated() {
            streams[index] = try SourceStream(
                SampleStream(sample),
                from: offset,
                at: offset,
                totalBytes: nil,
                name: job.sources[index].description.name,
                interruption: interruption
            )
        }
        let (progress, continued) = (ImportProgress(), try continued())
        var message: MessageText?
        do {
            _ = try importing(job, streams, into: own, durability: .off, continuing: continued, progress)
        } catch let error as ImportError where error.code != .noResources {
            try interruption.check()
            if isWhole, error.code == .usage { throw error.saying(error.text.replacing(own, with: store)) }
            message = error.text
        }
        let notices = progress.snapshot.messages
        let inspection = StoreInspection(store: own)
        let report = try? inspection.status(of: inspection.jobs(newest: 1).last?.job ?? 0)
        return (report, message?.replacing(own, with: store), notices.map { $0.replacing(own, with: store) })
    }

    /// Imports into a store of its own.
    ///
    /// - Parameters:
    ///   - progress: gets what it says.
    ///   - prepare: called with the store before anything is written to it.
    func importing(
        _ job: StoredJob,
        _ streams: [Int: SourceStream],
        into own: String,
        durability: RunOptions.Durability,
        continuing continued: [String: ExistingEntity]? = nil,
        _ progress: ImportProgress,
        prepare: (SQLiteDestination) -> Void = { _ in }
    ) throws -> ImportReport {
        var options = run
        options.chunkDirectory = URL(fileURLWithPath: own).deletingLastPathComponent().path + "/chunks"
        options.indexes = []
        let context = RunContext(
            store: own,
            options: options,
            opener: opener,
            transformers: transformers,
            progress: progress,
            interruption: interruption.child(),
            merges: MergeCenter(),
            textsHaveNUL: textsHaveNUL
        )
        let destination = SQLiteDestination(own, durability: durability)
        prepare(destination)
        try destination.lock()
        defer { destination.unlock() }
        let begun = try StartPhase(context, in: destination, continuing: continued).start(.begin(job, open: streams))
        return try begun.go { try phases($0, destination) }
    }

    /// What the store has of the job's entities; none where there is no store yet.
    private func continued() throws -> [String: ExistingEntity] {
        guard DeviceAndInode(store) != nil else { return [:] }
        let opened = try ReadOnlyStore(store)
        defer { opened.close() }
        return try opened.read { try StoredEntities.continued(job, $0) }
    }

    /// Makes sure that some entity has the attributes of each index that the import would build.
    func checkIndexes(_ entities: [ImportPreview.Entity]) throws {
        try (job.newIndexes ?? StoreIndexes(wanted: run.indexes)).check(
            ModelDescription(entities: entities.map(\.description))
        )
    }

    func entities(in own: String) throws -> [ImportPreview.Entity] {
        let reader = try StoreReader(store: own)
        return try reader.entities.map { entity in
            let request = FetchRequest(entity: entity.name, limit: Self.mostRows)
            return ImportPreview.Entity(description: entity, rows: try reader.records(request))
        }
    }
}

/// The beginning of a source.
private final class SampleStream: ByteStream {
    private let sample: SourceStream.Sample
    private var taken = 0

    init(_ sample: SourceStream.Sample) { self.sample = sample }

    /// - Throws: `SampleTruncation` after the sample, where the source continues.
    func read(into block: inout [UInt8]) throws -> Int {
        let count = block.overwrite(with: sample.bytes[taken...])
        taken += count
        if count == 0, !sample.isWhole { throw SampleTruncation() }
        return count
    }
}
