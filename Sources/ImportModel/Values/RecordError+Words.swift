extension RecordError {
    /// What is wrong, for a person: `integer16: number is out of range`, `UNIQUE constraint failed: person.name`.
    ///
    /// - Parameter value: the value as the record has it, where values may be shown: `integer16: 70000 is out of range`.
    package func words(value: String? = nil) -> String {
        switch code {
        case .outOfRange: return "\(expected): \(value ?? found) is out of range"
        case .notIntegral: return "\(expected): \(value ?? "number") has a fraction"
        case .missingValue: return "\(expected): value is missing"
        case .unexpectedNull: return "\(expected): null is not allowed"
        case .constraintViolation where found.contains(Self.constraintFailed): return found
        case .constraintViolation where expected == Self.acceptedRow: return found
        case .nulCharacter: return "\(expected): U+0000 cannot be stored"
        case .rowTooLarge: return "row is too large (\(expected))"
        case .identifierTooLong: return "value is too long for an index (\(expected))"
        case .malformed where keyPath.isEmpty: return "is not JSON"
        case .invalidUTF8 where keyPath.isEmpty: return "is not UTF-8"
        case .recordTooLarge: return "record is too large (\(expected))"
        case .recordTooDeep: return "record is nested too deeply (\(expected))"
        case .wrongColumnCount: return "columns: \(expected) expected, \(found) found"
        case .lossy: return "\(expected): \(found) would be lost"
        default: return "expected \(expected), found \(found)" + (value.map { " \($0)" } ?? "")
        }
    }

    /// What SQLite's messages say of every constraint.
    package static let constraintFailed = " constraint failed"
    /// What is expected where a server's table refuses a row; what was found is then in the server's words.
    package static let acceptedRow = "a row that the table accepts"
}
