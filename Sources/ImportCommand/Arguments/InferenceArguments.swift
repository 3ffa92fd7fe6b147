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

    /// An attribute with the type that it is to have.
    struct TypedName: Equatable {
        let name: String
        let type: AttributeType
    }

    /// Sets what is said of the model.
    func apply(to options: inout JobOptions) {
        options.identifier = identifiers.flatMap { $0 }
        options.types = Dictionary(types.map { ($0.name, $0.type) }) { $1 }
    }

    func validate() throws {
        var seen: Set<String> = []
        for name in types.map(\.name) where !seen.insert(name).inserted {
            throw ValidationError("--type: \(name) is given more than once")
        }
    }

    /// Attributes with commas in between.
    static func names(_ text: String) throws -> [String] {
        let names = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard !names.contains("") else { throw ValidationError("'\(text)' has an empty name between its commas") }
        return names
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
