/// The rules of a validation, made ready for many values.
struct ValueValidation: Sendable {
    /// A value as the store keeps it.
    private enum Stored: Sendable {
        case integer(Int64)
        case real(Double)
        case bytes([UInt8])
    }

    /// A bound with its text for errors.
    private struct Bound: Sendable {
        let value: Stored
        let text: String
    }

    private let type: AttributeType
    private let minimum: Bound?
    private let maximum: Bound?
    private let minimumLength: Int
    private let maximumLength: Int
    private let pattern: TextPattern?
    private let patternText: String
    /// The allowed values, in order, to be found by halving; nil for any.
    private let allowed: [Stored]?
    private let allowedText: String

    /// Makes the rules ready, and notes all that is wrong with them.
    init(_ rules: AttributeDescription.Validation, of coercion: TypedCoercion, _ mistakes: inout [AttributeMistake]) {
        type = coercion.type
        func mistake(_ key: AttributeKey, _ message: String, _ index: Int? = nil, other: AttributeKey? = nil) {
            mistakes.append(AttributeMistake(key: key, inner: index.map { .index($0) }, message: message, other: other))
        }
        func value(_ value: JSONValue, _ key: AttributeKey, _ index: Int? = nil) -> Stored? {
            do throws(CoercionError) {
                let result = try value.withToken(expecting: coercion.type) { token throws(CoercionError) in
                    try Self.stored(token, coercion)
                }
                if result == nil, key != .enum { mistake(key, "must not mean null", index) }
                return result
            } catch {
                mistake(key, error.modelMessage, index)
                return nil
            }
        }
        minimum = rules.minimum.flatMap { json in
            value(json, .min).map { Bound(value: $0, text: "at least \(json.boundText)") }
        }
        maximum = rules.maximum.flatMap { json in
            value(json, .max).map { Bound(value: $0, text: "at most \(json.boundText)") }
        }
        if let minimum, let maximum, Self.order(maximum.value, minimum.value, type) < 0 {
            mistake(.max, "is less than min", other: .min)
        }
        minimumLength = rules.minimumLength ?? 0
        maximumLength = rules.maximumLength ?? .max
        if minimumLength < 0 { mistake(.minLength, "must not be negative") }
        if maximumLength < 0 { mistake(.maxLength, "must not be negative") }
        if maximumLength >= 0, maximumLength < minimumLength {
            mistake(.maxLength, "is less than minLength", other: .minLength)
        }
        pattern = rules.pattern.flatMap(TextPattern.init)
        patternText = rules.pattern ?? ""
        if rules.pattern != nil, pattern == nil { mistake(.pattern, "not a regular expression") }
        guard let values = rules.allowedValues else {
            allowed = nil
            allowedText = ""
            return
        }
        if values.isEmpty { mistake(.enum, "must not be empty") }
        let entries = values.enumerated().compactMap { index, json in
            value(json, .enum, index).map { (value: $0, index: index) }
        }
        let sorted = Self.sorted(entries, coercion.type)
        for index in sorted.repeated { mistake(.enum, AttributeMistake.repetition, index) }
        allowed = sorted.values
        let list = values.map(\.boundText).joined(separator: ", ")
        allowedText = list.utf8.count <= 100 ? "one of \(list)" : "one of \(values.count) values"
    }

    /// Puts allowed values in order, each once.
    ///
    /// - Returns: also the indexes of those that come again.
    private static func sorted(
        _ entries: [(value: Stored, index: Int)],
        _ type: AttributeType
    ) -> (values: [Stored], repeated: [Int]) {
        let entries = entries.sorted { one, other in
            let order = order(one.value, other.value, type)
            return order < 0 || order == 0 && one.index < other.index
        }
        var (values, repeated): ([Stored], [Int]) = ([], [])
        for entry in entries {
            if let last = values.last, order(last, entry.value, type) == 0 {
                repeated.append(entry.index)
            } else {
                values.append(entry.value)
            }
        }
        return (values, repeated)
    }

    private static func stored(_ token: JSONToken, _ coercion: TypedCoercion) throws(CoercionError) -> Stored? {
        var scratch: [UInt8] = []
        var notes = CoercionNotes(rawValue: 0)
        switch try coercion.coerce(token, scratch: &scratch, notes: &notes) {
        case .null: return nil
        case .integer(let value): return .integer(value)
        case .real(let value): return .real(value)
        case .verbatim(let bytes): return .bytes(Array(bytes.buffer))
        case .scratch(let range), .blob(let range): return .bytes(Array(scratch[range]))
        }
    }

    // MARK: Checking

