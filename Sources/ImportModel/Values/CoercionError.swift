/// The reason for which a value does not fit its attribute.
///
/// It does not contain the value: messages never show whole values unless requested.
public struct CoercionError: Error, Sendable, Hashable, Codable {
    /// The code of an error, on which scripts can rely.
    public enum Code: String, Sendable, Hashable, Codable, CaseIterable {
        /// A kind of JSON value that the type does not accept.
        case wrongKind
        /// A value of the right kind, but not in the form of the type: `"12abc"` for an integer.
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
        /// A value that is not in the attribute's `enum`.
        case notAllowed
        /// A flag that is not in the attribute's `bits`.
        case unknownFlag
        /// A value that would lose something in a lossless import.
        case lossy
        /// An explicit null for an attribute that is not optional.
        case unexpectedNull
        /// A missing value of an attribute that is not optional and has no default.
        case missingValue
        /// A record that is not an object, though the entity reads attributes from one.
        case notAnObject
        /// A row with more or fewer values than the header row has names.
        case wrongColumnCount
        /// An identifier that is already in the store, in an import with ``ConflictPolicy/error``.
        case duplicateIdentifier
        /// A record whose row violates a constraint of the store's table: `UNIQUE`, `CHECK`, `NOT NULL`, a trigger that raises.
        ///
        /// The byte offset is the record's.
        case constraintViolation
        /// Text with U+0000, which a server's `text` cannot have.
        case nulCharacter
        /// A record whose row is too large for a server's table.
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
        /// An object of an abstract entity that does not name its subentity.
        case abstractEntity
        /// An object that is stored with an entity that the relationship does not lead to.
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
        /// A change that conflicts with the store, if such changes are rejected.
        case conflict
    }

    /// The code of the error.
    public let code: Code
    /// The value that the attribute expects, in words: `integer16`.
    public let expected: String
    /// The value that was found, in words: `string`.
    public let found: String
    /// The attribute path of the error within the value (`creator.share`); empty for the value itself.
    public let path: String
    /// Other errors within the same value, each at a path of its own.
    ///
    /// These are a bitfield's other flags, in the value's order; of one value at most 100 errors are reported.
    public let others: [CoercionError]

    /// Creates an error.
    public init(code: Code, expected: String, found: String, path: String = "", others: [CoercionError] = []) {
        self.code = code
        self.expected = expected
        self.found = found
        self.path = path
        self.others = others
    }

    /// This error and the others, in the value's order.
    public var all: [CoercionError] { [self] + others }

    /// The key path of the error in its record, if the value is at `keyPath`.
    public func keyPath(at keyPath: String) -> String {
        if path.isEmpty { return keyPath }
        return keyPath.isEmpty || path.hasPrefix("[") ? keyPath + path : keyPath + "." + path
    }
}
