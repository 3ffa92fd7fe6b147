/// The changes of one commit, or of several in a row, sent after readers can see them.
public struct MergeNotification: Sendable, Hashable {
    /// The number of the job in the store; if the notification covers commits of several jobs, that of the last one.
    public private(set) var job: Int64
    /// The number in the job, from 1, of the last commit that the notification covers.
    ///
    /// Changes made after all records are committed, such as merging rows with the same identifier, belong to the job's last commit.
    public private(set) var commit: Int64
    /// The changes by entity; empty if `needsRefresh` is true.
    public private(set) var changes: [EntityChanges]
    /// The totals of the job up to this commit, by entity, in the model's order.
    public private(set) var totals: [EntityTotals]
    /// The marker of the job after this commit.
    public private(set) var marker: Marker
    /// True if the job is finished with this commit.
    public private(set) var isFinished: Bool
    /// The numbers of all jobs that finished in the covered commits, for callers that wait for the end of one of them.
    ///
    /// If a `StoreFollower` requires a refresh, the numbers of all finished jobs in the store.
    public private(set) var finishedJobs: Set<Int64>
    /// True if anything may have changed, so that followers must re-read everything.
    ///
    /// This is the case when an import restarts, which removes the rows that it inserted, and for a `StoreFollower` whose position is older
    /// than the store's log.
    public private(set) var needsRefresh = false
    /// The position in the store's log at which the notification ends; a `StoreFollower` can continue from it.
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
