import Foundation
import GRDB
import ImportEngine
import ImportModel
import ImportSQLite
import ImportSources

/// Finds the records of a row: reads the sources of the store's imports again and decodes their records as the imports did.
struct RowExplainer {
    let store: String
    /// True if the records' bytes are wanted.
    let showsRecords: Bool
    let opener: SourceOpener
    let transformers: TransformerRegistry
    let interruption: Interruption

    // MARK: The row

    /// The object with an identifier.
    ///
    /// - Parameter key: the value of its attribute, or of each of them (`region=eu,number=7`).
    func explain(_ name: String, key: String) throws -> RowExplanation {
        let reader = try StoreReader(store: store)
        let entity = try reader.entity(named: name)
        let values = try Self.values(key, of: entity)
        let predicate = try RecordPredicate(
            parsing: values.map { "\($0.attribute.name.quotedIdentifier) = ?" }.joined(separator: " and "),
            arguments: values.map { try Self.literal($0.text, $0.attribute) }
        )
        guard let record = try reader.records(FetchRequest(entity: entity.name, where: predicate, limit: 1)).first
        else {
            throw ImportError(
                .objectNotFound,
                at: store,
                "has no \(entity.name) with \(values.map { "\($0.attribute.name) = \($0.text)" }.joined(separator: ", ").printable)"
            )
        }
        return try explain(entity, record.rowID)
    }

    /// The object with a row id.
    func explain(_ name: String, rowID: Int64) throws -> RowExplanation {
        let reader = try StoreReader(store: store)
        let entity = try reader.entity(named: name)
        let isThere = try reader.read { database in
            try StoredTable(entity.table, database).checkReadable()
            return try database.exists("SELECT 1 FROM \(entity.table.quotedIdentifier) WHERE rowid = ?", [rowID])
        }
        guard isThere else {
            throw ImportError(.objectNotFound, at: store, "has no row \(rowID) in the table \(entity.table)")
        }
        return try explain(entity, rowID)
    }

    /// The reject with a number, and the line of its record; nil where its source cannot be read again.
    func explain(reject number: Int64) throws -> (reject: StoreInspection.Reject, line: Int64?) {
        let (reject, source) = try inspection.read { database -> (StoreInspection.Reject, SourceDescription) in
            let selection = RejectSelection(includesSettled: true)
            guard try database.hasTable("_import_reject"),
                let reject = try RejectScan(selection, database)?.reject(number: number, database),
                let job = try StoredJob.find(reject.job, database),
                let source = job.sources.first(where: { $0.description.displayName == reject.source })
            else { throw ImportError(.objectNotFound, at: store, "has no reject \(number)") }
            return (reject, source.description)
        }
        guard source.isRepeatable, let now = try? opener.describe(again: source, interruption: interruption),
            SourceCheck.isUntouched(now, since: source)
        else { return (reject, nil) }
        return (reject, try source.line(of: reject.byteOffset, interruption))
    }

    private static func values(
        _ key: String,
        of entity: EntityDescription
    ) throws -> [(attribute: AttributeDescription, text: String)] {
        let attributes = entity.identifier.compactMap { name in entity.attributes.first { $0.name == name } }
        guard !attributes.isEmpty, attributes.count == entity.identifier.count else {
            throw ImportError(
                .optionInvalid,
                "\(entity.name) has no identifier that an object could be found by",
                advice: "Give the row id of its row."
            )
        }
        guard attributes.count > 1 else { return [(attributes[0], key)] }
        var texts: [String: String] = [:]
        var name: String?
        for part in key.split(separator: ",", omittingEmptySubsequences: false) {
            let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if halves.count == 2, let attribute = attributes.first(where: { $0.name == halves[0] }) {
                name = attribute.name
                texts[attribute.name] = String(halves[1])
            } else if let name {
                // A comma in a value.
                texts[name, default: ""] += "," + part
            }
        }
        let values = attributes.compactMap { attribute in texts[attribute.name].map { (attribute, $0) } }
        guard values.count == attributes.count else {
            let form = attributes.map { "\($0.name)=…" }.joined(separator: ",")
            throw ImportError(
                .optionInvalid,
                "\(entity.name) is identified by several attributes",
                advice: "Write \(form)."
            )
        }
        return values
    }

    private static func literal(_ text: String, _ attribute: AttributeDescription) throws -> JSONValue {
        switch attribute.type {
        case .integer16, .integer32, .integer64, .double, .float, .decimal, .boolean, .bitfield:
            if let value = try? JSONValue(parsing: Array(text.utf8)), [.number, .boolean].contains(value.kind) {
                return value
            }
            throw ImportError(
                .optionInvalid,
                "\(attribute.name) is of type \(attribute.type.rawValue), and \(text.printable) is no such value",
                advice: "Give the value of \(attribute.name) alone."
            )
        case .string, .uuid, .date, .uri, .binary, .json: return .string(text)
        }
    }

    // MARK: Its records

