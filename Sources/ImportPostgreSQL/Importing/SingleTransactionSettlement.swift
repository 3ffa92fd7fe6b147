import ImportModel
import Importer

/// Settles related entities where tables may refuse rows that fit: all of it in one transaction of the importing process.
///
/// What is refused makes its record a reject, with all that it says of others. So all is settled again without it, until nothing is
/// refused: objects and links are those of the records that are accepted, and of no other.
struct SingleTransactionSettlement {
    /// So many records are told refused at a time.
    private static let page = 10_000
    /// So many references that lead to nothing are held in memory.
    private static let mostDangling = 200_000

    private let relations: RelationshipSettlement
    private let statements: RelationshipStatements
    private let connection: PGConnection
    private let upserts: PGUpsertWorker
    private let constraints: UserConstraints
    /// What records up to this one come to is known not to be refused; nil where nothing is known.
    private var accepted: Int64?

    /// - Parameter connection: in the transaction in which the records of the job that lack nothing were found.
    init(_ relations: RelationshipSettlement, _ statements: RelationshipStatements, _ connection: PGConnection)
        throws
    {
        self.relations = relations
        self.statements = statements
        self.connection = connection
        upserts = try PGUpsertWorker(relations.task)
        constraints = UserConstraints(staged: statements.staged)
    }

    /// - Throws: `PGError` that is about no record, and `ImportError`.
    mutating func settle() throws {
        while true {
            _ = try connection.execute("SAVEPOINT importer_pass")
            let outcome = try attempt()
            if case .settled = outcome { break }
            _ = try connection.execute("ROLLBACK TO SAVEPOINT importer_pass; RELEASE SAVEPOINT importer_pass")
            switch outcome {
            case .settled: break
            case .refused(let rows):
                accepted = nil
                try reject(rows)
            case .failed(let failure): try reject([find(failure)])
            case .dangling(let pages):
                accepted = nil
                try reject(dangling: pages)
            }
        }
        _ = try connection.execute("RELEASE SAVEPOINT importer_pass")
    }

    /// Makes rejects of records, and of those that lack what they would have brought.
    private func reject(_ rows: [RefusedRow]) throws {
        let refused = Dictionary(rows.map { ($0.ordinal, $0) }) { first, _ in first }.values
            .sorted { $0.ordinal < $1.ordinal }
        try relations.reject(refused, statements, connection)
        if !isInOrder { try relations.reject(statements, connection) }
    }

    /// The same of records whose references lead to nothing.
    private func reject(dangling pages: [String]) throws {
        for page in pages { _ = try connection.execute(RelationshipStatements.addingDangling, [.text(page)]) }
        // What their objects are is found with all others, again and again.
        guard !relations.findsSubentities else { return }
        try relations.rejectDangling(statements, connection)
        if !isInOrder { try relations.reject(statements, connection) }
    }

    /// True if it depends on what is refused which other records are accepted, and not only on what these lack then.
    private var isInOrder: Bool { statements.leavesOut || relations.findsSubentities }

    /// Finds which records are accepted, where that depends on what is refused.
    private func judge() throws {
        try relations.findSubentities(statements, connection)
        if isInOrder { try relations.reject(statements, connection) }
    }

    // MARK: All of it

    private enum Outcome {
        case settled
        /// These records, and maybe more.
        case refused([RefusedRow])
        /// Some record.
        case failed(PGError)
        /// Those whose references lead to nothing.
        case dangling([String])
    }