    /// - Parameters:
    ///   - value: what coercion made of a value; null is not looked at.
    ///   - scratch: the bytes that it may be in.
    ///   - kind: the kind of JSON value that it was, for errors.
    /// - Throws: `CoercionError` for the first rule that it breaks.
    func check(_ value: CoercedValue, scratch: [UInt8], kind: JSONKind) throws(CoercionError) {
        switch value {
        case .null: return
        case .integer(let value): try check(kind) { Self.order(.integer(value), $0, type) }
        case .real(let value): try check(kind) { Self.order(.real(value), $0, type) }
        case .verbatim(let text): try check(text, isText: true, kind)
        case .scratch(let range): try check(scratch, range, isText: true, kind)
        case .blob(let range): try check(scratch, range, isText: false, kind)
        }
    }

    private func check(_ scratch: [UInt8], _ range: Range<Int>, isText: Bool, _ kind: JSONKind) throws(CoercionError) {
        try scratch.withUnsafeBufferPointer { buffer throws(CoercionError) in
            try check(ByteView(buffer)[range], isText: isText, kind)
        }
    }

    private func check(_ bytes: ByteView, isText: Bool, _ kind: JSONKind) throws(CoercionError) {
        try check(kind) { stored in
            guard case .bytes(let other) = stored else { return 0 }
            return other.withUnsafeBufferPointer { Self.order(bytes, ByteView($0), type) }
        }
        if minimumLength > 0 || maximumLength < .max {
            let length = isText ? bytes.scalarCount : bytes.count
            let unit = isText ? "character" : "byte"
            guard length >= minimumLength else {
                throw error(.tooShort, "at least \(Self.counted(minimumLength, unit))", kind.name)
            }
            guard length <= maximumLength else {
                throw error(.tooLong, "at most \(Self.counted(maximumLength, unit))", kind.name)
            }
        }
        if let pattern, !pattern.matches(bytes) {
            throw error(.patternMismatch, "text that matches \(patternText)", kind.name)
        }
    }

    /// Looks at bounds and allowed values, given how the value compares to another one.
    @inline(__always)
    private func check(_ kind: JSONKind, order: (Stored) -> Int) throws(CoercionError) {
        if let minimum, order(minimum.value) < 0 { throw error(.belowMinimum, minimum.text, kind.name) }
        if let maximum, order(maximum.value) > 0 { throw error(.aboveMaximum, maximum.text, kind.name) }
        guard let allowed else { return }
        var (low, high) = (0, allowed.count)
        while low < high {
            let middle = (low + high) / 2
            let order = order(allowed[middle])
            if order == 0 { return }
            if order > 0 { low = middle + 1 } else { high = middle }
        }
        throw error(.notAllowed, allowedText, kind.name)
    }

    private func error(_ code: CoercionError.Code, _ expected: String, _ found: String) -> CoercionError {
        CoercionError(code: code, expected: expected, found: found)
    }

    private static func counted(_ count: Int, _ unit: String) -> String { "\(count) \(unit)\(count == 1 ? "" : "s")" }

    // MARK: Order

    /// Below, above or equal to zero as the value is before, after or equal to another one of the same type.
    private static func order(_ value: Stored, _ other: Stored, _ type: AttributeType) -> Int {
        switch (value, other) {
        case (.integer(let value), .integer(let other)): value < other ? -1 : value > other ? 1 : 0
        case (.real(let value), .real(let other)): value < other ? -1 : value > other ? 1 : 0
        case (.bytes(let value), .bytes(let other)):
            value.withUnsafeBufferPointer { value in
                other.withUnsafeBufferPointer { order(ByteView(value), ByteView($0), type) }
            }
        default: 0
        }
    }

    /// The same for text and bytes: decimals by their value, dates are as long as each other, all else by its bytes.
    private static func order(_ value: ByteView, _ other: ByteView, _ type: AttributeType) -> Int {
        if type == .decimal, let value = JSONNumber(value), let other = JSONNumber(other) {
            return value.isLess(than: other) ? -1 : other.isLess(than: value) ? 1 : 0
        }
        for index in 0..<min(value.count, other.count) where value[index] != other[index] {
            return value[index] < other[index] ? -1 : 1
        }
        return value.count - other.count
    }
}

extension JSONValue {
    /// The value as errors name a rule: a string without its quotes.
    fileprivate var boundText: String {
        if case .string(let text) = self { return text }
        return serialized()
    }
}

extension ByteView {
    /// How many Unicode scalars the text has: as many as bytes that do not continue one.
    fileprivate var scalarCount: Int {
        buffer.reduce(0) { $0 &+ ($1 & 0xC0 == 0x80 ? 0 : 1) }
    }
}
