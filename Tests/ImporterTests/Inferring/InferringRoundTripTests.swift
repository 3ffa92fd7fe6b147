import ImportModel
import Importer
import Testing

@testable import ImportEngine

/// Storing by the inferred entity and reading back gives the records again.
struct InferringRoundTripTests {
    /// What a column holds.
    private enum Cell: Equatable {
        case null
        case integer(Int64)
        case real(Double)
        case text(String)
    }

    @Test(arguments: 0..<10) func ofRandomRecords(part: UInt64) throws {
        for seed in part * 15..<part * 15 + 15 {
            var generator = RandomRecords(seed: seed)
            let records = (0..<40).map { _ in generator.next() }
            let limits = seed.isMultiple(of: 2) ? InferenceLimits() : InferenceLimits(keys: 3, depth: 3, columns: 8)
            let entity = gather(records.map(\.text), limits: limits).entity(named: "e").entity
            for record in records {
                let back = try readBack(store(record.text, entity), entity)
                #expect(
                    survives(record.value, back),
                    "seed \(seed): \(record.text) came back as \(back); \(entity.summary)"
                )
            }
        }
    }

    /// Coerces what is at each attribute's path; nothing may be refused.
    private func store(_ text: String, _ entity: EntityDescription) throws -> [Cell] {
        let reader = RecordReader(maxDepth: 1024)
        let line = Array((text + "\n").utf8)
        return try line.withUnsafeBufferPointer { line in
            let line = ByteView(line)
            #expect(reader.read(line: line) == .record)
            return try entity.attributes.map { attribute in
                guard let token = find(attribute.from[0].keys[...], 0, reader.tape, line) else {
                    #expect(attribute.isOptional)
                    return .null
                }
                var scratch: [UInt8] = []
                var notes: CoercionNotes = []
                let value = try attribute.type.coerce(
                    reader.tape.token(token, in: line),
                    scratch: &scratch,
                    notes: &notes
                )
                switch value {
                case .null:
                    #expect(attribute.isOptional)
                    return .null
                case .integer(let integer): return .integer(integer)
                case .real(let real): return .real(real)
                case .verbatim(let bytes): return .text(String(decoding: bytes.buffer, as: UTF8.self))
                case .scratch(let range), .blob(let range):
                    return .text(String(decoding: scratch[range], as: UTF8.self))
                }
            }
        }
    }

    private func find(_ keys: ArraySlice<String>, _ token: Int, _ tape: RecordTape, _ line: ByteView) -> Int? {
        guard let key = keys.first else { return token }
        guard tape.tokens[token].kind == .object else { return nil }
        var found: Int?
        var index = token + 1
        while index < Int(tape.tokens[token].next) {
            if text(index, tape, line) == Array(key.utf8) { found = index + 1 }
            index = Int(tape.tokens[index + 1].next)
        }
        return found.flatMap { find(keys.dropFirst(), $0, tape, line) }
    }

    private func text(_ token: Int, _ tape: RecordTape, _ line: ByteView) -> [UInt8] {
        var text: [UInt8] = []
        _ = JSONUnescaper.append(tape.token(token, in: line).bytes, to: &text)
        return text
    }

    /// Puts the cells back to where they came from.
    private func readBack(_ cells: [Cell], _ entity: EntityDescription) throws -> JSONValue {
        var record = JSONValue.object([])
        for (attribute, cell) in zip(entity.attributes, cells) {
            let value: JSONValue
            switch (attribute.type, cell) {
            case (_, .null): value = .null
            case (.boolean, .integer(let integer)): value = .boolean(integer == 1)
            case (_, .integer(let integer)): value = .number("\(integer)")
            // A double that is an integer is that very integer to exact readers, whatever its shortest spelling.
            case (_, .real(let real)): value = .number(Int64(exactly: real).map { "\($0)" } ?? "\(real)")
            case (.json, .text(let text)): value = try parse(text)
            case (.decimal, .text(let text)): value = .number(text)
            case (_, .text(let text)): value = .string(text)
            }
            if attribute.from[0].keys.isEmpty { return value }
            // Null and missing are the same here: a null makes no objects around it.
            if value != .null { put(value, attribute.from[0].keys[...], &record) }
        }
        return record
    }

    private func put(_ value: JSONValue, _ keys: ArraySlice<String>, _ into: inout JSONValue) {
        guard let key = keys.first else {
            into = value
            return
        }
        var members: [JSONValue.Member] = []
        if case .object(let before) = into { members = before }
        var inner = members.first { $0.key == key }?.value ?? .object([])
        put(value, keys.dropFirst(), &inner)
        members.removeAll { $0.key == key }
        into = .object(members + [.init(key: key, value: inner)])
    }

    private func parse(_ text: String) throws -> JSONValue {
        let reader = RecordReader(maxDepth: 1024)
        let line = Array((text + "\n").utf8)
        return try line.withUnsafeBufferPointer { line in
            try #require(reader.read(line: ByteView(line)) == .record, "\(text)")
            return value(0, reader.tape, ByteView(line))
        }
    }

    private func value(_ token: Int, _ tape: RecordTape, _ line: ByteView) -> JSONValue {
        let bytes = tape.token(token, in: line).bytes
        let end = Int(tape.tokens[token].next)
        var index = token + 1
        switch tape.tokens[token].kind {
        case .null: return .null
        case .boolean: return .boolean(bytes.count == 4)
        case .number: return .number(String(decoding: bytes.buffer, as: UTF8.self))
        case .string: return .string(String(decoding: text(token, tape, line), as: UTF8.self))
        case .array:
            var elements: [JSONValue] = []
            while index < end {
                elements.append(value(index, tape, line))
                index = Int(tape.tokens[index].next)
            }
            return .array(elements)
        case .object:
            var members: [JSONValue.Member] = []
            while index < end {
                let key = String(decoding: text(index, tape, line), as: UTF8.self)
                members.removeAll { $0.key == key }
                members.append(.init(key: key, value: value(index + 1, tape, line)))
                index = Int(tape.tokens[index + 1].next)
            }
            return .object(members)
        }
    }

    /// Whether two values are the same but for what inference may change.
    private func survives(_ before: JSONValue, _ after: JSONValue) -> Bool {
        switch (before, after) {
        case (.object(let first), .object(let second)):
            let first = first.filter { $0.value != .null }
            let second = second.filter { $0.value != .null }
            return first.count == second.count
                && first.allSatisfy { member in
                    second.contains { $0.key == member.key && survives(member.value, $0.value) }
                }
        case (.array(let first), .array(let second)):
            return first.count == second.count && zip(first, second).allSatisfy(survives)
        case (.string(let first), .string(let second)):
            return first == second || instant(first) != nil && instant(first) == instant(second)
        case (.number(let first), .string(let second)): return first == second
        case (.number(let first), .number(let second)): return isSameNumber(first, second)
        default: return before == after
        }
    }

    private func instant(_ text: String) -> String? {
        guard text.hasPrefix("2015-"), text.hasSuffix("Z") else { return nil }
        let fraction = text.dropFirst(19).dropLast().dropFirst()
        return text.prefix(19) + "." + fraction + String(repeating: "0", count: max(0, 3 - fraction.count))
    }

    /// The same integer, or the same double for what readers take as a double.
    private func isSameNumber(_ first: String, _ second: String) -> Bool {
        let isInteger = first.allSatisfy { $0.isNumber || $0 == "-" }
        if !isInteger, let double = Double(first), double.isFinite { return Double(second) == double }
        return canonical(first) == canonical(second)
    }

    private func canonical(_ number: String) -> String? {
        Array(number.utf8).withUnsafeBufferPointer { bytes in
            var scratch: [UInt8] = []
            guard let form = JSONNumber(ByteView(bytes)) else { return nil }
            switch form.canonicalDecimal(scratch: &scratch) {
            case .verbatim(let bytes): return String(decoding: bytes.buffer, as: UTF8.self)
            case .scratch(let range): return String(decoding: scratch[range], as: UTF8.self)
            default: return nil
            }
        }
    }
}
