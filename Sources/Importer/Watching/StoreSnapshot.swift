import ImportEngine

/// How far a store's import is, for anyone who watches it: everything from one moment.
package struct StoreSnapshot: Sendable, Hashable {
    /// One entity of the store, with what the watched job did to it.
    package struct Entity: Sendable, Hashable {
        /// The entity's name.
        package let name: String
        /// The entity's table.
        package let table: String
        /// What the watched job did, to nested objects too; zeros where it is another job's entity.
        package let counts: ImportReport.Counts

        /// Creates one.
        package init(name: String, table: String, counts: ImportReport.Counts) {
            self.name = name
            self.table = table
            self.counts = counts
        }

        /// True if it is the same entity in the same table, whatever was done to it.
        package func isSame(as other: Entity) -> Bool {
            name.utf8.elementsEqual(other.name.utf8) && table == other.table
        }
    }

    /// How far the source is that is being read.
    package struct Source: Sendable, Hashable, Encodable {
        /// Its index in the job, from 0.
        package let index: Int
        /// Its bytes up to there.
        package let bytes: Int64
        /// Its records up to there.
        package let records: Int64
    }

    /// The job's number in the store; nil while the store holds no import.
    package var job: Int64?
    /// Where the job is.
    package var state = ImportReport.State.running
    /// What stopped the job, where it failed.
    package var message: String?
    /// True if the job has a model, and so tables.
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
    /// The source that the job has come to; nil after the last one.
    ///
    /// While a model is inferred, it is the one that is being cut into chunks.
    package var source: Source?
    /// Records that are committed, rejects included.
    package var records: Int64 = 0
    /// Records that were not accepted.
    package var rejected: Int64 = 0
    /// Commits of the job so far.
    package var commits: Int64 = 0
    /// Time spent in all runs of the job, in seconds.
    package var seconds = 0.0
    /// The job's entities in its order, then those of other jobs.
    package var entities: [Entity] = []
    /// What is wrong with records, the group with the newest reject first.
    package var errors: [ErrorGroup] = []

    /// Nothing yet.
    package init() {}
}

extension ImportReport.Counts {
    /// The same, with objects that came nested in records of any entity counted as those of records are; they were not read as
    /// records themselves.
    package var withNested: Self {
        var counts = self
        counts.inserted = inserted.addingClamped(nestedInserted ?? 0).addingClamped(stubs ?? 0)
        counts.updated = updated.addingClamped(nestedUpdated ?? 0)
        counts.unchanged = unchanged.addingClamped(nestedUnchanged ?? 0)
        counts.ignored = ignored.addingClamped(nestedIgnored ?? 0)
        return counts
    }
}
