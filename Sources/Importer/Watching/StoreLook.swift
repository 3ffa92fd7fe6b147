/// How far a store's import is, for anyone who watches it: everything from one moment.
package struct StoreLook: Sendable, Hashable {
    /// One entity of the store, with what the watched job did to it.
    package struct Entity: Sendable, Hashable {
        /// The entity's name.
        package let name: String
        /// The entity's table.
        package let table: String
        /// What the watched job did; zeros where it is another job's entity.
        package let counts: ImportReport.Counts

        /// Creates one.
        package init(name: String, table: String, counts: ImportReport.Counts) {
            self.name = name
            self.table = table
            self.counts = counts
        }
    }

    /// The job's number in the store; nil while the store holds no import.
    package var job: Int64?
    /// Where the job is.
    package var state = ImportReport.State.running
    /// What stopped the job, where it failed.
    package var message: String?
    /// Whether the job has a model, and so tables.
    package var hasModel = false
    /// The sources, as they were given.
    package var sources: [String] = []
    /// The bytes of all sources, decompressed; nil where that is not known.
    package var totalBytes: Int64?
    /// Bytes of the sources that have been cut into chunks.
    package var splitBytes: Int64 = 0
    /// Records that have been cut into chunks.
    package var splitRecords: Int64 = 0
    /// Bytes of the sources whose records are committed.
    package var bytes: Int64 = 0
    /// Records that are committed, rejects included.
    package var records: Int64 = 0
    /// Records that were not accepted.
    package var rejected: Int64 = 0
    /// Time spent in all runs of the job, in seconds.
    package var seconds = 0.0
    /// The job's entities in its order, then those of other jobs.
    package var entities: [Entity] = []
    /// What is wrong with records, the group with the newest reject first.
    package var errors: [ErrorGroup] = []

    /// Nothing yet.
    package init() {}
}
