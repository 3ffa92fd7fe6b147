/// How an import deletes objects that its sources no longer have.
public struct MirrorOptions: Sendable, Hashable, Codable {
    /// The objects that may be deleted.
    public enum Scope: Sendable, Hashable {
        /// Objects that an import has inserted; objects that were added otherwise stay.
        case imported
        /// All objects of the entities.
        case all
        /// Objects that match a predicate (`RecordPredicate`); each of the entities must have its attributes.
        case matching(String)
    }

    /// The objects that may be deleted.
    public var scope: Scope
    /// True if all objects of an entity may be deleted, if the sources have none.
    public var allowsEmpty: Bool
    /// True if objects are deleted even if there are rejects whose identifier cannot be read.
    public var despiteRejects: Bool
    /// The maximum number of objects of one entity that may be deleted; nil for 10 percent of those in scope, and ten in any case.
    public var maxDelete: DeletionLimit?

    /// Creates options; the defaults are those of the command.
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

    /// The scope as on the command line.
    public var description: String {
        switch self {
        case .imported: "imported"
        case .all: "all"
        case .matching(let predicate): predicate
        }
    }

    /// Decodes the scope from its text.
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }

    /// Encodes the scope as its text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
