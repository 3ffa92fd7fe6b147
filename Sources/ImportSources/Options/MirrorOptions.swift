/// How an import deletes what its sources no longer have.
public struct MirrorOptions: Sendable, Hashable, Codable {
    /// Which objects may be deleted.
    public enum Scope: Sendable, Hashable {
        /// Those that an import has inserted: what somebody has added to the store by another way stays.
        case imported
        /// All objects of the entities.
        case all
        /// Those that meet a predicate, as `RecordPredicate` reads it; each of the entities must have its attributes.
        case matching(String)
    }

    /// Which objects may be deleted.
    public var scope: Scope
    /// Whether all objects of an entity may be deleted since the sources have none.
    public var allowsEmpty: Bool
    /// Whether objects are deleted though there are rejects of which nobody can tell which objects they are.
    public var despiteRejects: Bool
    /// How many objects of one entity may be deleted; nil for 10 percent of those in scope, and ten in any case.
    public var maxDelete: DeletionLimit?

    /// Options; what is not given is as the command has it without options.
    public init(
        scope: Scope = .imported,
        allowsEmpty: Bool = false,
        despiteRejects: Bool = false,
        maxDelete: DeletionLimit? = nil
    ) {
        self.scope = scope
        self.allowsEmpty = allowsEmpty
        self.despiteRejects = despiteRejects
        self.maxDelete = maxDelete
    }
}

extension MirrorOptions.Scope: Codable, LosslessStringConvertible {
    /// Reads `imported`, `all`, or a predicate.
    public init(_ description: String) {
        switch description {
        case "imported": self = .imported
        case "all": self = .all
        default: self = .matching(description)
        }
    }

    /// The scope as it is given on the command line.
    public var description: String {
        switch self {
        case .imported: "imported"
        case .all: "all"
        case .matching(let predicate): predicate
        }
    }

    /// Reads its text.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    /// Writes its text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
