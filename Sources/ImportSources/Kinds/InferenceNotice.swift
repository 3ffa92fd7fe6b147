import ImportModel

/// Something that inference noticed and that a person may want to know.
package struct InferenceNotice: Sendable, Hashable, CustomStringConvertible {
    /// What was noticed.
    package enum Finding: Sendable, Hashable {
        /// The attribute, by its name, is in every record and its values do not repeat; known of all of them, or of a sample only.
        case identifierCandidate(isCertain: Bool)
        /// By its name, and the other's values, it holds identifiers of another entity.
        case referenceCandidate(to: String)
        /// Every string is a date, but not one that a `date` would give back as it was; in words.
        case dates(String)
        /// Every string is an object of JSON.
        case objectTexts
        /// Values of several kinds, how many of each.
        case kinds([KindCount])
        /// Objects stay JSON; why, in words.
        case objectsKeptAsJSON(String)
        /// Arrays that have nothing but objects in them, and could be a table of their own.
        case arraysOfObjects
        /// Arrays with objects in them stay JSON, where tables are asked for; why, in words.
        case arraysKeptAsJSON(String)
        /// Arrays with objects in them stay JSON, as there would be too many levels of child tables.
        case arraysTooDeep
        /// Text or keys that are not well-formed Unicode (lone surrogates) stay JSON.
        case illFormedText
        /// Numbers that are kept as text, and how many of them would lose digits as SQLite's numbers: none where a store or a decimal of
        /// Extended JSON asks for the type.
        case decimals(Int64, of: Int64)
        /// Columns and tables that have other names than their keys: which, in words.
        case renamed([String])
        /// Text with U+0000 stays JSON, as the store's texts cannot have it.
        case textWithNUL
        /// How the texts for a BLOB column stand for its bytes.
        case bytes(BinaryFormat)
        /// Keys that have no column in a table that the importer has not made.
        case leftOut([String])
        /// Keys of a table that the importer has not made, and the columns of other names that they go into.
        case matched([String])
        /// The columns by which records are merged: the primary key of such a table, or a unique constraint.
        case merged(by: [String], isPrimaryKey: Bool)
        /// New keys get no columns, as the table or the object would have too many.
        case keysLeftOut
    }

    /// How often a kind of value was seen.
    package struct KindCount: Sendable, Hashable {
        /// The kind of the values.
        package let kind: JSONKind
        /// How many there were.
        package let count: Int64

        package init(kind: JSONKind, count: Int64) {
            self.kind = kind
            self.count = count
        }
    }

    /// The entity's name.
    package let entity: String
    /// Where it was noticed.
    package let path: AttributePath
    /// What was noticed.
    package let finding: Finding

    package init(entity: String, path: AttributePath, finding: Finding) {
        self.entity = entity
        self.path = path
        self.finding = finding
    }

    /// One line for people, with control characters escaped.
    package var description: String {
        switch finding {
        case .renamed, .leftOut, .matched, .merged: return "\(entity): \(text)"
        default: break
        }
        return "\(entity): \(path): \(text)"
    }

    var text: String {
        switch finding {
        case .identifierCandidate(isCertain: true):
            return "could be the identifier: it is in every record and never repeats"
        case .identifierCandidate(isCertain: false):
            return "looks like an identifier: it is in every record and does not repeat in a sample of its values"
        case .referenceCandidate(let other):
            return "by its name, could refer to \(other) (\"relationships\" in a model file)"
        case .dates(let form):
            return "all strings are \(form), and stay text"
        case .objectTexts: return "all strings are objects of JSON, and stay text"
        case .kinds(let counts):
            let parts = counts.map { "\($0.count.grouped) × \($0.kind)" }
            return "kinds vary: " + parts.joined(separator: ", ")
        case .objectsKeptAsJSON(let reason):
            return "objects kept as JSON: \(reason)"
        case .arraysOfObjects:
            return "arrays of objects kept as JSON"
        case .arraysKeptAsJSON(let reason):
            return "arrays of objects kept as JSON: \(reason)"
        case .arraysTooDeep:
            return "arrays of objects kept as JSON: there would be more levels of child tables"
        case .illFormedText:
            return "kept as JSON: some text is not well-formed Unicode (a lone surrogate)"
        case .decimals(let beyond, let all):
            let reason =
                beyond == 0
                ? "so that no digit is lost"
                : "as SQLite's numbers would lose digits in \(beyond.grouped) of \(all.grouped) values"
            return "stored as decimal text, \(reason); in SQL, compare CAST(… AS REAL)"
        case .renamed(let columns):
            let more = columns.count > 8 ? " and \(columns.count - 8) more" : ""
            return "columns named differently than their keys: " + columns.prefix(8).joined(separator: ", ") + more
        case .matched(let columns): return "keys that differ from their columns: " + columns.joined(separator: ", ")
        case .leftOut(let keys): return "keys without a column are left out: " + keys.joined(separator: ", ")
        case .merged(let columns, let isPrimaryKey):
            let key = isPrimaryKey ? "the primary key" : "unique and never null"
            let verb = columns.count == 1 ? "is" : "are"
            return "\(columns.joined(separator: ", ")) \(verb) \(key): records are merged by it"
        case .textWithNUL:
            return "kept as JSON: some text has U+0000, which the server's texts cannot have"
        case .bytes(let format):
            let what =
                switch format {
                case .uuid: "16 bytes each, as of UUIDs"
                case .text: "the bytes of its texts are stored"
                default: "its texts are \(format.rawValue)"
                }
            return "a BLOB column: \(what) (\"format\" in a model file)"
        case .keysLeftOut:
            return "too many new keys: those that get no column are left out, and counted as unknown keys"
        }
    }
}
