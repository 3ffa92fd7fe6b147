/// The flags of a bitfield, by name and by bit.
struct Bitfield: Sendable {
    private struct Flag {
        let name: [UInt8]
        let position: Int
    }

    /// In the order of their names' bytes, to be found by halving.
    private let flags: [Flag]
    /// All bits that have a name.
    private let mask: UInt64

    init(_ bits: [AttributeDescription.Bit]) {
        flags = bits.filter { (0...63).contains($0.position) }
            .map { Flag(name: Array($0.name.utf8), position: $0.position) }
            .sorted { $0.name.lexicographicallyPrecedes($1.name) }
        mask = flags.reduce(0) { $0 | 1 << UInt64($1.position) }
    }

    /// Turns an object of flags, or an integer whose bits all have names, into the integer of the flags that are set.
    ///
    /// - Parameter scratch: holds names while they are looked up; unchanged afterwards.
    func coerce(
        _ token: JSONToken,
        scratch: inout [UInt8],
        notes: inout CoercionNotes
    ) throws(CoercionError) -> CoercedValue {
        switch token.kind {
        case .null:
            return .null
        case .object:
            var flags = Flags()
            let start = scratch.count
            defer { scratch.removeLast(scratch.count - start) }
            read(token.bytes, prefix: start, &flags, scratch: &scratch, notes: &notes)
            if let first = flags.errors.first {
                let others = Array(flags.errors.dropFirst())
                throw CoercionError(
                    code: first.code,
                    expected: first.expected,
                    found: first.found,
                    path: first.path,
                    others: others
                )
            }
            return .integer(Int64(bitPattern: flags.set))
        case .number:
            notes.insert(.kindChanged)
            return try integer(token.bytes, kind: .number)
        case .string:
            var text: [UInt8] = []
            if JSONUnescaper.append(token.bytes, to: &text) { notes.insert(.loneSurrogate) }
            notes.insert(.kindChanged)
            return try text.withUnsafeBufferPointer { buffer throws(CoercionError) in
                let trimmed = ByteView(buffer).trimmed
                if trimmed.count != buffer.count { notes.insert(.trimmed) }
                return try integer(trimmed, kind: .string)
            }
        case .boolean, .array:
            throw Self.error(.wrongKind, found: token.kind.name)
        }
    }

    private func integer(_ text: ByteView, kind: JSONKind) throws(CoercionError) -> CoercedValue {
        guard let form = JSONNumber(text) else { throw Self.error(.wrongForm, found: kind.name) }
        guard form.isInteger else { throw Self.error(.notIntegral, found: "number with a fraction") }
        guard let value = form.int64.map(UInt64.init(bitPattern:)) ?? form.uint64 else {
            throw Self.error(.outOfRange, found: kind.name)
        }
        guard value & ~mask == 0 else {
            throw CoercionError(code: .unknownFlag, expected: "bits of known flags", found: "number with other bits")
        }
        return .integer(Int64(bitPattern: value))
    }

    private static func error(_ code: CoercionError.Code, found: String, at path: String = "") -> CoercionError {
        let expected = path.isEmpty ? AttributeType.bitfield.rawValue : "true, false, 1 or 0"
        return CoercionError(code: code, expected: expected, found: found, path: path)
    }

    // MARK: Objects of flags

    /// The flags that an object sets, those that it mentions, and all that is wrong with it.
    private struct Flags {
        var set: UInt64 = 0
        var seen: UInt64 = 0
        var errors: [CoercionError] = []
    }

    /// How many errors are reported for one value: a record may have millions.
    private static let mostErrors = 100

    /// Reads an object's members.
    ///
    /// - Parameter prefix: where the name of the object itself begins in `scratch`; it goes to the end.
    private func read(
        _ object: ByteView,
        prefix: Int,
        _ flags: inout Flags,
        scratch: inout [UInt8],
        notes: inout CoercionNotes
    ) {
        let outer = scratch.count
        var scanner = JSONMembers(object)
        while flags.errors.count < Self.mostErrors, let member = scanner.next() {
            scratch.removeLast(scratch.count - outer)
            if outer > prefix { scratch.append(UInt8(ascii: ".")) }
            let keyStart = scratch.count
            if JSONUnescaper.append(member.key, to: &scratch) { notes.insert(.loneSurrogate) }
            let keyEnd = scratch.count
            let errorCount = flags.errors.count
            do throws(CoercionError) {
                try take(member.value, prefix: prefix, &flags, scratch: &scratch, notes: &notes)
            } catch {
                flags.errors.append(error)
            }
            if flags.errors.count > errorCount {
                place(&flags.errors[errorCount...], under: scratch[keyStart..<keyEnd])
            }
        }
        scratch.removeLast(scratch.count - outer)
    }

