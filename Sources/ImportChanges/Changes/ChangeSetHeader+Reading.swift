import ImportEngine
import ImportModel

extension ChangeSetHeader {
    /// Reads a header line.
    ///
    /// - Throws: `ChangeSetScanner.LineError` where it is none, or of a version that is not known.
    package init(_ line: [UInt8]) throws(ChangeSetScanner.LineError) {
        func error(_ reason: String) -> ChangeSetScanner.LineError { .init(reason: reason, byteOffset: 0) }
        let value: JSONValue
        do {
            value = try JSONValue(parsing: line)
        } catch {
            throw .init(reason: error.reason, byteOffset: error.byteOffset)
        }
        guard value["format"] == .string(ChangeLineWriter.format) else { throw error("not the header of a change set") }
        guard value["version"] == .number(String(ChangeLineWriter.version)) else {
            throw error("a change set of another version than \(ChangeLineWriter.version)")
        }
        func state(_ key: String) -> State {
            let objects = value[key]?["objects"]?.members ?? []
            return State(
                name: value[key]?["name"]?.text ?? "",
                objects: objects.compactMap { member in
                    guard case .number(let digits) = member.value, let count = Int64(digits) else { return nil }
                    return (member.key, count)
                }
            )
        }
        self.init(
            old: state("old"),
            new: state("new"),
            entities: (value["entities"]?.members ?? []).map { ChangedEntity($0.key, $0.value) },
            options: (value["options"]?.members ?? []).map { NamedOption($0.key, $0.value) }
        )
        program = value["program"]?.text ?? ""
    }
}

extension ChangedEntity {
    /// Reads an entity as a header has it; what is not understood is left out.
    fileprivate init(_ name: String, _ json: JSONValue) {
        self.init(
            name,
            identifier: json["identifier"]?.texts ?? [],
            attributes: (json["attributes"]?.members ?? []).map { member in
                Attribute(member.key, AttributeDescription(member.key, member.value))
            },
            relationships: (json["relationships"]?.members ?? []).map { member in
                var relationship = Relationship(
                    member.key,
                    to: member.value["entity"]?.text ?? "",
                    isToMany: member.value["toMany"] == true,
                    isOwned: member.value["owned"] == true,
                    isOrdered: member.value["ordered"] == true
                )
                relationship.isIncluded = member.value["included"] == true
                return relationship
            },
            together: json["together"]?.elements.map(\.texts) ?? [],
            onlyOld: json["only"]?["old"]?.texts ?? [],
            onlyNew: json["only"]?["new"]?.texts ?? []
        )
    }
}

extension AttributeDescription {
    /// Nil for a type that takes values of any kind, or that is not known.
    fileprivate init?(_ name: String, _ json: JSONValue) {
        guard let type = json["type"]?.text.flatMap(AttributeType.init(rawValue:)) else { return nil }
        self.init(
            name: name,
            type: type,
            isOptional: true,
            formats: json["format"].map { $0.text.map { [$0] } ?? $0.texts } ?? [],
            timeZone: json["timeZone"]?.text,
            isWallClock: json["wallClock"] == true,
            storage: json["storage"]?.text.flatMap(StorageForm.init(rawValue:)),
            bits: (json["bits"]?.members ?? []).compactMap { member in
                guard case .number(let digits) = member.value, let position = Int(digits), (0...63).contains(position)
                else { return nil }
                return Bit(name: member.key, position: position)
            }
        )
    }
}

extension ChangeSetFooter {
    /// Reads a footer; nil for a line that is none.
    package init?(_ line: [UInt8]) throws(ChangeSetScanner.LineError) {
        // Changes begin with another key; the first bytes tell, but for those who have edited the file.
        guard line.count < 1 << 24, let value = try? JSONValue(parsing: line), value["end"] == true else { return nil }
        guard case .number(let digits)? = value["changes"], let changes = Int64(digits), changes >= 0 else {
            throw .init(reason: "a footer without the number of changes", byteOffset: 0)
        }
        let entities = (value["entities"]?.members ?? []).map { member in
            var counts = ChangeCounts()
            func count(_ key: String) -> Int64 {
                guard case .number(let digits)? = member.value[key] else { return 0 }
                return Int64(digits) ?? -1
            }
            counts.inserted = count("inserted")
            counts.updated = count("updated")
            counts.deleted = count("deleted")
            counts.unchanged = count("unchanged")
            return Entity(member.key, counts)
        }
        self.init(changes: changes, entities: entities, checksum: value["xxh3"]?.text)
    }
}

extension JSONValue {
    fileprivate var members: [Member] {
        if case .object(let members) = self { return members }
        return []
    }

    fileprivate var elements: [JSONValue] {
        if case .array(let elements) = self { return elements }
        return []
    }

    fileprivate var text: String? {
        if case .string(let text) = self { return text }
        return nil
    }

    fileprivate var texts: [String] { elements.compactMap(\.text) }
}
