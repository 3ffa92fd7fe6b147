import ImportModel
import Importer

/// Writes the objects of a bucket some of which the server refuses: all others land, and the records of these are rejects.
///
/// The keys are written in the order of their first records, as many at a time as are not refused together. Of a key whose object
/// is refused, records that lack nothing are taken one after the other: each is written as it is then, or is a reject. All of it is
/// part of the bucket's transaction.
struct BisectingUpsert {
    private let statements: BisectionStatements
    private let policy: ConflictPolicy
    private let connection: PGConnection
    private let interruption: Interruption
    private var inserted: Int64 = 0
    private var updated: Int64 = 0

    /// - Parameter connection: in a transaction in which the bucket was read, and nothing of it written.
    init(
        _ statements: BisectionStatements,
        _ policy: ConflictPolicy,
        _ connection: PGConnection,
        _ interruption: Interruption
    ) {
        self.statements = statements
        self.policy = policy
        self.connection = connection
        self.interruption = interruption
    }

    /// - Parameter failure: why all of them could not be written together.
    /// - Throws: `PGError` that is not about rows, and the interruption's `ImportError`.
    mutating func settle(after failure: PGError) throws {
        for statement in statements.numbering { _ = try connection.execute(statement) }
        let count = try connection.execute(statements.count).first?.integer(0) ?? 0
        try divide(1..<count + 1, failure)
        _ = try connection.execute(BisectionStatements.counting, [.integer(inserted), .integer(updated)])
    }

    // MARK: Ranges of keys

    private mutating func settle(_ range: Range<Int64>) throws {
        guard !range.isEmpty else { return }
        try interruption.check()
        var counted: (inserted: Int64, updated: Int64) = (0, 0)
        let failure = try connection.refusal {
            for writing in statements.writing {
                let bounds = [PGValue.integer(range.lowerBound), .integer(range.upperBound)]
                let count = try connection.execute(writing.text, bounds).affected
                switch writing.count {
                case .inserted: counted.inserted += count
                case .updated: counted.updated += count
                case .nothing: break
                }
            }
        }
        if let failure { return try divide(range, failure) }
        inserted += counted.inserted
        updated += counted.updated
    }

    /// Writes the halves of a range some of whose objects are refused.
    private mutating func divide(_ range: Range<Int64>, _ failure: PGError) throws {
        guard range.count > 1 else { return try takeRecords(of: range.lowerBound, failure) }
        let middle = range.lowerBound + Int64(range.count / 2)
        try settle(range.lowerBound..<middle)
        try settle(middle..<range.upperBound)
    }

    // MARK: The records of a key

    private struct Record {
        let place: PGValue
        let ordinal: Int64
        let child: Int64
        let isIncomplete: Bool
        let isPlain: Bool
    }

    /// What a key has after its records so far.
    private enum Object {
        case none
        /// Where it is, if that is known.
        case at(PGValue)
    }

    private mutating func takeRecords(of key: Int64, _ failure: PGError) throws {
        for statement in statements.forgetting { _ = try connection.execute(statement, [.integer(key)]) }
        var object: Object?
        var last: (ordinal: Int64, child: Int64) = (-1, -1)
        while true {
            let records = try connection.execute(
                statements.records,
                [.integer(key), .integer(last.ordinal), .integer(last.child)]
            ).map { row in
                Record(
                    place: .text(try row.text(0)),
                    ordinal: try row.integer(1),
                    child: try row.integer(2),
                    isIncomplete: try row.bool(3),
                    isPlain: try row.bool(4)
                )
            }
            guard let end = records.last else { return }
            last = (end.ordinal, end.child)
            for record in records {
                // It is the key's only one, and this is what has become of it.
                if record.isPlain { return try reject(record, for: failure) }
                var current = try object ?? self.object(before: record)
                try take(record, &current)
                object = current
            }
        }
    }

    private func object(before record: Record) throws -> Object {
        guard let finding = statements.finding, try !connection.execute(finding, [record.place]).isEmpty else {
            return .none
        }
        return .at(.null)
    }

    private mutating func take(_ record: Record, _ object: inout Object) throws {
        try interruption.check()
        var result = object
        var count: Int64 = 0
        switch object {
        case .none:
            guard !record.isIncomplete else { return try reject(record, isMissing: true) }
            let failure = try connection.refusal {
                guard let row = try connection.execute(statements.inserting, [record.place]).first else { return }
                result = .at(.text(try row.text(0)))
                count = 1
            }
            if let failure { return try reject(record, for: failure) }
            inserted += count
        case .at(var place):
            switch policy {
            case .ignore: return
            case .error: return try reject(record, isMissing: false)
            case .merge, .replace: break
            }
            let failure = try connection.refusal {
                for merging in statements.merging {
                    let known = statements.finding == nil ? [place] : []
                    guard let row = try connection.execute(merging, [record.place] + known).first else { continue }
                    place = .text(try row.text(0))
                    count = 1
                }
                result = .at(place)
            }
            if let failure { return try reject(record, for: failure) }
            updated += count
        }
        object = result
    }

    // MARK: Rejects

    private func reject(_ record: Record, for failure: PGError) throws {
        // The entity is the bucket's.
        let error = failure.error(of: "", keyPath: "")
        try reject(record, [.null, .text(error.code.rawValue), .text(error.expected), .text(error.found)])
    }

    private func reject(_ record: Record, isMissing: Bool) throws {
        try reject(record, [.boolean(isMissing), .null, .null, .null])
    }

    private func reject(_ record: Record, _ why: [PGValue]) throws {
        _ = try connection.execute(
            BisectionStatements.refusing,
            [.integer(record.ordinal), .integer(record.child)] + why
        )
    }
}

extension PGConnection {
    /// Does something within the transaction; where the server refuses a row, it is as if it had not been done.
    ///
    /// Constraints that are deferred are looked at here, too.
    ///
    /// - Returns: what the server has against a row; nil where all is done.
    /// - Throws: what `body` throws otherwise.
    func refusal(of body: () throws -> Void) throws -> PGError? {
        // What was posted before is not a part of it.
        _ = try execute("SAVEPOINT importer")
        do {
            try body()
            post("SET CONSTRAINTS ALL IMMEDIATE")
            _ = try execute("RELEASE SAVEPOINT importer")
            return nil
        } catch let failure as PGError where failure.isAboutRow && !failure.isConnectionLost {
            post("ROLLBACK TO SAVEPOINT importer")
            _ = try execute("RELEASE SAVEPOINT importer")
            return failure
        }
    }
}
