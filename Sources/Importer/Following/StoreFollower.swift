import GRDB
import ImportEngine
import ImportSQLite
import ImportSources
import Synchronization

/// Follows the commits of imports into a store, from this process or another.
///
/// What the commits changed is read from the store's log, in short read transactions that hold nobody up. Whatever comes
/// while nobody asks becomes one notification, and one that asks for a refresh where the log does not go back far enough.
/// A follower is meant for one reader; `follow(into:)` hands what it finds to any number of observers.
public final class StoreFollower: Sendable {
    private struct State {
        /// Nil while an awaited store is not there.
        var opened: ReadOnlyStore?
        /// Whether the store has had a log at the last look.
        var hasLog = false
        var position: StorePosition
        /// Changes when another connection has committed (<https://www.sqlite.org/pragma.html#pragma_data_version>).
        var dataVersion: Int64?
    }

    /// A screen shows no more than that.
    static let shortestPause = Duration.seconds(1) / 60
    /// Between two looks at a store in which nothing happens.
    static let longestPause = Duration.milliseconds(250)

    private let store: String
    /// Whether the store may be made only later.
    private let isAwaiting: Bool
    private let state: Mutex<State>
    private let reading = SerialReadQueue("importer.follower")

    /// Opens a store to follow it.
    ///
    /// - Parameters:
    ///   - store: the SQLite file's path.
    ///   - position: where to continue; nil to begin with what is committed from now on.
    /// - Throws: `ImportError` when the store does not exist, is not an SQLite database, or is of a newer format.
    public init(store: any FileLocation, from position: StorePosition? = nil) throws {
        // Should another file take its place just now, the first look finds out.
        let opened = try ReadOnlyStore(store.filePath)
        let end = try opened.read { try MergeLog.end($0) }
        self.store = store.filePath
        isAwaiting = false
        state = Mutex(State(opened: opened, position: position ?? end))
    }

    /// Follows a store that may be made only later, by an import in this process or another.
    ///
    /// Where it is not there yet, what comes first is the first commit of all.
    ///
    /// - Parameters:
    ///   - store: the SQLite file's path.
    ///   - position: where to continue; nil to begin with what is committed from now on.
    /// - Throws: `ImportError` when there is something that is not an SQLite database, or is of a newer format.
    public init(awaiting store: any FileLocation, from position: StorePosition? = nil) throws {
        let opened = try ReadOnlyStore.ifThere(store.filePath)
        let end = try opened?.read { try MergeLog.end($0) }
        self.store = store.filePath
        isAwaiting = true
        state = Mutex(State(opened: opened, position: position ?? end ?? .start))
    }

    /// How far the store was followed: where a later follower continues.
    public var position: StorePosition { state.withLock { $0.position } }

    /// Looks whether anything was committed since the last time; meant to be called at most as often as a screen is drawn.
    ///
    /// - Returns: what has changed; nil for nothing. It covers commits of one job, and others may follow at once.
    /// - Throws: `ImportError` when the store cannot be read, was deleted or was replaced by another one.
    public func poll() throws -> MergeNotification? {
        try state.withLock { state in
            // A connection that was opened while the file was empty may not notice by its data version what is
            // committed to it afterwards.
            if !state.hasLog {
                // An import that fails before its first record removes the store that it has made.
                state.opened = isAwaiting ? try ReadOnlyStore.ifThere(store) : try state.opened?.reopened()
                state.dataVersion = nil
            }
            return try state.opened?.read { try read(&state, $0) }
        }
    }

    private func read(_ state: inout State, _ database: Database) throws -> MergeNotification? {
        let dataVersion = try Int64.fetchOne(database.cachedStatement(sql: "PRAGMA data_version"))
        guard dataVersion != state.dataVersion else { return nil }
        state.hasLog = try database.hasTable("_import_merge")
        switch try MergeLog.read(after: state.position, database) {
        case .nothing:
            state.dataVersion = dataVersion
            return nil
        case .next(let merge):
            state.position = merge.position
            return merge
        case .otherStore:
            throw ImportError(
                .storeReplaced,
                at: store,
                "is another store than the one that was followed",
                advice: "Follow it from the beginning, without the position of the other one."
            )
        }
    }

    // MARK: Waiting

    /// The notifications as they come, for `for try await`.
    ///
    /// It ends when the task is cancelled, and throws what `poll` throws.
    public var notifications: Notifications { Notifications(follower: self) }

    /// The notifications of a `StoreFollower` as they come.
    public struct Notifications: AsyncSequence, Sendable {
        fileprivate let follower: StoreFollower

        /// Begins to read; meant for one reader.
        public func makeAsyncIterator() -> Iterator {
            Iterator(follower: follower)
        }

        /// Looks at the store no more often than a screen is drawn, and less often while nothing happens.
        public struct Iterator: AsyncIteratorProtocol {
            fileprivate let follower: StoreFollower
            private var pause = StoreFollower.shortestPause
            private var lastLook: ContinuousClock.Instant?

            fileprivate init(follower: StoreFollower) {
                self.follower = follower
            }

            /// The next notification; nil when the task is cancelled.
            public mutating func next() async throws -> MergeNotification? {
                while !Task.isCancelled {
                    if let lastLook {
                        guard (try? await Task.sleep(until: lastLook + pause, clock: .continuous)) != nil else {
                            return nil
                        }
                    }
                    lastLook = .now
                    if let merge = try await follower.reading.run({ [follower] in try follower.poll() }) {
                        pause = StoreFollower.shortestPause
                        return merge
                    }
                    pause = Swift.min(pause * 5 / 4, StoreFollower.longestPause)
                }
                return nil
            }
        }
    }

    /// Hands all notifications to a center, which posts them and feeds its sequences, until the task is cancelled.
    ///
    /// The center's sequences end when this returns, unless an import uses it, too.
    ///
    /// - Throws: what `poll` throws; `ImportError` with `.noResources` when the system gives no thread.
    public func follow(into center: MergeCenter) async throws {
        defer { center.close() }
        try center.open()
        for try await merge in notifications { center.enqueue(merge) }
    }
}
