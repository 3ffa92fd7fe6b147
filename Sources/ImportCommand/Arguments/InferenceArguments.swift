import ArgumentParser
import ImportModel
import Importer

/// What is said of a model that is inferred.
struct InferenceArguments: ParsableArguments {
    @Option(
        name: .customLong("identifier"),
        help: ArgumentHelp(
            "Attributes that identify an object; records with the same values are one object.",
            discussion: """
                With several entities: 'ENTITY:A,B'. May be repeated, once for each entity. Default: in a table that the importer \
                has not made, its primary key or a unique constraint that every record has; none: no identifier.
                """,
            valueName: "a,b"
        ),
        transform: Self.names
    )
    var identifiers: [[String]] = []

    @Option(
        name: .customLong("type"),
        help: ArgumentHelp(
            "Type of an attribute, instead of the inferred one. May be repeated.",
            discussion: "A date with 6 or 9 digits of a second: NAME:date(6). Default: the most that any value has.",
            valueName: "name:type"
        ),
        transform: Self.typedName
    )
    var types: [TypedName] = []

    @Option(
        name: .customLong("storage"),
        help: ArgumentHelp(
            "Form in which an attribute is stored. May be repeated.",
            discussion: """
                A date: iso8601, sqlite, unix, unixMilliseconds, unixReal, referenceDate, julianDay, or a pattern; a uuid: text, \
                blob, uppercase, braces, uppercaseBraces; a decimal: text, real.
                """,
            valueName: "name:form"
        ),
        transform: Self.storedName
    )
    var storages: [StoredName] = []

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "Library in whose forms uuids, dates and decimals are stored: grdb.",
            discussion: "--storage and forms in the model take precedence.",
            valueName: "library"
        )
    )
    var client: StoreClient?

    @Option(
        help: ArgumentHelp(
            "How the inferred model stores nested values.",
            discussion: """
                flatten turns objects into columns (address_city) and keeps arrays as JSON; tables also turns arrays of \
                objects into child tables; json keeps both as JSON.
                """,
            valueName: "policy"
        )
    )
    var nested = NestedPolicy.flatten

    @Option(
        help: ArgumentHelp(
            "Levels of child tables that --nested tables makes; deeper arrays are kept as JSON.",
            valueName: "n"
        )
    )
    var nestedDepth = JobOptions().nestedDepth

    @Option(
        name: .customLong("nested-only"),
        help: ArgumentHelp(
            "An array that --nested tables turns into a table: 'lines', 'lines.taxes'. May be repeated.",
            discussion:
                "Default: all arrays of objects. For a nested array, the array around it becomes a table, too.",
            valueName: "path"
        ),
        transform: Self.keyPath
    )
    var nestedOnly: [AttributePath] = []

    @Flag(
        help: ArgumentHelp(
            "Add columns for new keys to tables that the importer has not made.",
            discussion: "Default: such tables stay as they are, and keys without a column are left out and counted."
        )
    )
    var alter = false

    /// An attribute with the type that it is to have.
    struct TypedName: Equatable {
        let name: String
        let type: AttributeType
        /// The digits of a second, if it is a date and they are given.
        var fraction: Int?
    }

    /// An attribute with the form that it is to have.
    struct StoredName: Equatable {
        let name: String
        let form: StorageForm
    }

    /// Sets what is said of the model.
    func apply(to options: inout JobOptions) {
        // Whose they are is known where the entities are.
        options.identifiers = identifiers.isEmpty ? [:] : ["": identifiers.flatMap { $0 }]
        options.types = Dictionary(types.map { ($0.name, $0.type) }) { $1 }
        options.fractions = Dictionary(types.compactMap { type in type.fraction.map { (type.name, $0) } }) { $1 }
        options.storages = Dictionary(storages.map { ($0.name, $0.form) }) { $1 }
        options.client = client
        options.nested = nested
        options.nestedDepth = nestedDepth
        options.nestedOnly = nestedOnly
        options.altersTables = alter
    }

    func validate() throws {
        var seen: Set<String> = []
        for (option, names) in [("--type", types.map(\.name)), ("--storage", storages.map(\.name))] {
            seen = []
            for name in names where !seen.insert(name).inserted {
                throw ValidationError("\(option): \(name) is given more than once")
            }
        }
        seen = []
        for names in identifiers {
            let parts = names.first?.split(separator: ":") ?? []
            guard !seen.insert(parts.count > 1 ? String(parts[0]) : "").inserted else { continue }
            throw ValidationError("--identifier is given more than once for the same entity: write --identifier A,B")
        }
        try ShapeArguments.check(nestedDepth, "--nested-depth", in: JobOptions.nestedDepthRange)
        guard nested != .tables else { return }
        if nestedDepth != JobOptions().nestedDepth {
            throw ValidationError("--nested-depth is for --nested tables only")
        }
        if !nestedOnly.isEmpty { throw ValidationError("--nested-only is for --nested tables only") }
    }

    /// Attributes with commas in between.
    static func names(_ text: String) throws -> [String] {
        let names = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard !names.contains("") else { throw ValidationError("'\(text)' has an empty name between its commas") }
        return names
    }

    private static func keyPath(_ text: String) throws -> AttributePath {
        do {
            let path = try AttributePath(text)
            guard path.isWithinRecord, !path.keys.isEmpty else {
                throw ValidationError("'\(text)' is not a path of keys. Examples: lines  order.lines  ['a.b'].c")
            }
            return path
        } catch let error as PathSyntaxError {
            throw ValidationError("'\(text)' is not a path of keys: \(error). Examples: lines  order.lines  ['a.b'].c")
        }
    }

    private static func typedName(_ text: String) throws -> TypedName {
        for digits in [3, 6, 9] where text.hasSuffix(":date(\(digits))") {
            let (name, type) = try pair(String(text.dropLast(3)), "TYPE", AttributeType.self)
            return TypedName(name: name, type: type, fraction: digits)
        }
        let (name, type) = try pair(text, "TYPE", AttributeType.self)
        return TypedName(name: name, type: type)
    }

    private static func storedName(_ text: String) throws -> StoredName {
        let (name, form) = try pair(text, "FORM", StorageForm.self)
        return StoredName(name: name, form: form)
    }

    /// A name and what it is to have.
    private static func pair<Choice: RawRepresentable<String> & CaseIterable>(
        _ text: String,
        _ what: String,
        _: Choice.Type
    ) throws -> (String, Choice) {
        guard let colon = text.lastIndex(of: ":"), colon > text.startIndex else {
            throw ValidationError("'\(text)' is not NAME:\(what)")
        }
        let name = text[text.index(after: colon)...]
        guard let choice = Choice(rawValue: String(name)) else {
            let all = Choice.allCases.map(\.rawValue)
            let patterns = all.filter { $0.hasPrefix("yyyy") }
            let known = all.filter { !$0.hasPrefix("yyyy") } + patterns.prefix(2)
            let more = patterns.count > 2 ? " and \(patterns.count - 2) more patterns" : ""
            let meant = NameSuggestion.question(for: String(name), among: all)
            throw ValidationError(
                "'\(name)' is not a \(what.lowercased())\(meant.isEmpty ? "; there" : meant + " There") are "
                    + known.joined(separator: ", ") + more
            )
        }
        return (String(text[..<colon]), choice)
    }
}

extension NestedPolicy: ExpressibleByArgument {}
extension StoreClient: ExpressibleByArgument {}
