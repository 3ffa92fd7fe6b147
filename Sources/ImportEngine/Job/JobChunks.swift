import Foundation
import ImportModel
import ImportSources

/// Where a job's chunks are, and what in there is the job's.
struct JobChunks {
    let journal: any Journal
    /// The store's path.
    let store: String

    /// The record of a job's chunk directory; nil where there is nothing of the job's.
    func recorded(of job: StoredJob) throws -> RecordedFile? {
        try journal.files().first { $0.isUsed(forChunksOf: job) }
    }

    /// Opens a job's chunk directory, or makes it; which it is, is in the store before anything is put into it.
    ///
    /// - Parameter job: gets another directory if `run` says so.
    /// - Throws: `ImportError`: `.cannotCreate` when it is not the job's and has what only another's could have.
    func open(of job: inout StoredJob, _ run: RunOptions) throws -> ChunkDirectory {
        let given = run.chunkDirectory.map(JobResolver.absolute)
        if job.takesChunks {
            if let given, given != job.chunkDirectory { throw Self.cannotMove(job) }
            return try ChunkDirectory(path: job.chunkDirectory, creates: false)
        }
        let recorded = try self.recorded(of: job)
        if let recorded, recorded.path != job.chunkDirectory {
            throw ImportError(
                .storeDamaged,
                at: store,
                "the store is damaged: _import_job.chunk_directory is \(job.chunkDirectory), but the import "
                    + "keeps its chunks in \(recorded.path)",
                advice: "Restore it from a backup."
            )
        }
        let path = given ?? job.chunkDirectory
        let isMoved = path != job.chunkDirectory
        if isMoved, !job.sources.allSatisfy(\.description.isRepeatable) { throw Self.cannotMove(job) }
        let old = isMoved ? recorded : nil
        job.chunkDirectory = path
        let place = ChunkDirectoryCheck(path: path, sources: job.sources.map(\.description))
        var file = RecordedFile(chunksOf: job, isMade: true)
        if place.isNew {
            // A job that has just begun has noted it.
            if isMoved || recorded != file { try save(file, job, insteadOf: old) }
            let directory = try ChunkDirectory(path: path, creates: true)
            try place.check(directory, token: job.token, isOwn: false)
            file.isMade = directory.isMade
            file.number = directory.number
            do {
                try journal.record([file], chunksOf: nil)
            } catch {
                // Nobody would know that it was made here.
                if file.isMade { rmdir(path) }
                throw error
            }
            return directory
        }
        let directory = try ChunkDirectory(path: path, creates: false)
        let isKnown = try ChunkManifest.readWhatIsSound(in: directory)?.header.job == job.token
        let isOwn = !isMoved && recorded?.isSame(as: directory.number, isKnown: isKnown) == true
        let isEmpty = try place.check(directory, token: job.token, isOwn: isOwn)
        guard isOwn || isEmpty || given != nil || recorded == nil else {
            throw ImportError(
                .chunkDirectoryReplaced,
                at: path,
                "is not the directory in which this import keeps its chunks",
                advice: "If it was copied or restored from a backup, give it with \(.chunkDirectory, path)."
            )
        }
        if isOwn, let recorded { return try saved(recorded, job, directory) }
        // Made for this job, but not noted as such before a kill.
        file.isMade = !isMoved && recorded?.number == nil && recorded?.isMade == true
        file.number = directory.number
        try save(file, job, insteadOf: old)
        return directory
    }

    private func saved(
        _ file: RecordedFile,
        _ job: StoredJob,
        _ directory: ChunkDirectory
    ) throws -> ChunkDirectory {
        // Its disk may have another number since the system was started again.
        var file = file
        guard file.number != directory.number else { return directory }
        file.number = directory.number
        try save(file, job, insteadOf: nil)
        return directory
    }

    /// - Parameter old: the directory that the job has used so far, whose chunks go.
    private func save(_ file: RecordedFile, _ job: StoredJob, insteadOf old: RecordedFile?) throws {
        var files = [file]
        if var old {
            old.state = .left
            files.insert(old, at: 0)
        }
        try journal.record(files, chunksOf: job)
    }

    private static func cannotMove(_ job: StoredJob) -> ImportError {
        ImportError(
            .optionsConflict,
            "the chunks in \(job.chunkDirectory) cannot be cut again elsewhere",
            advice: "Leave \(.chunkDirectory) out."
        )
    }

    /// Removes a job's chunks, so that all of them are cut again.
    static func drop(of job: StoredJob, in directory: ChunkDirectory) throws {
        guard let chunks = try ChunkManifest.readNumbers(in: directory), chunks.job == job.token else { return }
        try directory.removeFiles(chunks.numbers)
    }

    /// The manifest that the split continues writing.
    ///
    /// What is not in it is removed first: what a killed run has left half written, and chunks that cannot be used.
    static func manifest(of run: JobRun, at point: ResumePoint) throws -> ChunkManifest {
        let (job, directory) = (run.job, run.directory)
        let isSynced = job.sources.contains { !$0.description.isRepeatable }
        let name = ChunkManifest.fileName
        let entries = point.manifest?.entries ?? []
        let found = try ChunkManifest.readWhatIsSound(in: directory)
        if let found {
            if let damage = found.damage, !damage.isTorn {
                run.context.announce([
                    "\(directory.path)/\(name): line \(damage.line) is not as it was written: "
                        + "the chunks from there on are cut again"
                ])
            }
            try directory.removeChunks(found.numbers, keeping: Set(entries.map(\.fileNumber)))
        }
        try directory.remove(ChunkDirectory.temporaryName(name))
        if let content = point.manifest {
            return try ChunkManifest(resuming: content, in: directory, synced: isSynced)
        }
        let header = ChunkManifest.Header(
            sources: job.sources.map(\.description),
            shapes: job.sources.map(\.shape),
            limits: run.limits,
            job: job.token
        )
        return try ChunkManifest(
            creatingIn: directory,
            header: header,
            entries: entries,
            reserved: found?.numbers ?? ReservedChunkNumbers(),
            firstNumber: point.split.chunkNumber,
            // The directory is the job's: so is a manifest whose first line is damaged.
            replaces: try directory.openIfThere(name) != nil,
            synced: isSynced
        )
    }
}
