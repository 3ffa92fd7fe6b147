/// Finds what is wrong in what the entities of a model say of one another.
struct ModelValidator {
    /// Something that is wrong, or that does not work as it is meant.
    struct Mistake {
        /// The index of the entity that says it.
        let entity: Int
        /// The keys in the entity's object that lead to it.
        var keys: [String] = []
        /// The index in a list there, from 0.
        var index: Int?
        let message: String
    }

    private(set) var mistakes: [Mistake] = []
    /// What is accepted, but not kept by the store.
    private(set) var warnings: [Mistake] = []
    private let hierarchy: EntityHierarchy

    init(_ model: ModelDescription) {
        hierarchy = EntityHierarchy(model.entities)
        for entity in model.entities.indices { checkInheritance(entity) }
        for entity in model.entities.indices { checkRelationships(of: entity) }
        guard mistakes.isEmpty else { return }
        do throws(LayoutError) {
            let layout = try ModelLayout(model)
            checkParents(layout)
            guard mistakes.isEmpty else { return }
            checkPlacements(layout)
            checkIndexes(layout)
            checkGroups(layout)
            checkNames(layout)
            warn(layout)
        } catch {
            note(error.entity, ["identifier"], error.message)
        }
    }

    mutating func note(_ mistake: Mistake) { mistakes.append(mistake) }

    private mutating func note(_ entity: Int, _ keys: [String], index: Int? = nil, _ message: String) {
        note(Mistake(entity: entity, keys: keys, index: index, message: message))
    }

    private func perhaps(_ name: String, among names: [String]) -> String {
        NameSuggestion.nearest(to: name, among: names).map { "; perhaps \"\($0)\" is meant" } ?? ""
    }

    private var names: [String] { hierarchy.entities.map(\.name) }

    // MARK: Inheritance

    private mutating func checkInheritance(_ index: Int) {
        let entity = hierarchy.entities[index]
        let ancestors = hierarchy.chain(of: index).dropFirst()
        if let parent = entity.parent {
            if hierarchy.index(of: parent) == nil {
                note(index, ["parent"], "there is no entity \(parent)" + perhaps(parent, among: names))
            } else if ancestors.isEmpty {
                note(index, ["parent"], "is a cycle: an entity cannot inherit from itself")
            }
        }
        for ancestor in ancestors { checkOverrides(of: index, ancestor) }
        checkIdentifier(of: index)
        let attributes = entity.attributes.map(\.name)
        for relationship in entity.relationships where attributes.contains(where: relationship.name.hasSameBytes) {
            note(index, ["relationships", relationship.name], "an attribute has this name already")
        }
        for value in entity.subentity?.values ?? [] {
            let place = ["subentity", "values", value.value]
            guard let name = value.entity else { continue }
            guard let subentity = hierarchy.index(of: name) else {
                note(index, place, "there is no entity \(name)" + perhaps(name, among: names))
                continue
            }
            if !hierarchy.chain(of: subentity).contains(index) {
                note(index, place, "\(name) does not inherit from \(entity.name); give it \"parent\"")
            }
        }
    }

    private mutating func checkOverrides(of index: Int, _ ancestor: Int) {
        let (entity, other) = (hierarchy.entities[index], hierarchy.entities[ancestor])
        let inherited = other.attributes.map(\.name) + other.relationships.map(\.name)
        for attribute in entity.attributes where inherited.contains(where: attribute.name.hasSameBytes) {
            note(index, ["attributes", attribute.name], "is inherited from \(other.name) already")
        }
        for relationship in entity.relationships where inherited.contains(where: relationship.name.hasSameBytes) {
            note(index, ["relationships", relationship.name], "is inherited from \(other.name) already")
        }
        if !entity.identifier.isEmpty, !other.identifier.isEmpty {
            note(index, ["identifier"], "\(other.name), from which it inherits, has an identifier already")
        }
    }

