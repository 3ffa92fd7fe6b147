import TestSupport

@testable import ImportModel

/// The outcome of a coercion in a form that a test can compare.
enum Outcome: Equatable, CustomStringConvertible {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob([UInt8])
    case error(CoercionError.Code)

    var description: String {
        switch self {
        case .null: "null"
        case .integer(let value): "integer \(value)"
        case .real(let value): "real \(value)"
        case .text(let text): "text \(text)"
        case .blob(let bytes): "blob \(bytes)"
        case .error(let code): "error \(code)"
        }
    }
}

/// What a coercion gave, what it noted, and whether it had to write text again.
struct Coerced {
    let outcome: Outcome
    let notes: CoercionNotes
    let isVerbatim: Bool
    let error: CoercionError?

    /// The notes without the one that a text is respelled, as most dates are.
    var notesButSpelling: CoercionNotes { notes.subtracting(.respelled) }
}

/// Calls `body` with the bytes of `text`.
func withView<Result>(_ text: String, _ body: (ByteView) -> Result) -> Result {
    Array(text.utf8).withUnsafeBufferPointer { body(ByteView($0)) }
}

/// Coerces one JSON value, given as its text, as a record's token would be.
func coerce(_ json: String, to type: AttributeType) -> Coerced {
    coerce(json) { token, scratch, notes throws(CoercionError) in
        try type.coerce(token, scratch: &scratch, notes: &notes)
    }
}

/// Coerces one JSON value as `attribute`; a description with a mistake is an error of the test.
func coerce(_ json: String, to attribute: AttributeDescription) throws -> Coerced {
    let coercion = try AttributeCoercion(attribute)
    return coerce(json) { token, scratch, notes throws(CoercionError) in
        try coercion.coerce(token, scratch: &scratch, notes: &notes)
    }
}

/// Hands one JSON value, given as its text, to a coercion as a record's token would be.
func coerce(
    _ json: String,
    _ coercion: (JSONToken, inout [UInt8], inout CoercionNotes) throws(CoercionError) -> CoercedValue
) -> Coerced {
    withView(json) { view in
        let token: JSONToken
        switch json.utf8.first {
        case UInt8(ascii: "\""):
            let inner = view[1..<view.count - 1]
            token = JSONToken(kind: .string, bytes: inner, hasEscapes: inner.buffer.contains(UInt8(ascii: "\\")))
        case UInt8(ascii: "{"): token = JSONToken(kind: .object, bytes: view)
        case UInt8(ascii: "["): token = JSONToken(kind: .array, bytes: view)
        case UInt8(ascii: "t"), UInt8(ascii: "f"): token = JSONToken(kind: .boolean, bytes: view)
        case UInt8(ascii: "n"): token = JSONToken(kind: .null, bytes: view)
        default: token = JSONToken(kind: .number, bytes: view)
        }
        // What is in scratch already must stay.
        var scratch: [UInt8] = Array("before".utf8)
        var notes: CoercionNotes = []
        do throws(CoercionError) {
            let value = try coercion(token, &scratch, &notes)
            precondition(scratch.starts(with: "before".utf8))
            switch value {
            case .null: return Coerced(outcome: .null, notes: notes, isVerbatim: false, error: nil)
            case .integer(let value):
                return Coerced(outcome: .integer(value), notes: notes, isVerbatim: false, error: nil)
            case .real(let value): return Coerced(outcome: .real(value), notes: notes, isVerbatim: false, error: nil)
            case .verbatim(let bytes):
                let text = String(decoding: bytes.buffer, as: UTF8.self)
                return Coerced(outcome: .text(text), notes: notes, isVerbatim: true, error: nil)
            case .scratch(let range):
                let text = String(decoding: scratch[range], as: UTF8.self)
                return Coerced(outcome: .text(text), notes: notes, isVerbatim: false, error: nil)
            case .blob(let range):
                return Coerced(outcome: .blob(Array(scratch[range])), notes: notes, isVerbatim: false, error: nil)
            }
        } catch {
            return Coerced(outcome: .error(error.code), notes: notes, isVerbatim: false, error: error)
        }
    }
}

extension SeededGenerator {
    /// A number in JSON's notation: up to `digits` digits, a point or none, an exponent of up to `exponent` or none.
    mutating func numberText(digits: Int, exponent: Int) -> String {
        var text = Bool.random(using: &self) ? "-" : ""
        let count = Int.random(in: 1...digits, using: &self)
        let point = Int.random(in: 1...count, using: &self)
        for index in 0..<count {
            if index == point { text += "." }
            let first = index == 0 && point > 1 ? 1 : 0
            // Zeros more often than by chance: they are what canonical forms are about.
            let digit =
                first == 0 && Int.random(in: 0..<3, using: &self) == 0 ? 0 : Int.random(in: first...9, using: &self)
            text += String(digit)
        }
        if exponent > 0, Bool.random(using: &self) {
            text += ["e", "E", "e+", "e-", "E-"].randomElement(using: &self) ?? "e"
            text += String(Int.random(in: 0...exponent, using: &self))
        }
        return text
    }
}
