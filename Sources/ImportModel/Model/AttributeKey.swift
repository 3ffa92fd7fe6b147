/// What an attribute's object in a model file may have.
///
/// The reader and the JSON Schema both go by this table.
enum AttributeKey: String, CaseIterable {
    case type
    case optional
    case `default`
    case from
    case column
    case format
    case timeZone
    case wallClock
    case fraction
    case storage
    case bits
    case transform
    case min
    case max
    case minLength
    case maxLength
    case pattern
    case `enum`
    case generated
    case owner
    case renamingIdentifier
    case userInfo

    /// The types of the attributes that may have it.
    var types: [AttributeType] {
        switch self {
        case .type, .optional, .default, .from, .column, .owner, .renamingIdentifier, .userInfo: AttributeType.allCases
        case .format: [.date, .binary, .string]
        case .timeZone, .wallClock, .fraction: [.date]
        case .storage: AttributeType.allCases.filter { !$0.storageForms.isEmpty }
        case .bits: [.bitfield]
        case .transform, .enum: AttributeType.allCases.filter { $0 != .json && $0 != .bitfield }
        case .min, .max: [.integer16, .integer32, .integer64, .float, .double, .decimal, .date]
        case .minLength, .maxLength: [.string, .uri, .binary]
        case .pattern: [.string, .uri]
        case .generated: [.uuid]
        }
    }

    /// What it says, for the schema's readers.
    var summary: String {
        switch self {
        case .type: "What the values are coerced to."
        case .optional: "Whether a record may have null here, or lack it."
        case .default: "What an inserted object gets when its record has no such key."
        case .from: "Key paths of the value in its record; of several, the first that exists wins."
        case .column: "The column's name, if it is not the attribute's."
        case .format: "The formats of a date, tried in order, or that of a binary or a string."
        case .timeZone: "How a date without a zone is read, as a name of the time zone database."
        case .wallClock: "Whether a date keeps the writer's local time instead of the instant."
        case .fraction: "The digits of a second that a date has: 3, 6 or 9."
        case .storage: "How a date, a UUID or a decimal is stored."
        case .bits: "The flags of a bitfield by name, each with its bit; dots denote nested objects."
        case .transform: "The value transformers that a string goes through before it is coerced, in order."
        case .min: "The smallest value that is accepted."
        case .max: "The largest value that is accepted."
        case .minLength: "The fewest Unicode scalars of a text, or bytes of a binary."
        case .maxLength: "The most Unicode scalars of a text, or bytes of a binary."
        case .pattern: "A regular expression in ICU's dialect that must match somewhere in the text."
        case .enum: "The only values that are accepted."
        case .generated: "Whether an inserted object that has no value here gets a UUID of its own."
        case .owner: "Who changes the value once the object exists; an import leaves what is local alone."
        case .renamingIdentifier: "The name in the model before this one."
        case .userInfo: "Free annotations, kept as they are."
        }
    }
}
