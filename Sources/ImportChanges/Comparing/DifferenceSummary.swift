import ImportEngine

/// The numbers of objects in which two stores differ, by entity and attribute.
public struct DifferenceSummary: Sendable, Hashable {
    /// An entity of one of the stores or of both.
    public struct Entity: Sendable, Hashable {
        /// Its name.
        public var name: String
        /// The counts of its objects, by change.
        public var counts: ChangeCounts
        /// The number of objects that differ in each attribute, in the model's order, without attributes in which none differs.
        public var attributes: [Attribute]
        /// The attributes that only the old state has, and that were not compared.
        public var onlyOld: [String]
        /// The attributes that only the new state has, and that were not compared.
        public var onlyNew: [String]

        /// The number of compared objects of the old state.
        public var old: Int64 { counts.deleted + counts.updated + counts.unchanged }
        /// The number of compared objects of the new state.
        public var new: Int64 { counts.inserted + counts.updated + counts.unchanged }
    }

    /// An attribute in which objects differ.
    public struct Attribute: Sendable, Hashable {
        /// Its name.
        public var name: String
        /// The number of objects that differ in it.
        public var count: Int64
    }

    /// Rows that no change covers: rows without identifier whose owner does not exist, links of objects that do not exist, and links of
    /// objects without identifier.
    public struct LeftOut: Sendable, Hashable {
        /// The name of the entity, or of the relationship that has the links.
        public var name: String
        /// The number of rows that only the old state has.
        public var old: Int64
        /// The number of rows that only the new state has.
        public var new: Int64
    }

    /// The entities in the order of the model, owners first.
    public var entities: [Entity]
    /// The differing rows that no change covers, in the same order.
    public var leftOut: [LeftOut]

    /// True if nothing differs.
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
