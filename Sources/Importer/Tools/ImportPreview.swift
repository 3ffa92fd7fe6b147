import ImportEngine
import ImportModel
import ImportSources

/// What an import would do, and what it would make of the first records.
public struct ImportPreview: Sendable {
    /// What would be done.
    public let plan: ImportPlan
    /// What the first records come to; nil where nothing new would be imported, or chunks would be.
    public let sample: Sample?
    /// What a mirror would delete; nil for any other import.
    public var mirror: Mirror?

    /// The result of importing all of the sources into a copy of the store.
    public struct Mirror: Sendable {
        /// What the import comes to, with ``ImportReport/deleted``, ``ImportReport/withheld`` and ``ImportReport/deletedList``.
        public let report: ImportReport?
        /// What stopped it, so that nothing would be deleted; nil where nothing did.
        public let message: MessageText?
    }

    /// The result of importing the beginning of the sources.
    public struct Sample: Sendable {
        /// How many bytes of the sources were read, decompressed.
        public let bytes: Int64
        /// Whether these are all of them.
        public let isWhole: Bool
        /// Whether the records are merged with the objects that the store has of their identifiers, as the import merges them; nil where
        /// there are no identifiers, or no objects.
        ///
        /// It is false for a server, for a store of more than 256 MiB, and where the store is changed before: then the counts are those of
        /// a new store.
        public let isMerged: Bool?
        /// In the job's order.
        public let entities: [Entity]
        /// The counts, errors and ledger of the sample.
        public let report: ImportReport?
        /// What stopped the import of the sample; nil where nothing did.
        public let message: MessageText?
    }

    /// An entity as it would be.
    public struct Entity: Sendable {
        /// Its name, its table and its attributes.
        public let description: EntityDescription
        /// The first rows of the sample, at most three, with the attributes' values.
        public let rows: [Record]
    }
}

extension ImportPreview: Encodable {
    /// The plan's own keys, `sample` and `mirror`.
    public func encode(to encoder: any Encoder) throws {
        try plan.encode(to: encoder)
        var container = encoder.container(keyedBy: DataNameKey.self)
        try container.encodeIfPresent(sample, forKey: "sample")
        try container.encodeIfPresent(mirror, forKey: "mirror")
    }
}

extension ImportPreview.Sample: Encodable {
    /// Writes the keys that the command prints as JSON.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: DataNameKey.self)
        try container.encode(bytes, forKey: "bytes")
        try container.encode(isWhole, forKey: "is_whole")
        try container.encodeIfPresent(isMerged, forKey: "is_merged")
        try container.encode(entities, forKey: "entities")
        try container.encodeIfPresent(report, forKey: "report")
        try container.encodeIfPresent(message?.description, forKey: "message")
    }
}

extension ImportPreview.Mirror: Encodable {
    /// Writes the keys that the command prints as JSON.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: DataNameKey.self)
        try container.encodeIfPresent(report, forKey: "report")
        try container.encodeIfPresent(message?.description, forKey: "message")
    }
}

extension ImportPreview.Entity: Encodable {
    /// Writes the entity with its columns in their order, and its rows by column.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: DataNameKey.self)
        try container.encode(description.name, forKey: "entity")
        try container.encode(description.table, forKey: "table")
        try container.encode(description.identifier, forKey: "identifier")
        var columns = container.nestedUnkeyedContainer(forKey: "columns")
        for attribute in description.attributes {
            var column = columns.nestedContainer(keyedBy: DataNameKey.self)
            try column.encode(attribute.column, forKey: "column")
            try column.encode(attribute.type.rawValue, forKey: "type")
            try column.encode(attribute.isOptional, forKey: "optional")
        }
        var rows = container.nestedUnkeyedContainer(forKey: "rows")
        for record in self.rows {
            var row = rows.nestedContainer(keyedBy: DataNameKey.self)
            for (attribute, value) in zip(description.attributes, record.values) {
                let key = DataNameKey(attribute.column)
                switch value {
                case .null: try row.encodeNil(forKey: key)
                case .integer(let number): try row.encode(number, forKey: key)
                case .real(let number): try row.encode(number, forKey: key)
                default: try row.encode(attribute.text(of: value), forKey: key)
                }
            }
        }
    }
}
