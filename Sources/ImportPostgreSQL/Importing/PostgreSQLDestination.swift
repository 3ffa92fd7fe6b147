import ImportModel
import Importer

/// A schema of a server as an import sees it: each chunk is a transaction of its own, in any order, and any number of processes
/// may take part.
final class PostgreSQLDestination: RecordDestination {
    private let store: PostgreSQLStore
    private let session: PGLockingSession

    init(_ store: PostgreSQLStore, _ interruption: Interruption) {
        self.store = store
        session = PGLockingSession(store, interruption)
    }

    /// The schema is made when it is needed.
    var exists: Bool { true }
    var isLost: Bool { false }
    var textsHaveNUL: Bool { false }

    func check() throws { try session.read { _ in } }

    func lock() throws { try session.lock() }

    func unlock() { session.unlock() }

    func read<Result>(_ body: (any JournalReader) throws -> Result) throws -> Result {
        // Others may have changed tables since a run before this one.
        session.forget()
        return try body(PGJournalReader(session))
    }

    func tidyUp() { try? PGJournal(session).removeLeftFiles() }

    func open(for bytes: Int64?) throws -> any Journal { PGJournal(session) }

    func importRecords(of run: JobRun) throws -> JobRun { try PGImport(run, session).importRecords() }

    func report(of job: Int64) throws -> ImportReport {
        try session.read { try PGReportBuilder(store: store).report(of: job, $0) }
    }

    func report(of job: StoredJob) throws -> ImportReport {
        try session.read { try PGReportBuilder(store: store).report(of: job, $0) }
    }

    func close(after job: StoredJob) throws -> ImportReport {
        let report = try report(of: job.id)
        session.close()
        return report
    }

    func fail(_ job: StoredJob) { session.close() }

    func abandon() { session.close() }

    func build(_ indexes: StoreIndexes, of job: StoredJob, _ interruption: Interruption) throws -> [String] {
        guard !indexes.wanted.isEmpty, let model = job.model else { return [] }
        return try session.write { connection in
            try model.entitiesWithTables.flatMap { entity in
                let found = try PGTables.buildIndexes(of: entity, indexes, connection)
                try PGCounts.note(found, of: entity, job.id, connection)
                return found.built
            }
        }
    }

    func makeRepairFile<Result>(
        at path: String,
        token: String,
        _ body: (_ write: (ArraySlice<UInt8>) throws -> Void) throws -> Result
    ) throws -> Result {
        let journal = PGJournal(session)
        // What a killed retry has left has the name that this one's file is to get.
        try journal.bringUp()
        try journal.removeLeftFiles()
        var file = RecordedFile(token: token, path: path, kind: .repair, isMade: true)
        try journal.record([file], chunksOf: nil)
        let made = try AtomicFile(newFile: path)
        // Nothing is written to it before.
        file.number = try made.number
        try journal.record([file], chunksOf: nil)
        let result = try body(made.write)
        try made.finish()
        return result
    }

    func explain(_ error: any Error) -> ImportError {
        switch error {
        case let error as ImportError: error
        case let failure as PGError: failure.importError(at: store.label, showsValues: store.showsValues)
        default: ImportError(.fault, at: store.label, "\(error)")
        }
    }
}
