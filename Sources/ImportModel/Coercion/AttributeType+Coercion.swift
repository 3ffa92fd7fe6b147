extension AttributeType {
    /// Turns a value into this type, after the table in the Importer's article Coercion, and says what that changed.
    ///
    /// - Parameters:
    ///   - token: a value of a valid JSON text in valid UTF-8. For `json`, a string's quotes must be around its
    ///     bytes, one before and one after, as they do in a record: they are part of the result.
    ///   - scratch: gets the text of values that are not kept as written; only appended to.
    ///   - notes: gets what was changed or lost; only added to, and only if the value fits.
    /// - Returns: `.null` for null (whether that is allowed is the attribute's to say), `.verbatim` where the token's own
    ///   bytes are the value.
    /// - Throws: `CoercionError` when the value does not fit. `scratch` may then be longer than before.
    package func coerce(
        _ token: JSONToken,
        scratch: inout [UInt8],
        notes: inout CoercionNotes
    ) throws(CoercionError) -> CoercedValue {
        var added = CoercionNotes(rawValue: 0)
        let value = try coerceToken(token, scratch: &scratch, notes: &added)
        notes.formUnion(added)
        return value
    }

    @inline(__always)
    private func coerceToken(
        _ token: JSONToken,
        scratch: inout [UInt8],
        notes: inout CoercionNotes
    ) throws(CoercionError) -> CoercedValue {
        switch (self, token.kind) {
        case (_, .null):
            return .null
        case (.json, _):
            return minified(token, scratch: &scratch)
        case (.string, .string):
            guard token.hasEscapes else { return .verbatim(token.bytes) }
            let start = scratch.count
            if JSONUnescaper.append(token.bytes, to: &scratch) { notes.insert(.loneSurrogate) }
            return .scratch(start..<scratch.count)
        case (.string, .number), (.string, .boolean):
            notes.insert(.kindChanged)
            return .verbatim(token.bytes)
        case (_, .string):
            guard token.hasEscapes else { return try coerceText(token.bytes, scratch: &scratch, notes: &notes) }
            return try coerceEscaped(token.bytes, scratch: &scratch, notes: &notes)
        case (_, .number):
            return try coerceNumber(token.bytes, from: .number, scratch: &scratch, notes: &notes)
        case (.boolean, .boolean):
            return .integer(token.isTrue ? 1 : 0)
        case (.integer16, .boolean), (.integer32, .boolean), (.integer64, .boolean):
            notes.insert(.kindChanged)
            return .integer(token.isTrue ? 1 : 0)
        case (.date, .object):
            return try DateCoercion.iso8601.coerce(token, scratch: &scratch, notes: &notes)
        case (.binary, .array):
            guard let bytes = ByteList.append(token.bytes, to: &scratch) else { throw error(.wrongForm, found: .array) }
            return .blob(bytes)
        case (_, .boolean), (_, .object), (_, .array):
            throw error(.wrongKind, found: token.kind)
        }
    }

    /// The JSON text without insignificant white space, a string's with its quotes.
    private func minified(_ token: JSONToken, scratch: inout [UInt8]) -> CoercedValue {
        switch token.kind {
        case .string:
            let text = ByteView(base: token.bytes.base - 1, count: token.bytes.count + 2)
            guard token.hasEscapes, let text = JSONUnescaper.respelled(text) else { return .verbatim(text) }
            scratch += text
            return .scratch(scratch.count - text.count..<scratch.count)
        case .object, .array:
            if token.hasEscapes {
                let start = scratch.count
                JSONMinify.appendLenient(token.bytes, to: &scratch)
                return .scratch(start..<scratch.count)
            }
            guard JSONMinify.firstWhiteSpace(in: token.bytes) != nil else { return .verbatim(token.bytes) }
            let start = scratch.count
            JSONMinify.append(token.bytes, to: &scratch)
            return .scratch(start..<scratch.count)
        case .null, .boolean, .number:
            return .verbatim(token.bytes)
        }
    }

    /// A string with escapes, for the types that read its text.
    ///
    /// Rare, so its text may cost an allocation.
    private func coerceEscaped(
        _ token: ByteView,
        scratch: inout [UInt8],
        notes: inout CoercionNotes
    ) throws(CoercionError) -> CoercedValue {
        var text: [UInt8] = []
        if JSONUnescaper.append(token, to: &text) { notes.insert(.loneSurrogate) }
        return try text.withUnsafeBufferPointer { buffer throws(CoercionError) in
            try coerceText(ByteView(buffer), scratch: &scratch, notes: &notes).copied(to: &scratch)
        }
    }

    /// A string's text, for all types but `string` and `json`.
    private func coerceText(
        _ text: ByteView,
        scratch: inout [UInt8],
        notes: inout CoercionNotes
    ) throws(CoercionError) -> CoercedValue {
        if self == .uuid {
            guard let uuid = UUIDText(text) else { throw error(.wrongForm, found: .string) }
            if uuid.isCanonical { return .verbatim(text) }
            let start = scratch.count
            uuid.append(to: &scratch)
            notes.insert(.respelled)
            return .scratch(start..<scratch.count)
        }
        if self == .uri {
            guard URIText.isReference(text) else { throw error(.wrongForm, found: .string) }
            return .verbatim(text)
        }
        if self == .binary {
            guard let bytes = BinaryFormat.either.decode(text, to: &scratch, notes: &notes) else {
                throw error(.wrongForm, found: .string)
            }
            return .blob(bytes)
        }
        let trimmed = text.trimmed
        if trimmed.count != text.count { notes.insert(.trimmed) }
        switch self {
        case .date:
            // The commonest spellings, ahead of what the others need.
            if let value = ISO8601Text.value(trimmed, scratch: &scratch) {
                if case .scratch = value { notes.insert(.respelled) }
                return value
            }
            let token = JSONToken(kind: .string, bytes: trimmed)
            return try DateCoercion.iso8601.coerce(token, scratch: &scratch, notes: &notes)
        case .boolean:
            guard let isTrue = trimmed.truth else { throw error(.wrongForm, found: .string) }
            notes.insert(.kindChanged)
            return .integer(isTrue ? 1 : 0)
        case .integer16, .integer32, .integer64:
            if let null = notFinite(trimmed, notes: &notes) { return null }
            notes.insert(.kindChanged)
            guard trimmed.isInteger else { throw error(.wrongForm, found: .string) }
            guard let value = trimmed.integerValue, integerRange.contains(value) else {
                throw error(.outOfRange, found: .string)
            }
            return .integer(value)
        case .float, .double, .decimal, .string, .uuid, .uri, .binary, .bitfield, .json:
            if let null = notFinite(trimmed, notes: &notes) { return null }
            notes.insert(.kindChanged)
            return try coerceNumber(trimmed, from: .string, scratch: &scratch, notes: &notes)
        }
    }

    /// Null for a text that is a number which is not finite.
    private func notFinite(_ text: ByteView, notes: inout CoercionNotes) -> CoercedValue? {
        guard text.isNotFinite else { return nil }
        notes.insert(.notFinite)
        return .null
    }

    /// A number's text, from a number or from a string.
    private func coerceNumber(
        _ text: ByteView,
        from kind: JSONKind,
        scratch: inout [UInt8],
        notes: inout CoercionNotes
    ) throws(CoercionError) -> CoercedValue {
        switch self {
        case .integer16, .integer32, .integer64:
            if let value = text.shortInteger {
                guard integerRange.contains(value) else { throw error(.outOfRange, found: kind) }
                return .integer(value)
            }
            guard let form = JSONNumber(text) else { throw error(.wrongForm, found: kind) }
            guard form.isInteger else {
                throw CoercionError(code: .notIntegral, expected: rawValue, found: "number with a fraction")
            }
            guard let value = form.int64, integerRange.contains(value) else { throw error(.outOfRange, found: kind) }
            if form.isNegativeZero { notes.insert(.respelled) }
            return .integer(value)
        case .double:
            if let value = text.shortDecimal { return .real(value) }
            guard let form = JSONNumber(text) else { throw error(.wrongForm, found: kind) }
            let value = form.double
            guard value.isFinite else { throw error(.outOfRange, found: kind) }
            if !form.survives(as: value) { notes.insert(.digitsLost) }
            return real(value, form, notes: &notes)
        case .float:
            guard let form = JSONNumber(text) else { throw error(.wrongForm, found: kind) }
            let value = form.float
            guard value.isFinite else { throw error(.outOfRange, found: kind) }
            if !form.survives(as: value) { notes.insert(.digitsLost) }
            return real(Double(value), form, notes: &notes)
        case .decimal:
            guard let form = JSONNumber(text) else { throw error(.wrongForm, found: kind) }
            guard form.fitsDecimal else { throw error(.outOfRange, found: kind) }
            let value = form.canonicalDecimal(scratch: &scratch)
            // A canonical text with an exponent is respelled, and is the same.
            if case .scratch(let range) = value, !scratch[range].elementsEqual(text.buffer) {
                notes.insert(.respelled)
            }
            return value
        case .boolean:
            guard let value = JSONNumber(text)?.int64, value == 0 || value == 1 else {
                throw error(.wrongForm, found: kind)
            }
            notes.insert(.kindChanged)
            return .integer(value)
        case .string, .date, .uuid, .uri, .binary, .bitfield, .json:
            throw error(.wrongKind, found: kind)
        }
    }

    /// A number as it is kept: SQLite has no negative zero.
    private func real(_ value: Double, _ form: JSONNumber, notes: inout CoercionNotes) -> CoercedValue {
        guard form.isNegativeZero else { return .real(value) }
        notes.insert(.respelled)
        return .real(0)
    }

    /// The values that an integer type holds.
    private var integerRange: ClosedRange<Int64> {
        switch self {
        case .integer16: Int64(Int16.min)...Int64(Int16.max)
        case .integer32: Int64(Int32.min)...Int64(Int32.max)
        default: Int64.min...Int64.max
        }
    }

    private func error(_ code: CoercionError.Code, found kind: JSONKind) -> CoercionError {
        CoercionError(code: code, expected: rawValue, found: kind.name)
    }
}

