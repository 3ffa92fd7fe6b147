import Foundation
import GRDB
import ImportEngine
import ImportModel

/// The records of a job that were not accepted, as the store keeps them.
package struct RejectTable {
    /// Made by who has a reject, before the first is added.
    package static let name = "_import_reject"

    private let job: Int64
    private let state: RejectState
    private let encoder = BookkeepingJSON.makeEncoder()

    package init(of job: StoredJob) {
        self.job = job.id
        state = job.retry == nil ? .open : .retried
    }

    /// Adds one; of a retry, its line is settled.
    ///
    /// - Parameter source: its source's index in the job.
    package func insert(_ reject: RowBatch.Reject, entity: String, source: Int, _ database: Database) throws {
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO _import_reject (job, ordinal, entity, source, byte_offset, length, errors, record, record_key,
                    state)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        )
        try statement.execute(arguments: [
            job, reject.ordinal, entity, source, reject.byteOffset, reject.length,
            String(decoding: try encoder.encode(reject.errors), as: UTF8.self), Data(reject.bytes), reject.key,
            state.rawValue,
        ])
        if state == .retried { try RetryOutcome.reject(reject.ordinal, of: job, database) }
    }
}

extension EntityPlan {
    /// The paths of attributes, for errors that are about all of them; the columns of those that no key fills.
    package func keyPath(of attributes: [Int]) -> String {
        attributes.map { attribute in
            let path = slotPaths[slots[attribute].first ?? 0]
            return path.isEmpty ? entity.attributes[attribute].column : path
        }.joined(separator: ", ")
    }

    /// What is wrong with a record whose object is there already.
    ///
    /// - Parameter identifierOffset: where its identifier is in the source.
    package func duplicateError(at identifierOffset: Int64) -> ImportModel.RecordError {
        RecordError(
            entity: entity.name,
            keyPath: keyPath(of: identifier),
            code: .duplicateIdentifier,
            expected: "an identifier of its own",
            found: "the identifier of an existing object",
            byteOffset: identifierOffset
        )
    }
}