    /// Settles all, as far as nothing is refused.
    private func attempt() throws -> Outcome {
        let keys = try constraints.takeAwayForeignKeys(connection)
        let indexes = try constraints.takeAwayUniqueIndexes(ofLists: false, connection)
        try judge()
        if let failure = try connection.refusal(of: { try relations.prepare(statements, connection) }) {
            return .failed(failure)
        }
        for entity in statements.identified {
            // What is said of others by records that are refused here is not to keep out any of these.
            let rows = try upserts.makeObjects(of: entity, most: Self.page, connection)
            if !rows.isEmpty { return .refused(rows) }
        }
        if let failure = try connection.refusal(of: { try relations.link(statements, connection) }) {
            let rows = try refusedElements()
            return rows.isEmpty ? .failed(failure) : .refused(rows)
        }
        let dangling = try statements.findingDangling(most: Self.mostDangling, page: Self.page).map {
            try connection.execute($0).map { try $0.text(0) }
        }
        if let dangling, !dangling.isEmpty { return .dangling(dangling) }
        if let failure = try connection.refusal(of: { try relations.resolveAll(statements, connection) }) {
            let rows = try refusedReferences()
            if rows.isEmpty { throw failure.unattributed(in: relations.task.store) }
            return .refused(rows)
        }
        for index in indexes {
            if let failure = try connection.refusal(of: { try index.restore(connection) }) {
                throw failure.unattributed(in: relations.task.store)
            }
        }
        for key in keys {
            guard let failure = try connection.refusal(of: { try key.restore(connection) }) else { continue }
            let error = failure.error(of: key.entity.map(name) ?? "", keyPath: "")
            let rows = try constraints.recordsBreaking(key, most: Self.page, connection)
            if rows.isEmpty { throw failure.unattributed(in: relations.task.store) }
            return .refused(rows.map { RefusedRow(ordinal: $0, error: error) })
        }
        return .settled
    }

    private func name(of entity: Int) -> String { statements.tables.layout.entities[entity].name }

    // MARK: Elements

    /// Finds records with elements that their tables refuse, in whatever list.
    private func refusedElements() throws -> [RefusedRow] {
        var found: [RefusedRow] = []
        for (entity, stage, statement) in statements.tryingElements {
            let index = "\(StagingName.prefix(of: relations.task.job.id))oi"
            _ = try connection.execute("DROP INDEX IF EXISTS \(index); CREATE INDEX \(index) ON \(stage) (_ordinal)")
            let ends = try connection.execute("SELECT min(_ordinal), max(_ordinal) FROM \(stage)").first
            guard let first = try ends?.optionalInteger(0), let last = try ends?.optionalInteger(1) else { continue }
            try findRefused(among: first..<last + 1, of: entity, by: statement, &found)
            if !found.isEmpty { break }
        }
        return found
    }

    private func findRefused(
        among range: Range<Int64>,
        of entity: Int,
        by statement: String,
        _ found: inout [RefusedRow]
    ) throws {
        guard !range.isEmpty, found.count < Self.page else { return }
        try relations.task.interruption.check()
        let failure = try connection.refusal {
            _ = try connection.execute(statement, [.integer(range.lowerBound), .integer(range.upperBound)])
        }
        guard let failure else { return }
        guard range.count > 1 else {
            // Lists that replace one another are not in each other's way.
            guard !failure.isAboutOtherRows else { return }
            let error = failure.error(of: name(of: entity), keyPath: "")
            found.append(RefusedRow(ordinal: range.lowerBound, error: error))
            return
        }
        let middle = range.lowerBound + Int64(range.count / 2)
        try findRefused(among: range.lowerBound..<middle, of: entity, by: statement, &found)
        try findRefused(among: middle..<range.upperBound, of: entity, by: statement, &found)
    }

    // MARK: References to nothing

    /// Finds records that refer to nothing where the server refuses the row that is made for that.
    private func refusedReferences() throws -> [RefusedRow] {
        // What goes as an orphan does not refer to anything any more.
        if try connection.refusal(of: { try relations.deleteOrphans(statements, connection) }) != nil { return [] }
        for relationship in statements.tables.layout.relationships.indices {
            for resolving in statements.resolving(relationship) {
                for statement in [RelationshipStatements.forgettingTargets, resolving.numbering] {
                    _ = try connection.execute(statement)
                }
                let count = try connection.execute(RelationshipStatements.countingTargets).first?.integer(0) ?? 0
                var found: [RefusedRow] = []
                try findRefused(among: 1..<count + 1, of: resolving.entity, by: resolving.statement, &found)
                guard !found.isEmpty else { continue }
                let errors = Dictionary(found.map { ($0.ordinal, $0.error) }) { first, _ in first }
                return try connection.execute(statements.stating(relationship, errors.keys.sorted(), most: Self.page))
                    .compactMap {
                        row in
                        try errors[row.integer(1)].map { RefusedRow(ordinal: try row.integer(0), error: $0) }
                    }
            }
        }
        return []
    }