    /// What a model file says of an entity without parent is looked at where it is read.
    private mutating func checkIdentifier(of index: Int) {
        let entity = hierarchy.entities[index]
        guard entity.parent != nil else { return }
        let attributes = hierarchy.attributes(of: index)
        for (place, name) in entity.identifier.enumerated()
        where !name.hasSameBytes(as: EntityDescription.parentIdentifier) {
            if let attribute = attributes.first(where: { $0.name.hasSameBytes(as: name) }) {
                if attribute.isOptional { note(index, ["identifier"], index: place, "names an optional attribute") }
            } else {
                let hint = perhaps(name, among: attributes.map(\.name))
                note(index, ["identifier"], index: place, "names no attribute" + hint)
            }
        }
    }

    // MARK: Relationships by themselves

    private mutating func checkRelationships(of index: Int) {
        for relationship in hierarchy.entities[index].relationships {
            let keys = ["relationships", relationship.name]
            guard let destination = hierarchy.index(of: relationship.destination) else {
                let hint = perhaps(relationship.destination, among: names)
                note(index, keys + ["entity"], "there is no entity \(relationship.destination)" + hint)
                continue
            }
            if let inverse = relationship.inverse { checkInverse(inverse, of: relationship, index, destination) }
            let attributes = hierarchy.attributes(of: destination).map(\.name)
            for (place, name) in relationship.by.enumerated() where !attributes.contains(where: name.hasSameBytes) {
                let place = relationship.by.count > 1 ? place : nil
                let hint = perhaps(name, among: attributes)
                note(index, keys + ["by"], index: place, "\(relationship.destination) has no attribute \(name)" + hint)
            }
            checkStub(relationship, index, destination)
            checkSources(relationship, index, destination)
        }
    }

    private mutating func checkInverse(
        _ name: String,
        of relationship: RelationshipDescription,
        _ index: Int,
        _ destination: Int
    ) {
        let keys = ["relationships", relationship.name, "inverse"]
        guard let other = hierarchy.relationship(name, of: destination) else {
            let known = hierarchy.chain(of: destination).flatMap { hierarchy.entities[$0].relationships.map(\.name) }
            note(
                index,
                keys,
                "\(relationship.destination) has no relationship \(name)" + perhaps(name, among: known)
            )
            return
        }
        let inverse = hierarchy.entities[other.entity].relationships[other.index]
        let leadsBack = hierarchy.index(of: inverse.destination).map { back in
            hierarchy.chain(of: back).contains(index) || hierarchy.chain(of: index).contains(back)
        }
        if leadsBack != true {
            note(index, keys, "\(name) leads to \(inverse.destination), not back to \(hierarchy.entities[index].name)")
        } else if inverse.inverse?.hasSameBytes(as: relationship.name) != true {
            note(index, keys, "\(name) does not name \(relationship.name) as its inverse; both sides name each other")
        }
    }

    private mutating func checkStub(_ relationship: RelationshipDescription, _ index: Int, _ destination: Int) {
        guard relationship.unresolved == .stub else { return }
        let needed = hierarchy.requirements(of: destination)
        let keys = ["relationships", relationship.name, "unresolved"]
        if hierarchy.identifier(of: destination).isEmpty {
            note(index, keys, "\(relationship.destination) has no identifier that a stub could have")
        } else if let first = needed.first {
            note(
                index,
                keys,
                "a stub of \(relationship.destination) would lack \(first), which it requires; make it optional or give it "
                    + "a default"
            )
        }
    }

    private mutating func checkSources(_ relationship: RelationshipDescription, _ index: Int, _ destination: Int) {
        let keys = ["relationships", relationship.name, "from"]
        let identifier = relationship.by.isEmpty ? hierarchy.identifier(of: destination) : relationship.by
        for (place, source) in relationship.from.enumerated() {
            let place = relationship.from.count > 1 ? place : nil
            switch source {
            case .value: break
            case .members:
                if !relationship.isToMany {
                    note(index, keys, index: place, "an object that is a collection is only for a to-many")
                }
            case .identifier(let paths):
                if relationship.isToMany {
                    note(index, keys, index: place, "the parts of an identifier are only for a to-one")
                } else if paths.count != identifier.count {
                    let message = "names \(paths.count) parts of an identifier of \(identifier.count)"
                    note(index, keys, index: place, message)
                }
            }
        }
    }

