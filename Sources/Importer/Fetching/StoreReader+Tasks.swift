import ImportEngine
import ImportModel
import ImportSources

/// Reading in a task: the store is read on a thread of its own, and the threads that tasks share go on meanwhile.
extension StoreReader {
    /// Calls `body` on a thread of its own (after `NSManagedObjectContext.perform(_:)`).
    ///
    /// - Parameter body: may call all methods that read the store. It runs to its end even if the task is cancelled meanwhile.
    /// - Throws: `CancellationError` when the task is cancelled before it begins; `ImportError` with `.noResources` when the system
    ///   gives no thread; what `body` throws.
    public func perform<Result: Sendable>(
        _ body: @escaping @Sendable (StoreReader) throws -> Result
    ) async throws -> Result {
        try await perform { reader, _ in try body(reader) }
    }

    private func perform<Result: Sendable>(
        _ body: @escaping @Sendable (StoreReader, Interruption) throws -> Result
    ) async throws -> Result {
        let interruption = Interruption()
        return try await SystemThread.run(to: "read the store", interruption) { [self] in
            try interruption.check()
            return try body(self, interruption)
        }
    }

    /// The objects that match the predicate, in memory.
    ///
    /// - Throws: as `FetchableObject.fetchAll(in:where:sortedBy:offset:limit:)` does; `CancellationError` when
    ///   the task is cancelled.
    public func fetch<Object: FetchableObject & Sendable>(
        _ type: Object.Type,
        where predicate: RecordPredicate? = nil,
        sortedBy sort: [RecordSort] = [],
        offset: Int = 0,
        limit: Int? = nil
    ) async throws -> [Object] {
        try await perform { reader, interruption in
            try reader.fetch(
                Object.self,
                where: predicate,
                sortedBy: sort,
                offset: offset,
                limit: limit,
                interruption
            )
        }
    }

    /// The records that match the predicate, as values by attribute name, in memory.
    ///
    /// - Throws: as the blocking form does; `CancellationError` when the task is cancelled.
    public func fetch(
        _ entity: String,
        where predicate: RecordPredicate? = nil,
        sortedBy sort: [RecordSort] = [],
        offset: Int = 0,
        limit: Int? = nil,
        including includes: [String] = []
    ) async throws -> [[String: JSONValue]] {
        try await perform { reader, interruption in
            let request = FetchRequest(
                entity: entity,
                where: predicate,
                sortedBy: sort,
                offset: offset,
                limit: limit,
                including: includes
            )
            return try reader.fetch(request, interruption)
        }
    }
}

extension FetchableObject where Self: Sendable {
    /// All objects that match the predicate, read on a thread of its own.
    ///
    /// - Throws: as the blocking form does; `CancellationError` when the task is cancelled.
    public static func fetchAll(
        in reader: StoreReader,
        where predicate: RecordPredicate? = nil,
        sortedBy sort: [RecordSort] = [],
        offset: Int = 0,
        limit: Int? = nil
    ) async throws -> [Self] {
        try await reader.fetch(Self.self, where: predicate, sortedBy: sort, offset: offset, limit: limit)
    }

    /// The first object that matches the predicate, read on a thread of its own; nil if there is none.
    ///
    /// - Throws: as `fetchAll` does.
    public static func fetchFirst(
        in reader: StoreReader,
        where predicate: RecordPredicate? = nil,
        sortedBy sort: [RecordSort] = []
    ) async throws -> Self? {
        try await reader.fetch(Self.self, where: predicate, sortedBy: sort, limit: 1).first
    }

    /// The number of objects that match the predicate, counted on a thread of its own.
    ///
    /// - Throws: as `fetchAll` does.
    public static func fetchCount(in reader: StoreReader, where predicate: RecordPredicate? = nil) async throws -> Int {
        try await reader.perform { try $0.count(entityName, where: predicate) }
    }

    /// The object with this identifier, read on a thread of its own; nil if there is none.
    ///
    /// - Parameters:
    ///   - reader: reads the store.
    ///   - identifier: a value for each of the entity's identifying attributes, in their order.
    /// - Throws: as `fetchAll` does; `ImportError` with `.usage` when the entity has no identifier, or one of other length.
    public static func fetchOne(in reader: StoreReader, identifier: JSONValue...) async throws -> Self? {
        try await reader.perform { try $0.one(Self.self, identifier: identifier) }
    }
}
