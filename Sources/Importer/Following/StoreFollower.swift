import GRDB
import ImportEngine
import ImportSQLite
import ImportSources
import Synchronization

/// Reports the commits of imports into a store, made by this process or another.
///
/// A follower reads the changes of commits from the store's log, in short read transactions that block nobody. All commits of a job
/// since the last call become one notification. If the log does not go back far enough, the notification requires a refresh.
/// A follower serves one reader; `follow(into:)` passes the notifications on to any number of observers.
public final class StoreFollower: Sendable {
    private struct State {
        /// Nil until an awaited store exists.
        var opened: ReadOnlyStore?
        /// True if the store had a log when it was last read.
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
    /// True if the store may be made only later.
    private let isAwaiting: Bool
    private let state: Mutex<State>
    private let reading = SerialReadQueue("importer.follower")

    /// Opens a store to follow it.
    ///
    /// - Parameters:
    ///   - store: the SQLite file's path.
    ///   - position: the position to continue from; nil to report only commits from now on.
    /// - Throws: `ImportError` when the store does not exist, is not an SQLite database, or is of a newer format.
    public init(store: any FileLocation, from position: StorePosition? = nil) throws {
        // Should another file take its place just now, the first look finds out.
        let opened = try ReadOnlyStore(store.filePath)
        let end = try opened.read { try MergeLog.end($0) }
        self.store = store.filePath
        isAwaiting = false
        state = Mutex(State(opened: opened, position: position ?? end))
    }

    /// Follows a store that an import, in this process or another, may create later.
    ///
    /// If the store does not exist yet, the first notification is that of its first commit.
    ///
    /// - Parameters:
    ///   - store: the SQLite file's path.
    ///   - position: the position to continue from; nil to report only commits from now on.
    /// - Throws: `ImportError` when there is a file that is not an SQLite database, or is of a newer format.
    public init(awaiting store: any FileLocation, from position: StorePosition? = nil) throws {
        let opened = try ReadOnlyStore.ifThere(store.filePath)
        let end = try opened?.read { try MergeLog.end($0) }
        self.store = store.filePath
        isAwaiting = true
        state = Mutex(State(opened: opened, position: position ?? end ?? .start))
    }

    /// The position after the last notification, from which a later follower can continue.
    public var position: StorePosition { state.withLock { $0.position } }

    /// Checks for commits since the last call.
    ///
    /// Call it at most once per frame of the screen.
    ///
    /// - Returns: the changes of commits of one job; nil if there are none. Changes of other jobs may follow at once.
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

    /// The notifications as an asynchronous sequence, for `for try await`.
    ///
    /// The sequence ends when the task is cancelled, and throws what `poll` throws.
    public var notifications: Notifications { Notifications(follower: self) }

    /// The notifications of a `StoreFollower`, as an asynchronous sequence.
    public struct Notifications: AsyncSequence, Sendable {
        fileprivate let follower: StoreFollower

        /// Creates the iterator; one reader may use it.
        public func makeAsyncIterator() -> Iterator {
            Iterator(follower: follower)
        }

        /// Polls the store at most once per frame of the screen, and less often while nothing is committed.
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

    /// Passes all notifications to a center, which posts them to its observers and sequences, until the task is cancelled.
    ///
    /// The center's sequences end when this method returns, unless an import uses the center, too.
    ///
    /// - Throws: what `poll` throws; `ImportError` with `.noResources` when the system gives no thread.
    public func follow(into center: MergeCenter) async throws {
        defer { center.close() }
        try center.open()
        for try await merge in notifications { center.enqueue(merge) }
    }
}
