import ImportEngine
import ImportModel
import ImportSources

/// Writes header, changes and footer as lines of JSON.
package struct ChangeLineWriter {
    /// The name of the format, in the header.
    package static let format = "importer-changes"
    /// The version of the format.
    package static let version = 1

    package struct Entity {
        package var values: [BytewiseString: StoredValueWriter] = [:]
        /// The relationships to one object: its change is not in an array.
        var toOnes: Set<BytewiseString> = []
        /// The entity that an owned relationship leads to.
        package var owned: [BytewiseString: String] = [:]
        package var references: [BytewiseString: String] = [:]
    }

    package let entities: [BytewiseString: Entity]

    package init(_ header: [ChangedEntity]) {
        var entities: [BytewiseString: Entity] = [:]
        for described in header {
            var entity = Entity()
            for attribute in described.attributes {
                entity.values[BytewiseString(attribute.name)] = StoredValueWriter(attribute.description)
            }
            for relationship in described.relationships {
                let name = BytewiseString(relationship.name)
                if relationship.isOwned {
                    entity.owned[name] = relationship.entity
                    if !relationship.isToMany { entity.toOnes.insert(name) }
                } else {
                    entity.references[name] = relationship.entity
                    if !relationship.isToMany { entity.toOnes.insert(name) }
                }
            }
            entities[BytewiseString(described.name)] = entity
        }
        self.entities = entities
    }

    // MARK: Header and footer

    package static func append(_ header: ChangeSetHeader, to output: inout [UInt8]) {
        func state(_ state: ChangeSetHeader.State) -> JSONValue {
            let objects = state.objects.map { ($0.entity, JSONValue.number(String($0.count))) }
            return ["name": .string(state.name), "objects": JSONValue(objects)]
        }
        let value: JSONValue = [
            "format": .string(format), "version": .number(String(version)), "program": .string(header.program),
            "old": state(header.old), "new": state(header.new),
            "entities": JSONValue(header.entities.map { ($0.name, $0.json) }),
            "options": JSONValue(header.options.map { ($0.name, $0.value) }),
        ]
        output.append(contentsOf: value.serialized().utf8)
        output.append(UInt8(ascii: "\n"))
    }

    package static func append(_ footer: ChangeSetFooter, to output: inout [UInt8]) {
        output.append(contentsOf: "{\"end\":true,\"changes\":\(footer.changes),\"entities\":{".utf8)
        for (index, entity) in footer.entities.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            StoredValueWriter.appendString(entity.name, to: &output)
            let counts = entity.counts
            output.append(
                contentsOf:
                    ":{\"inserted\":\(counts.inserted),\"updated\":\(counts.updated),\"deleted\":\(counts.deleted),\"unchanged\":\(counts.unchanged)}"
                    .utf8
            )
        }
        output.append(UInt8(ascii: "}"))
        if let checksum = footer.checksum { output.append(contentsOf: ",\"xxh3\":\"\(checksum)\"".utf8) }
        output.append(contentsOf: "}\n".utf8)
    }

    // MARK: Changes

    /// Appends a change, without a line break.
    package func append(_ change: ObjectChange, to output: inout [UInt8]) {
        let entity = entities[BytewiseString(change.entity)] ?? Entity()
        output.append(contentsOf: "{\"change\":\"\(change.kind.rawValue)\",\"entityName\":".utf8)
        StoredValueWriter.appendString(change.entity, to: &output)
        output.append(contentsOf: ",\"identifier\":".utf8)
        append(change.identifier, of: entity, to: &output)
        if change.isContinued { output.append(contentsOf: ",\"continued\":true".utf8) }
        if !change.attributes.isEmpty { append(change.attributes, of: entity, to: &output) }
        var list = List("references")
        for reference in change.references {
            list.append(reference.name, to: &output)
            append(reference.content, to: entity.references[BytewiseString(reference.name)], to: &output)
        }
        list.end(&output)
        list = List("relationships")
        for owned in change.relationships {
            list.append(owned.name, to: &output)
            append(owned, of: entity, to: &output)
        }
        list.end(&output)
        list = List("moved")
        for moved in change.moved {
            list.append(moved.name, to: &output)
            append(moved.objects, of: entity.owned[BytewiseString(moved.name)], to: &output)
        }
        list.end(&output)
        list = List("order")
        for order in change.order {
            list.append(order.name, to: &output)
            let name = BytewiseString(order.name)
            append(order, of: entity.owned[name] ?? entity.references[name], to: &output)
        }
        list.end(&output)
        output.append(UInt8(ascii: "}"))
    }

    /// A member that is an object, and is left out where it would be empty.
    private struct List {
        let key: String
        var isEmpty = true

        init(_ key: String) { self.key = key }

        mutating func append(_ name: String, to output: inout [UInt8]) {
            output.append(contentsOf: isEmpty ? Array(",\"\(key)\":{".utf8) : [UInt8(ascii: ",")])
            isEmpty = false
            StoredValueWriter.appendString(name, to: &output)
            output.append(UInt8(ascii: ":"))
        }

        func end(_ output: inout [UInt8]) { if !isEmpty { output.append(UInt8(ascii: "}")) } }
    }

    package func append(_ attributes: [AttributeChange], of entity: Entity, to output: inout [UInt8]) {
        output.append(contentsOf: ",\"attributes\":{".utf8)
        var isFirstSide = true
        for (side, path) in [("old", \AttributeChange.old), ("new", \AttributeChange.new)] {
            var isFirst = true
            for attribute in attributes {
                guard let value = attribute[keyPath: path] else { continue }
                if isFirst {
                    output.append(contentsOf: "\(isFirstSide ? "" : ",")\"\(side)\":{".utf8)
                    isFirstSide = false
                } else {
                    output.append(UInt8(ascii: ","))
                }
                isFirst = false
                append(attribute.name, value, of: entity, to: &output)
            }
            if !isFirst { output.append(UInt8(ascii: "}")) }
        }
        output.append(UInt8(ascii: "}"))
    }

    package func append(_ name: String, _ value: StoredValue, of entity: Entity, to output: inout [UInt8]) {
        StoredValueWriter.appendString(name, to: &output)
        output.append(UInt8(ascii: ":"))
        (entity.values[BytewiseString(name)] ?? StoredValueWriter(nil)).append(value, to: &output)
    }

    package func append(_ identifier: ObjectReference, of entity: Entity, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "{"))
        for (index, part) in identifier.values.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            append(part.name, part.value, of: entity, to: &output)
        }
        output.append(UInt8(ascii: "}"))
    }

    package func append(_ objects: [ObjectReference], of entity: String?, to output: inout [UInt8]) {
        let entity = entity.flatMap { entities[BytewiseString($0)] } ?? Entity()
        output.append(UInt8(ascii: "["))
        for (index, object) in objects.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            append(object, of: entity, to: &output)
        }
        output.append(UInt8(ascii: "]"))
    }

    package func append(_ content: ReferenceChange.Content, to name: String?, to output: inout [UInt8]) {
        let entity = name.flatMap { entities[BytewiseString($0)] } ?? Entity()
        switch content {
        case .toOne(let old, let new):
            output.append(UInt8(ascii: "{"))
            for (index, side) in [("old", old), ("new", new)].enumerated() {
                guard let target = side.1 else { continue }
                output.append(contentsOf: "\(index > 0 && old != nil ? "," : "")\"\(side.0)\":".utf8)
                switch target {
                case .null: output.append(contentsOf: "null".utf8)
                case .object(let object): append(object, of: entity, to: &output)
                }
            }
            output.append(UInt8(ascii: "}"))
        case .toMany(let added, let removed):
            output.append(UInt8(ascii: "{"))
            for (index, side) in [("added", added), ("removed", removed)].enumerated() where !side.1.isEmpty {
                output.append(contentsOf: "\(index > 0 && !added.isEmpty ? "," : "")\"\(side.0)\":".utf8)
                append(side.1, of: name, to: &output)
            }
            output.append(UInt8(ascii: "}"))
        }
    }

    package func append(_ owned: OwnedChange, of entity: Entity, to output: inout [UInt8]) {
        let name = BytewiseString(owned.name)
        switch owned.content {
        case .objects(let changes) where changes.count == 1 && entity.toOnes.contains(name):
            append(changes[0], to: &output)
        case .objects(let changes):
            output.append(UInt8(ascii: "["))
            for (index, change) in changes.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                append(change, to: &output)
            }
            output.append(UInt8(ascii: "]"))
        case .values(let old, let new):
            output.append(UInt8(ascii: "{"))
            for (index, side) in [("old", old), ("new", new)].enumerated() {
                guard let values = side.1 else { continue }
                output.append(contentsOf: "\(index > 0 && old != nil ? "," : "")\"\(side.0)\":".utf8)
                append(values, of: entity.owned[name], to: &output)
            }
            output.append(UInt8(ascii: "}"))
        }
    }

    package func append(_ order: OrderChange, of entity: String?, to output: inout [UInt8]) {
        output.append(UInt8(ascii: "{"))
        for (index, side) in [("old", order.old), ("new", order.new)].enumerated() {
            guard let objects = side.1 else { continue }
            output.append(contentsOf: "\(index > 0 && order.old != nil ? "," : "")\"\(side.0)\":".utf8)
            append(objects, of: entity, to: &output)
        }
        output.append(UInt8(ascii: "}"))
    }

    package func append(_ values: [OwnedValue], of name: String?, to output: inout [UInt8]) {
        let entity = name.flatMap { entities[BytewiseString($0)] } ?? Entity()
        output.append(UInt8(ascii: "["))
        for (index, value) in values.enumerated() {
            output.append(contentsOf: (index > 0 ? ",{" : "{").utf8)
            var isFirst = true
            for attribute in value.attributes {
                if !isFirst { output.append(UInt8(ascii: ",")) }
                isFirst = false
                append(attribute.name, attribute.value, of: entity, to: &output)
            }
            for reference in value.references {
                if !isFirst { output.append(UInt8(ascii: ",")) }
                isFirst = false
                StoredValueWriter.appendString(reference.name, to: &output)
                output.append(UInt8(ascii: ":"))
                if let target = reference.target {
                    let other = entity.references[BytewiseString(reference.name)].flatMap {
                        entities[BytewiseString($0)]
                    }
                    append(target, of: other ?? Entity(), to: &output)
                } else {
                    output.append(contentsOf: "null".utf8)
                }
            }
            for owned in value.owned {
                if !isFirst { output.append(UInt8(ascii: ",")) }
                isFirst = false
                StoredValueWriter.appendString(owned.name, to: &output)
                output.append(UInt8(ascii: ":"))
                append(owned.values, of: entity.owned[BytewiseString(owned.name)], to: &output)
            }
            output.append(UInt8(ascii: "}"))
        }
        output.append(UInt8(ascii: "]"))
    }
}

