import ImportModel
import ImportSources

/// Finds attributes that by their names hold identifiers of other entities: `product_id` beside `products`.
///
/// They are only said: no model has a relationship for it.
struct ReferenceCandidates {
    /// In the order of the entities and their attributes.
    private(set) var notices: [InferenceNotice] = []

    /// - Parameters:
    ///   - entities: inferred.
    ///   - known: what was noticed of them; what could identify an entity is looked for there.
    init(in entities: [EntityDescription], _ known: [InferenceNotice]) {
        let keys = entities.flatMap { entity in
            entity.attributes.filter { Self.isKey($0, of: entity, known) }.map { (entity: entity, key: $0) }
        }
        for entity in entities {
            for attribute in entity.attributes {
                guard let base = Self.base(of: attribute.name) else { continue }
                let found = keys.first { candidate in
                    candidate.entity.name != entity.name && candidate.key.type == attribute.type
                        && ["id", attribute.name.asciiLowercased].contains(candidate.key.name.asciiLowercased)
                        && Self.names(of: base).contains(candidate.entity.name.asciiLowercased)
                }
                guard let found, let path = attribute.from.first else { continue }
                let finding = InferenceNotice.Finding.referenceCandidate(to: "\(found.entity.name).\(found.key.name)")
                notices.append(InferenceNotice(entity: entity.name, path: path, finding: finding))
            }
        }
    }

    /// True if an attribute is an entity's identifier, or could be.
    private static func isKey(
        _ attribute: AttributeDescription,
        of entity: EntityDescription,
        _ known: [InferenceNotice]
    ) -> Bool {
        if entity.identifier.count == 1 {
            return BytewiseString(entity.identifier[0]) == BytewiseString(attribute.name)
        }
        return known.contains { notice in
            guard case .identifierCandidate = notice.finding else { return false }
            return notice.entity == entity.name && notice.path == AttributePath(keys: [attribute.name])
        }
    }

    /// `product` for `product_id`, `productId` and `ProductID`; nil for other names.
    private static func base(of name: String) -> String? {
        let isNamed = name.asciiLowercased.hasSuffix("_id") || name.hasSuffix("Id") || name.hasSuffix("ID")
        let base = name.asciiLowercased.hasSuffix("_id") ? name.dropLast(3) : name.dropLast(2)
        return isNamed && !base.isEmpty ? String(base).asciiLowercased : nil
    }

    /// What an entity of such objects may be called.
    private static func names(of base: String) -> [String] {
        [base, base + "s", base + "es"] + (base.hasSuffix("y") ? [base.dropLast() + "ies"] : [])
    }
}
