import ImportModel
import ImportSources

/// What inference makes of objects and arrays within records, and of texts that the store cannot have.
package struct NestingRules: Sendable, Hashable {
    package var policy: NestedPolicy = .flatten
    /// How many levels of child tables there are at most.
    var depth = 2
    /// The arrays that become tables, by their keys from the record on; empty for all.
    package var only: [AttributePath] = []
    /// True if texts may have U+0000; else an attribute with such a text is JSON, which keeps it as an escape.
    package var textsHaveNUL = true
    /// The attribute of the outermost key, where that is the path of the source; else nil.
    package var fileColumn: String?
    /// How values are read as other programs write them.
    var reading = ReadingPolicy.found
    /// The attributes that have a type of their own, so that an object there stays one value.
    var typed: Set<String> = []
    /// Texts that are null.
    var nullTexts = NullTexts(nil)
    /// True if texts have the types of what they spell.
    var detectsTypes = false
    /// True if rows have a header row.
    var hasHeader = false
    /// True if tables that the importer has not made get columns for keys that have none.
    var altersTables = false
    /// True if identifiers are given, so that such a table's own keys are not.
    var saysIdentifier = false

    /// The limits under which records are looked at.
    package var limits: InferenceLimits {
        var limits = InferenceLimits(arrayLevels: policy == .tables ? depth : 0, unwraps: reading == .found)
        limits.nullTexts = nullTexts
        if detectsTypes { limits.forms.formUnion(.values) }
        return limits
    }

    /// True if an object at these keys stays one value, as a type is asked for.
    func isWhole(_ keys: [String]) -> Bool {
        !typed.isEmpty
            && (typed.contains(ColumnNames.wanted(for: keys)) || typed.contains(AttributePath(keys: keys).description))
    }

    /// True if an array may become a table: it is one of those that are named, or one of them is within its objects.
    package func allows(_ keys: [String]) -> Bool {
        let keys = keys.map { BytewiseString($0) }
        return only.isEmpty || only.contains { $0.keys.map { BytewiseString($0) }.starts(with: keys) }
    }

    /// Makes sure that the arrays which are named have become tables.
    ///
    /// - Parameters:
    ///   - arrays: what became of those of each entity of records.
    ///   - isEmpty: whether nothing is known of some entity, as it has no records, or is not new.
    /// - Throws: `ImportError` with `.usage` that lists those that could be named.
    package func check(_ arrays: [InferredEntities.Arrays], isEmpty: Bool) throws {
        let tables = arrays.flatMap(\.tables).map(AttributePath.init(keys:))
        let asJSON = arrays.flatMap(\.asJSON)
        for path in only
        where !tables.contains(where: { $0.keys.map(BytewiseString.init) == path.keys.map(BytewiseString.init) }) {
            if let array = asJSON.first(where: {
                path.keys.map(BytewiseString.init).starts(with: $0.keys.map(BytewiseString.init))
            }
            ) {
                throw ImportError(
                    .optionInvalid,
                    "\(.nestedOnly): no table can be made of \(AttributePath(keys: array.keys)): \(array.reason)",
                    advice: "Leave it out: it is kept as JSON. Nothing was imported."
                )
            }
            guard !isEmpty else { continue }
            let candidates = (tables + arrays.flatMap(\.unnamed).map(AttributePath.init(keys:))).map(\.description)
            let list = candidates.prefix(100).joined(separator: ", ")
            throw ImportError(
                .unknownAttribute,
                "\(.nestedOnly): there is no array of objects at \(path)"
                    + "\(NameSuggestion.question(for: path.description, among: candidates))",
                advice: candidates.isEmpty
                    ? "There are no arrays of objects. Nothing was imported."
                    : "Arrays of objects are at: \(list)\nNothing was imported."
            )
        }
    }

    /// Makes sure that records can be added to tables that are there.
    ///
    /// - Parameter stored: what the store has of the entities, by their names.
    /// - Throws: `ImportError` with `.usage` where a table's rows belong together with others in a way that this does not continue.
    package func check(continuing stored: [String: ExistingEntity]) throws {
        for (_, continued) in stored.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
            let table = continued.entity.table
            switch continued.obstacle {
            case .nested(let parent):
                throw ImportError(
                    .optionsConflict,
                    "the rows of the table \(table) belong to those of \(parent), and records are rows of their own",
                    advice:
                        "Choose another table with \(.entity), or give a model file (\(.model)). Nothing was imported."
                )
            case .relationships(let names):
                throw ImportError(
                    .optionsConflict,
                    "the table \(table) has relationships that an inferred model does not have: \(names.joined(separator: ", "))",
                    advice:
                        "Give its model file (\(.model)), or import into another table or store. Nothing was imported."
                )
            case nil: break
            }
            guard policy != .tables, let child = continued.entity.relationships.first else { continue }
            throw ImportError(
                .optionsConflict,
                "the table \(table) has child tables: its \(child.name) are in \(child.destination)",
                advice:
                    "Give \(.nested, NestedPolicy.tables.rawValue), as the import that made them, or a model file (\(.model)). "
                    + "Nothing was imported."
            )
        }
    }
}

extension NestingRules {
    package init(_ options: JobOptions) {
        self.init(policy: options.nested, depth: options.nestedDepth, only: options.nestedOnly)
        (reading, hasHeader) = (options.reading, options.headerRow)
        typed = Set(options.types.keys)
        (nullTexts, detectsTypes) = (NullTexts(options.nullTexts), options.detectsTypes)
        altersTables = options.altersTables
        saysIdentifier = !options.identifiers.isEmpty
    }
}
