/// The value transformers that a model can name (`"transform": ["trim", "htmlUnescape"]`), after `ValueTransformer`.
///
/// | name | what it does |
/// |---|---|
/// | `trim` | takes white space off both ends (all that Unicode calls so) |
/// | `lowercase`, `uppercase` | changes the case of all letters, as Unicode has it for no language |
/// | `emptyToNull` | an empty text becomes null |
/// | `htmlUnescape` | `&amp;` and its kin, named and numeric, become characters, as in HTML 5 |
/// | `htmlEscape` | `&`, `<`, `>`, `"` and `'` become references |
/// | `collapseWhitespace` | any run of white space becomes one space |
/// | `normalizeNFC` | characters that can be written in several ways are written in one: Unicode's form C |
public struct TransformerRegistry: Sendable {
    /// A transformer, which returns a text for a text, or nil for null.
    public typealias Transform = @Sendable (String) -> String?

    /// The built-in transformers.
    public static let standard = TransformerRegistry()

    private(set) var transformers: [String: Transformer]
    /// What a text with U+0000 becomes after all transformers; nil where it stays as it is.
    package var replacementOfNUL: ReplacementOfNUL?

    /// What a text with U+0000 becomes.
    package enum ReplacementOfNUL: Sendable {
        /// A text with U+FFFD for each.
        case text
        /// Null if the attribute is optional.
        case null
    }

    /// Creates a registry of the built-in transformers.
    public init() {
        transformers = [:]
        for transformer in BuiltInTransformer.allCases { transformers[transformer.rawValue] = .builtIn(transformer) }
    }

    /// True if it has the built-in transformers alone.
    var isStandard: Bool {
        transformers.values.allSatisfy {
            if case .builtIn = $0 { true } else { false }
        }
    }

    /// Adds a transformer, or replaces the one with the given name.
    ///
    /// - Parameters:
    ///   - name: its name in models.
    ///   - transform: must return the same for the same text, or a resumed import would differ; called by several threads at once.
    public mutating func register(_ name: String, _ transform: @escaping Transform) {
        transformers[name] = .custom(transform)
    }

    /// The names of all transformers, in alphabetical order.
    public var names: [String] { transformers.keys.sorted() }
}

/// One of a registry's transformers.
enum Transformer: Sendable {
    case builtIn(BuiltInTransformer)
    case custom(TransformerRegistry.Transform)

    /// What this does to `text`, which is valid UTF-8.
    func effect(on text: ByteView) -> TransformEffect {
        switch self {
        case .builtIn(let transformer): transformer.effect(on: text)
        case .custom(let transform): TransformEffect(text, transform(String(decoding: text.buffer, as: UTF8.self)))
        }
    }
}

/// A transformer's name that no registry knows.
package struct UnknownTransformer: Error, Sendable, Hashable, CustomStringConvertible {
    /// The name as it was given.
    package let name: String
    /// Its index in the list, from 0.
    package let index: Int
    /// The names that there are, in alphabetical order.
    package let known: [String]

    /// The name and those that there are, for a person.
    package var description: String {
        "no transformer is called '\(name.unicodeScalars.map { $0.isInvisible ? "?" : String($0) }.joined())'; "
            + "there are " + known.joined(separator: ", ")
    }
}
