import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSources

/// The changes of a change set by the identifiers of their objects, nested ones too: in a database of its own, which is on disk as soon
/// as it is large.
final class ChangeIndex {
    private let queue: DatabaseQueue
    private let writer: ChangeLineWriter
    private let reader: ChangeLineReader

    /// Reads all of a change set.
    ///
    /// - Throws: `ImportError` with `.badInput` where it is none.
    init(_ path: String, _ described: [ChangedEntity], _ entities: MergedEntities) throws {
        writer = ChangeLineWriter(described)
        reader = ChangeLineReader(described)
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        configuration.prepareDatabase { database in
            try database.execute(
                sql: "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -4000"
            )
        }
        // SQLite removes a database without a name by itself.
        queue = try DatabaseQueue(path: "", configuration: configuration)
        let changes = try ChangeSetReader(URL(filePath: path))
        try queue.inDatabase { database in
            try database.execute(
                sql: "BEGIN; CREATE TABLE change(key BLOB PRIMARY KEY, line BLOB NOT NULL) WITHOUT ROWID"
            )
            while let change = try changes.next() { try add(change, [], entities, database) }
        }
    }

    private func add(
        _ change: ObjectChange,
        _ owners: [ObjectReference],
        _ entities: MergedEntities,
        _ database: Database
    ) throws {
        var own = change
        if let inverse = entities.inverse(of: change.entity), let owner = owners.last, change.kind != .updated,
            !change.references.contains(where: { $0.name.hasSameBytes(as: inverse) })
        {
            let target = ReferenceChange.Target.object(owner)
            own.references.append(
                ReferenceChange(
                    inverse,
                    change.kind == .inserted ? .toOne(old: nil, new: target) : .toOne(old: target, new: nil)
                )
            )
            own.references.sort {
                entities.rank($0.name, of: change.entity) < entities.rank($1.name, of: change.entity)
            }
        }
        let key = key(change.entity, change.identifier)
        let statement = try database.cachedStatement(sql: "SELECT line FROM change WHERE key = ?")
        if change.isContinued, let line = try Data.fetchOne(statement, arguments: [key]) {
            var change = try read(line)
            change.join(own)
            own = change
        }
        var line: [UInt8] = []
        writer.append(own, to: &line)
        try database.cachedStatement(sql: "INSERT OR REPLACE INTO change VALUES (?, ?)")
            .execute(arguments: [key, Data(line)])
        for owned in change.relationships {
            guard case .objects(let changes) = owned.content else { continue }
            for inner in changes { try add(inner, owners + [change.identifier], entities, database) }
        }
    }

    /// Bytes that are the same for the same object alone.
    private func key(_ entity: String, _ identifier: ObjectReference) -> Data {
        var key = Array(entity.utf8) + [0]
        for part in identifier.values {
            var bytes: [UInt8] = []
            StoredValueWriter.appendPlain(part.value, to: &bytes)
            key += Array("\(bytes.count):".utf8) + bytes
        }
        return Data(key)
    }

    private func read(_ line: Data) throws -> ObjectChange {
        do {
            return try Array(line).withUnsafeBufferPointer { bytes throws(ChangeSetScanner.LineError) in
                try reader.change(ByteView(bytes))
            }
        } catch {
            throw ImportError(.fault, "a change that was written cannot be read: \(error.reason)")
        }
    }

    func change(of entity: String, _ identifier: ObjectReference) throws -> ObjectChange? {
        try queue.inDatabase { database in
            let statement = try database.cachedStatement(sql: "SELECT line FROM change WHERE key = ?")
            return try Data.fetchOne(statement, arguments: [key(entity, identifier)]).map(read)
        }
    }
}
