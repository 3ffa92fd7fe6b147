import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// What an import's model changes of a store that has another one.
///
/// What an import leaves out stays: entities, attributes and relationships of the store that its model does not mention.
/// Those that are new and may be empty are added by the import itself.
package struct AutomaticMigration {
    /// The store's path, which may lead to nothing yet.
    package let store: String
    package let model: ModelDescription
    package let transformers: TransformerRegistry

    package init(store: String, model: ModelDescription, transformers: TransformerRegistry) {
        self.store = store
        self.model = model
        self.transformers = transformers
    }

    /// Makes sure that the store needs no migration for the model.
    ///
    /// - Throws: `ImportError` with `.badInput` that names the first change, and the command that makes it.
    package func check() throws {
        guard let (_, steps) = try needed(), let first = steps.first else { return }
        try check(ModelMigration.Plan(steps: steps))
        let more = steps.count > 1 ? ", and \((steps.count - 1).grouped) more changes" : ""
        throw ImportError(
            .modelDiffers,
            at: store,
            "has another model: \(first.subject) \(first.text)\(more)",
            advice:
                "Give \(.migrates) to change the store first, or use \(call: .migrating(store: store)). Nothing was written."
        )
    }

    /// Brings the store to the model, if it needs that; its lock is held.
    ///
    /// - Throws: `ImportError` as `ModelMigration.run` does.
    package func run(_ progress: ImportProgress, _ interruption: Interruption) throws {
        guard let (migration, steps) = try needed(interruption), !steps.isEmpty else { return }
        _ = try migration.runLocked(progress, interruption) { try accept($0, progress) }
    }

    /// Says what `run` would do, and changes nothing.
    ///
    /// - Throws: `ImportError` as `run` does.
    package func plan(_ progress: ImportProgress, _ interruption: Interruption) throws {
        guard let (migration, steps) = try needed(interruption), !steps.isEmpty else { return }
        try accept(migration.plan(interruption: interruption), progress)
    }

    private func accept(_ plan: ModelMigration.Plan, _ progress: ImportProgress) throws {
        progress.update {
            $0.messages += plan.steps.map {
                "\($0.isRefused ? "refused: " : "")\($0.subject) \($0.text)" as MessageText
            }
        }
        try check(plan)
    }

    private func check(_ plan: ModelMigration.Plan) throws {
        try plan.check(store, " \(call: .migrating(store: store)) with \(.allowsLoss) allows what would be lost.")
    }

    /// The migration, and the steps that the import itself does not make; nil where the store has no model, or a job that is
    /// not finished and says what may be done.
    private func needed(_ interruption: Interruption = Interruption()) throws -> (
        ModelMigration, [ModelMigration.Step]
    )? {
        guard let opened = try ReadOnlyStore.ifThere(store) else { return nil }
        defer { opened.close() }
        let before = try opened.read { database -> ModelDescription? in
            guard try StoredJob.areAllFinished(database) else { return nil }
            return try StoredEntities.model(database)
        }
        guard let before, before != model, let merged = try merged(with: before) else { return nil }
        let migration = ModelMigration(of: store, to: merged, transformers: transformers)
        let unidentified = unidentified(in: before)
        let steps = try migration.plan(interruption: interruption).steps.filter { step in
            // A table without identifier gets one by the import.
            let isFirst = step.change == .identifierChanged && unidentified.contains(BytewiseString(step.entity))
            return Self.isNeeded(step) && !isFirst
        }
        return (migration, steps)
    }

    /// The entities of the model, by their names, that had no identifier before.
    private func unidentified(in before: ModelDescription) -> Set<BytewiseString> {
        guard let old = try? ModelLayout(before), let new = try? ModelLayout(model) else { return [] }
        let match = ModelMatch(old, new)
        let names = new.entities.indices.compactMap { index in
            match.entities[index].flatMap { old.hierarchy.identifier(of: $0).isEmpty ? new.entities[index].name : nil }
        }
        return Set(names.map { BytewiseString($0) })
    }

    private static func isNeeded(_ step: ModelMigration.Step) -> Bool {
        switch step.change {
        case .entityRenamed, .attributeRenamed, .relationshipRenamed, .storageRenamed, .identifierChanged,
            .cardinalityChanged, .orderChanged, .destinationChanged, .inverseChanged, .deleteRuleChanged, .tableChanged:
            true
        case .attributeAdded, .typeChanged: step.rows.map { $0 > 0 } ?? step.isRefused
        // An import adds these, or they are rules for the records to come.
        case .entityAdded, .relationshipAdded, .becomesOptional, .becomesRequired, .rulesChanged, .defaultChanged,
            .indexesChanged, .readingChanged, .entityGone, .attributeGone, .relationshipGone, .othersInTheWay,
            .conflictsGone, .undoGone:
            false
        }
    }

    /// The model with what the store has beyond it; nil where the two cannot be in one store, which the import says.
    private func merged(with before: ModelDescription) throws -> ModelDescription? {
        guard let old = try? ModelLayout(before), let new = try? ModelLayout(model) else { return nil }
        let match = ModelMatch(old, new)
        var merged = model
        for (index, entity) in model.entities.enumerated() {
            guard let former = match.entities[index] else { continue }
            let kept = Set(
                new.hierarchy.attributes(of: index).compactMap {
                    match.attribute($0.name, of: index, in: former).map { BytewiseString($0.name) }
                }
            )
            let names = Set(
                new.hierarchy.attributes(of: index).map { BytewiseString($0.name) }
                    + new.relationships(of: index).map { BytewiseString(new.relationships[$0].description.name) }
            )
            let columns = Set(new.hierarchy.attributes(of: index).map { ExistingEntity.folded($0.column) })
            merged.entities[index].attributes += old.entities[former].attributes.filter {
                !kept.contains(BytewiseString($0.name)) && !names.contains(BytewiseString($0.name))
                    && !columns.contains(ExistingEntity.folded($0.column))
            }
            merged.entities[index].relationships += old.entities[former].relationships.enumerated().filter {
                place,
                relationship in
                let isKept = match.relationships.contains { found in
                    found.map { old.relationships[$0].entity == former && old.place(of: $0) == place } ?? false
                }
                return !isKept && relationship.inverse == nil && !names.contains(BytewiseString(relationship.name))
            }.map(\.element)
            if entity.identifier.isEmpty, entity.parent == nil {
                let identifier = old.entities[former].identifier
                let own = Set(merged.entities[index].attributes.map { BytewiseString($0.name) })
                if identifier.allSatisfy({ own.contains(BytewiseString($0)) }) {
                    merged.entities[index].identifier = identifier
                }
            }
        }
        let names = Set(model.entities.map { BytewiseString($0.name) })
        for (index, entity) in before.entities.enumerated()
        where match.successor(of: index) == nil && !names.contains(BytewiseString(entity.name)) {
            merged.entities.append(entity)
        }
        // What refers to another name now, or has a table that another has, is nothing that stays by itself.
        do {
            try merged.check(transformers: transformers)
        } catch {
            return model.entities.count == before.entities.count ? model : nil
        }
        return merged
    }
}

extension ModelLayout {
    /// The index of a relationship among those that its entity declares.
    fileprivate func place(of relationship: Int) -> Int {
        relationships[..<relationship].count { $0.entity == relationships[relationship].entity }
    }
}
