/// Identifiers and indexes of Core Data's entities.
extension CoreDataReader {
    /// Chooses identifiers: what userInfo names, what is marked, the first uniqueness constraint.
    ///
    /// One that the table cannot have, as it is another entity's too, becomes an index.
    mutating func setIdentifiers() {
        let hierarchy = EntityHierarchy(entities.map(\.description))
        for index in entities.indices {
            let known = hierarchy.attributes(of: index).map(\.name)
            func areKnown(_ names: [String]) -> Bool {
                !names.isEmpty && names.allSatisfy { name in known.contains(where: name.hasSameBytes) }
            }
            let entity = entities[index]
            if let named = entity.named.first(where: { areKnown($0.names) }) {
                entities[index].description.identifier = CoreDataModel.KeyStyle.distinct(named.names)
                entities[index].userInfo.remove(named.key)
            } else if !entity.marked.isEmpty {
                entities[index].description.identifier = entity.marked
            } else if let first = entity.uniqueness.first, areKnown(first.names) {
                entities[index].description.identifier = CoreDataModel.KeyStyle.distinct(first.names)
            } else if keyStyle == .sync, entity.uniqueness.isEmpty,
                let name = known.first(where: CoreDataModel.KeyStyle.isSyncIdentifier)
            {
                entities[index].description.identifier = [name]
            }
        }
        refuseInherited()
        refuseShared()
        let identified = EntityHierarchy(entities.map(\.description))
        for index in entities.indices { requireIdentifier(of: index, identified) }
    }

    /// An entity has the identifier of its parent, and none beside it; nor can it ask of its parent's attributes what the parent
    /// does not.
    private mutating func refuseInherited() {
        let hierarchy = EntityHierarchy(entities.map(\.description))
        for index in entities.indices where !entities[index].description.identifier.isEmpty {
            let ancestors = hierarchy.chain(of: index).dropFirst()
            if let other = ancestors.first(where: { !hierarchy.entities[$0].identifier.isEmpty }) {
                if hierarchy.identifier(of: other) == entities[index].description.identifier {
                    entities[index].description.identifier = []
                } else {
                    refuseIdentifier(of: index, "\(entities[other].name), from which it inherits, has another")
                }
                continue
            }
            let own = entities[index].description.attributes.map(\.name)
            let optional = hierarchy.attributes(of: index).first { attribute in
                attribute.isOptional && !own.contains(where: attribute.name.hasSameBytes)
                    && entities[index].description.identifier.contains(where: attribute.name.hasSameBytes)
            }
            if let optional { refuseIdentifier(of: index, "\(optional.name) is inherited and optional") }
        }
    }

    /// The rows of one table have one identifier.
    private mutating func refuseShared() {
        for _ in entities {
            guard let layout = try? ModelLayout(ModelDescription(entities: entities.map(\.description))) else { return }
            var isChanged = false
            for index in entities.indices where !entities[index].description.identifier.isEmpty {
                let home = layout.home(of: index)
                if home == index || layout.hierarchy.identifier(of: home) == entities[index].description.identifier {
                    continue
                }
                refuseIdentifier(of: index, "its rows are in the table of \(entities[home].name), which has none")
                isChanged = true
            }
            if !isChanged { return }
        }
    }

    private mutating func refuseIdentifier(of index: Int, _ reason: String) {
        let entity = entities[index]
        let names = entity.description.identifier
        entities[index].description.identifier = []
        let message = "\(names.joined(separator: ", ")) cannot be its identifier: \(reason). An index is built instead"
        findings.notice(entity.name, line: entity.line, message)
        if entity.uniqueness.first?.names != names {
            entities[index].indexes.append(CoreDataEntity.Names(names: names, line: entity.line))
        }
    }

    /// What identifies an object is there, and its own.
    private mutating func requireIdentifier(of index: Int, _ hierarchy: EntityHierarchy) {
        let identifier = hierarchy.entities[index].identifier
        for ancestor in hierarchy.chain(of: index) {
            for place in entities[ancestor].description.attributes.indices
            where identifier.contains(where: entities[ancestor].description.attributes[place].name.hasSameBytes) {
                entities[ancestor].description.attributes[place].isOptional = false
                entities[ancestor].description.attributes[place].defaultValue = nil
            }
        }
    }

    // MARK: Indexes

    mutating func readIndexes(_ element: XMLElement, _ entity: inout CoreDataEntity) {
        for index in element.all("compoundIndexes").flatMap({ $0.all("compoundIndex") }) {
            // Xcode separates the names in one value by commas, too.
            let names = index.all("index").compactMap { $0["value"] }.flatMap(CoreDataUserInfo.names)
            entity.indexes.append(CoreDataEntity.Names(names: names, line: index.line))
        }
        for index in element.all("fetchIndex") {
            let parts = index.all("fetchIndexElement")
            let path = "\(entity.name), index \(index["name"] ?? "")"
            if parts.contains(where: { ["rtree", "r-tree"].contains($0["type"]?.lowercased() ?? "") }) {
                findings.notice(path, line: index.line, "is left out, as it is an R-tree")
                continue
            }
            let names = parts.compactMap { $0["property"] }
            if names.count < parts.count {
                findings.notice(path, line: index.line, "is left out, as it is of an expression")
                continue
            }
            if parts.contains(where: { $0["order"]?.lowercased() == "descending" }) {
                findings.notice(path, line: index.line, "its direction is left out: it is built in ascending order")
            }
            if index["partialIndexPredicate"] != nil {
                findings.notice(path, line: index.line, "its predicate is left out: it is built over all rows")
            }
            entity.indexes.append(CoreDataEntity.Names(names: names, line: index.line))
        }
    }

    /// Keeps what is indexed where a table can have the index; uniqueness that is not the identifier's is one of them.
    mutating func setIndexes() {
        let hierarchy = EntityHierarchy(entities.map(\.description))
        for index in entities.indices {
            let identifier = hierarchy.identifier(of: index)
            for unique in entities[index].uniqueness where CoreDataModel.KeyStyle.distinct(unique.names) != identifier {
                let names = unique.names.joined(separator: ", ")
                let message = "\(names) are not kept unique, as they are not the identifier: an index is built of them"
                findings.notice(entities[index].name, line: unique.line, message)
            }
        }
        guard let layout = try? ModelLayout(ModelDescription(entities: entities.map(\.description))) else { return }
        for index in entities.indices {
            let identifier = layout.hierarchy.identifier(of: index)
            for wanted in entities[index].uniqueness + entities[index].indexes {
                let names = CoreDataModel.KeyStyle.distinct(wanted.names)
                let isThere = entities[index].description.indexes.contains { $0 == names }
                if names == identifier || isThere || names.isEmpty { continue }
                if let name = names.first(where: { layout.indexedColumns([$0], of: index) == nil }) {
                    let message =
                        "the index of \(names.joined(separator: ", ")) is left out, as \(name) has no column in its table"
                    findings.notice(entities[index].name, line: wanted.line, message)
                } else {
                    entities[index].description.indexes.append(names)
                }
            }
        }
    }
}
