import ImportEngine
import ImportModel
import ImportSources

extension StoreReader {
    /// The records of a request, with their stored values.
    ///
    /// The objects that the request includes follow the attributes, as one JSON value for each relationship. `entity(for:)` describes
    /// the values.
    ///
    /// - Parameters:
    ///   - request: the records to fetch; without a limit, all of them are held in memory.
    ///   - attributes: the names of the attributes to read; nil for all, or for the records' own if related objects are included.
    ///     `rowid` is the row id.
    /// - Throws: `ImportError` when there is no such entity, attribute or relationship, or the store cannot be read;
    ///   `RecordPredicateError` when the predicate does not fit the entity.
    public func records(_ request: FetchRequest, attributes: [String]? = nil) throws -> [Record] {
        var records: [Record] = []
        try forEachRecord(request, attributes: attributes) { records.append($0) }
        return records
    }

    /// Calls `body` with each record.
    ///
    /// About 1 MiB of records is in memory at a time, and the related objects of the last one.
    ///
    /// Records are read in several short transactions, each of which sees the store as it is then. `body` is called outside of them,
    /// so it may fetch, too, and take its time. If records must be sorted, their row ids are in memory as well, 8 bytes each; records
    /// that are deleted before they are read are left out.
    ///
    /// - Returns: true if all records are from one state of the store, as nothing was committed meanwhile.
    /// - Throws: as `records` does, and what `body` throws.
    @discardableResult
    public func forEachRecord(
        _ request: FetchRequest,
        attributes: [String]? = nil,
        _ body: (Record) throws -> Void
    ) throws -> Bool {
        guard let contents = try contents(of: request, attributes: attributes) else { return true }
        return try forEachRecord(request, contents, body)
    }

    func forEachRecord(
        _ request: FetchRequest,
        _ contents: RecordProjection,
        _ body: (Record) throws -> Void
    ) throws -> Bool {
        var page: [Record] = []
        var bytes = 0
        return try RecordScan(request, contents, in: self).run { row, database in
            let record = try Record(row, contents, database)
            bytes += record.values.reduce(64) { $0 + $1.byteCount }
            page.append(record)
            return bytes < Self.pageBytes ? .nextRecord : .nextPage
        } endPage: {
            for record in page { try body(record) }
            page.removeAll(keepingCapacity: true)
            bytes = 0
        }
    }

    /// The number of records of a request, after offset and limit.
    ///
    /// - Throws: as `records` does.
    public func count(_ request: FetchRequest) throws -> Int {
        guard let entity = try awaitedEntity(named: request.entity) else { return 0 }
        return try RecordScan(request, RecordProjection(of: entity, attributes: []), in: self).count()
    }

    /// Writes records in a format.
    ///
    /// Memory is constant, except for row ids if records must be sorted, as in `forEachRecord`.
    ///
    /// In JSON and NDJSON, the objects that the request includes are nested in each record; those of one record are held in memory.
    ///
    /// - Parameters:
    ///   - request: the records to write.
    ///   - attributes: the names of the attributes to write, in order; nil for all, or for the records' own if related objects are
    ///     included. `rowid` is the row id.
    ///   - format: the format of the output.
    ///   - dates: the format of dates.
    ///   - write: receives the bytes, about 1 MiB at a time, and is called at least once.
    /// - Returns: true if all records are from one state of the store, as in `forEachRecord`.
    /// - Throws: as `records` does, and what `write` throws; `ImportError` with `.usage` when related objects are included and the
    ///   format cannot nest them.
    @discardableResult
    public func write(
        _ request: FetchRequest,
        attributes: [String]? = nil,
        as format: RecordFormat,
        dates: DateStyle = .iso8601,
        to write: ([UInt8]) throws -> Void
    ) throws -> Bool {
        guard request.includes.isEmpty || format == .json || format == .ndjson else {
            throw ImportError(
                .optionsConflict,
                "\(format.rawValue) has no place for nested objects",
                advice: "Write JSON or NDJSON, or include no relationships."
            )
        }
        let contents = try contents(of: request, attributes: attributes, dates: dates)
        let scan = try contents.map { try RecordScan(request, $0, in: self) }
        var writer = RecordWriter(
            contents?.attributes ?? [],
            contents?.related ?? [],
            as: format,
            dates: dates
        )
        var output: [UInt8] = []
        writer.begin(&output)
        let isConsistent = try scan?.run { row, database in
            try writer.append(row, to: &output, database)
            return output.count < Self.pageBytes ? .nextRecord : .nextPage
        } endPage: {
            if !output.isEmpty { try write(output) }
            output.removeAll(keepingCapacity: true)
        }
        writer.end(&output)
        if !output.isEmpty { try write(output) }
        return isConsistent ?? true
    }

    /// The entity of a request, with an attribute for each value of its records; those for related objects are of the type JSON.
    ///
    /// - Throws: `ImportError` when there is no such entity or relationship, or the store cannot be read.
    public func entity(for request: FetchRequest) throws -> EntityDescription {
        try read { database in
            try RecordProjection(of: entity(named: request.entity, database), including: request.includes).description
        }
    }

    /// Checks a predicate against an entity and the destinations of its relationships.
    ///
    /// - Throws: `RecordPredicateError` when an attribute does not exist, or is compared with a value of another type;
    ///   `ImportError` when there is no such entity, or the store cannot be read.
    public func check(_ predicate: RecordPredicate, for entity: String) throws {
        _ = try read { try predicate.compiled(for: self.entity(named: entity, $0)) }
    }

    /// The values that records of a request have; nil if the reader awaits its store, and the store does not have the entity yet.
    func contents(
        of request: FetchRequest,
        attributes: [String]? = nil,
        dates: DateStyle = .iso8601
    ) throws -> RecordProjection? {
        try awaitedEntity(named: request.entity).map { entity in
            for name in attributes ?? [] where entity.description.attribute(named: name) == nil {
                if let column = SourceColumn(name) { try check(column) }
            }
            return try RecordProjection(of: entity, attributes: attributes, including: request.includes, dates: dates)
        }
    }

    private func check(_ column: SourceColumn) throws {
        let isThere = try read { database in
            guard try database.hasTable("_import_outside") else { return false }
            let sql = "SELECT EXISTS (SELECT 1 FROM _import_outside WHERE path = ?)"
            return try Bool.fetchOne(database, sql: sql, arguments: [column.path]) ?? false
        }
        guard !isThere else { return }
        throw ImportError(
            .unknownAttribute,
            at: store,
            "no source has a value outside of the records at \(column.path)",
            advice: "\(call: .sources) lists the sources and, if asked, these values."
        )
    }

    /// So many bytes make a page.
    static let pageBytes = 1 << 20

    /// The entity's attributes with the given names, in their order; `rowid` is the row id, `@source.generated` the value
    /// outside of the records that the row's source has there.
    ///
    /// - Throws: `ImportError` with `.usage` when one does not exist.
    public func attributes(named names: [String], of entity: EntityDescription) throws -> [AttributeDescription] {
        try entity.fetched(names)
    }
}

extension Record.Value {
    /// The approximate size in memory.
    var byteCount: Int {
        switch self {
        case .null, .integer, .real: 16
        case .text(let text): 16 + text.utf8.count
        case .blob(let bytes): 48 + bytes.count
        }
    }
}
