import ImportSources

/// Changes of two sides to the same object that cannot both be applied: a line of a change set, or a conflict stored in a store.
///
/// Its values are those of the attributes and relationships in conflict, or of all if a side has deleted the object.
public struct MergeConflict: Sendable, Hashable {
    /// How the changes of the two sides conflict.
    public enum Kind: String, Sendable, Hashable, Codable, CaseIterable {
        /// Both have changed the same attribute or relationship, to different values.
        case bothChanged
        /// Ours has changed the object, theirs has deleted it.
        case changedDeleted
        /// Ours has deleted the object, theirs has changed it.
        case deletedChanged
        /// Both have inserted the object, with different values.
        case bothInserted
        /// Both have changed the order of a list, in different ways.
        case order
        /// Each change is valid by itself, but both together violate a unique index or a foreign key.
        case constraint
    }

    /// A value of an attribute or relationship.
    public enum Value: Sendable, Hashable {
        /// The value of an attribute, or null for a relationship to one object.
        case stored(StoredValue)
        /// The object that a relationship leads to.
        case object(ObjectReference)
        /// The objects of a list, in its order.
        case objects([ObjectReference])
        /// Objects without identifier.
        case values([OwnedValue])
        /// Links of a many-to-many that were added and removed since the base.
        case links(added: [ObjectReference], removed: [ObjectReference])
    }

    /// A value with the name of its attribute or relationship.
    public struct Property: Sendable, Hashable {
        /// The name.
        public var name: String
        /// The value.
        public var value: Value

        /// A value of an attribute or relationship.
        public init(_ name: String, _ value: Value) {
            self.name = name
            self.value = value
        }
    }

    /// The resolution of a conflict.
    public enum Take: Sendable, Hashable {
        /// The values of the base.
        case base
        /// The values of ours: nothing is written.
        case ours
        /// The values of theirs.
        case theirs
        /// The given values; all others stay as in ours.
        case values([Property])
    }

    /// Its number, from 1, in its change set or its store.
    public var number: Int64 = 1
    /// How the changes of the two sides conflict.
    public var kind: Kind
    /// The name of the object's entity.
    public var entity: String
    /// The object's identifier.
    public var identifier: ObjectReference
    /// The values in the base; nil if the object did not exist.
    public var base: [Property]?
    /// The values in ours; nil if the object does not exist there.
    public var ours: [Property]?
    /// The values in theirs; nil if the object does not exist there.
    public var theirs: [Property]?
    /// The resolution; nil while the conflict is open.
    public var take: Take?
    /// The change from ours to the base, if the values do not cover it.
    public var toBase: ObjectChange?
    /// The change from ours to theirs, if the values do not cover it.
    public var toTheirs: ObjectChange?

    package init(
        kind: Kind,
        entity: String,
        identifier: ObjectReference,
        base: [Property]? = nil,
        ours: [Property]? = nil,
        theirs: [Property]? = nil
    ) {
        self.kind = kind
        self.entity = entity
        self.identifier = identifier
        self.base = base
        self.ours = ours
        self.theirs = theirs
    }

    /// The change to ours that resolves the conflict; nil while it is open.
    ///
    /// If nothing is to be changed, the change is empty.
    public var resolution: ObjectChange? {
        switch take {
        case nil: nil
        case .ours: ObjectChange(.updated, entity: entity, identifier: identifier)
        case .base: toBase ?? change(to: base)
        case .theirs: toTheirs ?? change(to: theirs)
        case .values(let values): change(taking: values)
        }
    }

    private func change(taking values: [Property]) -> ObjectChange {
        if let ours {
            let names = values.map { BytewiseString($0.name) }
            return Self.change(entity, identifier, ours.filter { names.contains(BytewiseString($0.name)) }, values)
        }
        guard var change = toTheirs ?? toBase else {
            return Self.change(entity, identifier, nil, (theirs ?? base ?? []).replacing(values))
        }
        change.replaceNew(of: entity, identifier, values)
        return change
    }

    /// What leads from ours to a side, as far as the values say it.
    package func change(to side: [Property]?) -> ObjectChange { Self.change(entity, identifier, ours, side) }

    private static func change(
        _ entity: String,
        _ identifier: ObjectReference,
        _ old: [Property]?,
        _ new: [Property]?
    ) -> ObjectChange {
        // Of an object that is in neither, there is nothing to say.
        let kind: ObjectChange.Kind =
            (old == nil) == (new == nil) ? .updated : old == nil ? .inserted : .deleted
        var change = ObjectChange(kind, entity: entity, identifier: identifier)
        let names = (new ?? old ?? []).map(\.name)
        func value(_ name: String, _ side: [Property]?) -> Value? {
            side?.first { $0.name.hasSameBytes(as: name) }?.value
        }
        for name in names {
            let (before, after) = (value(name, old), value(name, new))
            guard kind != .updated || before != after else { continue }
            change.add(name, before, after)
        }
        return change
    }
}

extension [MergeConflict.Property] {
    /// The same with other values.
    fileprivate func replacing(_ values: [MergeConflict.Property]) -> [MergeConflict.Property] {
        var all = self
        for value in values {
            if let place = all.firstIndex(where: { $0.name.hasSameBytes(as: value.name) }) {
                all[place] = value
            } else {
                all.append(value)
            }
        }
        return all
    }
}

extension ObjectChange {
    /// Says what becomes of an attribute or relationship.
    package mutating func add(_ name: String, _ old: MergeConflict.Value?, _ new: MergeConflict.Value?) {
        func target(_ value: MergeConflict.Value?) -> ReferenceChange.Target? {
            switch value {
            case .object(let object): .object(object)
            case .stored(.null): .null
            default: nil
            }
        }
        switch (old, new) {
        case (.object, _), (_, .object):
            references.append(ReferenceChange(name, .toOne(old: target(old), new: target(new))))
        case (.objects, _), (_, .objects):
            func list(_ value: MergeConflict.Value?) -> [ObjectReference]? {
                if case .objects(let list)? = value { return list }
                return nil
            }
            order.append(OrderChange(name, old: list(old), new: list(new)))
        case (.values, _), (_, .values):
            func list(_ value: MergeConflict.Value?) -> [OwnedValue]? {
                if case .values(let list)? = value { return list }
                return nil
            }
            relationships.append(OwnedChange(name, .values(old: list(old), new: list(new))))
        case (.stored, _), (_, .stored):
            func stored(_ value: MergeConflict.Value?) -> StoredValue? {
                if case .stored(let value)? = value { return value }
                return nil
            }
            attributes.append(AttributeChange(name, old: stored(old), new: stored(new)))
        default: break
        }
    }

    /// Gives the object with an identifier, which may be nested, other new values.
    fileprivate mutating func replaceNew(
        of entity: String,
        _ identifier: ObjectReference,
        _ values: [MergeConflict.Property]
    ) {
        if self.entity.hasSameBytes(as: entity), self.identifier == identifier {
            for value in values {
                if case .stored(let stored) = value.value,
                    let place = attributes.firstIndex(where: { $0.name.hasSameBytes(as: value.name) })
                {
                    attributes[place].new = stored
                    continue
                }
                references.removeAll { $0.name.hasSameBytes(as: value.name) }
                add(value.name, nil, value.value)
            }
            return
        }
        for place in relationships.indices {
            guard case .objects(var changes) = relationships[place].content else { continue }
            for inner in changes.indices { changes[inner].replaceNew(of: entity, identifier, values) }
            relationships[place].content = .objects(changes)
        }
    }
}
