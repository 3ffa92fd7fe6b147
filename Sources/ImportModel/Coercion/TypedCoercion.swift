/// A type with its options: a bitfield's flags, a binary's format, a date's formats and zone.
struct TypedCoercion: Sendable {
    let type: AttributeType
    private let bits: Bitfield?
    private let format: BinaryFormat
    /// True if a decimal is kept as a double.
    private let isReal: Bool
    /// True if a string has objects and arrays as JSON.
    private let takesJSON: Bool
    /// How a UUID's text is kept; nil for lower case.
    private let spelling: StorageForm?
    /// Nil for dates as the type alone has them.
    private let dates: DateCoercion?

    init(_ attribute: AttributeDescription, _ mistakes: inout [AttributeMistake]) {
        type = attribute.type
        bits = type == .bitfield ? Self.bitfield(attribute.bits, &mistakes) : nil
        format =
            type == .binary
            ? Self.binary(attribute.formats, &mistakes)
            : type == .uuid && attribute.storage == .blob ? .uuid : .either
        isReal = type == .decimal && attribute.storage == .real
        takesJSON = type == .string && Self.takesJSON(attribute.formats, &mistakes)
        spelling = type == .uuid && attribute.storage != .blob ? attribute.ownForm : nil
        dates = type == .date ? Self.dates(attribute, &mistakes) : nil
    }

    func coerce(
        _ token: JSONToken,
        scratch: inout [UInt8],
        notes: inout CoercionNotes
    ) throws(CoercionError) -> CoercedValue {
        if let dates { return try dates.coerce(token, scratch: &scratch, notes: &notes) }
        if let bits { return try bits.coerce(token, scratch: &scratch, notes: &notes) }
        if takesJSON, token.kind == .object || token.kind == .array {
            let text = try AttributeType.json.coerce(token, scratch: &scratch, notes: &notes)
            notes.insert(.kindChanged)
            return text
        }
        if format.takesAll { return try AnyValue.coerce(token, format, scratch: &scratch, notes: &notes) }
        if let spelling { return try spelled(token, spelling, scratch: &scratch, notes: &notes) }
        if format != .either, token.kind == .string {
            return try binary(token, scratch: &scratch, notes: &notes)
        }
        if isReal {
            do throws(CoercionError) {
                return try AttributeType.double.coerce(token, scratch: &scratch, notes: &notes)
            } catch {
                throw CoercionError(code: error.code, expected: type.rawValue, found: error.found)
            }
        }
        return try type.coerce(token, scratch: &scratch, notes: &notes)
    }

    private func binary(
        _ token: JSONToken,
        scratch: inout [UInt8],
        notes: inout CoercionNotes
    ) throws(CoercionError) -> CoercedValue {
        var range: Range<Int>?
        if token.hasEscapes {
            var text: [UInt8] = []
            if JSONUnescaper.append(token.bytes, to: &text) { notes.insert(.loneSurrogate) }
            range = text.withUnsafeBufferPointer {
                decode(ByteView($0), to: &scratch, notes: &notes)
            }
        } else {
            range = decode(token.bytes, to: &scratch, notes: &notes)
        }
        guard let range else {
            throw CoercionError(code: .wrongForm, expected: format.rawValue, found: token.kind.name)
        }
        return .blob(range)
    }

    /// A UUID in upper case or braces.
    private func spelled(
        _ token: JSONToken,
        _ form: StorageForm,
        scratch: inout [UInt8],
        notes: inout CoercionNotes
    ) throws(CoercionError) -> CoercedValue {
        let text: [UInt8]
        switch try type.coerce(token, scratch: &scratch, notes: &notes) {
        case .verbatim(let bytes): text = Array(bytes.buffer)
        case .scratch(let range): text = Array(scratch[range])
        case let other: return other
        }
        let start = scratch.count
        let isUpper = form == .uppercase || form == .uppercaseBraces
        let hasBraces = form != .uppercase
        if hasBraces { scratch.append(UInt8(ascii: "{")) }
        for byte in text { scratch.append(isUpper && byte >= UInt8(ascii: "a") ? byte & ~0x20 : byte) }
        if hasBraces { scratch.append(UInt8(ascii: "}")) }
        let isSame = !token.hasEscapes && scratch[start...].elementsEqual(token.bytes.buffer)
        if isSame { notes.remove(.respelled) } else { notes.insert(.respelled) }
        return .scratch(start..<scratch.count)
    }

