/// Turns JSON values into dates, as one attribute's model asks for them.
///
/// Made once per attribute; a value then costs no allocation, unless a string inside of a `$date` has escapes, or the
/// time zone has rules and the year is outside of 1900 to 2099.
package struct DateCoercion: Sendable {
    /// A date in ISO 8601, UTC where it has no zone, kept as text.
    package static let iso8601 = DateCoercion(.iso8601)
    /// A date of MongoDB's Extended JSON, kept as text.
    static let mongo = DateCoercion(.mongo)

    private let rules: Rules
    private let isWallClock: Bool
    private let storage: StorageForm
    private let layout: DateLayout?
    /// The digits of a second that are kept.
    private let digits: Int
    /// True if dates are kept in ISO 8601, so that a text may be kept as it is.
    private let keepsTexts: Bool
    /// True if ISO 8601 is the first format: by far the commonest, it gets a way of its own.
    private let beginsWithISO8601: Bool

    /// What a coercion looks at where a date is not ISO 8601 with a zone.
    ///
    /// A class, so that passing a coercion on counts one reference.
    private final class Rules: Sendable {
        let formats: [Format]
        let patterns: [DatePattern]
        let zone: ZoneRules

        init(formats: [Format], patterns: [DatePattern], zone: ZoneRules) {
            self.formats = formats
            self.patterns = patterns
            self.zone = zone
        }
    }

    /// `DateFormat`, with patterns as places in `patterns`: passing it on then counts no references.
    private enum Format {
        case iso8601
        case dotnet
        case unix
        case unixMilliseconds
        case unixMicroseconds
        case unixNanoseconds
        case referenceDate
        case array
        case mongo
        case rfc2822
        case pattern(Int)
    }

    private init(_ format: Format) {
        rules = Rules(formats: [format], patterns: [], zone: .utc)
        isWallClock = false
        storage = .iso8601
        layout = nil
        digits = 3
        keepsTexts = true
        if case .iso8601 = format { beginsWithISO8601 = true } else { beginsWithISO8601 = false }
    }

    /// A coercion with these rules.
    ///
    /// - Parameters:
    ///   - formats: tried in this order, the first that fits wins; none at all is `iso8601`.
    ///   - timeZone: how to read a date without a zone: an IANA name or an offset; nil is UTC. Of a time that clocks
    ///     there showed twice the first is accepted; one that they left out is moved forward by what they left out.
    ///   - isWallClock: whether to keep the writer's local time instead of the instant; its zone is lost either way.
    ///   - storage: how the store keeps it.
    /// - Throws: `DateFormatError` for a pattern or a zone that is none.
    package init(
        formats: [DateFormat],
        timeZone: String?,
        isWallClock: Bool,
        storage: StorageForm
    ) throws(DateFormatError) {
        var compiled: [Format] = []
        var patterns: [DatePattern] = []
        for format in formats {
            switch format {
            case .iso8601: compiled.append(.iso8601)
            case .dotnet: compiled.append(.dotnet)
            case .unix: compiled.append(.unix)
            case .unixMilliseconds: compiled.append(.unixMilliseconds)
            case .unixMicroseconds: compiled.append(.unixMicroseconds)
            case .unixNanoseconds: compiled.append(.unixNanoseconds)
            case .referenceDate: compiled.append(.referenceDate)
            case .array: compiled.append(.array)
            case .mongo: compiled.append(.mongo)
            case .rfc2822: compiled.append(.rfc2822)
            case .pattern(let pattern):
                compiled.append(.pattern(patterns.count))
                patterns.append(try DatePattern(pattern))
            }
        }
        rules = Rules(
            formats: compiled.isEmpty ? [.iso8601] : compiled,
            patterns: patterns,
            zone: try timeZone.map { name throws(DateFormatError) in try ZoneRules(name) } ?? .utc
        )
        self.isWallClock = isWallClock
        self.storage = storage
        layout = DateLayout(storage)
        digits = storage.fraction
        keepsTexts = [.iso8601, .isoMicrosecondsZ, .isoNanosecondsZ].contains(storage)
        beginsWithISO8601 = formats.first ?? .iso8601 == .iso8601
    }

    /// Turns a value into a date, and says what that changed.
    ///
    /// `kindChanged` is noted for a string that holds the number of `unix` and its like: the other formats are of one JSON kind. `digitsLost` is noted for milliseconds or times that the storage does not hold, `subMillisecondLost` for finer digits, `respelled` for a
    /// text that is not the one that is kept.
    ///
    /// - Parameters:
    ///   - token: a value of a valid JSON text in valid UTF-8.
    ///   - scratch: gets the text of dates that are not kept as written; only appended to.
    ///   - notes: gets what was changed or lost; only added to, and only if the value fits.
    /// - Returns: `.null` for null, and for .NET's minimum dates (with `minimumDate` noted): whether that is allowed is
    ///   the attribute's to say.
    /// - Throws: `CoercionError` when no format fits: `outOfRange` if one would, but for the years 0001 to 9999.
    ///   `scratch` may then be longer than before.
    package func coerce(
        _ token: JSONToken,
        scratch: inout [UInt8],
        notes: inout CoercionNotes
    ) throws(CoercionError) -> CoercedValue {
        switch token.kind {
        case .null:
            return .null
        case .string:
            guard token.hasEscapes else { return try coerceText(token.bytes, scratch: &scratch, notes: &notes) }
            return try coerceEscaped(token.bytes, scratch: &scratch, notes: &notes)
        case .number, .object, .array:
            let reading = read(token.bytes, token.kind)
            return try finish(reading, token.kind, verbatim: nil, added: [], scratch: &scratch, notes: &notes)
        case .boolean:
            throw CoercionError(code: .wrongKind, expected: "date", found: token.kind.name)
        }
    }

    private func coerceText(
        _ text: ByteView,
        scratch: inout [UInt8],
        notes: inout CoercionNotes
    ) throws(CoercionError) -> CoercedValue {
        let trimmed = text.trimmed
        let added: CoercionNotes = trimmed.count == text.count ? [] : .trimmed
        if beginsWithISO8601, storage == .iso8601, let value = ISO8601Text.value(trimmed, scratch: &scratch) {
            notes.formUnion(added)
            if case .scratch = value { notes.insert(.respelled) }
            return value
        }
        if beginsWithISO8601, let date = ParsedDate(iso8601: trimmed), let instant = instant(date) {
            notes.formUnion(added.union(self.notes(on: date)))
            let isCanonical = date.canonicalDigits == digits
            if !isCanonical { notes.formUnion(respelled) }
            return value(instant, verbatim: isCanonical ? trimmed : nil, scratch: &scratch, notes: &notes)
        }
        return try finish(
            read(trimmed, .string),
            .string,
            verbatim: trimmed,
            added: added,
            scratch: &scratch,
            notes: &notes
        )
    }

    /// A string with escapes, as .NET writes its slashes: its text is in `scratch` for the time being.
    private func coerceEscaped(
        _ token: ByteView,
        scratch: inout [UInt8],
        notes: inout CoercionNotes
    ) throws(CoercionError) -> CoercedValue {
        let start = scratch.count
        var added: CoercionNotes = JSONUnescaper.append(token, to: &scratch) ? .loneSurrogate : []
        let reading = scratch.withUnsafeBufferPointer { buffer -> Reading in
            let text = ByteView(buffer)[start..<buffer.count]
            let trimmed = text.trimmed
            if trimmed.count != text.count { added.insert(.trimmed) }
            return read(trimmed, .string)
        }
        scratch.removeLast(scratch.count - start)
        return try finish(reading, .string, verbatim: nil, added: added, scratch: &scratch, notes: &notes)
    }

    /// What the formats together make of a value.
    private enum Reading {
        case instant(Instant, CoercionNotes, isCanonical: Bool)
        case minimumDate
        case error(CoercionError.Code)
    }

    /// Tries the formats in turn.
    private func read(_ bytes: ByteView, _ kind: JSONKind) -> Reading {
        let formats = rules.formats
        var code = CoercionError.Code.wrongForm
        if kind != .string, !formats.contains(where: { Self.takes($0, kind) }) { code = .wrongKind }
        for format in formats {
            switch read(bytes, kind, as: format) {
            case .date(let date):
                switch instant(date) {
                case .some(let instant):
                    var notes = notes(on: date)
                    if kind == .string, Self.takes(format, .number) { notes.insert(.kindChanged) }
                    return .instant(instant, notes, isCanonical: date.canonicalDigits == digits)
                case nil: if !date.isLeapSecond { code = .outOfRange }
                }
            case .minimumDate: return .minimumDate
            case .outOfRange: code = .outOfRange
            case .noFit: break
            }
        }
        return .error(code)
    }

    /// True if a format reads something else than strings.
    private static func takes(_ format: Format, _ kind: JSONKind) -> Bool {
        switch format {
        case .unix, .unixMilliseconds, .unixMicroseconds, .unixNanoseconds, .referenceDate: kind == .number
        case .mongo: kind == .object
        case .array: kind == .array
        default: false
        }
    }

    @inline(__always)
    private func read(_ bytes: ByteView, _ kind: JSONKind, as format: Format) -> DateReading {
        switch (format, kind) {
        case (.iso8601, .string): DateReading(ParsedDate(iso8601: bytes))
        case (.dotnet, .string): DotNetDate.read(bytes)
        case (.rfc2822, .string): DateReading(ParsedDate(rfc2822: bytes))
        case (.pattern(let index), .string): DateReading(ParsedDate(bytes, pattern: rules.patterns[index]))
        case (.unix, .string), (.unix, .number): DateReading(JSONNumber(bytes), unit: .seconds)
        case (.unixMilliseconds, .string), (.unixMilliseconds, .number):
            DateReading(JSONNumber(bytes), unit: .milliseconds)
        case (.unixMicroseconds, .string), (.unixMicroseconds, .number):
            DateReading(JSONNumber(bytes), unit: .microseconds)
        case (.unixNanoseconds, .string), (.unixNanoseconds, .number):
            DateReading(JSONNumber(bytes), unit: .nanoseconds)
        case (.referenceDate, .number): DateReading(JSONNumber(bytes), unit: .referenceSeconds)
        case (.array, .array): DateReading(ParsedDate(array: bytes))
        case (.iso8601, .object): DateReading(ParsedDate(php: bytes))
        case (.mongo, .object): DateReading(MongoDate(bytes))
        default: .noFit
        }
    }

    /// The instant that is kept for a date; nil if it is outside of the years 0001 to 9999, or a leap second where there
    /// cannot be one: they are at the end of a day in UTC and nowhere else.
    @inline(__always)
    private func instant(_ date: ParsedDate) -> Instant? {
        var seconds = date.clockSeconds
        if let offset = date.offset {
            seconds -= offset
        } else {
            // The second after a leap second may be one of another offset.
            seconds -= rules.zone.offset(atLocal: date.isLeapSecond ? seconds - 1 : seconds)
        }
        if date.isLeapSecond, seconds % 86_400 != 0 { return nil }
        return Instant(seconds: isWallClock ? date.clockSeconds : seconds, nanoseconds: date.nanoseconds)
    }

    @inline(__always)
    private func notes(on date: ParsedDate) -> CoercionNotes {
        var notes: CoercionNotes = []
        if let offset = date.offset, offset != 0 || date.hasZoneName { notes.insert(.timeZoneLost) }
        if date.hasMoreThanNanoseconds || date.fraction > digits { notes.insert(.subMillisecondLost) }
        if date.isLeapSecond { notes.insert(.leapSecond) }
        return notes
    }

    /// What is noted where the text that is kept is not the one that was written; other forms are asked for.
    @inline(__always)
    private var respelled: CoercionNotes { keepsTexts ? .respelled : [] }

    /// The value for the store.
    @inline(__always)
    private func finish(
        _ reading: Reading,
        _ kind: JSONKind,
        verbatim: ByteView?,
        added: CoercionNotes,
        scratch: inout [UInt8],
        notes: inout CoercionNotes
    ) throws(CoercionError) -> CoercedValue {
        switch reading {
        case .error(let code):
            throw CoercionError(code: code, expected: "date", found: kind.name)
        case .minimumDate:
            notes.formUnion(added.union(.minimumDate))
            return .null
        case .instant(let instant, let found, let isCanonical):
            notes.formUnion(added.union(found))
            if !isCanonical || kind != .string { notes.formUnion(respelled) }
            return value(instant, verbatim: isCanonical ? verbatim : nil, scratch: &scratch, notes: &notes)
        }
    }

    /// An instant as the storage has it.
    ///
    /// - Parameter verbatim: the text that represents it already, if there is one.
    @inline(__always)
    private func value(
        _ instant: Instant,
        verbatim: ByteView?,
        scratch: inout [UInt8],
        notes: inout CoercionNotes
    ) -> CoercedValue {
        if keepsTexts, let verbatim { return .verbatim(verbatim) }
        let start = scratch.count
        if let layout {
            if layout.loses(instant) { notes.insert(.digitsLost) }
            layout.append(instant, to: &scratch)
            return .scratch(start..<scratch.count)
        }
        switch storage {
        case .sqlite:
            instant.append(to: &scratch)
            scratch[start + 10] = UInt8(ascii: " ")
            scratch.removeLast()
            return .scratch(start..<scratch.count)
        case .unix:
            if instant.milliseconds != 0 { notes.insert(.digitsLost) }
            return .integer(instant.unixSeconds)
        case .unixMilliseconds:
            return .integer(instant.unixMilliseconds)
        case .referenceDate:
            return .real(StoredDate.referenceSeconds(instant.unixMilliseconds))
        case .unixReal:
            return .real(Double(instant.unixMilliseconds) / 1_000)
        case .julianDay:
            return .real(StoredDate.julianDay(instant.unixMilliseconds))
        default:
            instant.append(to: &scratch)
            return .scratch(start..<scratch.count)
        }
    }
}
