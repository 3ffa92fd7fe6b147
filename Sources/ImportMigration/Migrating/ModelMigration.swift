import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// Migrates a store to another model: changes its tables, columns, rows and references.
///
/// ```swift
/// var model = try StoreModel(of: "people.sqlite").model
/// for index in model.entities.indices where model.entities[index].name == "people" {
///     let uid = AttributeDescription(name: "uid", type: .uuid, isGenerated: true)
///     model.entities[index].attributes.append(uid)
/// }
/// let migration = ModelMigration(of: "people.sqlite", to: model)
/// for step in try migration.plan().steps { print(step.subject, step.text) }
/// try migration.run()
/// ```
///
/// The store's own model and the new one are compared: entities, attributes and relationships with a renaming identifier are matched by it,
/// all others by name. Each difference is a step. A step that would lose something is refused, and then nothing is changed.
///
/// A migration is one transaction. If only the schema has to change, it is changed (`ALTER TABLE`); other tables are rebuilt as SQLite's
/// manual describes (<https://www.sqlite.org/lang_altertable.html#otheralter>), with everything that other programs have created on them.
public struct ModelMigration: Sendable {
    private let store: String
    private let model: ModelDescription
    private let allowsLoss: Bool
    private let transformers: TransformerRegistry

    /// Prepares a migration; nothing is opened before `plan` or `run`.
    ///
    /// - Parameters:
    ///   - store: the SQLite file's path.
    ///   - model: the new model.
    ///   - allowsLoss: true if values of removed entities, attributes and relationships may be lost, and other losses that a plan marks.
    ///   - transformers: the transformers that the model may name.
    public init(
        of store: any FileLocation,
        to model: ModelDescription,
        allowsLoss: Bool = false,
        transformers: TransformerRegistry = .standard
    ) {
        self.store = StoreFile.resolved(store.filePath)
        self.model = model
        self.allowsLoss = allowsLoss
        self.transformers = transformers
    }

    /// The plan of a run, without changing anything; blocks the calling thread while rows are read.
    ///
    /// - Parameter interruption: ends the planning at once.
    /// - Throws: `ImportError`: `.noInput` when there is no store, or it has no model; `.badInput` when the model is not
    ///   valid, or an import of the store is not finished; another when the store cannot be read.
    public func plan(interruption: Interruption = Interruption()) throws -> Plan {
        try prepared(interruption).plan
    }

    private func prepared(_ interruption: Interruption) throws -> Prepared {
        try JobResolver.check(model, transformers)
        let opened = try ReadOnlyStore(store)
        defer { opened.close() }
        return try opened.read(interruption) { try prepared($0, interruption) }
    }

    /// Migrates the store; blocks the calling thread.
    ///
    /// - Parameters:
    ///   - progress: receives messages about the steps.
    ///   - interruption: ends the run at once, and the store is as before.
    ///   - accept: receives the plan before anything is written; if it throws, the run ends.
    /// - Returns: the plan that was carried out.
    /// - Throws: `ImportError`, and the store is as before: as `plan` does; `.badInput` with the first refusal when a step is
    ///   refused; `.inUse` when something else writes to the store; `.io` when the disk is full.
    @discardableResult
    public func run(
        progress: ImportProgress = ImportProgress(),
        interruption: Interruption = Interruption(),
        accept: (Plan) throws -> Void = { _ in }
    ) throws -> Plan {
        try progress.ending {
            try JobResolver.check(model, transformers)
            guard FileManager.default.fileExists(atPath: store) else { throw ImportError.noStore(at: store) }
            let lock = try StoreLock(store: store)
            defer { withExtendedLifetime(lock) {} }
            return try runLocked(progress, interruption) { plan in
                try accept(plan)
                try plan.check(store)
            }
        }
    }

    /// - Parameters:
    ///   - progress: of a run that goes on afterwards.
    ///   - accept: throws where the plan is refused.
    func runLocked(_ progress: ImportProgress, _ interruption: Interruption, _ accept: (Plan) throws -> Void) throws
        -> Plan
    {
        let first = try prepared(interruption)
        try accept(first.plan)
        guard !first.plan.isEmpty else { return first.plan }
        let writer = try MigrationWriter(store)
        let result = Result {
            try writer.write(interruption) { database in
                try change(database, first, interruption) { text in progress.update { $0.messages.append(text) } }
            }
        }
        var hasWritten = false
        if case .success = result { hasWritten = true }
        let closing = Result { try writer.close(hasWritten: hasWritten) }
        let plan = try result.get()
        try closing.get()
        return plan
    }

    // MARK: One transaction

    private struct Prepared {
        let plan: Plan
        let map: MigrationMapping
        let before: ModelDescription
        /// The number of the last one; 0 without any.
        let lastJob: Int64
        /// How many rows there are, by what they are selected from.
        let counted: [String: Int64]
    }

