/// Why a value does not fit its attribute.
///
/// The value itself is not in it: texts never print whole values unasked.
public struct CoercionError: Error, Sendable, Hashable, Codable {
    /// What went wrong, as a word that scripts can rely on.
    public enum Code: String, Sendable, Hashable, Codable, CaseIterable {
        /// A kind of JSON value that the type does not take.
        case wrongKind
        /// The right kind, but not the form that the type asks for: `"12abc"` for an integer.
        case wrongForm
        /// A number outside of the type's range.
        case outOfRange
        /// A number with a fraction for an integer.
        case notIntegral
        /// A value below the attribute's `min`.
        case belowMinimum
        /// A value above the attribute's `max`.
        case aboveMaximum
        /// Fewer characters or bytes than the attribute's `minLength`.
        case tooShort
        /// More characters or bytes than the attribute's `maxLength`.
        case tooLong
        /// Text that the attribute's `pattern` does not match.
        case patternMismatch
        /// A value that is none of the attribute's `enum`.
        case notAllowed
        /// A flag that the attribute's `bits` do not have.
        case unknownFlag
        /// A value that would lose something where nothing may be lost.
        case lossy
        /// An explicit null for an attribute that is not optional.
        case unexpectedNull
        /// No value, no default, and the attribute is not optional.
        case missingValue
        /// A record that is no object where the entity asks for one.
        case notAnObject
        /// An object with the same identifier exists already, and the import says (``ConflictPolicy/error``) that it must not be.
        case duplicateIdentifier
        /// A record whose row breaks a constraint that the store's table has of its own: `UNIQUE`, `CHECK`, `NOT NULL`, a
        /// trigger that raises.
        ///
        /// The byte offset is the record's.
        case constraintViolation
        /// Text with U+0000, which a server's `text` cannot have.
        case nulCharacter
        /// A record whose row is larger than a server's table holds.
        ///
        /// The byte offset is the record's.
        case rowTooLarge
        /// A value that is too long for an index of a server's table: that of the identifier, or another one.
        ///
        /// The byte offset is the record's.
        case identifierTooLong
        /// Fewer elements than the relationship's `minCount`.
        case tooFew
        /// More elements than the relationship's `maxCount`.
        case tooMany
        /// An object of an abstract entity that does not say which subentity it is.
        case abstractEntity
        /// An object that is stored as one of an entity that the relationship does not lead to.
        case wrongEntity
        /// A reference that leads to no object when the import ends, by a relationship whose `unresolved` is `reject`.
        case unresolved
        /// Bytes that are not JSON.
        case malformed
        /// Bytes that are not UTF-8 (RFC 3629).
        case invalidUTF8
        /// A record larger than the import allows (`JobOptions.maxRecordBytes`).
        case recordTooLarge
        /// A record nested more deeply than the import allows (`JobOptions.maxDepth`).
        case recordTooDeep
        /// A change that does not fit what the store has, where such changes are to be rejected.
        case conflict
    }

    /// What went wrong.
    public let code: Code
    /// What the attribute asks for, in words: `integer16`.
    public let expected: String
    /// What was there, in words: `string`.
    public let found: String
    /// Where inside of the value it went wrong, as an attribute path (`creator.share`); empty for the value itself.
    public let path: String
    /// What else is wrong inside of the same value, each at a path of its own.
    ///
    /// These are a bitfield's other flags, in the value's order; of one value at most 100 errors are reported.
    public let others: [CoercionError]

    /// An error with these words.
    public init(code: Code, expected: String, found: String, path: String = "", others: [CoercionError] = []) {
        self.code = code
        self.expected = expected
        self.found = found
        self.path = path
        self.others = others
    }

    /// This error and the others, in the value's order.
    public var all: [CoercionError] { [self] + others }

    /// The key path of the error in its record, where the value is at `keyPath`.
    public func keyPath(at keyPath: String) -> String {
        if path.isEmpty { return keyPath }
        return keyPath.isEmpty || path.hasPrefix("[") ? keyPath + path : keyPath + "." + path
    }
}
