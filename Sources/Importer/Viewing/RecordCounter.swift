import GRDB
import ImportEngine
import ImportSQLite
import ImportSources

/// How many records a view has in all.
///
/// Without a predicate they are counted once; after that the import's own counts say how many come and go. Under a predicate
/// they are counted again, at most once a second and in at most a twentieth of the time.
struct RecordCounter: Sendable {
    private(set) var value = 0
    /// True if records were changed since.
    private(set) var isStale = false

    private let table: String
    private let query: WindowQuery
    private let clock: ViewClock
    /// The last job that imports into the table, and how many more rows there are than it knows of.
    private var base: (job: Int64, difference: Int)?
    /// Up to where in the store's log it counts.
    private var sequence: Int64 = 0
    /// Not to be counted again before.
    private var next = Duration.zero

    init(table: String, query: WindowQuery, clock: ViewClock) {
        self.table = table
        self.query = query
        self.clock = clock
    }

    /// When they are to be counted; nil when they need not be.
    var isDue: Duration? { isStale ? next : nil }

    /// Counts them.
    mutating func count(_ database: Database) throws {
        let start = clock.now()
        value = try query.count(database)
        isStale = false
        sequence = try MergeLog.end(database).sequence
        base = nil
        // What a notification counts of one entity says not all of a table that others share.
        if !query.isSelective, !query.contents.entity.sharesTable, let known = try known(database) {
            base = (known.job, value.subtractingClamped(known.rows))
        }
        let end = clock.now()
        next = max(start + .seconds(1), end + (end - start) * 19)
    }

    /// Takes the import's counts where they are enough, or else counts if it is time to.
    mutating func bringUp(_ database: Database) throws {
        if let exact = try exact(database) {
            value = exact
            isStale = false
            sequence = try MergeLog.end(database).sequence
        } else if clock.now() >= next {
            try count(database)
        }
    }

    /// What the import's own counts say in a transaction; nil where they are not enough.
    func exact(_ database: Database) throws -> Int? {
        guard let base, let known = try known(database), known.job >= base.job else { return nil }
        return known.rows.addingClamped(known.job == base.job ? base.difference : 0)
    }

    /// Takes the counts that a notification tells, if they are enough.
    mutating func bringUp(_ notification: MergeNotification) {
        isStale = true
        let isAhead = notification.position.sequence > sequence
        guard let base, notification.job >= base.job else {
            // The counts of a later job say nothing of what an earlier one does that continues.
            if isAhead { self.base = nil }
            return
        }
        guard
            let totals = notification.totals.first(where: {
                BytewiseString($0.table.asciiLowercased) == BytewiseString(table.asciiLowercased)
            })
        else { return }
        isStale = false
        // The store may have been read ahead of its notifications.
        guard isAhead else { return }
        // A later job has counted all rows when it began.
        let difference = notification.job == base.job ? base.difference : 0
        self.base = (notification.job, difference)
        value = Int(clamping: totals.rows).addingClamped(difference)
        sequence = notification.position.sequence
    }

    private func known(_ database: Database) throws -> (job: Int64, rows: Int)? {
        try Row.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT job, CAST(rows_before + inserted + nested_inserted + stubs - deleted AS INTEGER) AS row_count
                    FROM _import_entity
                    WHERE table_name = ? COLLATE NOCASE ORDER BY job DESC, position LIMIT 1
                    """
            ),
            arguments: [table]
        ).map { (job: $0["job"], rows: $0["row_count"]) }
    }
}