    // MARK: Nested objects

    private mutating func checkParents(_ layout: ModelLayout) {
        for (index, entity) in hierarchy.entities.enumerated() {
            let nests = layout.relationships.filter { hierarchy.isKind($0.destination, index) }
            let isIdentified = entity.identifier.contains(where: EntityDescription.parentIdentifier.hasSameBytes)
            if isIdentified { checkParent(of: index, layout) }
            for attribute in entity.attributes {
                for name in attribute.from.compactMap(\.parentAttribute) {
                    let keys = ["attributes", attribute.name, "from"]
                    let sources = nests.map(\.entity)
                    let lacking = sources.first { source in
                        !hierarchy.attributes(of: source).contains { $0.name.hasSameBytes(as: name) }
                    }
                    if entity.records != nil {
                        note(index, keys, "records have no object around them; remove \"records\" or @parent")
                    } else if let lacking {
                        note(index, keys, "\(hierarchy.entities[lacking].name) has no attribute \(name)")
                    } else if sources.isEmpty {
                        note(index, keys, "no relationship leads to \(entity.name), so there is no object around it")
                    }
                }
            }
        }
    }

    private mutating func checkParent(of index: Int, _ layout: ModelLayout) {
        let entity = hierarchy.entities[index]
        if entity.records != nil {
            note(index, ["records"], "@parent in its identifier is for nested objects only; remove one of them")
        }
        let holding = layout.relationships.indices.filter {
            layout.relationships[$0].owner == $0 && layout.relationships[$0].holder == index
        }
        if holding.isEmpty {
            note(index, ["identifier"], "@parent: no relationship nests objects of \(entity.name)")
        }
    }

    // MARK: What the store has for it

    private mutating func checkPlacements(_ layout: ModelLayout) {
        for (index, placement) in layout.relationships.enumerated() {
            let keys = ["relationships", placement.description.name]
            if placement.description.identity == .position, layout.positionColumn(of: index) == nil {
                note(
                    placement.entity,
                    keys + ["identity"],
                    "its destination has no column for a position, as the link is kept elsewhere; leave it out"
                )
            }
            if placement.description.table != nil, placement.shape != .join {
                note(placement.entity, keys + ["table"], "has no table of its own; leave it out")
            }
            let columns = placement.description.columns
            guard !columns.isEmpty else { continue }
            let key = columns.count == 1 ? "column" : "columns"
            let needed = layout.references(of: index)
            if placement.shape == .join || placement.owner != index {
                let other = placement.shape == .join ? "its join table" : layout.name(of: placement.owner)
                note(placement.entity, keys + [key], "the columns are those of \(other); leave it out")
            } else if columns.count != needed.count {
                note(placement.entity, keys + [key], "names \(columns.count) columns, and there are \(needed.count)")
            }
        }
    }

    private mutating func checkNames(_ layout: ModelLayout) {
        var tables = NamesInUse()
        var counts: [[UInt8]: Int] = [:]
        for table in layout.tables where table.columns.contains(where: { $0.role != .attribute }) {
            counts[Array(table.name.utf8)] = table.columns.count
        }
        for (index, entity) in hierarchy.entities.enumerated() where layout.home(of: index) == index {
            _ = tables.insert(entity.table, of: "the entity \(entity.name)")
            checkColumns(of: index, layout, count: counts[Array(entity.table.utf8)] ?? 0)
        }
        for (index, placement) in layout.relationships.enumerated()
        where placement.shape == .join && placement.owner == index {
            let (name, join) = (layout.name(of: index), layout.join(of: index))
            let keys = ["relationships", placement.description.name]
            let place = keys + (placement.description.table == nil ? [] : ["table"])
            if join.table.hasASCIIPrefix("sqlite_") || join.table.hasASCIIPrefix("_import_") {
                note(
                    placement.entity,
                    place,
                    "tables whose names begin with sqlite_ or _import_ are not for users"
                )
            }
            if let other = tables.insert(join.table, of: name) {
                note(
                    placement.entity,
                    place,
                    "its join table \(join.table) has the name of that of \(other); give it another with \"table\""
                )
            }
            var columns = NamesInUse()
            let positions = [join.position, join.inversePosition].compactMap { $0 }
            for (number, column) in ((join.source + join.destination).map(\.name) + positions).enumerated() {
                guard columns.insert(column, of: "\(number)") != nil else { continue }
                note(placement.entity, keys, "its join table would have two columns \(column); rename it or its table")
            }
        }
    }