extension ChangedEntity {
    /// The entity as a header has it, in the words of a model file.
    fileprivate var json: JSONValue {
        var members: JSONValue = ["identifier": .strings(identifier)]
        members["attributes"] = JSONValue(attributes.map { ($0.name, $0.description?.json ?? ["type": "any"]) })
        if !relationships.isEmpty {
            members["relationships"] = JSONValue(
                relationships.map { relationship in
                    var keys: JSONValue = ["entity": .string(relationship.entity)]
                    if relationship.isToMany { keys["toMany"] = true }
                    if relationship.isOwned { keys["owned"] = true }
                    if relationship.isOrdered { keys["ordered"] = true }
                    if relationship.isIncluded { keys["included"] = true }
                    return (relationship.name, keys)
                }
            )
        }
        if !together.isEmpty { members["together"] = .array(together.map(JSONValue.strings)) }
        var only: JSONValue = [:]
        if !onlyOld.isEmpty { only["old"] = .strings(onlyOld) }
        if !onlyNew.isEmpty { only["new"] = .strings(onlyNew) }
        if only != [:] { members["only"] = only }
        return members
    }
}

extension AttributeDescription {
    /// What of it says how its values are written.
    fileprivate var json: JSONValue {
        var members: JSONValue = ["type": .string(type.rawValue)]
        members["storage"] = ownForm.map { .string($0.rawValue) }
        if !formats.isEmpty { members["format"] = .strings(formats) }
        members["timeZone"] = timeZone.map { .string($0) }
        if isWallClock { members["wallClock"] = true }
        if !bits.isEmpty { members["bits"] = JSONValue(bits.map { ($0.name, .number(String($0.position))) }) }
        return members
    }
}
