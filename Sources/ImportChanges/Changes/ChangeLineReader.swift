import ImportEngine
import ImportModel
import ImportSources

/// Reads the changes of a change set, whose header says what their values are.
package struct ChangeLineReader {
    package struct Entity {
        package var identifier: [BytewiseString] = []
        package var values: [BytewiseString: StoredValueReader] = [:]
        package var relationships: [BytewiseString: ChangedEntity.Relationship] = [:]

        package func reader(_ name: String) -> StoredValueReader {
            values[BytewiseString(name)] ?? StoredValueReader(nil)
        }
        package func destination(_ name: String) -> String? { relationships[BytewiseString(name)]?.entity }
    }

    private let entities: [BytewiseString: Entity]

    /// - Parameters:
    ///   - header: the entities.
    ///   - converter: gives the values of attributes whose JSON does not fit their types.
    package init(_ header: [ChangedEntity], _ converter: StoredValueReader.Converter? = nil) {
        var entities: [BytewiseString: Entity] = [:]
        for described in header {
            var entity = Entity()
            entity.identifier = described.identifier.map(BytewiseString.init)
            for attribute in described.attributes {
                entity.values[BytewiseString(attribute.name)] = StoredValueReader(attribute.description, converter)
            }
            for relationship in described.relationships {
                entity.relationships[BytewiseString(relationship.name)] = relationship
            }
            entities[BytewiseString(described.name)] = entity
        }
        self.entities = entities
    }

    package func entity(_ name: String?) -> Entity { name.flatMap { entities[BytewiseString($0)] } ?? Entity() }

    /// Reads a line: a change, or a conflict that is resolved.
    package func change(_ line: ByteView) throws(ChangeSetScanner.LineError) -> ObjectChange {
        if Self.isConflict(line) { return try resolution(of: line) }
        var json = try ChangeSetScanner(line)
        // Keys may be in any order here; values are read by the entity.
        var ahead = json
        let name = try Self.entityName(&ahead)
        let change = try change(&json, of: name)
        try json.end()
        return change
    }

    package static func entityName(_ json: inout ChangeSetScanner) throws(ChangeSetScanner.LineError) -> String? {
        try json.openObject()
        while let key = try json.key() {
            if key == "entityName" { return try json.string() }
            _ = try json.skip()
        }
        return nil
    }

    // MARK: A change

    /// What of a change was read.
    private struct Draft {
        var kind: ObjectChange.Kind?
        /// In the order in which they are named first.
        var attributes: [AttributeChange] = []
        var places: [BytewiseString: Int] = [:]
        var hasOld = false
        var hasNew = false

        mutating func set(_ name: String, _ path: WritableKeyPath<AttributeChange, StoredValue?>, _ value: StoredValue)
        {
            let place = places[BytewiseString(name)] ?? attributes.count
            if place == attributes.count {
                attributes.append(AttributeChange(name))
                places[BytewiseString(name)] = place
            }
            attributes[place][keyPath: path] = value
        }
    }

    package func change(_ json: inout ChangeSetScanner, of given: String?) throws(ChangeSetScanner.LineError)
        -> ObjectChange
    {
        var draft = Draft()
        var name = given
        var entity = entity(name)
        var change = ObjectChange(.updated, entity: "", identifier: ObjectReference([]))
        try json.openObject()
        while let key = try json.key() {
            switch key {
            case "change":
                guard let kind = ObjectChange.Kind(rawValue: try json.string()) else {
                    throw json.error("a change that is not inserted, updated or deleted")
                }
                draft.kind = kind
            case "entityName":
                let read = try json.string()
                if name.map({ $0.hasSameBytes(as: read) }) != true {
                    name = read
                    entity = self.entity(name)
                }
            case "identifier": change.identifier = try reference(&json, of: entity)
            case "attributes": try attributes(&json, of: entity, &draft)
            case "references": change.references = try references(&json, of: entity)
            case "relationships": change.relationships = try relationships(&json, of: entity)
            case "moved":
                change.moved = try members(&json) { json, name throws(ChangeSetScanner.LineError) in
                    MovedObjects(name, try objects(&json, of: entity.destination(name)))
                }
            case "order":
                change.order = try members(&json) { json, name throws(ChangeSetScanner.LineError) in
                    try order(&json, name, of: entity.destination(name))
                }
            case "conflict": throw json.error("a conflict whose first key is another one")
            case "continued": change.isContinued = try json.boolean()
            // As the conflicts of one that was rejected.
            default: _ = try json.skip()
            }
        }
        guard let name else { throw json.error("a change without entityName") }
        guard !change.identifier.values.isEmpty else { throw json.error("a change without identifier") }
        change.entity = name
        change.attributes = draft.attributes
        change.identifier.values = Self.ordered(change.identifier.values, entity.identifier)
        change.kind = try kind(of: draft, change, json)
        try Self.checkIdentifier(of: change, json)
        return change
    }

    /// An object that is identified as another one than its attributes say would be found by nobody.
    private static func checkIdentifier(
        of change: ObjectChange,
        _ json: borrowing ChangeSetScanner
    ) throws(ChangeSetScanner.LineError) {
        for part in change.identifier.values {
            guard let attribute = change.attributes.first(where: { $0.name.hasSameBytes(as: part.name) }) else {
                continue
            }
            for value in [attribute.old, attribute.new].compactMap(\.self) where value != part.value {
                throw json.error(
                    "a change whose identifier has \(part.name.printable) \(part.value.shown), and whose attributes have "
                        + "\(part.name.printable) \(value.shown)"
                )
            }
        }
    }

    /// What has become of the object, which its values say too.
    private func kind(
        of draft: Draft,
        _ change: ObjectChange,
        _ json: borrowing ChangeSetScanner
    ) throws(ChangeSetScanner.LineError) -> ObjectChange.Kind {
        let seen: ObjectChange.Kind? =
            switch (draft.hasOld, draft.hasNew) {
            case (true, true): .updated
            case (true, false): .deleted
            case (false, true): .inserted
            case (false, false): nil
            }
        guard let kind = draft.kind else { return seen ?? .updated }
        // Where old values were not asked for, an update has new ones alone.
        if let seen, kind != seen, !(kind == .updated && seen == .inserted) {
            throw json.error("a change that says \(kind.rawValue), with the values of one that is \(seen.rawValue)")
        }
        return kind
    }

    private static func ordered(_ values: [NamedValue], _ names: [BytewiseString]) -> [NamedValue] {
        guard names.count == values.count else { return values }
        let ordered = names.compactMap { name in values.first { BytewiseString($0.name) == name } }
        return ordered.count == values.count ? ordered : values
    }

    // MARK: Its parts

    package func members<Element>(
        _ json: inout ChangeSetScanner,
        _ read: (inout ChangeSetScanner, String) throws(ChangeSetScanner.LineError) -> Element
    ) throws(ChangeSetScanner.LineError) -> [Element] {
        var elements: [Element] = []
        try json.openObject()
        while let name = try json.key() { elements.append(try read(&json, name)) }
        return elements
    }

    package func reference(_ json: inout ChangeSetScanner, of entity: Entity) throws(ChangeSetScanner.LineError)
        -> ObjectReference
    {
        let values = try members(&json) { json, name throws(ChangeSetScanner.LineError) in
            NamedValue(name, try entity.reader(name).value(&json))
        }
        guard !values.isEmpty else { throw json.error("an identifier without attributes") }
        return ObjectReference(Self.ordered(values, entity.identifier))
    }

    package func objects(_ json: inout ChangeSetScanner, of name: String?) throws(ChangeSetScanner.LineError)
        -> [ObjectReference]
    {
        let entity = entity(name)
        var objects: [ObjectReference] = []
        try json.openArray()
        while try json.element() { objects.append(try reference(&json, of: entity)) }
        return objects
    }

    private func attributes(
        _ json: inout ChangeSetScanner,
        of entity: Entity,
        _ draft: inout Draft
    ) throws(ChangeSetScanner.LineError) {
        try json.openObject()
        while let key = try json.key() {
            switch key {
            case "old": try side(&json, \.old, of: entity, &draft)
            case "new": try side(&json, \.new, of: entity, &draft)
            default: throw json.error("attributes that are neither old nor new")
            }
        }
    }

    private func side(
        _ json: inout ChangeSetScanner,
        _ path: WritableKeyPath<AttributeChange, StoredValue?>,
        of entity: Entity,
        _ draft: inout Draft
    ) throws(ChangeSetScanner.LineError) {
        if path == \.old { draft.hasOld = true } else { draft.hasNew = true }
        try json.openObject()
        while let name = try json.key() {
            draft.set(name, path, try entity.reader(name).value(&json))
        }
    }

    private func references(
        _ json: inout ChangeSetScanner,
        of entity: Entity
    ) throws(ChangeSetScanner.LineError) -> [ReferenceChange] {
        try members(&json) { json, name throws(ChangeSetScanner.LineError) in
            let destination = entity.destination(name)
            var sides: (old: ReferenceChange.Target?, new: ReferenceChange.Target?) = (nil, nil)
            var lists: (added: [ObjectReference]?, removed: [ObjectReference]?) = (nil, nil)
            try json.openObject()
            while let key = try json.key() {
                switch key {
                case "old": sides.old = try target(&json, destination)
                case "new": sides.new = try target(&json, destination)
                case "added": lists.added = try objects(&json, of: destination)
                case "removed": lists.removed = try objects(&json, of: destination)
                default: _ = try json.skip()
                }
            }
            if lists.added != nil || lists.removed != nil {
                return ReferenceChange(name, .toMany(added: lists.added ?? [], removed: lists.removed ?? []))
            }
            return ReferenceChange(name, .toOne(old: sides.old, new: sides.new))
        }
    }

    private func target(
        _ json: inout ChangeSetScanner,
        _ destination: String?
    ) throws(ChangeSetScanner.LineError) -> ReferenceChange.Target {
        try json.null() ? .null : .object(reference(&json, of: entity(destination)))
    }

    private func order(
        _ json: inout ChangeSetScanner,
        _ name: String,
        of destination: String?
    ) throws(ChangeSetScanner.LineError) -> OrderChange {
        var order = OrderChange(name, old: nil, new: nil)
        try json.openObject()
        while let key = try json.key() {
            switch key {
            case "old": order.old = try objects(&json, of: destination)
            case "new": order.new = try objects(&json, of: destination)
            default: _ = try json.skip()
            }
        }
        return order
    }

    // MARK: What it owns

    private func relationships(
        _ json: inout ChangeSetScanner,
        of entity: Entity
    ) throws(ChangeSetScanner.LineError) -> [OwnedChange] {
        try members(&json) { json, name throws(ChangeSetScanner.LineError) in
            let destination = entity.destination(name)
            guard json.peek() == UInt8(ascii: "{") else {
                var changes: [ObjectChange] = []
                try json.openArray()
                while try json.element() { changes.append(try change(&json, of: destination)) }
                return OwnedChange(name, .objects(changes))
            }
            // The header says which it is; without one, what a change always has.
            var ahead = json
            try ahead.openObject()
            let first = try ahead.key()
            guard first == nil || first == "old" || first == "new" else {
                return OwnedChange(name, .objects([try change(&json, of: destination)]))
            }
            var values: (old: [OwnedValue]?, new: [OwnedValue]?) = (nil, nil)
            try json.openObject()
            while let key = try json.key() {
                switch key {
                case "old": values.old = try self.values(&json, of: destination)
                case "new": values.new = try self.values(&json, of: destination)
                default: _ = try json.skip()
                }
            }
            return OwnedChange(name, .values(old: values.old, new: values.new))
        }
    }

    package func values(_ json: inout ChangeSetScanner, of name: String?) throws(ChangeSetScanner.LineError)
        -> [OwnedValue]
    {
        let entity = entity(name)
        var values: [OwnedValue] = []
        try json.openArray()
        while try json.element() {
            var value = OwnedValue([])
            try json.openObject()
            while let key = try json.key() {
                guard let relationship = entity.relationships[BytewiseString(key)] else {
                    value.attributes.append(NamedValue(key, try entity.reader(key).value(&json)))
                    continue
                }
                if relationship.isOwned {
                    value.owned.append(.init(key, try self.values(&json, of: relationship.entity)))
                } else if try json.null() {
                    value.references.append(.init(key, nil))
                } else {
                    value.references.append(.init(key, try reference(&json, of: self.entity(relationship.entity))))
                }
            }
            values.append(value)
        }
        return values
    }
}
