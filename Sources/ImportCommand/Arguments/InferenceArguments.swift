import ArgumentParser
import ImportModel
import Importer

/// What is said of a model that is inferred.
struct InferenceArguments: ParsableArguments {
    @Option(
        name: .customLong("identifier"),
        help: ArgumentHelp(
            "Attributes of the inferred model by which records are the same object.",
            discussion: "Where there are several entities: 'ENTITY:A,B'. May be repeated, once for each.",
            valueName: "a,b"
        ),
        transform: Self.names
    )
    var identifiers: [[String]] = []

    @Option(
        name: .customLong("type"),
        help: ArgumentHelp(
            "Type of an attribute, instead of the inferred one. May be repeated.",
            valueName: "name:type"
        ),
        transform: Self.typedName
    )
    var types: [TypedName] = []

    @Option(
        help: ArgumentHelp(
            "What the inferred model makes of nested values.",
            discussion: """
                flatten makes objects columns (address_city) and keeps arrays as JSON; tables also makes arrays of objects \
                child tables; json keeps both as JSON.
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
            "An array that --nested tables makes a table of: 'lines', 'lines.taxes'. May be repeated.",
            discussion:
                "Default: all arrays of objects. One within the objects of another makes that one a table, too.",
            valueName: "path"
        ),
        transform: Self.keyPath
    )
    var nestedOnly: [AttributePath] = []

    /// An attribute with the type that it is to have.
    struct TypedName: Equatable {
        let name: String
        let type: AttributeType
    }

    /// Sets what is said of the model.
    func apply(to options: inout JobOptions) {
        options.identifier = identifiers.flatMap { $0 }
        options.types = Dictionary(types.map { ($0.name, $0.type) }) { $1 }
        options.nested = nested
        options.nestedDepth = nestedDepth
        options.nestedOnly = nestedOnly
    }

    func validate() throws {
        var seen: Set<String> = []
        for name in types.map(\.name) where !seen.insert(name).inserted {
            throw ValidationError("--type: \(name) is given more than once")
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
        guard let colon = text.lastIndex(of: ":"), colon > text.startIndex else {
            throw ValidationError("'\(text)' is not NAME:TYPE")
        }
        let name = text[text.index(after: colon)...]
        guard let type = AttributeType(rawValue: String(name)) else {
            let known = AttributeType.allCases.map(\.rawValue).joined(separator: ", ")
            throw ValidationError("'\(name)' is not a type; there are \(known)")
        }
        return TypedName(name: String(text[..<colon]), type: type)
    }
}

extension NestedPolicy: ExpressibleByArgument {}