    private func explain(_ entity: EntityDescription, _ rowID: Int64) throws -> RowExplanation {
        let destination = SQLiteDestination(store, durability: .off, interruption)
        return try destination.read { journal in
            let jobs = try journal.jobs()
            if jobs.isEmpty { throw inspection.noImport }
            let (insertedBy, locator) = try inspection.read { database -> (Int64?, RowLocator?) in
                let isNoted = try database.hasTable("_import_addition")
                let job = isNoted ? try InsertedRowRanges.job(of: rowID, in: entity.table, database) : nil
                let models = jobs.reversed().lazy.compactMap(\.model)
                let model = models.first { $0.entities.contains { $0.name.hasSameBytes(as: entity.name) } }
                return (job, try model.flatMap { try RowLocator(of: rowID, entity, model: $0, database) })
            }
            var origins: [RecordOrigin] = []
            var notes: [String] = []
            if let locator {
                for job in jobs where !StoredJob.isUndone(job.id, jobs) {
                    if let place = locator.place, place.job != job.id { continue }
                    origins += try self.origins(in: job, locator, journal, &notes)
                }
            } else {
                notes.append("nothing is known by which its record could be found")
            }
            return RowExplanation(
                entity: entity.name,
                table: entity.table,
                rowID: rowID,
                insertedBy: insertedBy,
                origins: origins,
                notes: notes
            )
        }
    }

    private var inspection: StoreInspection { StoreInspection(store: store) }

    private func origins(
        in job: StoredJob,
        _ locator: RowLocator,
        _ journal: any JournalReader,
        _ notes: inout [String]
    ) throws -> [RecordOrigin] {
        guard let model = job.model, job.tables.contains(where: { $0.asciiLowercased == locator.table.asciiLowercased })
        else { return [] }
        if let reason = Self.reason(job) {
            notes.append("job \(job.id) \(reason): its records are not searched")
            return []
        }
        let check = SourceCheck(opener: opener, interruption: interruption)
        var origins: [RecordOrigin] = []
        for (index, source) in job.sources.enumerated() where locator.place.map({ $0.source == index }) ?? true {
            try interruption.check()
            let known = try inspection.read { database in
                try CommittedRecords(of: index, job, database).map { ($0, try self.rejected(job, database)) }
            }
            guard let (committed, rejected) = known else { continue }
            let name = source.description.displayName
            guard let now = try? opener.describe(again: source.description, interruption: interruption) else {
                notes.append("\(name) (job \(job.id)) is gone")
                continue
            }
            if !SourceCheck.isUntouched(now, since: source.description),
                try check.compare(now, with: job, source: index, journal) == .other
            {
                notes.append("\(name) (job \(job.id)) has changed since")
                continue
            }
            let found = try DecodedSource(job, index, model, transformers: transformers).records(
                locator,
                after: committed,
                rejected: rejected,
                opener: opener,
                interruption: interruption
            )
            origins += try inspection.read { database in
                try found.map { try origin($0, job, index, database) }
            }
        }
        return origins
    }

    private func rejected(_ job: StoredJob, _ database: Database) throws -> Set<Int64> {
        guard try database.hasTable("_import_reject") else { return [] }
        return try Int64.fetchSet(
            database,
            sql: "SELECT ordinal FROM _import_reject WHERE job = ?",
            arguments: [job.id]
        )
    }

    /// Why a job's records cannot be read again; nil where they can.
    private static func reason(_ job: StoredJob) -> String? {
        if job.change != nil { return "is a patch, an undo or a merge" }
        if job.retry != nil { return "is a retry" }
        if job.takesChunks { return "has imported the chunks of a split" }
        return job.sources.allSatisfy(\.description.isRepeatable) ? nil : "has read a stream"
    }

    private func origin(
        _ found: DecodedSource.Found,
        _ job: StoredJob,
        _ source: Int,
        _ database: Database
    ) throws -> RecordOrigin {
        let chunk = try Row.fetchOne(
            database,
            sql: """
                SELECT first_byte, end_byte FROM _import_chunk
                WHERE job = ? AND source = ? AND first_byte <= ? AND end_byte > ? LIMIT 1
                """,
            arguments: [job.id, source, found.bytes.lowerBound, found.bytes.lowerBound]
        )
        let isRejected =
            try database.hasTable("_import_reject")
            && database.exists("SELECT 1 FROM _import_reject WHERE job = ? AND ordinal = ?", [job.id, found.ordinal])
        var record: [UInt8]?
        if showsRecords {
            let reader = SourceRecordReader(of: job, opener: opener, interruption: interruption)
            record = try reader.bytes(
                of: source,
                at: found.bytes.lowerBound,
                count: Int64(found.bytes.count),
                database
            )
            try reader.finish()
        }
        return RecordOrigin(
            job: job.id,
            source: job.sources[source].description.displayName,
            bytes: found.bytes,
            line: try job.sources[source].description.line(of: found.bytes.lowerBound, interruption),
            ordinal: found.ordinal,
            chunk: chunk.map { ($0[0] as Int64)..<($0[1] as Int64) },
            path: found.path,
            attributes: found.attributes,
            isRejected: isRejected,
            record: record
        )
    }
}
