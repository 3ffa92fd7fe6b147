/// Relationships of Core Data, and by what properties are found in the JSON.
extension CoreDataReader {
    mutating func readRelationship(_ element: XMLElement, _ name: String, _ entity: inout CoreDataEntity) {
        let path = "\(entity.name).\(name)"
        var userInfo = CoreDataUserInfo(of: element)
        entity.keys[name] = CoreDataEntity.Keys(steps: [step(name, &userInfo, path, element.line)])
        if element.isYes("transient") {
            findings.notice(path, line: element.line, "is left out, as it is transient")
            entity.leftOut.insert(name)
            return
        }
        guard let destination = element["destinationEntity"], !destination.isEmpty else {
            return findings.mistake(path, line: element.line, "has no destination")
        }
        var relationship = RelationshipDescription(name: name, destination: destination)
        relationship.isToMany = element.isYes("toMany")
        relationship.isOptional = element.isYes("optional")
        relationship.inverse = element["inverseName"].flatMap { $0.isEmpty ? nil : $0 }
        relationship.renamingIdentifier = element["elementID"].flatMap { $0.isEmpty ? nil : $0 }
        relationship.deleteRule = rule(element, path)
        if relationship.isToMany {
            relationship.isOrdered = element.isYes("ordered")
            // Those of a to-one go without saying; 0 and -1 are no limit.
            relationship.minimumCount = element["minCount"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
            relationship.maximumCount = element["maxCount"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
            if let least = relationship.minimumCount, let most = relationship.maximumCount, least > most {
                findings.notice(path, line: element.line, "its counts are left out: \(least) is more than \(most)")
                (relationship.minimumCount, relationship.maximumCount) = (nil, nil)
            }
        }
        if let names = userInfo["relatedByAttribute"] { relationship.by = CoreDataUserInfo.names(names) }
        relationship.userInfo = userInfo.json
        entity.description.relationships.append(relationship)
    }

    private mutating func rule(_ element: XMLElement, _ path: String) -> RelationshipDescription.DeleteRule {
        switch element["deletionRule"] ?? "Nullify" {
        case "Nullify": return .nullify
        case "Cascade": return .cascade
        case "Deny": return .deny
        case "No Action": return .noAction
        case let other:
            findings.notice(path, line: element.line, "its delete rule is read as Nullify: \(other) is not known")
            return .nullify
        }
    }

    /// Makes sure that destinations and inverses are there.
    mutating func linkRelationships() {
        let hierarchy = EntityHierarchy(entities.map(\.description))
        for index in entities.indices {
            for place in entities[index].description.relationships.indices {
                let relationship = entities[index].description.relationships[place]
                let path = "\(entities[index].name).\(relationship.name)"
                let line = self.line(of: relationship.name, in: index)
                guard let destination = hierarchy.index(of: relationship.destination) else {
                    let suggestion = NameSuggestion.nearest(to: relationship.destination, among: entities.map(\.name))
                    let hint = suggestion.map { "; perhaps \($0) is meant" } ?? ""
                    findings.mistake(
                        path,
                        line: line,
                        "its destination \(relationship.destination) is not in the model" + hint
                    )
                    continue
                }
                guard let inverse = relationship.inverse, hierarchy.relationship(inverse, of: destination) == nil else {
                    continue
                }
                if hierarchy.chain(of: destination).contains(where: { entities[$0].leftOut.contains(inverse) }) {
                    entities[index].description.relationships[place].inverse = nil
                } else {
                    let message = "its inverse \(inverse) is not a relationship of \(relationship.destination)"
                    findings.mistake(path, line: line, message)
                }
            }
        }
    }

    /// Keeps by which attributes relationships name their destinations, where these have them.
    mutating func setRelatedBy() {
        let hierarchy = EntityHierarchy(entities.map(\.description))
        for index in entities.indices {
            for place in entities[index].description.relationships.indices {
                let relationship = entities[index].description.relationships[place]
                guard !relationship.by.isEmpty, let destination = hierarchy.index(of: relationship.destination) else {
                    continue
                }
                let known = hierarchy.attributes(of: destination).map(\.name)
                if let other = relationship.by.first(where: { name in !known.contains(where: name.hasSameBytes) }) {
                    let path = "\(entities[index].name).\(relationship.name)"
                    let message =
                        "relatedByAttribute is not used: \(relationship.destination) has no attribute \(other)"
                    findings.notice(path, line: self.line(of: relationship.name, in: index), message)
                    entities[index].description.relationships[place].by = []
                    continue
                }
                entities[index].description.relationships[place].userInfo?["relatedByAttribute"] = nil
                if case .object(let rest) = entities[index].description.relationships[place].userInfo, rest.isEmpty {
                    entities[index].description.relationships[place].userInfo = nil
                }
                if hierarchy.identifier(of: destination) == relationship.by {
                    entities[index].description.relationships[place].by = []
                }
            }
        }
    }

    // MARK: Keys

    /// What a property's userInfo says of its keys, which is taken out of it.
    mutating func step(
        _ name: String,
        _ userInfo: inout CoreDataUserInfo,
        _ path: String,
        _ line: Int
    ) -> CoreDataEntity.Keys.Step {
        var paths: [String] = []
        for key in CoreDataUserInfo.pathKeys {
            guard let text = userInfo[key] else { continue }
            if key == CoreDataUserInfo.groot { hasGrootKeys = true }
            guard Self.isKeyPath(text) else {
                findings.notice(path, line: line, "\(key) is not used: \(text.printable) is not a key path")
                continue
            }
            userInfo.remove(key)
            if !paths.contains(where: text.hasSameBytes) { paths.append(text) }
        }
        return CoreDataEntity.Keys.Step(name: name, paths: paths)
    }

    private static func isKeyPath(_ text: String) -> Bool {
        (try? AttributePath(text))?.isWithinRecord == true && text != "$"
    }

    /// Says where in the JSON the values of all properties are.
    mutating func setKeys() {
        let hierarchy = EntityHierarchy(entities.map(\.description))
        for index in entities.indices {
            // What is a property's own name is no other spelling of another one's.
            var taken: Set<String> = []
            for ancestor in hierarchy.chain(of: index) + hierarchy.subentities(of: index) {
                taken.formUnion(entities[ancestor].lines.keys)
                for keys in entities[ancestor].keys.values { taken.formUnion(keys.steps.prefix(1).flatMap(\.paths)) }
            }
            for place in entities[index].description.attributes.indices {
                let name = entities[index].description.attributes[place].name
                guard let keys = entities[index].keys[name] else { continue }
                entities[index].description.attributes[place].from = paths(keys, taken).compactMap {
                    try? AttributePath($0)
                }
            }
            for place in entities[index].description.relationships.indices {
                let relationship = entities[index].description.relationships[place]
                guard let keys = entities[index].keys[relationship.name] else { continue }
                let paths = paths(keys, taken, isToOne: !relationship.isToMany, isToMany: relationship.isToMany)
                entities[index].description.relationships[place].from = paths.compactMap { text in
                    (try? AttributePath(text)).map { .value($0) }
                }
            }
        }
    }

    private func paths(
        _ keys: CoreDataEntity.Keys,
        _ taken: Set<String>,
        isToOne: Bool = false,
        isToMany: Bool = false
    ) -> [String] {
        var paths = [""]
        for (place, step) in keys.steps.enumerated() {
            var names = step.paths
            if names.isEmpty {
                if place == 0, hasGrootKeys { return [] }
                names = keyStyle.keys(for: step.name, isToOne: isToOne, isToMany: isToMany)
                if place == 0, names.count > 1 {
                    names = names.filter { $0.hasSameBytes(as: step.name) || !taken.contains($0) }
                }
                names = names.map { AttributePath(keys: [$0]).description }
            }
            paths = Array(
                paths.flatMap { path in names.map { path.isEmpty || $0.hasPrefix("[") ? path + $0 : "\(path).\($0)" } }
                    .prefix(16)
            )
        }
        return paths
    }
}
