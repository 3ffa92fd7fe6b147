/// What one commit changed, or several in a row, sent after readers can see it.
public struct MergeNotification: Sendable, Hashable {
    /// The job's number in the store; where it covers commits of several jobs, that of the last one.
    public private(set) var job: Int64
    /// The number of the last commit that it covers, in the job, from 1.
    ///
    /// What is done when all records are committed, making one object of rows with the same identifier for example, counts
    /// for the job's last commit.
    public private(set) var commit: Int64
    /// What was changed, by entity; empty where `needsRefresh` is set.
    public private(set) var changes: [EntityChanges]
    /// What the job has done up to there, by entity, in the model's order.
    public private(set) var totals: [EntityTotals]
    /// Where the job is after it.
    public private(set) var marker: Marker
    /// Whether the job is finished with it.
    public private(set) var isFinished: Bool
    /// The numbers of all jobs that were finished in what it covers, for callers that wait for the end of one of them.
    ///
    /// Where a `StoreFollower` asks for a refresh, those of all jobs that are finished in the store.
    public private(set) var finishedJobs: Set<Int64>
    /// Whether anything may have changed, so that followers must read everything again.
    ///
    /// So it is when an import restarts, which removes what it inserted, and for a `StoreFollower` that was away for
    /// longer than the store's log goes back.
    public private(set) var needsRefresh = false
    /// Where it ends in the store's log, for a `StoreFollower` that continues from there.
    public package(set) var position = StorePosition.start

    // More than seven parameters, as it is a plain value: one for each property.
    package init(
        job: Int64,
        commit: Int64,
        changes: [EntityChanges],
        totals: [EntityTotals],
        marker: Marker,
        isFinished: Bool,
        needsRefresh: Bool = false,
        position: StorePosition = .start
    ) {
        self.job = job
        self.commit = commit
        self.changes = needsRefresh ? [] : changes.filter { !$0.isEmpty }
        self.totals = totals
        self.marker = marker.announced
        self.isFinished = isFinished
        finishedJobs = isFinished ? [job] : []
        self.needsRefresh = needsRefresh
        self.position = position
    }

    /// Takes in the notification that follows this one, for an observer that was busy meanwhile.
    package mutating func merge(_ next: MergeNotification) {
        needsRefresh = needsRefresh || next.needsRefresh
        if needsRefresh {
            changes = []
        } else {
            for change in next.changes {
                if let place = changes.firstIndex(where: { $0.isAbout(change) }) {
                    changes[place].add(change)
                } else {
                    changes.append(change)
                }
            }
        }
        job = next.job
        commit = next.commit
        totals = next.totals
        marker = next.marker
        isFinished = next.isFinished
        finishedJobs.formUnion(next.finishedJobs)
        position = next.position
    }

    /// The same, but that all has to be looked at again.
    ///
    /// - Parameter finishedJobs: those that may have come to their end meanwhile.
    package func refreshing(finishedJobs: Set<Int64> = []) -> MergeNotification {
        var copy = self
        copy.finishedJobs.formUnion(finishedJobs)
        copy.needsRefresh = true
        copy.changes = []
        return copy
    }
}

extension Marker {
    /// What others get of it: without what only a resume needs.
    fileprivate var announced: Marker {
        var marker = self
        marker.chunkStart = .start
        marker.chunkRecords = 0
        marker.chunkHash = ""
        return marker
    }
}