    /// - Parameter count: of the columns, where there are others than those of attributes.
    private mutating func checkColumns(of home: Int, _ layout: ModelLayout, count: Int) {
        var columns = NamesInUse()
        for attribute in layout.tableAttributes(of: home) {
            guard let other = columns.insert(attribute.column, of: attribute.name) else { continue }
            func owner(of name: String) -> Int? {
                (hierarchy.chain(of: home) + hierarchy.subentities(of: home)).first { entity in
                    hierarchy.entities[entity].attributes.contains { $0.name.hasSameBytes(as: name) }
                }
            }
            let declaring = owner(of: attribute.name)
            // Those of one entity are compared where they are read.
            if declaring == owner(of: other), !attribute.name.hasSameBytes(as: other) { continue }
            note(
                declaring ?? home,
                ["attributes", attribute.name],
                "the column of \(other), in the same table, has this name already; SQLite ignores case"
            )
        }
        checkSharedColumns(of: home, layout)
        for index in layout.columnRelationships(of: home) {
            let placement = layout.relationships[index]
            let position = layout.positionColumn(of: index).map { [$0] } ?? []
            for column in layout.references(of: index).map(\.name) + position {
                let keys = ["relationships", placement.description.name]
                if ["rowid", "oid", "_rowid_"].contains(where: column.equalsFoldingASCII) {
                    note(
                        placement.entity,
                        keys,
                        "a column \(column) hides SQLite's row id; give it another with \"column\""
                    )
                }
                guard let other = columns.insert(column, of: "\(layout.name(of: index)) \(column)") else { continue }
                note(
                    placement.entity,
                    keys,
                    "its column \(column) has the name of that of \(other); give it another with \"column\""
                )
            }
        }
        if count > ModelReader.mostAttributes {
            note(
                home,
                ["attributes"],
                "its table has \(count) columns; a table has at most \(ModelReader.mostAttributes)"
            )
        }
    }

    // MARK: Warnings

    private mutating func warn(_ layout: ModelLayout) {
        for (index, placement) in layout.relationships.enumerated() {
            let keys = ["relationships", placement.description.name, "deleteRule"]
            let rule = placement.description.deleteRule
            let hasColumn = placement.owner == index && [.oneToMany, .oneToOne, .source].contains(placement.shape)
            if let rule, hasColumn, rule == .cascade || rule == .deny {
                let message =
                    "\(rule.rawValue) is kept by imports only: its column is in this table, and a foreign key acts the other "
                    + "way"
                warnings.append(Mistake(entity: placement.entity, keys: keys, message: message))
            }
            if rule == .cascade, placement.shape == .join, placement.inverse != nil {
                let message = "cascade is kept by imports only: deleting a row deletes its links, not what they lead to"
                warnings.append(Mistake(entity: placement.entity, keys: keys, message: message))
            }
            guard let inverse = placement.inverse.map({ layout.relationships[$0] }), !inverse.description.isToMany,
                !inverse.description.isOptional, placement.deleteRule == .nullify, placement.shape != .join
            else { continue }
            let message =
                "nullify cannot clear \(placement.description.destination).\(inverse.description.name), which is mandatory: "
                + "deleting is refused while there are any"
            warnings.append(Mistake(entity: placement.entity, keys: Array(keys.prefix(2)), message: message))
        }
    }
}
