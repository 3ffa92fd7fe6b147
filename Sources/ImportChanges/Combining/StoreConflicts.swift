import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// Reads the open conflicts that merges have left in a store, in the order of their numbers.
///
/// ```swift
/// let conflicts = try StoreConflicts(of: "people.sqlite")
/// while let conflict = try conflicts.next() {
///     print(conflict.number, conflict.kind, conflict.entity)
/// }
/// ```
///
/// The store is read in one transaction, and is not written. An instance is created and used by one thread.
public final class StoreConflicts {
    /// The entities of the store, by which values are written and read.
    package let entities: [ChangedEntity]
    package let store: String
    /// By entity, the attributes that identify its objects, where the store does not say so itself.
    package let identifiers: [String: [String]]
    private let compared: ComparedStore
    private let table: ConflictTable
    private let reader: ChangeLineReader
    private var last: Int64 = 0
    private var ahead: [ConflictTable.StoredConflict] = []

    /// Opens a store.
    ///
    /// - Throws: `ImportError` with `.noInput` when there is no such store, `.badInput` when it is not an SQLite database.
    public init(of store: any FileLocation) throws {
        let store = store.filePath
        self.store = store
        // Which attributes identify objects may have been an option of the merge.
        let before = try ComparedStore(store, identifiers: [:])
        let identifiers = try before.read { try ConflictTable($0).identifiers }
        let compared = identifiers.isEmpty ? before : try ComparedStore(store, identifiers: identifiers)
        self.compared = compared
        self.identifiers = identifiers
        table = try compared.read { try ConflictTable($0) }
        entities = try ComparisonPlan.entities(of: compared.schema)
        reader = ChangeLineReader(entities)
    }

    /// The number of open conflicts.
    public func count() throws -> Int64 { try compared.read { try table.count($0) } }

    /// The next conflict; nil after the last.
    public func next() throws -> MergeConflict? {
        if ahead.isEmpty {
            ahead = try compared.read { try table.open(after: last, limit: 100, $0) }.reversed()
        }
        guard let stored = ahead.popLast() else { return nil }
        last = stored.number
        return try conflict(stored)
    }

    /// The one of a number, and whether it is open; nil where there is none, or the merge that left it is undone.
    package func conflict(_ number: Int64) throws -> (MergeConflict, isOpen: Bool)? {
        try compared.read { try table.conflict(number, $0) }.map { (try conflict($0), $1) }
    }

    private func conflict(_ stored: ConflictTable.StoredConflict) throws -> MergeConflict {
        do {
            var conflict = try read(Array(stored.line))
            conflict.number = stored.number
            conflict.take = nil
            return conflict
        } catch let error as ChangeSetScanner.LineError {
            throw ImportError(
                .storeUnusable,
                at: store,
                "conflict \(stored.number) cannot be read: \(error.reason)",
                advice: "Undo the merge that left it, and merge again."
            )
        }
    }

    /// Reads a line, whose values are those of the store's entities.
    package func read(_ line: [UInt8]) throws -> MergeConflict {
        try line.withUnsafeBufferPointer { bytes throws(ChangeSetScanner.LineError) in
            try reader.conflict(ByteView(bytes))
        }
    }

    /// A conflict as a line of a file, without a line break.
    public func line(_ conflict: MergeConflict) -> [UInt8] {
        var line: [UInt8] = []
        ChangeLineWriter(entities).append(conflict, to: &line)
        return line
    }
}

extension ComparisonPlan {
    /// The entities of a store, as change sets have them.
    fileprivate static func entities(of schema: ComparedSchema) throws -> [ChangedEntity] {
        // What nothing identifies has no conflicts.
        var options = DifferenceOptions()
        options.entities = schema.entities.filter { !$0.identifier.isEmpty }.map(\.name)
        guard !options.entities.isEmpty else { return [] }
        return try ComparisonPlan(schema, schema, options).allDescribed
    }
}
