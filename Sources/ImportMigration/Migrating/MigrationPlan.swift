extension ModelMigration {
    /// What a migration changes: a step for each difference of the two models.
    public struct Plan: Sendable, Hashable, Codable {
        /// In the order of the new model; what is gone comes last.
        public let steps: [Step]

        /// Whether some step is refused, so that nothing is changed.
        public var isRefused: Bool { steps.contains(where: \.isRefused) }

        /// Whether there is nothing to do.
        public var isEmpty: Bool { steps.isEmpty }
    }

    /// One change.
    public struct Step: Sendable, Hashable, Codable {
        /// What kind of change it is.
        public let change: Change
        /// The entity, by its name in the new model; by the old one where it is gone; `conflicts` where it is about these.
        public let entity: String
        /// The attribute or relationship; nil where it is about the entity.
        public let property: String?
        /// What is done, in words: `is renamed from "age"`.
        public let text: String
        /// The rows that are written for it, or would be; nil where it writes none, or their number does not matter.
        public let rows: Int64?
        /// What stands against it; nil for nothing.
        public let obstacle: Obstacle?
        /// Whether the migration is refused for it.
        public let isRefused: Bool

        /// What it is about: `person.age`.
        public var subject: String { property.map { "\(entity).\($0)" } ?? entity }
    }

    /// The kinds of changes.
    public enum Change: String, Sendable, Hashable, Codable, CaseIterable {
        case entityAdded, attributeAdded, relationshipAdded
        case entityRenamed, attributeRenamed, relationshipRenamed
        /// The name of a table or column.
        case storageRenamed
        /// A value may be missing now.
        case becomesOptional
        /// A value must be there now.
        case becomesRequired
        /// The type, or how values of the type are stored.
        case typeChanged
        /// `min`, `max`, `minLength`, `maxLength`, `pattern` or `enum`.
        case rulesChanged
        case defaultChanged
        case identifierChanged
        /// To-one to to-many, or the reverse.
        case cardinalityChanged
        case orderChanged
        case deleteRuleChanged
        case inverseChanged
        case destinationChanged
        case indexesChanged
        /// The rows are in another table now.
        case tableChanged
        /// How values are found in the JSON, or what an import does with them.
        case readingChanged
        case entityGone, attributeGone, relationshipGone
        /// Something that others have made on the tables would be lost, or could no longer be used.
        case othersInTheWay
        /// Open conflicts of merges, which are about the model before.
        case conflictsGone
        /// What was kept to undo jobs, which is about the tables before.
        case undoGone
    }

    /// Why a step cannot be done, or what it loses.
    public struct Obstacle: Sendable, Hashable, Codable {
        /// In words: `these have no value`.
        public let reason: String
        /// The rows, or links, that it concerns.
        public let count: Int64
        /// The first three of them.
        public private(set) var rows: [Row] = []
        /// Whether it is a loss that can be allowed.
        public private(set) var isLoss = false
        /// What to do about it; nil where there is nothing to advise.
        public private(set) var advice: String?
    }

    /// A row that stands against a step.
    public struct Row: Sendable, Hashable, Codable {
        /// Its row id; nil in a table of links, which has none.
        public let rowID: Int64?
        /// The values of its identifier, as text.
        public let identifier: [String]
    }
}
