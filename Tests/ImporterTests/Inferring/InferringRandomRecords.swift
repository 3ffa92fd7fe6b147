import ImportModel
import Importer
import TestSupport

@testable import ImportEngine

/// Makes random records: values in memory, and a spelling of them with white space, escapes and repeated keys.
///
/// Each place has a few kinds of values of its own, so that some attributes are regular and some are not.
struct RandomRecords {
    private var random: SeededGenerator
    private let salt: Int
    /// How many different keys there are.
    private let keyCount: Int
    /// Whether there are arrays of objects.
    private let hasLists: Bool
    /// One of this many records is no object.
    private let scalarRate: Int

    private static let keys = [
        "a", "b", "c", "A", "a_b", "", "rowid", "value", "key", "1", "2", "x.y", "é", "k\"", "😀", "n\0l", "d", "e",
    ]

    init(seed: UInt64, hasLists: Bool = false) {
        self.hasLists = hasLists
        random = SeededGenerator(seed: seed)
        salt = Int.random(in: 0..<1_000_000, using: &random)
        keyCount = Int.random(in: 2...Self.keys.count, using: &random)
        scalarRate = [0, 0, 0, 3, 30][Int.random(in: 0..<5, using: &random)]
    }

    /// A record, as readers see it, and its JSON text.
    mutating func next() -> (value: JSONValue, text: String) {
        var text = ""
        let isScalar = scalarRate > 0 && chance(scalarRate)
        let value = isScalar ? scalar(place: salt, &text) : object(depth: 0, place: salt, &text)
        return (value, text)
    }

    private mutating func chance(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

    private mutating func object(depth: Int, place: Int, _ text: inout String) -> JSONValue {
        var members: [JSONValue.Member] = []
        text += "{"
        let count = Int.random(in: chance(20) ? 0...0 : 1...min(keyCount, 7), using: &random)
        for index in 0..<count {
            let key = Self.keys[Int.random(in: 0..<keyCount, using: &random)]
            text += index == 0 ? "" : ","
            if chance(8) { text += " " }
            append(string: key, &text)
            text += chance(8) ? " : " : ":"
            var hasher = SeededGenerator(
                seed: UInt64(truncatingIfNeeded: place &* 31 &+ Self.keys.firstIndex(of: key)!)
            )
            let value = value(depth: depth + 1, place: Int(truncatingIfNeeded: hasher.next()), &text)
            members.removeAll { $0.key.utf8.elementsEqual(key.utf8) }
            members.append(.init(key: key, value: value))
        }
        text += "}"
        return .object(members)
    }

    private mutating func value(depth: Int, place: Int, _ text: inout String) -> JSONValue {
        if chance(6) {
            text += "null"
            return .null
        }
        // Two kinds per place; the second one is rare or never.
        let shapes = Int(UInt(bitPattern: place) % 16)
        let isObject = shapes < 5 || shapes == 5 && chance(2)
        if hasLists, (6..<10).contains(shapes), depth < 4 { return list(depth: depth, place: place, &text) }
        if isObject, depth < 4 { return object(depth: depth, place: place, &text) }
        return scalar(place: place, &text)
    }

    /// An array of objects; in some places one with something else, now and then.
    private mutating func list(depth: Int, place: Int, _ text: inout String) -> JSONValue {
        var elements: [JSONValue] = []
        let isRegular = Int(UInt(bitPattern: place) / 128 % 4) != 0
        text += "["
        for index in 0..<Int.random(in: 0...3, using: &random) {
            text += index == 0 ? "" : ", "
            if !isRegular, chance(8) {
                text += "null"
                elements.append(.null)
            } else {
                elements.append(object(depth: depth + 1, place: place &+ 7, &text))
            }
        }
        text += "]"
        return .array(elements)
    }

    private mutating func scalar(place: Int, _ text: inout String) -> JSONValue {
        var kind = Int(UInt(bitPattern: place) / 16 % 8)
        if Int(UInt(bitPattern: place) / 128 % 3) == 0, chance(4) { kind = Int.random(in: 0..<8, using: &random) }
        let choice = Int.random(in: 0..<6, using: &random)
        switch kind {
        case 0: return literal(["true", "false", "true", "false", "true", "false"][choice], &text)
        case 1: return literal(["0", "-0", "1", "9007199254740993", "-9223372036854775808", "17"][choice], &text)
        case 2: return literal(["1.5", "-0.0", "1e3", "0.1", "12345.678901234567890", "1e-999"][choice], &text)
        case 3:
            return literal(
                ["1", "2.5", "9223372036854775808", "1e400", "1.50", "1000000000000000000000"][choice],
                &text
            )
        case 4: return string(["x", "", "1", "\u{0}", "true", "ü\n"][choice], &text)
        case 5: return string("2015-0\(choice + 1)-01T15:00:00\(chance(2) ? ".5" : "")Z", &text)
        case 6: return string("123e4567-e89b-12d3-a456-42661417400\(choice)", &text)
        default:
            text += "["
            var elements: [JSONValue] = []
            for index in 0..<choice {
                text += index == 0 ? "" : ", "
                elements.append(literal("\(index)", &text))
            }
            text += "]"
            return .array(elements)
        }
    }

    private func literal(_ literal: String, _ text: inout String) -> JSONValue {
        text += literal
        return literal == "true" || literal == "false" ? .boolean(literal == "true") : .number(literal)
    }

    private mutating func string(_ string: String, _ text: inout String) -> JSONValue {
        append(string: string, &text)
        return .string(string)
    }

    private mutating func append(string: String, _ text: inout String) {
        text += "\""
        for unit in string.utf16 {
            let mustEscape = unit < 0x20 || unit == 0x22 || unit == 0x5C
            if mustEscape || unit > 0x7F && !UTF16.isSurrogate(unit) && chance(4) || unit < 0x7F && chance(40) {
                let digits = String(unit, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            } else if UTF16.isLeadSurrogate(unit) {
                text += string.unicodeScalars.first { $0.value > 0xFFFF }.map { String($0) } ?? ""
            } else if !UTF16.isTrailSurrogate(unit) {
                text += String(UnicodeScalar(unit).map(Character.init) ?? "?")
            }
        }
        text += "\""
    }
}
