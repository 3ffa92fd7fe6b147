import ImportModel
import ImportSources

/// A store that jobs import into: what the pipeline asks of one, and nothing of how it does it.
///
/// It is used in this order: `check`, `lock`, `read` to decide what is to be done, `open`, the journal, what takes the records, and at
/// last `close` or, where the run has failed, `abandon` or `fail`.
package protocol Destination: AnyObject {
    /// True if there is a store.
    var exists: Bool { get }
    /// True if a run has ended because another store is in this one's place by now.
    var isLost: Bool { get }
    /// True if its texts may have U+0000.
    var textsHaveNUL: Bool { get }

    /// Makes sure that a store is there, or may be made there.
    ///
    /// - Throws: `ImportError` with `.cannotCreate`.
    func check() throws

    /// Makes this the only importer of the store until `unlock`.
    ///
    /// - Throws: `ImportError` with `.inUse` when another one has it.
    func lock() throws

    /// Lets other importers in; nothing if it is not locked.
    ///
    /// Said and not left to the last reference: a thread that has ended may hold one for a moment longer.
    func unlock()

    /// Reads the bookkeeping without changing anything; also without a lock.
    ///
    /// - Throws: `ImportError` where it is another program's or damaged, and what `body` throws.
    func read<Result>(_ body: (any JournalReader) throws -> Result) throws -> Result

    /// Does what a run could not do that was killed after its job's end.
    ///
    /// What cannot be done now is done by another run. Nothing is done to a store whose bookkeeping is not ours.
    func tidyUp()

    /// Opens the store, which is made if it is not there.
    ///
    /// - Parameter bytes: how many the sources of the job have that is begun; nil where that is not known.
    func open(for bytes: Int64?) throws -> any Journal

    /// The report of a job.
    func report(of job: Int64) throws -> ImportReport

    /// The report of a job as it was read, which is not read again.
    func report(of job: StoredJob) throws -> ImportReport

    /// Closes the store after a job has come to its end.
    ///
    /// - Returns: the job's report.
    /// - Throws: `ImportError`, also where another store is in this one's place by now.
    func close(after job: StoredJob) throws -> ImportReport

    /// Closes the store after a run has failed; one that was made for a job that cannot be done goes again.
    func fail(_ job: StoredJob)

    /// Closes the store as a run does that has done nothing: it is as it was.
    func abandon()

    /// Builds indexes that were asked for only when a job was finished.
    ///
    /// - Returns: their names.
    func build(_ indexes: StoreIndexes, of job: StoredJob, _ interruption: Interruption) throws -> [String]

    /// Makes a repair file that nobody else may read, and that is recorded before it is made.
    ///
    /// - Parameters:
    ///   - path: absolute; no file is there.
    ///   - token: of the retry that will read it.
    ///   - body: calls its argument with the file's bytes, in any portions.
    /// - Returns: what `body` returns; the file is on the disk then.
    func makeRepairFile<Result>(
        at path: String,
        token: String,
        _ body: (_ write: (ArraySlice<UInt8>) throws -> Void) throws -> Result
    ) throws -> Result

    /// What an error means to a person.
    func explain(_ error: any Error) -> ImportError
}

extension Destination {
    package var textsHaveNUL: Bool { true }

    /// Tidies up where it fails what a run has to do before it begins.
    package func tidyingUp<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            tidyUp()
            throw error
        }
    }
}

/// A store that takes a job's batches one after the other, in source order, each by a call of a `BatchWriter`.
package protocol OrderedDestination: Destination {
    associatedtype Writers: BatchWriterFactory

    /// The writers for a job that has its model.
    ///
    /// - Parameter interruption: ends what takes long before a commit, as if it had not begun.
    func writers(
        _ job: StoredJob,
        _ model: ModelDescription,
        started: ContinuousClock.Instant,
        _ interruption: Interruption
    ) throws -> Writers
}

extension Destination {
    /// Opens the store.
    package func open() throws -> any Journal { try open(for: nil) }
}
