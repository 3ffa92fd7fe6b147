import ImportSources

/// What the rounds of a run that follows its sources share: each imports what has come since the one before.
///
/// It is used by the thread of the run alone.
package final class FollowedRun: @unchecked Sendable {
    /// The run's job, which those of later rounds become a part of; nil before anything was imported.
    package private(set) var job: Int64?
    /// The sources of the round at hand.
    package var listing: SourceListing
    package let beginnings = ReadBeginnings()

    package init(_ listing: SourceListing) { self.listing = listing }

    /// Makes a round's finished job a part of the run's.
    ///
    /// - Returns: the run's job.
    /// - Throws: `ImportError`; the round's job then stays one of its own.
    func join(_ job: StoredJob, _ journal: any Journal) throws -> StoredJob {
        var joined = job
        if let first = self.job, first != job.id, try journal.join(job, to: first) { joined.id = first }
        self.job = joined.id
        return joined
    }
}
