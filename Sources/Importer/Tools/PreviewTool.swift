import Foundation
import ImportModel

/// Imports the beginning of a job's sources into a store of its own, and removes it.
///
/// The result is what an import would make of these records: inference begins from what the job's store has of the entities.
struct PreviewTool {
    /// How much is read of a source, in bytes.
    static let sampleBytes = 1 << 20
    /// Of more sources than these, the first are read.
    private static let mostSources = 8
    private static let mostRows = 3

    let job: StoredJob
    /// Sources that cannot be opened a second time, open already.
    let open: [Int: SourceStream]
    /// The store's path.
    let store: String
    /// Whether its texts may have U+0000.
    let textsHaveNUL: Bool
    let run: RunOptions
    let opener: SourceOpener
    let transformers: TransformerRegistry
    let interruption: Interruption
    /// What an import does with a job that is open.
    let phases: (JobRun, SQLiteDestination) throws -> Void

    /// Calls `body` with a new folder, which is removed afterwards.
    func inFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("importer-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(
            atPath: folder,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        defer { try? FileManager.default.removeItem(atPath: folder) }
        return try body(folder)
    }

    /// - Throws: `ImportError` when a source cannot be read, or the import is interrupted.
    func sample() throws -> ImportPreview.Sample { try inFolder(sample) }

    private func sample(in folder: String) throws -> ImportPreview.Sample {
        var sampled = job
        sampled.sources = Array(job.sources.prefix(Self.mostSources))
        sampled.chunkDirectory = folder + "/chunks"
        var streams: [Int: SourceStream] = [:]
        var bytes: Int64 = 0
        var isWhole = sampled.sources.count == job.sources.count
        for (index, source) in sampled.sources.enumerated() {
            let stream = try open[index] ?? opener.open(source.description, interruption: interruption)
            let sample = try stream.peek(limit: Self.sampleBytes)
            bytes += Int64(sample.bytes.count)
            isWhole = isWhole && sample.isWhole
            streams[index] = try SourceStream(
                SampleStream(sample),
                from: stream.offset,
                at: stream.offset,
                totalBytes: nil,
                name: source.description.name,
                interruption: interruption
            )
        }
        let own = folder + "/store.sqlite"
        let message = try importSample(sampled, streams, into: own)
        return ImportPreview.Sample(
            bytes: bytes,
            isWhole: isWhole,
            entities: (try? entities(in: own)) ?? [],
            report: try? StoreInspection(store: own).status(),
            message: message?.replacing(own, with: store)
        )
    }

    /// - Returns: what stopped it; nil where nothing did.
    /// - Throws: `ImportError` when it is interrupted.
    private func importSample(_ job: StoredJob, _ streams: [Int: SourceStream], into own: String) throws -> ImportText?
    {
        let continued = try continued()
        do {
            _ = try importing(job, streams, into: own, durability: run.durability, continuing: continued)
            return nil
        } catch let error as ImportError where error.code != .noResources {
            try interruption.check()
            return error.text
        }
    }

    /// Imports into a store of its own.
    ///
    /// - Parameter prepare: called with the store before anything is written to it.
    func importing(
        _ job: StoredJob,
        _ streams: [Int: SourceStream],
        into own: String,
        durability: RunOptions.Durability,
        continuing continued: [String: ContinuedEntity]? = nil,
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
            progress: ImportProgress(),
            interruption: interruption.child(),
            merges: MergeCenter(),
            textsHaveNUL: textsHaveNUL
        )
        let destination = SQLiteDestination(own, durability: durability)
        prepare(destination)
        try destination.lock()
        defer { destination.unlock() }
        let begun = try StartJob(context, in: destination, continuing: continued).start(.begin(job, open: streams))
        return try begun.go { try phases($0, destination) }
    }

    /// What the store has of the job's entities; none where there is no store yet.
    private func continued() throws -> [String: ContinuedEntity] {
        guard FileNumber(store) != nil else { return [:] }
        let opened = try OpenedStore(store)
        defer { opened.close() }
        return try opened.read { try StoredEntities.continued(job, $0) }
    }

    private func entities(in own: String) throws -> [ImportPreview.Entity] {
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

    /// - Throws: `SampleEnd` after the sample, where the source continues.
    func read(into block: inout [UInt8]) throws -> Int {
        let count = block.overwrite(with: sample.bytes[taken...])
        taken += count
        if count == 0, !sample.isWhole { throw SampleEnd() }
        return count
    }
}
