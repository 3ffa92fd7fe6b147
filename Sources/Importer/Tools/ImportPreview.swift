import ImportEngine
import ImportModel
import ImportSources

/// The plan of an import, and the result of importing the first records.
public struct ImportPreview: Sendable {
    /// The plan of the import.
    public let plan: ImportPlan
    /// The result for the first records; nil if nothing new would be imported, or the source is a chunk directory.
    public let sample: Sample?
    /// The deletions of a mirror; nil for any other import.
    public var mirror: Mirror?

    /// True if the import would stop, or reject every record, as far as that is known.
    public var fails: Bool {
        if sample?.message != nil || mirror?.message != nil { return true }
        guard let sample, sample.isWhole, let report = sample.report else { return false }
        return report.recordsRead > 0 && report.rejected == report.recordsRead
    }

    /// The result of importing all of the sources into a copy of the store.
    public struct Mirror: Sendable {
        /// The report of the import, with ``ImportReport/deleted``, ``ImportReport/withheld`` and ``ImportReport/deletedList``.
        public let report: ImportReport?
        /// The reason for which the import stopped, so that nothing would be deleted; nil if it did not.
        public let message: MessageText?
    }

    /// The result of importing the beginning of the sources.
    public struct Sample: Sendable {
        /// The number of bytes of the sources that were read, decompressed.
        public let bytes: Int64
        /// True if the sources were read to their ends.
        public let isWhole: Bool
        /// True if the records were merged with the store's objects with the same identifiers, as the import merges them; nil if there are no
        /// identifiers or no objects.
        ///
        /// It is false for a server, for a store of more than 256 MiB, and if the import changes the store first; then the counts are those
        /// of a new store.
        public let isMerged: Bool?
        /// The entities, in the job's order.
        public let entities: [Entity]
        /// The counts, errors and ledger of the sample.
        public let report: ImportReport?
        /// The reason for which the import of the sample stopped; nil if it did not.
        public let message: MessageText?
    }

    /// An entity as the import would create or extend it.
    public struct Entity: Sendable {
        /// Its name, its table and its attributes.
        public let description: EntityDescription
        /// The first rows of the sample, at most three, with the attributes' values.
        public let rows: [Record]
    }
}

extension ImportPreview: Encodable {
    /// Writes the plan's keys, `sample` and `mirror`.
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
