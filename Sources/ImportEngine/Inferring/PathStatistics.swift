import ImportModel
import ImportSources

/// What was seen at one path of an entity's records: which kinds of values, how often, and where first.
///
/// Everything but the walk's own notes is a sum, a minimum, a union or an intersection, so that parts merge in any order.
package struct PathStatistics: Sendable {
    /// What was seen at least once.
    package struct Marks: OptionSet, Sendable, Hashable {
        package let rawValue: UInt16

        package init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        /// An object without members, or with null members only: columns could not tell it from a missing one.
        static let emptyObject = Marks(rawValue: 1 << 0)
        /// An object with a key that is not well-formed Unicode.
        static let illFormedKey = Marks(rawValue: 1 << 1)
        /// A string that is not well-formed Unicode.
        static let illFormedString = Marks(rawValue: 1 << 2)
        /// A decimal of Extended JSON, which is one however few digits it has.
        static let decimal = Marks(rawValue: 1 << 3)
        /// A number whose exponent not even a decimal holds.
        static let wildNumber = Marks(rawValue: 1 << 7)
        /// An object at the depth at which objects are not looked into any more.
        static let deepObject = Marks(rawValue: 1 << 5)
        /// An object with too many keys.
        static let fullObject = Marks(rawValue: 1 << 6)
        /// An object with more keys in the objects in it than its limit.
        static let closedObject = Marks(rawValue: 1 << 11)
        /// An object with objects or arrays in it.
        package static let nested = Marks(rawValue: 1 << 12)
        /// An array with an object in it.
        static let objectElement = Marks(rawValue: 1 << 8)
        /// An array with something else in it, null included.
        static let otherElement = Marks(rawValue: 1 << 9)
        /// A string with U+0000.
        static let stringWithNUL = Marks(rawValue: 1 << 10)
        /// Bytes of Extended JSON.
        static let data = Marks(rawValue: 1 << 13)
    }

    // Where it is.
    package let parent: Int32
    let depth: Int32
    /// Its key's bytes among the keys of all paths, unescaped.
    let keyStart: Int32
    package let keyCount: Int32
    package let hash: UInt64
    var firstChild: Int32 = -1
    var nextSibling: Int32 = -1
    /// The path of the elements of its arrays, as if all were one value; -1 where they are not looked into.
    package var element: Int32 = -1
    /// How many arrays are around it.
    package var level: Int32 = 0
    /// True if it is that of elements.
    package var isElement = false

    // What was seen.
    package var nulls: Int64 = 0
    var booleans: Int64 = 0
    /// Integers of 64 bits.
    package var integers: Int64 = 0
    /// Integers of more than 64 bits.
    var bigIntegers: Int64 = 0
    /// Numbers with a fraction or an exponent.
    var fractions: Int64 = 0
    /// Integers of 64 bits that no double equals.
    var inexactIntegers: Int64 = 0
    /// Numbers with a fraction or an exponent that no double keeps.
    var exactNumbers: Int64 = 0
    package var strings: Int64 = 0
    package var objects: Int64 = 0
    /// How many of its values, null included, were in rows.
    var inRows: Int64 = 0
    var arrays: Int64 = 0
    package var marks: Marks = []
    package var forms: StringFormats = .all
    /// The first record that has it, and where on that record's tape.
    package var firstOrdinal = Int64.max
    var firstToken = Int32.max

    // What bounds it (`InferenceLimits`).
    package var children: Int32 = 0
    var charge = 0
    /// The part of the charge that is for its own keys.
    var ownCharge = 0

    // The walk's own notes.
    /// The sibling that followed it last, tried first.
    var nextGuess: Int32 = -1
    /// The child that came first last, tried first.
    var childGuess: Int32 = -1
    /// The object in which it was met last, to notice a key that is there twice.
    package var visit: Int64 = 0
    /// Where the member is among those of the object that is being visited.
    package var member: Int32 = 0
    /// Its sample of values, if it may still be an identifier.
    package var sample: Int32 = -1

    /// True if its arrays have objects in them and nothing else, and there is nothing but arrays and null.
    var isArrayOfObjects: Bool {
        arrays > 0 && arrays == values && marks.contains(.objectElement) && !marks.contains(.otherElement)
    }

    package var isFull: Bool {
        @inline(__always) get { marks.contains(.fullObject) }
    }

    package var isClosed: Bool {
        @inline(__always) get { marks.contains(.closedObject) }
    }

    package var numbers: Int64 { integers + bigIntegers + fractions }

    /// How many numbers lose digits in a column of numbers: of integers alone if all are integers, else of doubles.
    var numbersBeyondDigits: Int64 { bigIntegers + exactNumbers + (fractions > 0 ? inexactIntegers : 0) }

    /// How many values that are not null it has: at most one per record, or per object in an array.
    package var values: Int64 {
        @inline(__always) get { booleans + integers + bigIntegers + fractions + strings + objects + arrays }
    }

    /// Keeps the earliest place.
    @inline(__always)
    mutating func see(ordinal: Int64, token: Int32) {
        if ordinal > firstOrdinal { return }
        if ordinal < firstOrdinal || token < firstToken {
            firstOrdinal = ordinal
            firstToken = token
        }
    }

    /// Notes in which object it was met last, and where among that object's members.
    @inline(__always)
    mutating func meet(visit: Int64, member: Int) {
        self.visit = visit
        self.member = Int32(truncatingIfNeeded: member)
    }

    /// Counts a value, and gives it back if it is an integer of 64 bits.
    @inline(__always)
    package mutating func count(_ token: RecordTape.Token, _ bytes: ByteView, index: Int, ordinal: Int64) -> Int64? {
        see(ordinal: ordinal, token: Int32(truncatingIfNeeded: index))
        switch token.kind {
        case .null: nulls += 1
        case .boolean: booleans += 1
        case .number: return countNumber(bytes)
        case .string: countString(bytes, hasEscapes: token.hasEscapes)
        case .array: arrays += 1
        case .object: objects += 1
        }
        return nil
    }

    /// Counts a string.
    @inline(__always)
    mutating func countString(_ bytes: ByteView, hasEscapes: Bool) {
        strings += 1
        if !forms.isEmpty { forms = StringFormats.forms(of: bytes, hasEscapes: hasEscapes, among: forms) }
        if hasEscapes, !marks.contains(.illFormedString), JSONUnescaper.firstLoneSurrogate(in: bytes) != nil {
            marks.insert(.illFormedString)
        }
        if hasEscapes, !marks.contains(.stringWithNUL), JSONUnescaper.hasNUL(in: bytes) { marks.insert(.stringWithNUL) }
    }

    /// Counts a number, and gives its value if it is an integer of 64 bits.
    @inline(__always)
    mutating func countNumber(_ bytes: ByteView) -> Int64? {
        switch NumberKind(bytes) {
        case .integer(let value):
            integers += 1
            // Every integer up to 2^53 is a double.
            if value.magnitude > 1 << 53, Int64(exactly: Double(value)) != value { inexactIntegers += 1 }
            return value
        case .bigInteger:
            bigIntegers += 1
        case .fraction:
            fractions += 1
        case .exact:
            fractions += 1
            exactNumbers += 1
        case .wild:
            fractions += 1
            exactNumbers += 1
            marks.insert(.wildNumber)
        }
        return nil
    }

    /// Counts a value of Extended JSON in place of the object that it was in, and gives it back if it is an integer.
    mutating func count(_ extended: ExtendedJSON) -> Int64? {
        objects -= 1
        let bytes = extended.token.bytes
        switch extended.kind {
        case .null: nulls += 1
        case .integer: return countNumber(bytes)
        case .decimal:
            fractions += 1
            marks.insert(.decimal)
        case .double:
            fractions += 1
            switch NumberKind(bytes) {
            case .integer, .fraction: break
            case .bigInteger, .exact: exactNumbers += 1
            case .wild:
                exactNumbers += 1
                marks.insert(.wildNumber)
            }
        case .text:
            forms = []
            countString(bytes, hasEscapes: extended.token.hasEscapes)
        case .date: countForms([.utcInstant, .dayAndTime, .milliseconds, .microseconds, .nanoseconds])
        case .uuid: countForms(.lowercaseUUID)
        case .data: countForms(.data)
        case .uuidData: countForms([.lowercaseUUID, .data])
        }
        return nil
    }

    private mutating func countForms(_ own: StringFormats) {
        strings += 1
        forms.formIntersection(own)
        if own.contains(.data) { marks.insert(.data) }
    }

    /// Takes what another part has seen at the same path; the bounds are not its business.
    package mutating func merge(_ other: PathStatistics) {
        nulls += other.nulls
        booleans += other.booleans
        integers += other.integers
        bigIntegers += other.bigIntegers
        fractions += other.fractions
        inexactIntegers += other.inexactIntegers
        exactNumbers += other.exactNumbers
        strings += other.strings
        objects += other.objects
        inRows += other.inRows
        arrays += other.arrays
        marks.formUnion(other.marks.subtracting([.fullObject, .closedObject]))
        forms.formIntersection(other.forms)
        see(ordinal: other.firstOrdinal, token: other.firstToken)
    }
}
