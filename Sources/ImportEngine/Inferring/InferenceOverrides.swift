import ImportModel
import ImportSources

/// What a person says of a model that is inferred: its identifiers, types and forms, and texts that are null.
struct InferenceOverrides: Sendable {
    /// Attributes, with their entity and a colon before them where the job has several: `users:id`.
    ///
    /// One without belongs to the entity of the one before it.
    let identifier: [String]
    /// By attribute, for every entity that has it.
    let types: [String: AttributeType]
    /// The digits of a second of dates, by attribute.
    let fractions: [String: Int]
    /// By attribute, for every entity that has it.
    let storages: [String: StorageForm]
    /// Whose forms others have.
    let client: StoreClient?
    /// The attributes of which some texts are null, also of a model that is given.
    let nullTexts: [String]
    /// True if an earlier import into the store was given the same names: those that what is new has not are of its other sources.
    let areKnown: Bool

    init(_ options: JobOptions, areKnown: Bool = false) {
        self.areKnown = areKnown
        identifier = options.hasNoIdentifier ? [] : options.identifierNames
        types = options.types
        fractions = options.fractions
        storages = options.storages
        client = options.client
        nullTexts = NullTexts(options.nullTexts).names
    }

    /// True if nothing is said.
    var isEmpty: Bool { identifier.isEmpty && types.isEmpty && storages.isEmpty }

    // MARK: Before inferring

    /// An attribute of the identifier: its entity's index, and the names that it may mean, the first that is there counts.
    private struct Name {
        let entity: Int
        let candidates: [String]
    }

    /// Makes sure that it is clear whose identifier each attribute is part of.
    ///
    /// - Parameter entities: the names of the job's entities.
    /// - Throws: `ImportError` with `.usage`.
    func check(entities: [String]) throws {
        _ = try names(of: entities)
        // A bitfield without the names of its bits is no model that could be read again.
        guard let name = types.filter({ $0.value == .bitfield }).keys.min() else { return }
        throw ImportError(
            .optionInvalid,
            "\(.types): \(name) cannot be a bitfield here, as the names of its bits are not known",
            advice: "Print a model with \(call: .inferring()), say \"bits\" in it, and give it with \(.model)."
        )
    }

    private static func choices(_ entities: [String], _ attribute: String) -> MessageText {
        entities.map { "\(.identifier, "\($0):\(attribute)")" as MessageText }.joined(separator: " or ")
    }

    private func names(of entities: [String]) throws -> [Name] {
        var current = entities.count == 1 ? 0 : nil
        var isOthers = false
        return try identifier.compactMap { text in
            // Names may have colons of their own: the longest entity's counts.
            let prefixes = entities.indices.filter { text.hasPrefix(entities[$0] + ":") }
            if let entity = prefixes.max(by: { entities[$0].utf8.count < entities[$1].utf8.count }) {
                (current, isOthers) = (entity, false)
                let name = String(text.dropFirst(entities[entity].count + 1))
                return Name(entity: entity, candidates: entities.count == 1 ? [text, name] : [name])
            }
            if areKnown, text.contains(":") { isOthers = true }
            if isOthers { return nil }
            guard let current else {
                throw ImportError(
                    .attributeAmbiguous,
                    "\(.identifier): there are several entities, and it is not clear whose attribute \(text) is",
                    advice: "Say it with \(Self.choices(entities, text))."
                )
            }
            return Name(entity: current, candidates: [text])
        }
    }

    // MARK: After inferring

    /// Makes of the inferred model the one that is wanted.
    ///
    /// - Parameters:
    ///   - model: inferred.
    ///   - records: how many of its entities are those of records; they are its first.
    ///   - empty: the entities of which there were no records; nothing is known of their attributes.
    /// - Throws: `ImportError` with `.usage` for an attribute that is not there. A record that lacks one will be a reject.
    func apply(
        to model: inout ModelDescription,
        records: Int,
        empty: Set<String>
    ) throws {
        try applyTypes(to: &model, empty: empty)
        try applyStorages(to: &model, empty: empty)
        for entity in model.entities.indices { model.entities[entity].dropFractions() }
        try checkNullTexts(model, empty: empty)
        if let client { model = model.stored(for: client) }
        // An entity that the store has an identifier for keeps it; that no other is named was made sure of before.
        let identified = Set(model.entities.indices.filter { !model.entities[$0].identifier.isEmpty })
        for name in try names(of: model.entities.prefix(records).map(\.name))
        where !empty.contains(model.entities[name.entity].name) && !identified.contains(name.entity) {
            let entity = model.entities[name.entity]
            let found = name.candidates.lazy.compactMap { candidate in
                entity.attributes.firstIndex(named: candidate)
            }.first
            guard let found else {
                try checkChildren(model.entities.dropFirst(records), name.candidates)
                throw ImportError(
                    .unknownAttribute,
                    "\(.identifier): \(entity.name) has no attribute \(name.candidates[0])"
                        + "\(NameSuggestion.question(for: name.candidates.last ?? "", among: entity.attributes.map(\.name)))",
                    advice: "\(Self.list(of: [entity]))\nNothing was imported."
                )
            }
            let attribute = entity.attributes[found]
            guard !entity.identifier.contains(where: { BytewiseString($0) == BytewiseString(attribute.name) }) else {
                throw ImportError(.optionInvalid, "\(.identifier): \(attribute.name) of \(entity.name) is named twice")
            }
            model.entities[name.entity].identifier.append(attribute.name)
            model.entities[name.entity].attributes[found].isOptional = false
        }
    }

