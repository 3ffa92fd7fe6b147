import ImportEngine
import ImportModel
import ImportSources

extension ChangeLineReader {
    private static let conflictStart = Array("{\"conflict\"".utf8)

    /// True if a line is a conflict, as its first bytes say.
    static func isConflict(_ line: ByteView) -> Bool {
        let start = conflictStart
        // Those who have edited a file may have put spaces between what it is made of.
        var matched = 0
        for index in 0..<line.count {
            let byte = line[index]
            if matched == start.count { return true }
            if byte == start[matched] {
                matched += 1
            } else if matched > 1 || byte != 0x20 && byte != 0x09 {
                return false
            }
        }
        return matched == start.count
    }

    /// The change that a resolved conflict comes to.
    ///
    /// - Throws: `ChangeSetScanner.LineError` where it is open.
    package func resolution(of line: ByteView) throws(ChangeSetScanner.LineError) -> ObjectChange {
        let conflict = try conflict(line)
        guard let change = conflict.resolution else {
            throw ChangeSetScanner.LineError(
                reason: "a conflict that is open",
                byteOffset: 0,
                advice: "Give each conflict a \"take\": \"base\", \"ours\", \"theirs\", or an object with values."
            )
        }
        return change
    }

    /// Reads a conflict.
    package func conflict(_ line: ByteView) throws(ChangeSetScanner.LineError) -> MergeConflict {
        var json = try ChangeSetScanner(line)
        var ahead = json
        let name = try Self.entityName(&ahead)
        guard let name else { throw json.error("a conflict without entityName") }
        let entity = entity(name)
        var conflict = MergeConflict(kind: .bothChanged, entity: name, identifier: ObjectReference([]))
        try json.openObject()
        while let key = try json.key() {
            switch key {
            case "conflict":
                guard let number = Int64(try json.number()), number > 0 else {
                    throw json.error("a conflict whose number is not above 0")
                }
                conflict.number = number
            case "kind":
                guard let kind = MergeConflict.Kind(rawValue: try json.string()) else {
                    throw json.error("a conflict of a kind that is not known")
                }
                conflict.kind = kind
            case "entityName": _ = try json.string()
            case "identifier": conflict.identifier = try reference(&json, of: entity)
            case "base": conflict.base = try side(&json, of: entity)
            case "ours": conflict.ours = try side(&json, of: entity)
            case "theirs": conflict.theirs = try side(&json, of: entity)
            case "take": conflict.take = try take(&json, of: entity)
            case "changes": try changes(&json, &conflict)
            default: _ = try json.skip()
            }
        }
        try json.end()
        guard !conflict.identifier.values.isEmpty else { throw json.error("a conflict without identifier") }
        return conflict
    }

    private func side(
        _ json: inout ChangeSetScanner,
        of entity: Entity
    ) throws(ChangeSetScanner.LineError) -> [MergeConflict.Property]? {
        try json.null() ? nil : try properties(&json, of: entity)
    }

    private func take(_ json: inout ChangeSetScanner, of entity: Entity) throws(ChangeSetScanner.LineError)
        -> MergeConflict
        .Take?
    {
        if try json.null() { return nil }
        if json.peek() == UInt8(ascii: "{") { return .values(try properties(&json, of: entity)) }
        switch try json.string() {
        case "base": return .base
        case "ours": return .ours
        case "theirs": return .theirs
        default: throw json.error("a take that is not \"base\", \"ours\", \"theirs\" or an object with values")
        }
    }

    private func changes(_ json: inout ChangeSetScanner, _ conflict: inout MergeConflict) throws(ChangeSetScanner
        .LineError)
    {
        try json.openObject()
        while let key = try json.key() {
            guard key == "base" || key == "theirs" else {
                _ = try json.skip()
                continue
            }
            var ahead = json
            let change = try change(&json, of: try Self.entityName(&ahead))
            if key == "base" { conflict.toBase = change } else { conflict.toTheirs = change }
        }
    }

    private func properties(
        _ json: inout ChangeSetScanner,
        of entity: Entity
    ) throws(ChangeSetScanner.LineError) -> [MergeConflict.Property] {
        try members(&json) { json, name throws(ChangeSetScanner.LineError) in
            guard let relationship = entity.relationships[BytewiseString(name)],
                entity.values[BytewiseString(name)] == nil
            else {
                return .init(name, .stored(try entity.reader(name).value(&json)))
            }
            if try json.null() { return .init(name, .stored(.null)) }
            let destination = self.entity(relationship.entity)
            if json.peek() == UInt8(ascii: "[") {
                if destination.identifier.isEmpty {
                    return .init(name, .values(try values(&json, of: relationship.entity)))
                }
                return .init(name, .objects(try objects(&json, of: relationship.entity)))
            }
            guard relationship.isToMany else {
                return .init(name, .object(try reference(&json, of: destination)))
            }
            var links: (added: [ObjectReference], removed: [ObjectReference]) = ([], [])
            try json.openObject()
            while let key = try json.key() {
                switch key {
                case "added": links.added = try objects(&json, of: relationship.entity)
                case "removed": links.removed = try objects(&json, of: relationship.entity)
                default: _ = try json.skip()
                }
            }
            return .init(name, .links(added: links.added, removed: links.removed))
        }
    }
}
