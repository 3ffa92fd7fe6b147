import ImportModel
import ImportSources

/// Without an identifier, records that are imported twice are there twice.
extension JobResolver {
    /// Makes sure that no source is given twice, and that no other import with the same options has one of them.
    ///
    /// - Throws: `ImportError` with `.usage`.
    func checkNew(_ descriptions: [SourceDescription], takesChunks: Bool) throws {
        var given: Set<String> = []
        for source in descriptions {
            guard let key = source.key, !given.insert(key).inserted else { continue }
            throw ImportError(
                .alreadyImported,
                at: source.name,
                "is given more than once",
                advice: "Give it once, or \(.again) to import its records each time."
            )
        }
        var known: Set<String> = []
        try journal.forEachJob(withOneOf: descriptions) { job in
            guard job.retry == nil, job.change == nil, !job.isEnded,
                differences(from: job, takesChunks: takesChunks).isEmpty, try !journal.isUndone(job.id)
            else { return true }
            let own = given.intersection(job.sources.compactMap(\.description.key))
            guard job.state == .finished else {
                throw ImportError(
                    .jobUnfinished,
                    at: store,
                    "the import of \(Self.list(job.sources.map(\.description))) is not finished, and has "
                        + "\(Self.list(descriptions.filter { $0.key.map(own.contains) ?? false })) among its sources",
                    advice: "Finish it with \(call: .resuming(store: store)), then give what is new; "
                        + "\(.again) imports all of it."
                )
            }
            guard !job.isIdentified else { return true }
            for source in job.sources {
                guard let key = source.description.key, own.contains(key), !known.contains(key) else { continue }
                if try journal.presence(of: job, entities: source.entities) != .gone { known.insert(key) }
            }
            return known != given
        }
        guard !known.isEmpty else { return }
        let new = descriptions.filter { !($0.key.map(known.contains) ?? false) }
        let advice: MessageText =
            new.isEmpty
            ? "\(.again) imports all of it once more."
            : "Give only what is new (\(Self.list(new))), or \(.again) to import all of it."
        throw ImportError(
            .alreadyImported,
            at: store,
            "has \(Self.list(descriptions.filter { $0.key.map(known.contains) ?? false })) already, from another import",
            advice: advice
        )
    }

    /// The names of the first sources, and how many more there are.
    static func list(_ sources: [SourceDescription]) -> String {
        let names = sources.prefix(5).map(\.displayName).joined(separator: ", ")
        return sources.count > 5 ? "\(names) and \(sources.count - 5) more" : names
    }
}

extension StoredJob {
    /// True if the objects of all its records have identifiers, so that they are merged when they come again.
    fileprivate var isIdentified: Bool {
        guard let model else { return false }
        let hierarchy = EntityHierarchy(model.entities)
        return sources.flatMap(\.entities).allSatisfy { name in
            hierarchy.index(of: name).map { !hierarchy.identifier(of: $0).isEmpty } ?? false
        }
    }
}
