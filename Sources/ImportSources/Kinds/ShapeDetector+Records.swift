import ImportModel

extension ShapeDetector {
    /// True if the object around the list at a record path may be a record: it has a text, and the list is not called as those of
    /// records are.
    package func isInRecord(_ path: RecordPath) -> Bool {
        guard isOneObject, path.steps.count == 2, case .key(let list) = path.steps[0], path.steps[1] == .anyElement,
            !Self.listNames.contains(list.lowercased())
        else { return false }
        return members(of: topLevelValues[0]).contains {
            tape.tokens[$0.value].kind == .string && tape.tokens[$0.value].length > 0
        }
    }

    /// A key of all first records whose texts, 2 to 50 and no lists of words, tell apart records that have less than half of their keys in
    /// common; nil for none.
    package func kindKey(at path: RecordPath) -> String? {
        let records = firstValues(at: path).filter { tape.tokens[$0].next != 0 }
        guard records.count >= 4 else { return nil }
        let texts = records.map { record in
            members(of: record).reduce(into: [ArraySlice<UInt8>: ArraySlice<UInt8>]()) { texts, member in
                if tape.tokens[member.value].kind == .string { texts[keyBytes(member.key)] = keyBytes(member.value) }
            }
        }
        let key = members(of: records[0]).first { member in
            let name = keyBytes(member.key)
            let values = Dictionary(grouping: records.indices) { texts[$0][name] ?? [] }
            guard texts.allSatisfy({ $0[name] != nil }), 2...50 ~= values.count, values.count * 2 <= records.count,
                !values.keys.contains(where: { $0.contains(UInt8(ascii: ",")) })
            else { return false }
            let keys = values.values.map { Set($0.flatMap { members(of: records[$0]).map { keyBytes($0.key) } }) }
            let shared = keys.dropFirst().reduce(keys[0]) { $0.intersection($1) }.subtracting([name]).count
            return shared * 2 * keys.count < keys.reduce(0) { $0 + $1.count - 1 }
        }
        return key.map { self.key($0.key) }
    }

    /// What the sample has at a record path.
    package func records(at path: RecordPath) -> SourceKinds.Records {
        let isEmpty = topLevelValues.prefix(Self.judgedLines).allSatisfy {
            values(at: path.steps[...], in: $0)?.isEmpty != false
        }
        return SourceKinds.Records(path: path.description, keys: recordKeys(at: path), isEmpty: isEmpty)
    }
}
