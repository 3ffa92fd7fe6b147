import ImportModel
import ImportSources

/// A table has one identifier: by another one, objects would be distinguished that are the same.
extension JobResolver {
    /// Makes sure that a model names no other identifiers than those that the store knows.
    ///
    /// - Parameter replaced: a job that is removed from the store first.
    /// - Throws: `ImportError` with `.usage`.
    func checkIdentifiers(of model: ModelDescription, replacing replaced: StoredJob?) throws {
        let stored = try journal.identifiedEntities(excluding: replaced?.id)
        for entity in model.entities where !entity.identifier.isEmpty {
            let table = ExistingEntity.folded(entity.table)
            guard let known = stored.first(where: { ExistingEntity.folded($0.table) == table }) else { continue }
            let columns = entity.identifierColumns.map(\.asciiLowercased)
            guard Set(columns) != Set(known.identifierColumns.map(\.asciiLowercased)) else { continue }
            throw otherIdentifier(known, entity.identifier)
        }
    }

    /// Makes sure that the options, or their model, name no other identifiers than those that the store knows.
    ///
    /// - Throws: `ImportError` with `.usage`.
    func checkIdentifiers(ofSources sources: [StoredJob.Source], replacing replaced: StoredJob?) throws {
        if let model = options.model { return try checkIdentifiers(of: model, replacing: replaced) }
        guard !options.identifiers.isEmpty else { return }
        let stored = try journal.identifiedEntities(excluding: replaced?.id)
        var entities: [String] = []
        for name in sources.flatMap(\.entities) where !entities.contains(name) { entities.append(name) }
        for (place, attributes) in try InferenceOverrides(options, areKnown: planner.areNamesKnown()).identifiers(
            of: entities
        ) {
            let name = entities[place]
            let known =
                stored.first { BytewiseString($0.name) == BytewiseString(name) }
                ?? stored.first { ExistingEntity.folded($0.table) == ExistingEntity.folded(name) }
            guard let known else { continue }
            let own = Set(known.identifier.map { BytewiseString($0) })
            let isSame =
                attributes.count == own.count
                && attributes.allSatisfy { names in names.contains { own.contains(BytewiseString($0)) } }
            guard !isSame else { continue }
            throw otherIdentifier(known, attributes.map { $0.last ?? "" })
        }
    }

    private func otherIdentifier(_ known: EntityDescription, _ named: [String]) -> ImportError {
        ImportError(
            .identifierMismatch,
            at: store,
            "the identifier of \(known.table) is \(known.identifier.joined(separator: ", ")), "
                + "and this import names \(named.joined(separator: ", "))",
            advice:
                "Name the same or none, or import into another store. \(call: .migrating(store: store)) changes the "
                + "identifier of a store. Nothing was written."
        )
    }
}