    // MARK: Anything else

    /// Finds the first record with which the server refuses what the records up to it come to, by halves.
    ///
    /// - Throws: `ImportError` where it is about no record.
    private mutating func find(_ failure: PGError) throws -> RefusedRow {
        let stages = statements.stages
        let last = try stages.reduce(Int64(0)) { last, stage in
            try max(last, connection.execute("SELECT max(_ordinal) FROM \(stage)").first?.optionalInteger(0) ?? 0)
        }
        if accepted == nil {
            guard try refusal(upTo: 0) == nil else { throw failure.unattributed(in: relations.task.store) }
        }
        guard last > accepted ?? 0 else { throw failure.unattributed(in: relations.task.store) }
        let refused = try statements.tables.firstRefused(after: accepted ?? 0, upTo: last, failure, refusal)
        accepted = refused.ordinal - 1
        return refused
    }

    /// What the server has against the records up to one, which nothing is left of afterwards.
    private func refusal(upTo ordinal: Int64) throws -> PGError? {
        try relations.task.interruption.check()
        _ = try connection.execute("SAVEPOINT importer_trial")
        // What objects are depends on records before them alone.
        try relations.findSubentities(statements, connection)
        for stage in statements.stages {
            _ = try connection.execute("DELETE FROM \(stage) WHERE _ordinal > $1", [.integer(ordinal)])
        }
        let failure = try connection.refusal {
            _ = try constraints.takeAwayForeignKeys(connection)
            _ = try constraints.takeAwayUniqueIndexes(ofLists: false, connection)
            if isInOrder { try relations.reject(statements, connection) }
            try relations.prepare(statements, connection)
            for entity in statements.identified { _ = try upserts.makeObjects(of: entity, most: nil, connection) }
            try relations.link(statements, connection)
        }
        _ = try connection.execute("ROLLBACK TO SAVEPOINT importer_trial; RELEASE SAVEPOINT importer_trial")
        return failure
    }
}

extension RelationshipTables {
    /// Finds the first record with which the server refuses a row, by halves.
    ///
    /// - Parameters:
    ///   - accepted: up to this record it refuses none.
    ///   - last: up to this one it does, with `failure`.
    ///   - refusal: what it has against the records up to one.
    func firstRefused(
        after accepted: Int64,
        upTo last: Int64,
        _ failure: PGError,
        _ refusal: (_ ordinal: Int64) throws -> PGError?
    ) rethrows -> RefusedRow {
        var (low, high, found) = (accepted, last, failure)
        while high - low > 1 {
            let middle = low + (high - low) / 2
            if let failure = try refusal(middle) {
                (high, found) = (middle, failure)
            } else {
                low = middle
            }
        }
        return RefusedRow(ordinal: high, error: found.error(of: entity(of: found), keyPath: ""))
    }

    /// The name of the entity whose table a failure names; empty where it names none.
    func entity(of failure: PGError) -> String {
        let found = layout.entities.indices.first { PGNames.fitting(layout.table(of: $0)) == failure.table }
        return found.map { layout.entities[$0].name } ?? ""
    }
}

extension PGError {
    /// What is said where it refuses what all records come to together.
    func unattributed(in store: PostgreSQLStore) -> ImportError {
        importError(at: store.label, showsValues: store.showsValues).advising(
            """
            It refuses what no single record says: what becomes of objects that lists let go (orphans), of what these led to, or of \
            references to nothing that are cleared, or were there before (unresolved). Nothing of the import is in the tables. Change the model, or what refuses it; then \
            resume: \(call: .resuming(store: store.label)). Or restart with \(.restart).
            """
        )
    }

    /// True if it says that a row is in the way of others.
    fileprivate var isAboutOtherRows: Bool { ["23505", "23P01"].contains(sqlState) }
}