    /// - Parameter first: what was found before; nil to find out what only changing the schema and the values shows, too.
    private func prepared(_ database: Database, _ interruption: Interruption, after first: Prepared? = nil) throws
        -> Prepared
    {
        try BookkeepingSchema.checkFormat(database, store: store)
        guard let before = try StoredEntities.model(database) else {
            throw ImportError(
                .storeEmpty,
                at: store,
                "has no model to compare with",
                advice: "Import something first: the tables are made as its model says."
            )
        }
        guard try StoredJob.areAllFinished(database) else {
            throw ImportError(
                .migrationRefused,
                at: store,
                "an import of it is not finished",
                advice:
                    "Finish it with \(call: .resuming(store: store)), then \(.sameAgain). Nothing was changed."
            )
        }
        let match = ModelMatch(try ModelLayout(importing: before), try ModelLayout(importing: model))
        try Self.checkNames(match.new, store: store)
        let present = try Set(
            match.old.tables.map(\.name).filter { try database.tableExists($0) }.map(ExistingEntity.folded)
        )
        try checkColumns(match.old, present, database)
        let map = MigrationMapping(match, present: present, transformers)
        try MigrationFunctions.add(map, to: database)
        var planner = MigrationPlanner(map, allowsLoss: allowsLoss, counted: first?.counted, database)
        _ = try planner.survey(of: store)
        if !planner.steps.isEmpty {
            if first == nil { try planner.addUniqueIndexes() }
            try planner.addOthers(try TableRebuildPlan(map))
        }
        if first == nil, !planner.steps.isEmpty, !planner.steps.contains(where: \.isRefused),
            let complaint = try SchemaDryRun(map: map, model: model, store: store, database: database)
                .complaint(interruption)
        {
            planner.addComplaint(complaint)
        }
        return Prepared(
            plan: Plan(steps: planner.steps),
            map: map,
            before: before,
            lastJob: try StoredJob.last(database)?.id ?? 0,
            counted: planner.counted
        )
    }

    private static func checkNames(_ layout: ModelLayout, store: String) throws {
        for table in layout.tables {
            try StoreSchema.checkNames(
                EntityDescription(
                    name: table.name,
                    attributes: table.columns.map { AttributeDescription(name: $0.name, type: .string) }
                ),
                store: store
            )
        }
    }

    private func checkColumns(_ layout: ModelLayout, _ present: Set<BytewiseString>, _ database: Database) throws {
        for table in layout.tables where present.contains(ExistingEntity.folded(table.name)) {
            let stored = Set(try StoredTable(table.name, database).columns.map { ExistingEntity.folded($0.name) })
            guard let lacking = table.columns.first(where: { !stored.contains(ExistingEntity.folded($0.name)) }) else {
                continue
            }
            throw Self.refusal(
                "the table \(table.name) has no column \(lacking.name), as its model says; another program has removed it"
            )
        }
    }

    private func change(
        _ database: Database,
        _ first: Prepared,
        _ interruption: Interruption,
        _ say: @escaping (MessageText) -> Void
    ) throws -> Plan {
        try BookkeepingSchema.prepareBookkeeping(database, store: store, all: true)
        // Another program may have written since the plan was made.
        let prepared = try prepared(database, interruption, after: first)
        try prepared.plan.check(store)
        let job = prepared.lastJob
        let bookkeeping = MigrationBookkeeping(map: prepared.map, job: job, database: database)
        try Self.checkNewTables(prepared.map, database)
        let rebuild = try TableRebuildPlan(prepared.map)
        var run = MigrationRun(
            map: prepared.map,
            rebuild: rebuild,
            model: model,
            counted: prepared.counted,
            job: job,
            database: database,
            store: store,
            say: say
        )
        do {
            try run.run()
        } catch let error as DatabaseError where error.resultCode.primaryResultCode == .SQLITE_ERROR {
            throw Self.refusal("\(error.message ?? error.description)")
        } catch let error as DatabaseError where error.resultCode.primaryResultCode == .SQLITE_CONSTRAINT {
            throw Self.refusal("rows would have the same key: \(error.message ?? error.description)")
        }
        try interruption.check()
        try bookkeeping.save(from: prepared.before, to: model, prepared.plan)
        try BookkeepingSchema.dropEmpty(database)
        return prepared.plan
    }

    /// Tables of others that have the name of one that is to be made.
    static func checkNewTables(_ map: MigrationMapping, _ database: Database) throws {
        for table in map.new.tables {
            let name = ExistingEntity.folded(table.name)
            guard !map.old.tables.contains(where: { ExistingEntity.folded($0.name) == name }),
                try database.tableExists(table.name)
            else { continue }
            throw Self.refusal("there is a table \(table.name) that no import has made")
        }
    }

    package static func refusal(_ text: String, at store: String? = nil) -> ImportError {
        ImportError(
            .migrationRefused,
            at: store,
            "\(text)",
            advice: "Nothing was changed."
        )
    }
}

extension ModelMigration.Plan {
    /// Checks that no step is refused.
    ///
    /// - Parameter store: the store's path, for the message.
    /// - Throws: `ImportError` with `.badInput` for the first refused step.
    public func check(_ store: String) throws { try check(store, " \(.allowsLoss) allows what would be lost.") }

    /// - Parameter allowing: how to allow what would be lost.
    package func check(_ store: String, _ allowing: MessageText) throws {
        let refused = steps.filter(\.isRefused)
        guard let first = refused.first, let obstacle = first.obstacle else { return }
        let more = refused.count > 1 ? ", and \((refused.count - 1).grouped) more" : ""
        let isOfRows = first.change != .conflictsGone
        let advice = isOfRows ? "" : obstacle.advice.map { " \($0)" } ?? ""
        throw ImportError(
            .migrationRefused,
            at: store,
            "the migration is refused: \(first.subject) \(first.text): \(obstacle.count.grouped)\(isOfRows ? " of its rows or links" : ""): "
                + "\(obstacle.reason)\(more)",
            advice: "Nothing was changed.\(advice)" + (obstacle.isLoss ? allowing : "")
        )
    }
}
