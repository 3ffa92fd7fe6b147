import Foundation
import TestSupport
import Testing

@testable import ImportModel

/// What the store has, read back as JSON and coerced again, is the same and loses nothing more.
struct RecoercionTests {
    @Test func storedValuesAreTheirOwnCoercions() throws {
        var generator = SeededGenerator(seed: 40)
        for round in 0..<1_500 {
            let json = Self.value(using: &generator)
            for type in AttributeType.allCases {
                let bits = (0...63).map { AttributeDescription.Bit(name: "flag\($0)", position: $0) }
                let attribute = AttributeDescription(name: "a", type: type, bits: type == .bitfield ? bits : [])
                guard let first = try? attribute.coerce(json).value else { continue }
                let again = try attribute.coerce(Self.stored(first, type))
                #expect(again.value == first, "round \(round): \(json.serialized()) as \(type)")
                #expect(again.ledger.allSatisfy { !$0.isLoss }, "round \(round): \(json.serialized()) as \(type)")
            }
        }
    }

    /// The value as a reader of the store would write it.
    private static func stored(_ value: CoercedJSON, _ type: AttributeType) throws -> JSONValue {
        switch value {
        case .null: .null
        case .integer(let value): .number("\(value)")
        case .real(let value): .number("\(value)".replacing("e+", with: "e"))
        case .text(let text): type == .json ? try JSONValue(parsing: Array(text.utf8)) : .string(text)
        case .blob(let bytes): .string(Data(bytes).base64EncodedString())
        }
    }

    private static func value(using generator: inout SeededGenerator) -> JSONValue {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: return .boolean(Bool.random(using: &generator))
        case 1, 2: return .number(generator.numberText(digits: 22, exponent: 50))
        case 3: return .number(generator.numberText(digits: 5, exponent: 0))
        case 4: return .string(generator.numberText(digits: 20, exponent: 3))
        case 5:
            let bytes = (0..<Int.random(in: 0...9, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            return .string(Data(bytes).base64EncodedString())
        case 6:
            let seconds = Int.random(in: -60_000_000_000...250_000_000_000, using: &generator)
            let date = Date(timeIntervalSince1970: Double(seconds))
            let text = date.formatted(.iso8601)
            return .string(Bool.random(using: &generator) ? text : text.replacing("Z", with: "+01:30"))
        default:
            let flag = Int.random(in: 0...63, using: &generator)
            return [
                .object([.init(key: "flag\(flag)", value: .boolean(true))]), .string(UUID().uuidString),
                .string("http://a/\(flag)?b=%20"), .array([.null, .number("\(flag)")]),
            ].randomElement(using: &generator) ?? .null
        }
    }
}
