import ImportModel

extension StoreReader {
    /// Records, as they are stored.
    ///
    /// - Parameters:
    ///   - request: which ones; without a limit, all of them are held in memory.
    ///   - attributes: the names of the attributes whose values they have; all if it is nil. `rowid` is the row id.
    /// - Throws: `ImportError` when there is no such entity or attribute, or the store cannot be read; `RecordPredicateError` when the
    ///   predicate does not fit the entity.
    public func records(_ request: FetchRequest, attributes: [String]? = nil) throws -> [Record] {
        var records: [Record] = []
        try forEachRecord(request, attributes: attributes) { records.append($0) }
        return records
    }

    /// Calls `body` with each record, holding about a MiB of them at a time.
    ///
    /// They are read in several short transactions, each of which sees the store as it is then. `body` is called in none, so
    /// it may fetch too, however long that is. Where records must be sorted, their row ids are held in memory as well, 8 bytes
    /// each; those that are deleted before their turn are left out.
    ///
    /// - Returns: whether all records are from one state of the store: nobody committed anything meanwhile.
    /// - Throws: as `records` does, and what `body` throws.
    @discardableResult
    public func forEachRecord(
        _ request: FetchRequest,
        attributes: [String]? = nil,
        _ body: (Record) throws -> Void
    ) throws -> Bool {
        guard let entity = try awaitedEntity(named: request.entity) else { return true }
        let attributes = try self.attributes(attributes, of: entity)
        var page: [Record] = []
        var bytes = 0
        return try RecordScan(request, of: entity, attributes, in: self).run { row in
            let record = Record(row, count: attributes.count)
            bytes += record.values.reduce(64) { $0 + $1.byteCount }
            page.append(record)
            return bytes < Self.pageBytes ? .nextRecord : .nextPage
        } endPage: {
            for record in page { try body(record) }
            page.removeAll(keepingCapacity: true)
            bytes = 0
        }
    }

    /// How many records there are, after offset and limit.
    ///
    /// - Throws: as `records` does.
    public func count(_ request: FetchRequest) throws -> Int {
        guard let entity = try awaitedEntity(named: request.entity) else { return 0 }
        return try RecordScan(request, of: entity, [], in: self).count()
    }

    /// Writes records out, in constant memory but for their row ids where they must be sorted, as `forEachRecord` does.
    ///
    /// - Parameters:
    ///   - request: which ones.
    ///   - attributes: the names of the attributes to write, in order; all if it is nil. `rowid` is the row id.
    ///   - format: how they are written.
    ///   - dates: how dates are written.
    ///   - write: gets the bytes, about a MiB at a time, and at least once.
    /// - Returns: whether all records are from one state of the store, as `forEachRecord` does.
    /// - Throws: as `records` does, and what `write` throws.
    @discardableResult
    public func write(
        _ request: FetchRequest,
        attributes: [String]? = nil,
        as format: RecordFormat,
        dates: DateStyle = .iso8601,
        to write: ([UInt8]) throws -> Void
    ) throws -> Bool {
        let entity = try awaitedEntity(named: request.entity)
        let attributes = try entity.map { try self.attributes(attributes, of: $0) } ?? []
        let scan = try entity.map { try RecordScan(request, of: $0, attributes, in: self) }
        var writer = RecordWriter(attributes, as: format, dates: dates)
        var output: [UInt8] = []
        writer.begin(&output)
        let isConsistent = try scan?.run { row in
            writer.append(row, to: &output)
            return output.count < Self.pageBytes ? .nextRecord : .nextPage
        } endPage: {
            if !output.isEmpty { try write(output) }
            output.removeAll(keepingCapacity: true)
        }
        writer.end(&output)
        if !output.isEmpty { try write(output) }
        return isConsistent ?? true
    }

    /// So many bytes make a page.
    static let pageBytes = 1 << 20

    /// The entity's attributes with these names, in this order; `rowid` is the row id.
    ///
    /// - Throws: `ImportError` with `.usage` when one is not there.
    public func attributes(named names: [String], of entity: EntityDescription) throws -> [AttributeDescription] {
        try attributes(names, of: entity)
    }

    private func attributes(_ names: [String]?, of entity: EntityDescription) throws -> [AttributeDescription] {
        guard let names else { return entity.attributes }
        return try names.map { name in
            guard let attribute = entity.attribute(named: name) else {
                throw ImportError(noAttribute: name, in: entity)
            }
            return attribute
        }
    }
}

extension Record.Value {
    /// About how much memory it takes.
    var byteCount: Int {
        switch self {
        case .null, .integer, .real: 16
        case .text(let text): 16 + text.utf8.count
        case .blob(let bytes): 48 + bytes.count
        }
    }
}