    /// - Throws: `ImportError` with `.usage` where a name begins with that of a child table.
    private func checkChildren(_ children: ArraySlice<EntityDescription>, _ names: [String]) throws {
        guard let child = children.first(where: { child in names.contains { $0.hasPrefix(child.name + ":") } }) else {
            return
        }
        throw ImportError(
            .optionInvalid,
            "\(.identifier): objects of \(child.name) have no identifier in an inferred model",
            advice: "Print a model with \(call: .inferring()), say \"identifier\" in it, and give it with \(.model)."
        )
    }

    /// The identifiers that are named, by the index of their entity: per attribute the names that it may mean.
    func identifiers(of entities: [String]) throws -> [Int: [[String]]] {
        Dictionary(grouping: try names(of: entities), by: \.entity).mapValues { $0.map(\.candidates) }
    }

    private func applyTypes(to model: inout ModelDescription, empty: Set<String>) throws {
        var unknown = Set(types.keys.map { BytewiseString($0) })
        for entity in model.entities.indices {
            for (key, type) in types {
                guard let attribute = model.entities[entity].attributes.firstIndex(named: key) else { continue }
                model.entities[entity].attributes[attribute].type = type
                if type != .binary { model.entities[entity].attributes[attribute].formats = [] }
                if type == .date {
                    model.entities[entity].attributes[attribute].formats = DateFormat.written.map(\.name)
                    if let digits = fractions[key] { model.entities[entity].attributes[attribute].fraction = digits }
                } else {
                    model.entities[entity].attributes[attribute].fraction = 3
                }
                unknown.remove(BytewiseString(key))
            }
        }
        try check(unknown, .types, model, empty)
    }

    private func applyStorages(to model: inout ModelDescription, empty: Set<String>) throws {
        var unknown = Set(storages.keys.map { BytewiseString($0) })
        for entity in model.entities.indices {
            for (key, form) in storages.sorted(by: { $0.key < $1.key }) {
                guard let index = model.entities[entity].attributes.firstIndex(named: key) else { continue }
                let type = model.entities[entity].attributes[index].type
                let forms = type.storageForms
                guard forms.contains(form) else {
                    let known = forms.map(\.rawValue).joined(separator: ", ")
                    throw ImportError(
                        .optionInvalid,
                        "\(.storages): \(key) of \(model.entities[entity].name) is of type \(type.rawValue), "
                            + (known.isEmpty ? "which has no forms to choose from" : "which is stored as \(known)"),
                        advice: "Leave it out, or give \(key) another type (\(.types)). Nothing was imported."
                    )
                }
                model.entities[entity].attributes[index].storage = form
                unknown.remove(BytewiseString(key))
            }
        }
        try check(unknown, .storages, model, empty)
    }

    /// Makes sure that there are the attributes of which some texts are null, by their names or the key paths that they have.
    ///
    /// - Throws: `ImportError` with `.usage`.
    func checkNullTexts(_ model: ModelDescription, empty: Set<String> = []) throws {
        let unknown = nullTexts.filter { name in
            !model.entities.contains {
                $0.attributes.contains { ([$0.name] + $0.from.map(\.description)).contains(name) }
            }
        }
        try check(Set(unknown.map { BytewiseString($0) }), .nullTexts, model, empty)
    }

    private func check(
        _ unknown: Set<BytewiseString>,
        _ setting: MessageText.Setting,
        _ model: ModelDescription,
        _ empty: Set<String>
    ) throws {
        guard let name = unknown.map(\.text).min(), empty.isEmpty, !areKnown else { return }
        throw ImportError(
            .unknownAttribute,
            "\(setting): there is no attribute \(name)"
                + "\(NameSuggestion.question(for: name, among: model.entities.flatMap(\.attributes).map(\.name)))",
            advice: "\(Self.list(of: model.entities))\nNothing was imported."
        )
    }

    /// The attributes that there are, a line per entity.
    private static func list(of entities: [EntityDescription]) -> String {
        let most = 100
        return entities.map { entity in
            let names = entity.attributes.map(\.name)
            let rest = names.count > most ? ", … and \(names.count - most) more" : ""
            return "\(entity.name) has: \(names.prefix(most).joined(separator: ", "))\(rest)"
        }.joined(separator: "\n")
    }
}

extension EntityDescription {
    /// Leaves the digits of a second to storage forms that say how many there are, and to dates.
    fileprivate mutating func dropFractions() {
        for (index, attribute) in attributes.enumerated() where attribute.fraction != 3 {
            let isDate = attribute.type == .date
            guard !isDate || (attribute.storage ?? .iso8601).withFraction(attribute.fraction) == nil else { continue }
            attributes[index].fraction = 3
        }
    }
}

extension [AttributeDescription] {
    /// The attribute of a name, or else the one that is read at a path of that spelling, as notices have it.
    package func firstIndex(named name: String) -> Int? {
        firstIndex { BytewiseString($0.name) == BytewiseString(name) }
            ?? firstIndex { $0.from.map(\.description) == [name] }
    }
}
