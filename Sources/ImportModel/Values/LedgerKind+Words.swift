extension LedgerKind {
    /// The kind as it follows a number: `1,234 × trimmed`.
    package var words: String {
        switch self {
        case .kindChanged: "converted to the column's type"
        case .trimmed: "trimmed"
        case .digitsLost: "digits lost"
        case .timeZoneLost: "time zone lost"
        case .subMillisecondLost: "microseconds lost"
        case .leapSecond: "leap second moved"
        case .minimumDate: "minimum date made null"
        case .respelled: "same value, other spelling"
        case .transformed: "transformed"
        case .duplicateKey: "key given twice"
        case .loneSurrogate: "lone surrogate replaced"
        case .nulReplaced: "U+0000 replaced"
        case .nulled: "made null"
        case .notAnObject: "not an object"
        case .unknownKey: "unknown key"
        case .outside: "outside of the records"
        case .notFound: "not found in a source"
        case .badSource: "nothing is imported from there on"
        case .nullElement: "null in a list"
        case .duplicateLink: "listed twice"
        case .unlinked: "unlinked"
        case .unresolved: "reference to a missing object"
        case .stub: "created for a reference"
        case .ambiguous: "reference that matches several objects"
        case .missingReference: "mandatory reference missing"
        case .orphanDeleted: "orphan deleted"
        case .orphanDenied: "orphan kept by a delete rule"
        case .localKept: "local value kept"
        case .deletionDenied: "no longer in the sources, kept by a delete rule"
        case .indexLeftOut: "index left out, as a value is too long"
        case .rowIDLost: "given another row id, as its own is in use"
        }
    }
}