    /// Puts a key before the errors' paths.
    private func place(_ errors: inout ArraySlice<CoercionError>, under key: ArraySlice<UInt8>) {
        // The name may be data: it is shown as far as other unknown keys are.
        let path = AttributePath(keys: [String(decoding: key.prefix(200), as: UTF8.self)]).description
        for index in errors.indices {
            let error = errors[index]
            errors[index] = CoercionError(
                code: error.code,
                expected: error.expected,
                found: error.found,
                path: error.keyPath(at: path)
            )
        }
    }

    /// Takes the value of the flag or group whose name is in `scratch` from `prefix` on.
    ///
    /// - Throws: `CoercionError` for what is wrong with the value itself; what is wrong in a group is in `flags`.
    private func take(
        _ value: JSONToken,
        prefix: Int,
        _ flags: inout Flags,
        scratch: inout [UInt8],
        notes: inout CoercionNotes
    ) throws(CoercionError) {
        let place = place(of: scratch[prefix...])
        let isFlag = place < self.flags.count && self.flags[place].name.elementsEqual(scratch[prefix...])
        guard isFlag else {
            guard isGroup(scratch[prefix...]) else {
                throw CoercionError(code: .unknownFlag, expected: "a known flag", found: "flag without a bit")
            }
            switch value.kind {
            case .null: return
            case .object: return read(value.bytes, prefix: prefix, &flags, scratch: &scratch, notes: &notes)
            default: throw CoercionError(code: .wrongKind, expected: "object of flags", found: value.kind.name)
            }
        }
        let bit: UInt64 = 1 << UInt64(self.flags[place].position)
        if flags.seen & bit != 0 { notes.insert(.duplicateKey) }
        flags.seen |= bit
        if try isSet(value, notes: &notes) { flags.set |= bit } else { flags.set &= ~bit }
    }

    private func isSet(_ value: JSONToken, notes: inout CoercionNotes) throws(CoercionError) -> Bool {
        let expected = "true, false, 1 or 0"
        switch value.kind {
        case .null: return false
        case .boolean: return value.isTrue
        case .number:
            guard let number = JSONNumber(value.bytes)?.int64, number == 0 || number == 1 else {
                throw CoercionError(code: .wrongForm, expected: expected, found: value.kind.name)
            }
            notes.insert(.kindChanged)
            return number == 1
        case .string, .object, .array:
            throw CoercionError(code: .wrongKind, expected: expected, found: value.kind.name)
        }
    }

    /// True if flags' names begin with `name` and a dot.
    private func isGroup(_ name: ArraySlice<UInt8>) -> Bool {
        flags.contains { flag in
            flag.name.count > name.count && flag.name[name.count] == UInt8(ascii: ".") && flag.name.starts(with: name)
        }
    }

    /// The place of the first flag whose name is not before `name`.
    private func place(of name: ArraySlice<UInt8>) -> Int {
        var (low, high) = (0, flags.count)
        while low < high {
            let middle = (low + high) / 2
            if flags[middle].name.lexicographicallyPrecedes(name) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension AttributeDescription {
    /// The flags of a stored integer of this bitfield as an object: all of them, `true` or `false`, those with dots in their names in
    /// nested objects.
    ///
    /// Coercing the object gives the same integer, except for bits without a name.
    public func flags(of value: Int64) -> JSONValue {
        var root = Group()
        for bit in bits where (0...63).contains(bit.position) {
            let keys = bit.name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            root.insert(.boolean(value >> Int64(bit.position) & 1 == 1), at: keys[...])
        }
        return root.json
    }

    /// The bits of this bitfield that have a name.
    package var bitMask: UInt64 {
        bits.filter { (0...63).contains($0.position) }.reduce(0) { $0 | 1 << UInt64($1.position) }
    }

    /// An object in the making, its members in the order in which they came.
    private struct Group {
        var members: [(key: String, value: JSONValue?, group: Group?)] = []

        mutating func insert(_ value: JSONValue, at keys: ArraySlice<String>) {
            guard let key = keys.first else { return }
            guard keys.count > 1 else {
                members.append((key, value, nil))
                return
            }
            let place = members.firstIndex { $0.group != nil && $0.key.hasSameBytes(as: key) } ?? members.count
            if place == members.count { members.append((key, nil, Group())) }
            members[place].group?.insert(value, at: keys.dropFirst())
        }

        var json: JSONValue {
            JSONValue(members.map { ($0.key, $0.value ?? $0.group?.json ?? .null) })
        }
    }
}