    /// A `uuid` is none in base64.
    private func decode(_ text: ByteView, to scratch: inout [UInt8], notes: inout CoercionNotes) -> Range<Int>? {
        guard type == .binary || UUIDText(text) != nil else { return nil }
        return format.decode(text, to: &scratch, notes: &notes)
    }

    // MARK: Making

    private static func dates(
        _ attribute: AttributeDescription,
        _ mistakes: inout [AttributeMistake]
    ) -> DateCoercion? {
        if attribute.formats.isEmpty, attribute.timeZone == nil, !attribute.isWallClock, attribute.ownForm == nil,
            attribute.fraction == 3
        {
            return nil
        }
        if let mistake = mistake(inFractionOf: attribute) { mistakes.append(mistake) }
        var formats: [DateFormat] = []
        for (index, name) in attribute.formats.enumerated() {
            do throws(DateFormatError) {
                formats.append(try DateFormat(name))
            } catch {
                mistakes.append(AttributeMistake(key: .format, inner: .index(index), message: "\(error)"))
            }
        }
        do throws(DateFormatError) {
            return try DateCoercion(
                formats: formats,
                timeZone: attribute.timeZone,
                isWallClock: attribute.isWallClock,
                storage: attribute.ownForm ?? .iso8601
            )
        } catch {
            mistakes.append(AttributeMistake(key: .timeZone, message: "\(error)"))
            return nil
        }
    }

    private static func mistake(inFractionOf attribute: AttributeDescription) -> AttributeMistake? {
        guard [3, 6, 9].contains(attribute.fraction) else {
            return AttributeMistake(key: .fraction, message: "must be 3, 6 or 9")
        }
        let form = attribute.storage ?? .iso8601
        guard form.withFraction(attribute.fraction) == nil else { return nil }
        let message =
            form.isPattern
            ? "the storage says how many digits there are" : "the storage \(form.rawValue) has 3 digits of a second"
        return AttributeMistake(key: .fraction, message: message, other: .storage)
    }

    private static func takesJSON(_ formats: [String], _ mistakes: inout [AttributeMistake]) -> Bool {
        let format = AttributeType.json.rawValue
        for (index, name) in formats.enumerated() where !name.hasSameBytes(as: format) {
            let message = "not a format of string; there is \(format)"
            mistakes.append(AttributeMistake(key: .format, inner: .index(index), message: message))
        }
        return !formats.isEmpty
    }

    private static func binary(_ formats: [String], _ mistakes: inout [AttributeMistake]) -> BinaryFormat {
        var known: Set<BinaryFormat> = []
        for (index, name) in formats.enumerated() {
            let names = BinaryFormat.names.joined(separator: ", ")
            var message: String?
            if BinaryFormat.names.contains(where: name.hasSameBytes), let format = BinaryFormat(rawValue: name) {
                known.insert(format)
                if known.count > 1, !known.isSubset(of: [.base64, .base64url]) {
                    message = "\(name) is a format on its own, without another"
                }
            } else {
                message = "not a format of binary; there are \(names)"
            }
            if let message { mistakes.append(AttributeMistake(key: .format, inner: .index(index), message: message)) }
        }
        return known.count == 1 ? known.first ?? .either : .either
    }

    private static func bitfield(
        _ bits: [AttributeDescription.Bit],
        _ mistakes: inout [AttributeMistake]
    ) -> Bitfield {
        func mistake(_ index: Int, _ message: String) {
            mistakes.append(AttributeMistake(key: .bits, inner: .member(index), message: message))
        }
        if bits.isEmpty {
            mistakes.append(AttributeMistake(key: .bits, message: "a bitfield needs the names of its bits"))
        }
        var owners: [Int: String] = [:]
        var names: Set<[UInt8]> = []
        var groups: Set<[UInt8]> = []
        for bit in bits {
            let name = Array(bit.name.utf8)
            for index in name.indices where name[index] == UInt8(ascii: ".") { groups.insert(Array(name[..<index])) }
        }
        for (index, bit) in bits.enumerated() {
            let name = Array(bit.name.utf8)
            guard names.insert(name).inserted else {
                mistake(index, AttributeMistake.repetition)
                continue
            }
            if groups.contains(name) { mistake(index, AttributeMistake.flagAndGroup) }
            guard (0...63).contains(bit.position) else {
                mistake(index, AttributeMistake.noBit)
                continue
            }
            if let other = owners[bit.position] {
                mistake(index, "bit \(bit.position) is \(other) already")
            } else {
                owners[bit.position] = bit.name
            }
        }
        return Bitfield(bits)
    }
}