extension ByteView {
    /// True if the text is an integer: digits, perhaps with a minus before them.
    ///
    /// Leading zeros are allowed.
    fileprivate var isInteger: Bool {
        let start = count > 0 && self[0] == UInt8(ascii: "-") ? 1 : 0
        guard start < count else { return false }
        for index in start..<count {
            guard self[index] &- UInt8(ascii: "0") < 10 else { return false }
        }
        return true
    }

    /// The value of a text that is an integer, or nil if it takes more than 64 bits.
    fileprivate var integerValue: Int64? {
        let isNegative = self[0] == UInt8(ascii: "-")
        var value: Int64 = 0
        for index in (isNegative ? 1 : 0)..<count {
            let digit = Int64(self[index] &- UInt8(ascii: "0"))
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            // Counts downwards, as the lowest value has no positive counterpart.
            let (sum, underflow) = product.subtractingReportingOverflow(digit)
            guard !overflow, !underflow else { return nil }
            value = sum
        }
        if isNegative { return value }
        return value == Int64.min ? nil : -value
    }

    /// What the text says as a boolean, in any case; nil if it says nothing.
    fileprivate var truth: Bool? {
        if equalsFoldingASCII("true") || equalsFoldingASCII("1") || equalsFoldingASCII("t") || equalsFoldingASCII("yes")
            || equalsFoldingASCII("y")
        {
            return true
        }
        if equalsFoldingASCII("false") || equalsFoldingASCII("0") || equalsFoldingASCII("f") || equalsFoldingASCII("no")
            || equalsFoldingASCII("n")
        {
            return false
        }
        return nil
    }
}
