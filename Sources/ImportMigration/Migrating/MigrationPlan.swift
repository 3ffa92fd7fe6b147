extension ModelMigration {
    /// The plan of a migration: a step for each difference of the two models.
    public struct Plan: Sendable, Hashable, Codable {
        /// The steps in the order of the new model; those for removed entities, attributes and relationships are last.
        public let steps: [Step]

        /// True if a step is refused, so that nothing is changed.
        public var isRefused: Bool { steps.contains(where: \.isRefused) }

        /// True if there is nothing to do.
        public var isEmpty: Bool { steps.isEmpty }
    }

    /// A step: one change.
    public struct Step: Sendable, Hashable, Codable {
        /// The kind of change.
        public let change: Change
        /// The name of the entity in the new model, or in the old one if it is removed; `conflicts` for the step about these.
        public let entity: String
        /// The name of the attribute or relationship; nil if the step is about the entity.
        public let property: String?
        /// A description of the change: `is renamed from "age"`.
        public let text: String
        /// The number of rows that the step writes, or would write; nil if it writes none, or their number does not matter.
        public let rows: Int64?
        /// The obstacle to the step; nil if there is none.
        public let obstacle: Obstacle?
        /// True if the migration is refused because of the step.
        public let isRefused: Bool

        /// The subject of the step: `person.age`.
        public var subject: String { property.map { "\(entity).\($0)" } ?? entity }
    }

    /// The kinds of changes.
    public enum Change: String, Sendable, Hashable, Codable, CaseIterable {
        case entityAdded, attributeAdded, relationshipAdded
        case entityRenamed, attributeRenamed, relationshipRenamed
        /// The name of a table or column changes.
        case storageRenamed
        /// The value becomes optional.
        case becomesOptional
        /// The value becomes required.
        case becomesRequired
        /// The type changes, or the storage form of its values.
        case typeChanged
        /// `min`, `max`, `minLength`, `maxLength`, `pattern` or `enum` changes.
        case rulesChanged
        case defaultChanged
        case identifierChanged
        /// A to-one becomes a to-many, or the reverse.
        case cardinalityChanged
        case orderChanged
        case deleteRuleChanged
        case inverseChanged
        case destinationChanged
        case indexesChanged
        /// The rows move to another table.
        case tableChanged
        /// The key paths of values in the JSON change, or their handling by imports.
        case readingChanged
        case entityGone, attributeGone, relationshipGone
        /// Something that other programs have created on the tables would be lost, or could no longer be used.
        case othersInTheWay
        /// Open conflicts of merges, which belong to the old model, are removed.
        case conflictsGone
        /// Stored old values for undoing jobs, which belong to the old tables, are removed.
        case undoGone
    }

    /// The reason for which a step is refused, or its loss.
    public struct Obstacle: Sendable, Hashable, Codable {
        /// A description: `these have no value`.
        public let reason: String
        /// The number of rows or links concerned.
        public let count: Int64
        /// The first three of these rows.
        public private(set) var rows: [Row] = []
        /// True if it is a loss that can be allowed.
        public private(set) var isLoss = false
        /// Advice on what to do; nil if there is none.
        public private(set) var advice: String?
    }

    /// A row that is an obstacle to a step.
    public struct Row: Sendable, Hashable, Codable {
        /// Its row id; nil in a join table, which has none.
        public let rowID: Int64?
        /// The values of its identifier, as text.
        public let identifier: [String]
    }
}
