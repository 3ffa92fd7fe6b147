import ImportEngine

/// How many objects of two stores differ, by entity and attribute.
public struct DifferenceSummary: Sendable, Hashable {
    /// An entity of one of the stores or of both.
    public struct Entity: Sendable, Hashable {
        /// Its name.
        public var name: String
        /// How many of its objects there are, and what has become of them.
        public var counts: ChangeCounts
        /// How many objects differ in each attribute, in the model's order; those that none differs in are left out.
        public var attributes: [Attribute]
        /// The attributes that only the old state has, and that were not compared.
        public var onlyOld: [String]
        /// The attributes that only the new state has, and that were not compared.
        public var onlyNew: [String]

        /// How many objects were compared of the old state.
        public var old: Int64 { counts.deleted + counts.updated + counts.unchanged }
        /// How many objects were compared of the new state.
        public var new: Int64 { counts.inserted + counts.updated + counts.unchanged }
    }

    /// An attribute in which objects differ.
    public struct Attribute: Sendable, Hashable {
        /// Its name.
        public var name: String
        /// How many objects differ in it.
        public var count: Int64
    }

    /// Rows that no change is about: without identifier and without an owner that is there, links of what is not there, and
    /// links of objects without identifier.
    public struct LeftOut: Sendable, Hashable {
        /// The name of the entity, or of the relationship that has the links.
        public var name: String
        /// How many only the old state has.
        public var old: Int64
        /// How many only the new state has.
        public var new: Int64
    }

    /// In the order of the model, owners first.
    public var entities: [Entity]
    /// What differs and is in no change, in the same order.
    public var leftOut: [LeftOut]

    /// Whether nothing differs.
    public var isEmpty: Bool {
        leftOut.isEmpty
            && entities.allSatisfy { $0.counts.inserted == 0 && $0.counts.updated == 0 && $0.counts.deleted == 0 }
    }
}

extension DifferenceSummary: Encodable {
    private enum Keys: String, CodingKey {
        case entities, only, old, new, inserted, updated, deleted, unchanged, attributes
        case leftOut = "left_out"
    }

    /// Writes `{"entities": {"person": {"old": 4, …, "attributes": {"city": 1}}}, "only": {}, "left_out": {}}`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Keys.self)
        var all = container.nestedContainer(keyedBy: DataNameKey.self, forKey: .entities)
        for entity in entities {
            var own = all.nestedContainer(keyedBy: Keys.self, forKey: DataNameKey(entity.name))
            try own.encode(entity.old, forKey: .old)
            try own.encode(entity.new, forKey: .new)
            try own.encode(entity.counts.inserted, forKey: .inserted)
            try own.encode(entity.counts.updated, forKey: .updated)
            try own.encode(entity.counts.deleted, forKey: .deleted)
            try own.encode(entity.counts.unchanged, forKey: .unchanged)
            var attributes = own.nestedContainer(keyedBy: DataNameKey.self, forKey: .attributes)
            for attribute in entity.attributes {
                try attributes.encode(attribute.count, forKey: DataNameKey(attribute.name))
            }
        }
        var only = container.nestedContainer(keyedBy: DataNameKey.self, forKey: .only)
        for entity in entities where !entity.onlyOld.isEmpty || !entity.onlyNew.isEmpty {
            var own = only.nestedContainer(keyedBy: Keys.self, forKey: DataNameKey(entity.name))
            if !entity.onlyOld.isEmpty { try own.encode(entity.onlyOld, forKey: .old) }
            if !entity.onlyNew.isEmpty { try own.encode(entity.onlyNew, forKey: .new) }
        }
        var without = container.nestedContainer(keyedBy: DataNameKey.self, forKey: .leftOut)
        for each in leftOut {
            var own = without.nestedContainer(keyedBy: Keys.self, forKey: DataNameKey(each.name))
            try own.encode(each.old, forKey: .old)
            try own.encode(each.new, forKey: .new)
        }
    }
}
