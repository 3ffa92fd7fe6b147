import Foundation
import GRDB
import ImportModel

/// Finds out what a call of the importer means for its store: a new job, an interrupted one to carry on with, or nothing
/// to do.
struct JobOpening {
    /// What is to be done.
    enum Decision {
        /// A job that was planned but is not in the store yet.
        case begin(StoredJob, open: [Int: SourceStream])
        /// A job that is in the store and not finished.
        case resume(StoredJob)
        /// A job that is in the store and finished.
        case nothing(StoredJob)
    }

    let store: String
    let options: JobOptions
    let run: RunOptions
    let planner: JobPlanner

    /// Where this run keeps its chunks.
    private var chunkDirectory: String {
        Self.absolute(run.chunkDirectory ?? store + ".chunks")
    }

    static func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }

    /// What it means to import `arguments`.
    ///
    /// - Parameter database: the store's connection; nil while there is no store.
    func decide(importing arguments: [String], _ database: DatabaseQueue?) throws -> Decision {
        let chunks = try ChunkSource.open(arguments)
        let descriptions = try chunks?.header.sources ?? planner.describe(arguments)
        if let database, let last = try database.read(StoredJob.last) {
            if last.state != .finished {
                return try decide(about: last, arguments, descriptions, chunks, database)
            }
            if !run.again, let done = try database.read({ try finished(descriptions, $0) }) {
                try checkUnchanged(done, descriptions)
                return .nothing(done)
            }
        }
        return try begin(arguments, chunks)
    }

    private func decide(
        about last: StoredJob,
        _ arguments: [String],
        _ descriptions: [SourceDescription],
        _ chunks: ChunkSource?,
        _ database: DatabaseQueue
    ) throws -> Decision {
        let isSame = Self.areSame(last.sources.map(\.description), descriptions)
        if run.restart {
            guard isSame else { throw other(last) }
            try database.write { try last.remove($0) }
            return try begin(arguments, chunks)
        }
        guard isSame else { throw other(last) }
        let differences = StoredJob.Options(options, takesChunks: chunks != nil).differences(from: last.options)
        guard differences.isEmpty else {
            throw ImportError(
                .usage,
                "\(store): the interrupted import was begun with another \(differences.joined(separator: ", "))",
                advice: "Carry on with `importer resume \(store)`, or begin anew with --restart."
            )
        }
        return .resume(last)
    }

    private func other(_ last: StoredJob) -> ImportError {
        let names = last.sources.map(\.description.displayName).joined(separator: ", ")
        return ImportError(
            .usage,
            "\(store): holds an interrupted import of other sources (\(names))",
            advice: "Finish it first with `importer resume \(store)`."
        )
    }

    /// A finished job with these sources, the last one to count.
    ///
    /// Standard input is another stream each time.
    private func finished(_ descriptions: [SourceDescription], _ database: Database) throws -> StoredJob? {
        guard descriptions.allSatisfy(\.isRepeatable) else { return nil }
        return try StoredJob.all(database).last {
            $0.state == .finished && Self.areSame($0.sources.map(\.description), descriptions)
        }
    }

    private func checkUnchanged(_ job: StoredJob, _ descriptions: [SourceDescription]) throws {
        for (before, now) in zip(job.sources.map(\.description), descriptions)
        where !SourceCheck.isUntouched(now, since: before) {
            throw ImportError(
                .usage,
                "\(now.name): has changed since it was imported into \(store)",
                advice: "Give --again to import it once more, as a new job."
            )
        }
    }

    private static func areSame(_ one: [SourceDescription], _ other: [SourceDescription]) -> Bool {
        one.count == other.count
            && zip(one, other).allSatisfy {
                $0.path == $1.path && $0.member == $1.member && ($0.path != nil || $0.name == $1.name)
            }
    }

    private func begin(_ arguments: [String], _ chunks: ChunkSource?) throws -> Decision {
        if let chunks {
            let sources = try planner.plan(chunks)
            let job = StoredJob(
                options: .init(options, takesChunks: true),
                sources: sources,
                model: options.model,
                chunkDirectory: chunks.directory.path
            )
            return .begin(job, open: [:])
        }
        let plan = try planner.plan(arguments)
        let job = StoredJob(
            options: .init(options, takesChunks: false),
            sources: plan.sources,
            model: options.model,
            chunkDirectory: chunkDirectory
        )
        return .begin(job, open: plan.open)
    }

    /// What it means to carry on with the store's last job.
    func decideToResume(_ database: DatabaseQueue) throws -> Decision {
        guard let last = try database.read(StoredJob.last) else {
            throw ImportError(.noInput, "\(store): holds no import", advice: "Begin one with `importer import`.")
        }
        return last.state == .finished ? .nothing(last) : .resume(last)
    }
}

/// A directory of chunks that `split` made, given in place of sources.
struct ChunkSource {
    let directory: ChunkDirectory
    let content: ChunkManifest.Content
    var header: ChunkManifest.Header { content.header }

    /// The chunk directory that is the one argument, or nil if the arguments are sources.
    ///
    /// - Throws: `ImportError` when it is a directory but not one of chunks.
    static func open(_ arguments: [String]) throws -> ChunkSource? {
        var isDirectory: ObjCBool = false
        guard arguments.count == 1, FileManager.default.fileExists(atPath: arguments[0], isDirectory: &isDirectory),
            isDirectory.boolValue
        else { return nil }
        let directory = try ChunkDirectory(path: JobOpening.absolute(arguments[0]), creates: false)
        guard let content = try ChunkManifest.read(in: directory) else {
            throw ImportError(
                .noInput,
                "\(arguments[0]): is a directory without \(ChunkManifest.fileName)",
                advice: "Give files, or a chunk directory made by `importer split`."
            )
        }
        return ChunkSource(directory: directory, content: content)
    }
}
